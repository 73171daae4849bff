#include "trace/gdb.h"
#include "base/text.h"
#include <arpa/inet.h>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mc
{
namespace
{

std::string hex(uint32_t v) { return text("%02x%02x%02x%02x", v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24); }

uint32_t unhex(const std::string &s, size_t at)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 4 && at + 2 * i + 2 <= s.size(); i++)
        v |= uint32_t(strtoul(s.substr(at + 2 * i, 2).c_str(), nullptr, 16)) << (8 * i);
    return v;
}

std::string description()
{
    std::string x = "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM "
                    "\"gdb-target.dtd\"><target><architecture>riscv:rv32</architecture>"
                    "<feature name=\"org.gnu.gdb.riscv.cpu\">";
    for (int i = 0; i < 32; i++)
        x += text("<reg name=\"x%d\" bitsize=\"32\" regnum=\"%d\"/>", i, i);
    x += "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\" regnum=\"32\"/></feature><feature "
         "name=\"org.gnu.gdb.riscv.fpu\">";
    for (int i = 0; i < 32; i++)
        x += text("<reg name=\"f%d\" bitsize=\"32\" type=\"ieee_single\" regnum=\"%d\"/>", i, 33 + i);
    return x + "<reg name=\"fflags\" bitsize=\"32\" regnum=\"65\"/><reg name=\"frm\" bitsize=\"32\" regnum=\"66\"/>"
               "<reg name=\"fcsr\" bitsize=\"32\" regnum=\"67\"/></feature></target>";
}

} // namespace

Gdb::Gdb(Machine &machine, int port) : m(machine)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(uint16_t(port));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t n = sizeof a;
    if (bind(s, reinterpret_cast<sockaddr *>(&a), sizeof a) || listen(s, 1) ||
        getsockname(s, reinterpret_cast<sockaddr *>(&a), &n)) {
        close(s);
        throw ConfigError(text("port %d for gdb cannot be had: %m", port));
    }
    fprintf(stderr, "manycore: waiting for gdb (target remote :%u)\n", ntohs(a.sin_port));
    fd = accept(s, nullptr, nullptr);
    close(s);
    if (fd < 0)
        throw ConfigError(text("port %d for gdb: %m", port));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Gdb::~Gdb() { close(fd); }

bool Gdb::fill()
{
    char buffer[4096];
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) {
        gone = true;
        return false;
    }
    in.append(buffer, size_t(n));
    return true;
}

std::string Gdb::packet()
{
    for (;;) {
        size_t start = in.find('$'), end = start == in.npos ? in.npos : in.find('#', start);
        if (end != in.npos && end + 2 < in.size()) {
            std::string p = in.substr(start + 1, end - start - 1);
            in.erase(0, end + 3);
            ::send(fd, "+", 1, MSG_NOSIGNAL);
            return p;
        }
        if (!fill())
            return "";
    }
}

void Gdb::send(const std::string &s)
{
    unsigned sum = 0;
    for (char c : s)
        sum += static_cast<unsigned char>(c);
    std::string p = "$" + s + text("#%02x", sum & 255);
    ::send(fd, p.data(), p.size(), MSG_NOSIGNAL);
}

void Gdb::stop(unsigned core, int signal)
{
    current = core;
    send(text("T%02xthread:%x;", unsigned(signal), core + 1));
}

void Gdb::before(Core &c, uint64_t)
{
    if (gone)
        return;
    uint32_t pc = m.pc(c);
    if (waiting_start) {
        waiting_start = false;
        current = c.id;
        serve();
        return;
    }
    if (stepping == int(c.id) || (!breakpoints.empty() && breakpoints.contains(pc))) {
        stop(c.id, 5);
        serve();
    } else if ((++polled & 4095) == 0) {
        pollfd p{fd, POLLIN, 0};
        if (poll(&p, 1, 0) > 0 && fill() && in.find('\x03') != in.npos) {
            in.erase(0, in.find('\x03') + 1);
            stop(c.id, 2);
            serve();
        }
    }
}

void Gdb::ended(int code)
{
    if (!gone)
        send(text("W%02x", unsigned(code & 255)));
}

void Gdb::faulted(Core *c)
{
    if (gone)
        return;
    stop(c ? c->id : 0u, c ? 11 : 6);
    serve();
    if (!gone)
        send("X0b");
}

std::string Gdb::registers(const Core &c)
{
    std::string s;
    for (int i = 0; i < 32; i++)
        s += hex(c.x[i]);
    s += hex(m.pc(c));
    for (uint32_t v : c.f)
        s += hex(v);
    return s + hex(c.fflags) + hex(c.frm) + hex(uint32_t(c.frm << 5 | c.fflags));
}

void Gdb::set_register(Core &c, unsigned n, uint32_t v)
{
    if (n > 0 && n < 32)
        c.x[n] = v;
    else if (n == 32 && m.code_of(v) && !(v & 1)) {
        c.code = m.code_of(v);
        c.op = &c.code->ops[(v - c.code->low) / 2];
    } else if (n >= 33 && n < 65)
        c.f[n - 33] = v;
    else if (n == 65 || n == 67)
        c.fflags = v & 31;
    if (n == 66)
        c.frm = v & 7;
    else if (n == 67)
        c.frm = v >> 5 & 7;
}

void Gdb::serve()
{
    stepping = -1;
    for (;;) {
        std::string p = packet();
        if (gone)
            return;
        Core &c = m.cores[current];
        unsigned address = 0, n = 0;
        if (p == "?") {
            send(text("T05thread:%x;", current + 1));
        } else if (p == "g") {
            send(registers(c));
        } else if (p[0] == 'G') {
            for (unsigned i = 0; i < 68; i++)
                set_register(c, i, unhex(p, 1 + 8 * i));
            send("OK");
        } else if (sscanf(p.c_str(), "p%x", &n) == 1 && p[0] == 'p') {
            std::string all = registers(c);
            send(n < 68 ? all.substr(8 * n, 8) : "E01");
        } else if (sscanf(p.c_str(), "P%x=", &n) == 1 && p[0] == 'P') {
            set_register(c, n, unhex(p, p.find('=') + 1));
            send("OK");
        } else if (sscanf(p.c_str(), "m%x,%x", &address, &n) == 2 && p[0] == 'm') {
            std::string s;
            for (unsigned i = 0; i < n && i < 2048; i++) {
                uint8_t *b = m.at(address + i, 1, c.cluster);
                if (!b)
                    break;
                s += text("%02x", *b);
            }
            send(s.empty() ? "E01" : s);
        } else if (sscanf(p.c_str(), "M%x,%x:", &address, &n) == 2 && p[0] == 'M') {
            uint8_t *b = m.at(address, n, c.cluster);
            size_t at = p.find(':') + 1;
            for (unsigned i = 0; b && i < n && at + 2 * i + 2 <= p.size(); i++)
                b[i] = uint8_t(strtoul(p.substr(at + 2 * i, 2).c_str(), nullptr, 16));
            send(b ? "OK" : "E01");
        } else if (sscanf(p.c_str(), "Z%x,%x", &n, &address) == 2 && p[0] == 'Z') {
            if (n < 2)
                breakpoints.insert(address);
            send(n < 2 ? "OK" : "");
        } else if (sscanf(p.c_str(), "z%x,%x", &n, &address) == 2 && p[0] == 'z') {
            breakpoints.erase(address);
            send(n < 2 ? "OK" : "");
        } else if (p[0] == 'H') {
            unsigned t = 0;
            if (p.size() > 2 && p[1] == 'g' && sscanf(p.c_str() + 2, "%x", &t) == 1 && t >= 1 && t <= m.cores.size())
                current = t - 1;
            send("OK");
        } else if (p[0] == 'T') {
            unsigned t = 0;
            sscanf(p.c_str() + 1, "%x", &t);
            send(t >= 1 && t <= m.cores.size() ? "OK" : "E01");
        } else if (p == "c" || p == "s" || p.starts_with("vCont;")) {
            bool step = p == "s" || p.starts_with("vCont;s") || p.starts_with("vCont;S");
            unsigned t = current + 1;
            if (p.starts_with("vCont;")) // the first action is the one for the thread that matters
                sscanf(p.c_str(), "vCont;%*[sScC0-9]:%x", &t);
            if (step && t >= 1 && t <= m.cores.size())
                stepping = int(t - 1);
            return;
        } else if (p == "vCont?") {
            send("vCont;c;C;s;S");
        } else if (p.starts_with("qSupported")) {
            send("PacketSize=2000;qXfer:features:read+;vContSupported+;swbreak-");
        } else if (sscanf(p.c_str(), "qXfer:features:read:target.xml:%x,%x", &address, &n) == 2) {
            std::string x = description(), part = address < x.size() ? x.substr(address, n) : "";
            send((address + part.size() < x.size() ? "m" : "l") + part);
        } else if (p == "qfThreadInfo") {
            std::string s = "m";
            for (const Core &k : m.cores)
                s += text("%s%x", k.id ? "," : "", k.id + 1);
            send(s);
        } else if (p == "qsThreadInfo") {
            send("l");
        } else if (p.starts_with("qThreadExtraInfo,")) {
            unsigned t = 0;
            sscanf(p.c_str(), "qThreadExtraInfo,%x", &t);
            std::string s, name = t >= 1 && t <= m.cores.size()
                                      ? text("core %u.%u, waits for %s", m.cores[t - 1].cluster, m.cores[t - 1].local,
                                             waits_for(m.cores[t - 1]).c_str())
                                      : "?";
            for (char k : name)
                s += text("%02x", static_cast<unsigned char>(k));
            send(s);
        } else if (p == "qC") {
            send(text("QC%x", current + 1));
        } else if (p.starts_with("qAttached")) {
            send("0");
        } else if (p == "D") {
            send("OK");
            gone = true;
            return;
        } else if (p == "k" || p.starts_with("vKill")) {
            throw Exit{137};
        } else {
            send("");
        }
    }
}

} // namespace mc
