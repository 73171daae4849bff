#include "trace/stats.h"
#include "base/text.h"
#include "kernel/machine.h"

namespace mc
{
namespace
{

using ull = unsigned long long;

// The counters of `n`, and the cycles since `c` began to wait, which are in none yet.
Counters with_wait(const Machine &m, const Core &c, Counters n)
{
    uint64_t waits = m.clock.now - c.since;
    switch (c.wait) {
    case Wait::memory:
    case Wait::stores:
        n.remote_stall += waits;
        break;
    case Wait::refill:
        n.miss_stall += waits;
        break;
    case Wait::dma_queue:
        n.dma_stall += waits;
        break;
    case Wait::hws_signal:
    case Wait::hws_word:
    case Wait::hws_any:
    case Wait::wfi:
        n.hws_stall += waits;
        break;
    default:
        break;
    }
    return n;
}

void row(FILE *to, const std::string &name, ull cycles, const Counters &n, const Config &f)
{
    ull branch = n.taken * f.core_branch + n.jumps * f.core_jump;
    fprintf(to, "%-7s %12llu %12llu %6.3f %9llu %10llu %10llu %9llu %9llu %9llu %9llu %10llu %8llu\n", name.c_str(),
            cycles, (ull)n.instructions, cycles ? double(n.instructions) / double(cycles) : 0.0, (ull)n.load_use,
            branch, (ull)(n.long_ops + n.float_ops), (ull)n.tcdm, (ull)n.conflicts, (ull)n.remote_stall,
            (ull)n.miss_stall, (ull)n.hws_stall, (ull)n.dma_stall);
}

void table(const Machine &m, const Counts &counts, FILE *to)
{
    fprintf(to, "%-7s %12s %12s %6s %9s %10s %10s %9s %9s %9s %9s %10s %8s\n", "core", "cycles", "instrs", "IPC",
            "load-use", "branches", "mul/div/fp", "TCDM", "conflicts", "remote", "icache", "asleep", "DMA full");
    Counts::OfCore sum;
    for (const Core &c : m.cores) {
        const Counts::OfCore &of = counts.cores[c.id];
        row(to, text("%u.%u", c.cluster, c.local), of.cycles, of.n, m.config);
        sum.cycles += of.cycles;
#define X(name, text) sum.n.name += of.n.name;
        MC_COUNTERS(X)
#undef X
    }
    row(to, "all", sum.cycles, sum.n, m.config);
    Counts::Cluster all;
    for (const Counts::Cluster &k : counts.clusters)
        all = {all.signals + k.signals,     all.words + k.words, all.gathers + k.gathers,
               all.transfers + k.transfers, all.bytes + k.bytes, all.busy + k.busy};
    fprintf(to,
            "\nrun: %llu cycles; icache: %llu lines; HWS: %llu signals, %llu words, %llu gathers; DMA: %llu transfers, "
            "%llu bytes, %llu cycles busy\n",
            (ull)counts.cycles, (ull)sum.n.misses, (ull)all.signals, (ull)all.words, (ull)all.gathers,
            (ull)all.transfers, (ull)all.bytes, (ull)all.busy);
    fprintf(to,
            "NoC: %llu packets, %llu flits, %llu cycles before taken ports and links; %llu bank conflicts of ports and "
            "DMA\n",
            (ull)counts.packets, (ull)counts.flits, (ull)counts.noc_waited, (ull)counts.port_conflicts);
    fprintf(to, "accesses over the NoC by cycles:");
    for (int i = 1; i < 16; i++)
        if (counts.histogram[i])
            fprintf(to, "  %d-%d: %llu", 1 << (i - 1), (1 << i) - 1, (ull)counts.histogram[i]);
    fputc('\n', to);
}

// As JSON has it.
void print_text(const std::string &s, FILE *to)
{
    fputc('"', to);
    for (unsigned char c : s)
        if (c == '"' || c == '\\' || c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    fputc('"', to);
}

// The members of a JSON object.
void members(const Counts &counts, FILE *to)
{
    fprintf(to,
            "\"cycles\": %llu, \"flits\": %llu, \"packets\": %llu, \"noc_waited\": %llu, \"port_conflicts\": %llu,\n "
            "\"histogram\": [",
            (ull)counts.cycles, (ull)counts.flits, (ull)counts.packets, (ull)counts.noc_waited,
            (ull)counts.port_conflicts);
    const char *comma = "";
    for (uint64_t n : counts.histogram) {
        fprintf(to, "%s%llu", comma, (ull)n);
        comma = ", ";
    }
    fprintf(to, "],\n \"clusters\": [");
    comma = "";
    for (const Counts::Cluster &k : counts.clusters) {
        fprintf(to,
                "%s{\"signals\": %llu, \"words\": %llu, \"gathers\": %llu, \"transfers\": %llu, \"bytes\": %llu, "
                "\"busy\": %llu}",
                comma, (ull)k.signals, (ull)k.words, (ull)k.gathers, (ull)k.transfers, (ull)k.bytes, (ull)k.busy);
        comma = ",\n  ";
    }
    fprintf(to, "],\n \"cores\": [");
    comma = "";
    for (const Counts::OfCore &c : counts.cores) {
        fprintf(to, "%s{\"cycles\": %llu", comma, (ull)c.cycles);
#define X(name, text) fprintf(to, ", \"" #name "\": %llu", (ull)c.n.name);
        MC_COUNTERS(X)
#undef X
        fputc('}', to);
        comma = ",\n  ";
    }
    fputc(']', to);
}

} // namespace

Counts::Counts(const Machine &m)
    : cycles(m.clock.now - 1), flits(m.traffic.noc->sent_flits), packets(m.traffic.noc->sent_packets),
      noc_waited(m.traffic.noc->waited), port_conflicts(m.traffic.port_conflicts)
{
    std::copy(std::begin(m.bus.histogram), std::end(m.bus.histogram), histogram);
    for (size_t k = 0; k < m.hws.size(); k++)
        clusters.push_back(
            {m.hws[k].signals, m.hws[k].words, m.hws[k].gathers, m.dma[k].transfers, m.dma[k].bytes, m.dma[k].busy});
    for (const Core &c : m.cores) // up to its own time, or to now where it waits
        cores.push_back({c.wait == Wait::none ? c.at - 1 : m.clock.now - 1, with_wait(m, c, c.n)});
}

void Counts::add(const Counts &to, const Counts &from)
{
    auto more = [](uint64_t &n, uint64_t after, uint64_t before) { n += after - before; };
    more(cycles, to.cycles, from.cycles);
    more(flits, to.flits, from.flits);
    more(packets, to.packets, from.packets);
    more(noc_waited, to.noc_waited, from.noc_waited);
    more(port_conflicts, to.port_conflicts, from.port_conflicts);
    for (size_t i = 0; i < std::size(histogram); i++)
        more(histogram[i], to.histogram[i], from.histogram[i]);
    clusters.resize(to.clusters.size());
    for (size_t i = 0; i < clusters.size(); i++)
        for (uint64_t Cluster::*n : {&Cluster::signals, &Cluster::words, &Cluster::gathers, &Cluster::transfers,
                                     &Cluster::bytes, &Cluster::busy})
            more(clusters[i].*n, to.clusters[i].*n, from.clusters[i].*n);
    cores.resize(to.cores.size());
    for (size_t i = 0; i < cores.size(); i++) {
        more(cores[i].cycles, to.cores[i].cycles, from.cores[i].cycles);
#define X(name, text) more(cores[i].n.name, to.cores[i].n.name, from.cores[i].n.name);
        MC_COUNTERS(X)
#undef X
    }
}

Regions::Regions(Machine &machine) : m(machine)
{
    m.bus.mark = [this](Core &c, uint32_t word) { mark(c, word); };
}

void Regions::mark(Core &c, uint32_t word)
{
    enum { begins = 1, ends, reset };
    unsigned number = word >> 2, command = word & 3;
    if (!command)
        fault(c, text("statistics: 0x%x in CSR 0x7c2 says nothing to do", word));
    if (number > 63)
        fault(c, text("statistics: region %u does not exist (0 to 63)", number));
    auto found = regions.find(number);
    bool open = found != regions.end() && found->second.open;
    if (command != reset && open == (command == begins))
        fault(c, text("statistics: region %u %s", number,
                      open ? "begins again before its end" : "ends, but has not begun"));
    Region &r = regions[number];
    Counts now(m);
    if (command == begins) {
        r.times++;
        r.began = now;
    } else if (command == ends) {
        r.counts.add(now, r.began);
    } else if (r.open) {
        r = {{}, now, 1, true};
    } else {
        regions.erase(number);
        return;
    }
    r.open = command != ends;
}

void Regions::end()
{
    for (auto &[number, r] : regions)
        if (r.open)
            r.counts.add(Counts(m), r.began);
}

void print_stats(const Machine &m, const Regions &regions, double seconds, FILE *to)
{
    for (auto &[number, r] : regions.all()) {
        fprintf(to, "region %u, begun %llu time%s\n", number, (ull)r.times, r.times == 1 ? "" : "s");
        table(m, r.counts, to);
        fputc('\n', to);
    }
    if (regions.all().empty())
        table(m, Counts(m), to);
    ull instructions = 0;
    for (const Core &c : m.cores)
        instructions += c.n.instructions;
    fprintf(to, "host: %.3f s of one processor, %.1f M instructions a second\n", seconds,
            seconds > 0 ? double(instructions) / seconds / 1e6 : 0.0);
}

void print_json(const Machine &m, const Regions &regions, const std::vector<std::string> &program, FILE *to)
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
    fputs("},\n ", to);
    if (regions.all().empty()) {
        members(Counts(m), to);
    } else {
        fputs("\"regions\": [", to);
        comma = "";
        for (auto &[number, r] : regions.all()) {
            fprintf(to, "%s{\"number\": %u, \"times\": %llu, ", comma, number, (ull)r.times);
            members(r.counts, to);
            fputc('}', to);
            comma = ",\n ";
        }
        fputc(']', to);
    }
    fputs(",\n \"registers\": [", to);
    for (const Core &c : m.cores) {
        uint64_t h = 14695981039346656037ull;
        for (int i = 1; i < 32; i++)
            h = (h ^ c.x[i]) * 1099511628211ull;
        for (uint32_t v : c.f)
            h = (h ^ v) * 1099511628211ull;
        fprintf(to, "%s\"%016llx\"", c.id ? ", " : "", (ull)h);
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
