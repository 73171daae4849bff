#include "kernel/machine.h"
#include <cstring>

namespace mc
{
namespace
{

// The cores, each in its place: cluster after cluster.
std::vector<Core> numbered(const Config &config)
{
    std::vector<Core> cores(config.all_cores());
    for (unsigned i = 0; i < cores.size(); i++) {
        cores[i].id = uint16_t(i);
        cores[i].cluster = uint16_t(i / config.platform_cores);
        cores[i].local = uint16_t(i % config.platform_cores);
    }
    return cores;
}

} // namespace

Machine::Machine(const Config &given)
    : config(given), cores(numbered(config)), clock(config), icache(config, cores), codes(config, icache.line_shift),
      memory(config, clock, cores), traffic(config, clock, memory),
      bus(config, clock, cores, icache, codes, memory, traffic, hws, dma),
      hws_shared{config, clock, *traffic.noc, cores, hws}, dma_shared{config, clock, codes, memory, traffic, cores}
{
    for (unsigned k = 0; k < config.platform_clusters; k++) {
        hws.emplace_back(hws_shared, k);
        dma.emplace_back(dma_shared, hws[k], k);
    }
    for (Core &c : cores) {
        unsigned bit = c.cluster * 16u + c.local;
        c.column = clock.wheel.cores(0) + bit / 64;
        c.bit = uint64_t(1) << (bit % 64);
    }
}

bool Machine::put_arguments(const std::vector<std::string> &list)
{
    size_t bytes = 4 * (list.size() + 1);
    for (const std::string &s : list)
        bytes += s.size() + 1;
    bytes = (bytes + 15) & ~size_t(15);
    if (bytes > 65536)
        return false;
    boot_argc = uint32_t(list.size());
    boot_argv = uint32_t(map::kMain + config.memory_size - bytes);
    uint8_t *p = memory.at(boot_argv, uint32_t(bytes), 0);
    uint32_t text_at = boot_argv + 4 * (boot_argc + 1);
    for (size_t i = 0; i < list.size(); i++) {
        std::memcpy(p + 4 * i, &text_at, 4);
        std::memcpy(p + (text_at - boot_argv), list[i].c_str(), list[i].size() + 1);
        text_at += uint32_t(list[i].size() + 1);
        arguments += (i ? " " : "") + list[i];
    }
    return true;
}

void Machine::prepare_code()
{
    codes.begin();
    for (Code &c : codes.all) {
        c.bytes = memory.at(c.low, c.size, 0);
        if (!c.bytes) // the last bytes of the memory: no whole 64 KB
            c.bytes = memory.at(c.low, 2, 0);
    }
}

void Machine::start(uint32_t entry)
{
    for (Core &c : cores) {
        c.code = codes.of(entry);
        c.op = &c.code->ops[(entry - c.code->low) / 2];
        c.x[10] = boot_argc;
        c.x[11] = boot_argv;
        c.at = clock.now;
    }
}

} // namespace mc
