#include "core/icache.h"
#include <algorithm>
#include <bit>

namespace mc
{

Icache::Icache(const Config &config, std::vector<Core> &cores)
    : line_shift(unsigned(std::countr_zero(config.icache_line))),
      way_shift(unsigned(std::countr_zero(config.icache_ways))),
      set_mask(unsigned(config.icache_size / config.icache_line / config.icache_ways) - 1),
      tags(((set_mask + 1) << way_shift) * cores.size(), ~0u)
{
    for (Core &c : cores)
        c.tags = &tags[size_t((set_mask + 1) << way_shift) * c.id];
}

bool Icache::in_another_way(uint32_t *t, uint32_t line) const
{
    uint32_t *end = t + (1u << way_shift), *at = std::find(t + 1, end, line);
    if (at == end)
        return false;
    std::rotate(t, at, at + 1);
    return true;
}

void Icache::fill(Core &c, uint32_t line) const
{
    uint32_t *t = set(c, line), *end = t + (1u << way_shift);
    std::copy_backward(t, end - 1, end);
    t[0] = line;
}

void Icache::empty(Core &c) const { std::fill(c.tags, c.tags + ((set_mask + 1) << way_shift), ~0u); }

} // namespace mc
