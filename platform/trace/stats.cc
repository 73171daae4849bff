#include "trace/stats.h"
#include "base/text.h"
#include "kernel/machine.h"

namespace mc
{
namespace
{

using ull = unsigned long long;

// Cycles of a core up to the run's end: its own time, or the end where it waits.
ull cycles(const Machine &m, const Core &c) { return c.wait == Wait::none ? c.at - 1 : m.clock.now - 1; }

// Since when it waits, if it does: not yet in any counter.
ull waiting(const Machine &m, const Core &c) { return c.wait == Wait::none ? 0 : m.clock.now - c.since; }

void row(FILE *to, const std::string &name, ull cycles, const Counters &n, const Config &f, ull asleep)
{
    ull branch = n.taken * f.core_branch + n.jumps * f.core_jump;
    fprintf(to, "%-7s %12llu %12llu %6.3f %9llu %10llu %10llu %9llu %9llu %9llu %9llu %10llu %8llu\n", name.c_str(),
            cycles, (ull)n.instructions, cycles ? double(n.instructions) / double(cycles) : 0.0, (ull)n.load_use,
            branch, (ull)(n.long_ops + n.float_ops), (ull)n.tcdm, (ull)n.conflicts, (ull)n.remote_stall,
            (ull)n.miss_stall, (ull)n.hws_stall + asleep, (ull)n.dma_stall);
}

} // namespace

void print_stats(const Machine &m, double seconds, FILE *to)
{
    fprintf(to, "%-7s %12s %12s %6s %9s %10s %10s %9s %9s %9s %9s %10s %8s\n", "core", "cycles", "instrs", "IPC",
            "load-use", "branches", "mul/div/fp", "TCDM", "conflicts", "remote", "icache", "asleep", "DMA full");
    Counters sum;
    ull all = 0, asleep = 0;
    for (const Core &c : m.cores) {
        bool sleeps = c.wait >= Wait::hws_signal && c.wait <= Wait::wfi;
        ull s = sleeps ? waiting(m, c) : 0;
        row(to, text("%u.%u", c.cluster, c.local), cycles(m, c), c.n, m.config, s);
        all += cycles(m, c);
        asleep += s;
#define X(name, text) sum.name += c.n.name;
        MC_COUNTERS(X)
#undef X
    }
    row(to, "all", all, sum, m.config, asleep);
    ull signals = 0, words = 0, gathers = 0, transfers = 0, bytes = 0, busy = 0;
    for (size_t k = 0; k < m.hws.size(); k++) {
        signals += m.hws[k].signals;
        words += m.hws[k].words;
        gathers += m.hws[k].gathers;
        transfers += m.dma[k].transfers;
        bytes += m.dma[k].bytes;
        busy += m.dma[k].busy;
    }
    fprintf(to,
            "\nrun: %llu cycles; icache: %llu lines; HWS: %llu signals, %llu words, %llu gathers; DMA: %llu transfers, "
            "%llu bytes, %llu cycles busy\n",
            (ull)m.clock.now - 1, (ull)sum.misses, signals, words, gathers, transfers, bytes, busy);
    fprintf(to,
            "NoC: %llu packets, %llu flits, %llu cycles before taken ports and links; %llu bank conflicts of ports and "
            "DMA\n",
            (ull)m.traffic.noc->sent_packets, (ull)m.traffic.noc->sent_flits, (ull)m.traffic.noc->waited,
            (ull)m.traffic.port_conflicts);
    fprintf(to, "accesses over the NoC by cycles:");
    for (int i = 1; i < 16; i++)
        if (m.bus.histogram[i])
            fprintf(to, "  %d-%d: %llu", 1 << (i - 1), (1 << i) - 1, (ull)m.bus.histogram[i]);
    fprintf(to, "\nhost: %.3f s of one processor, %.1f M instructions a second\n", seconds,
            seconds > 0 ? double(sum.instructions) / seconds / 1e6 : 0.0);
}

// As JSON has it.
static void print_text(const std::string &s, FILE *to)
{
    fputc('"', to);
    for (unsigned char c : s)
        if (c == '"' || c == '\\' || c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    fputc('"', to);
}

void print_json(const Machine &m, const std::vector<std::string> &program, FILE *to)
{
    fputs("{\"program\": [", to);
    for (size_t i = 0; i < program.size(); i++) {
        fputs(i ? ", " : "", to);
        print_text(program[i], to);
    }
    fputs("],\n \"parameters\": {", to);
    const char *comma = "";
    m.config.each([&](const std::string &name, uint64_t value) {
        fprintf(to, "%s\"%s\": %llu", comma, name.c_str(), (ull)value);
        comma = ", ";
    });
    fprintf(
        to,
        "},\n \"cycles\": %llu, \"flits\": %llu, \"packets\": %llu, \"noc_waited\": %llu, \"port_conflicts\": %llu,\n "
        "\"histogram\": [",
        (ull)m.clock.now - 1, (ull)m.traffic.noc->sent_flits, (ull)m.traffic.noc->sent_packets,
        (ull)m.traffic.noc->waited, (ull)m.traffic.port_conflicts);
    for (int i = 0; i < 16; i++)
        fprintf(to, "%s%llu", i ? ", " : "", (ull)m.bus.histogram[i]);
    fprintf(to, "],\n \"clusters\": [");
    for (size_t k = 0; k < m.hws.size(); k++)
        fprintf(to,
                "%s{\"signals\": %llu, \"words\": %llu, \"gathers\": %llu, \"transfers\": %llu, \"bytes\": %llu, "
                "\"busy\": %llu}",
                k ? ",\n  " : "", (ull)m.hws[k].signals, (ull)m.hws[k].words, (ull)m.hws[k].gathers,
                (ull)m.dma[k].transfers, (ull)m.dma[k].bytes, (ull)m.dma[k].busy);
    fprintf(to, "],\n \"cores\": [");
    for (const Core &c : m.cores) {
        fprintf(to, "%s{\"cycles\": %llu, \"waiting\": %llu", c.id ? ",\n  " : "", cycles(m, c), waiting(m, c));
#define X(name, text) fprintf(to, ", \"" #name "\": %llu", (ull)c.n.name);
        MC_COUNTERS(X)
#undef X
        uint64_t h = 14695981039346656037ull;
        for (int i = 1; i < 32; i++)
            h = (h ^ c.x[i]) * 1099511628211ull;
        for (uint32_t v : c.f)
            h = (h ^ v) * 1099511628211ull;
        fprintf(to, ", \"registers\": \"%016llx\"}", (ull)h);
    }
    uint64_t h = 14695981039346656037ull;
    for (auto &t : m.memory.tcdm)
        for (size_t i = 0; i < m.config.tcdm_size; i += 8) {
            uint64_t v;
            std::memcpy(&v, t.get() + i, 8);
            h = (h ^ v) * 1099511628211ull;
        }
    fprintf(to, "],\n \"tcdm\": \"%016llx\"}\n", (ull)h);
}

} // namespace mc
