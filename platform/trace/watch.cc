#include "trace/watch.h"
#include "program/elf.h"
#include <cstdarg>

namespace mc
{

using ull = unsigned long long;

Watch::Watch(Machine &machine, const Elf &file, FILE *t, FILE *p)
    : m(machine), elf(file), trace(t), profile(p), states(machine.cores.size())
{
    nodes.push_back({-2, 0, 0, {}});
    if (!trace)
        return;
    fprintf(trace, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
    for (size_t k = 0; k < m.hws.size(); k++) {
        event(R"({"ph":"M","pid":%zu,"name":"process_name","args":{"name":"cluster %zu"}})", k, k);
        event(R"({"ph":"M","pid":%zu,"tid":1000,"name":"thread_name","args":{"name":"DMA"}})", k);
    }
    for (const Core &c : m.cores)
        event(R"({"ph":"M","pid":%u,"tid":%u,"name":"thread_name","args":{"name":"core %u"}})", c.cluster, c.local,
              c.local);
}

void Watch::event(const char *format, ...)
{
    if (!first)
        fputs(",\n", trace);
    first = false;
    va_list list;
    va_start(list, format);
    vfprintf(trace, format, list);
    va_end(list);
}

void Watch::begin()
{
    from = m.clock.now;
    for (Core &c : m.cores) {
        State &s = states[c.id];
        s.last = from;
        s.asleep = c.n.hws_stall;
        enter(s, function(m.pc(c)), from);
    }
    for (Dma &d : m.dma)
        d.keep_finished = trace;
}

std::string Watch::name(int function) const { return function < 0 ? "?" : elf.name(function); }

void Watch::enter(State &s, int function, uint64_t t)
{
    auto [at, is_new] = nodes[size_t(s.node)].callees.try_emplace(function, int(nodes.size()));
    int child = at->second;
    if (is_new)
        nodes.push_back({function, s.node, 0, {}});
    s.node = child;
    s.entered.push_back(t);
}

void Watch::leave(Core &c, State &s, uint64_t t)
{
    if (trace)
        slice(c, s.entered.back(), t, name(nodes[size_t(s.node)].function).c_str(), "");
    s.entered.pop_back();
    s.node = nodes[size_t(s.node)].parent;
}

void Watch::slice(const Core &c, uint64_t since, uint64_t t, const char *name, const char *more)
{
    since = std::max(since, from);
    if (t > since)
        event(R"({"ph":"X","pid":%u,"tid":%u,"ts":%llu,"dur":%llu,"name":"%s"%s})", c.cluster, c.local, (ull)since,
              (ull)(t - since), name, more);
}

int Watch::function(uint32_t pc)
{
    auto [at, is_new] = functions.try_emplace(pc, 0);
    if (is_new)
        at->second = elf.function(pc);
    return at->second;
}

void Watch::before(Core &c, uint64_t t)
{
    State &s = states[c.id];
    uint64_t gone = t - s.last;
    nodes[size_t(s.node)].cycles += gone;
    s.last = t;
    if (trace && c.n.hws_stall != s.asleep)
        slice(c, t - (c.n.hws_stall - s.asleep), t, "asleep", R"(,"cat":"hws")");
    s.asleep = c.n.hws_stall;
    if (trace && c.region != s.region) {
        if (s.region)
            event(R"({"ph":"e","pid":%u,"tid":%u,"id":%u,"ts":%llu,"cat":"region","name":"%s"})", c.cluster, c.local,
                  c.id, (ull)t, s.region_name.c_str());
        std::string text;
        for (uint32_t a = c.region; c.region && text.size() < 64; a++) {
            uint8_t *p = m.at(a, 1, c.cluster);
            if (!p || !*p)
                break;
            text += *p < 32 || *p > 126 || *p == '"' || *p == '\\' ? '?' : char(*p);
        }
        if (c.region)
            event(R"({"ph":"b","pid":%u,"tid":%u,"id":%u,"ts":%llu,"cat":"region","name":"%s"})", c.cluster, c.local,
                  c.id, (ull)t, text.c_str());
        s.region = c.region;
        s.region_name = text;
    }
    int here = function(m.pc(c));
    if (s.jump == State::call) {
        enter(s, here, t);
    } else if (nodes[size_t(s.node)].function != here) {
        // a return to a caller, however many frames up; else a jump to another function, which takes this one's place
        int up = s.node;
        while (up && nodes[size_t(up)].function != here)
            up = nodes[size_t(up)].parent;
        if (s.jump == State::back && up) {
            while (s.node != up)
                leave(c, s, t);
        } else {
            if (s.node)
                leave(c, s, t);
            enter(s, here, t);
        }
    } else if (s.jump == State::back && nodes[size_t(nodes[size_t(s.node)].parent)].function == here) {
        leave(c, s, t); // a recursive one
    }
    s.jump = State::none;
}

void Watch::after(Core &c, const Op &op, uint64_t)
{
    State &s = states[c.id];
    if (op.kind == Kind::jal || op.kind == Kind::jalr)
        s.jump = op.rd == 1 ? State::call : op.kind == Kind::jalr && op.rs1 == 1 ? State::back : State::none;
}

void Watch::end()
{
    for (Core &c : m.cores) {
        State &s = states[c.id];
        if (m.clock.now > s.last)
            nodes[size_t(s.node)].cycles += m.clock.now - s.last;
        if (trace && s.node && c.wait >= Wait::hws_signal && c.wait <= Wait::wfi)
            slice(c, c.since, m.clock.now, "asleep", R"(,"cat":"hws")");
        while (s.node)
            leave(c, s, std::max(m.clock.now, s.last));
    }
    for (size_t k = 0; trace && k < m.dma.size(); k++)
        for (const Dma::Transfer &t : m.dma[k].finished)
            event(R"({"ph":"X","pid":%zu,"tid":1000,"ts":%llu,"dur":%llu,"name":"%u bytes x %u",)"
                  R"("args":{"from":"0x%08x","to":"0x%08x"}})",
                  k, (ull)std::max(t.began, from), (ull)(t.ended - std::max(t.began, from)), t.bytes, t.rows, t.source,
                  t.destination);
    if (trace)
        fprintf(trace, "\n]}\n");
    for (size_t i = 1; profile && i < nodes.size(); i++) {
        if (!nodes[i].cycles)
            continue;
        std::string stack = name(nodes[i].function);
        for (int up = nodes[i].parent; up; up = nodes[size_t(up)].parent)
            stack = name(nodes[size_t(up)].function) + ";" + stack;
        fprintf(profile, "%s %llu\n", stack.c_str(), (ull)nodes[i].cycles);
    }
}

} // namespace mc
