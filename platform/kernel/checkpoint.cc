#include "kernel/checkpoint.h"
#include "base/text.h"
#include <cstring>

namespace mc
{
namespace
{

constexpr char kMagic[8] = {'m', 'c', 's', 't', 'a', 't', 'e', '\n'};
constexpr uint32_t kVersion = 2; // of the file; another one for each change of an archive()

// FNV-1a
uint64_t hash(const uint8_t *p, size_t n, uint64_t h = 0xcbf29ce484222325u)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

uint64_t code_hash(Machine &m)
{
    uint64_t h = hash(nullptr, 0);
    m.codes.each_executable([&](uint32_t low, uint32_t size) {
        const uint32_t range[] = {low, size};
        h = hash(reinterpret_cast<const uint8_t *>(range), sizeof range, h);
        h = hash(m.at(low, size, 0), size, h);
    });
    return h;
}

void archive_config(Writer &a, const Config &config)
{
    config.each([&](std::string name, uint64_t value) { a(name, value); });
    std::string end;
    a(end);
}

void archive_config(Reader &a, const Config &config)
{
    std::string there;
    uint64_t was = 0;
    const char *other = "its parameters are those of another version of manycore";
    config.each([&](const std::string &name, uint64_t value) {
        a(there);
        if (there != name)
            throw CheckpointError(other);
        a(was);
        if (was != value && name != "run.limit")
            throw CheckpointError(text("it was made with %s = %llu, and this run has %llu", name.c_str(),
                                       (unsigned long long)was, (unsigned long long)value));
    });
    a(there);
    if (!there.empty())
        throw CheckpointError(other);
}

// Whose an event is, which says what else it has; `owner`: the cluster, or a line's core.
enum class Kind : uint8_t { message, setup, burst, access, line };

struct Place {
    Kind kind{};
    uint16_t owner = 0;
    bool travels = false; // it happens to the traffic next, and not to its owner
    uint64_t when = 0;
    template <class A> void archive(A &a) { a(kind, owner, travels, when); }
};

Place place_of(Machine &m, Event &e)
{
    Place p{Kind::access, 0, e.agent == &m.traffic, e.when};
    Agent *owner = p.travels ? static_cast<Request &>(e).home : e.agent;
    for (uint16_t k = 0; k < m.hws.size(); k++) {
        if (owner == &m.hws[k])
            p.kind = Kind::message, p.owner = k;
        if (owner == &m.dma[k])
            p.kind = &e == &m.dma[k].set_up_event() ? Kind::setup : Kind::burst, p.owner = k;
    }
    if (owner == &m.bus && static_cast<Request &>(e).what == Request::What::line)
        p.kind = Kind::line, p.owner = static_cast<Line &>(e).core->id;
    return p;
}

Agent &agent_of(Machine &m, const Place &p)
{
    if (p.travels)
        return m.traffic;
    if (p.kind == Kind::message)
        return m.hws[p.owner];
    if (p.kind == Kind::setup || p.kind == Kind::burst)
        return m.dma[p.owner];
    return m.bus;
}

// `e` is null if the event is read.
template <class A> Event &archive_event(A &a, Machine &m, const Place &p, Event *e)
{
    if (p.owner >= (p.kind == Kind::line ? m.cores.size() : m.hws.size()))
        throw CheckpointError("an event is nobody's");
    switch (p.kind) {
    case Kind::message:
        return m.hws[p.owner].archive_event(a, e);
    case Kind::setup:
        return m.dma[p.owner].set_up_event();
    case Kind::burst:
        return m.dma[p.owner].archive_event(a, e);
    case Kind::access:
        return m.bus.archive_event(a, e, m.cores, m.codes);
    case Kind::line:
        m.bus.line(p.owner).archive(a);
        return m.bus.line(p.owner);
    }
    throw CheckpointError("an event is of no kind");
}

// Events in the wheel, slot by slot; those that wait behind the first one of a port; then the ports.
template <class A> void archive_events(A &a, Machine &m)
{
    std::vector<Event *> all;
    m.clock.wheel.each(all);
    uint64_t scheduled = all.size();
    m.traffic.waiting(all);
    uint64_t n = all.size();
    a(n, scheduled);
    all.resize(a.many(n));
    for (uint64_t i = 0; i < n; i++) {
        Place p;
        if (all[i])
            p = place_of(m, *all[i]);
        a(p);
        Event &e = archive_event(a, m, p, all[i]);
        e.agent = &agent_of(m, p);
        if (!all[i] && i < scheduled)
            m.clock.schedule(e, *e.agent, p.when);
        all[i] = &e;
    }
    m.traffic.archive_ports(a, all);
}

template <class A> void archive(A &a, Machine &m)
{
    a(m.clock.now, m.arguments, m.icache, m.memory, m.traffic, m.bus);
    for (Hws &h : m.hws)
        a(h);
    for (Dma &d : m.dma)
        a(d);
    for (Core &c : m.cores) {
        a(c);
        c.code = m.codes.archive_op(a, c.op);
        c.event = c.wait == Wait::none; // it stands before an event
    }
    archive_events(a, m);
}

} // namespace

std::vector<uint8_t> checkpoint(Machine &m, Companion &companion)
{
    Writer a;
    uint32_t version = kVersion;
    uint64_t code = code_hash(m);
    a.bytes(kMagic, sizeof kMagic);
    a(version);
    archive_config(a, m.config);
    a(code);
    companion.archive(a);
    archive(a, m);
    uint64_t sum = hash(a.data.data(), a.data.size());
    a(sum);
    return std::move(a.data);
}

void restore(Machine &m, Companion &companion, const std::vector<uint8_t> &file)
{
    size_t size = file.size();
    if (size < sizeof kMagic + 12 || std::memcmp(file.data(), kMagic, sizeof kMagic))
        throw CheckpointError("it is no checkpoint");
    Reader a(file.data() + sizeof kMagic, size - sizeof kMagic - 8);
    uint32_t version = 0;
    a(version);
    if (version != kVersion)
        throw CheckpointError(text("it has the format %u, and this manycore knows %u", version, kVersion));
    uint64_t sum = 0, code = 0;
    std::memcpy(&sum, file.data() + size - 8, 8);
    if (sum != hash(file.data(), size - 8))
        throw CheckpointError("it is damaged");
    archive_config(a, m.config);
    a(code);
    if (code != code_hash(m))
        throw CheckpointError("it was made by another program");
    companion.archive(a);
    archive(a, m);
    if (!a.empty())
        throw CheckpointError("it goes on behind its end");
}

} // namespace mc
