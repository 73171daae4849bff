#include "trace/log.h"
#include "base/text.h"

namespace mc
{

void Log::begin()
{
    // The access of a core that waits has begun already; of one that waits for code, nothing has.
    for (const Core &c : m.cores)
        if (c.resumed || (c.wait != Wait::none && c.wait != Wait::refill))
            states[c.id] = {c.since, m.pc(c), true};
}

void Log::before(Core &c, uint64_t t)
{
    State &s = states[c.id];
    if (!s.under_way) // else it has found its bank taken, or the DMA's queue full
        s = {t, m.pc(c), true};
}

void Log::after(Core &c, const Op &op, uint64_t t)
{
    State &s = states[c.id];
    line(c, op, text("%llu", (unsigned long long)(t - s.began)).c_str(), true);
    s.under_way = false;
}

void Log::end()
{
    for (const Core &c : m.cores)
        if (states[c.id].under_way)
            line(c, *c.op, "-", false);
}

void Log::line(const Core &c, const Op &op, const char *cycles, bool ended)
{
    const State &s = states[c.id];
    const Code &code = *m.code_of(s.pc);
    const uint8_t *b = code.bytes + (s.pc - code.low);
    std::string bytes =
        op.length == 2 ? text("%02x%02x%02x%02x", b[3], b[2], b[1], b[0]) : text("%02x%02x", b[1], b[0]);
    std::string to = ended ? written(op) : "";
    if (!to.empty())
        to += text("=0x%08x", to[0] == 'f' ? c.f[op.rd] : c.x[op.rd]);
    std::string line = text("%llu %s %u.%u %08x %-8s %-28s %s", (unsigned long long)s.began, cycles, c.cluster, c.local,
                            s.pc, bytes.c_str(), disassemble(op, s.pc).c_str(), to.c_str());
    line.erase(line.find_last_not_of(' ') + 1);
    fprintf(file, "%s\n", line.c_str());
}

} // namespace mc
