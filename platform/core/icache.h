// The cores' instruction caches: which lines are there. (Their bytes are those of the memory: code does not change.)
//
// Lines are numbered over all memory. A set's first tag is the line that was used last. The kernels compare it
// themselves, and call cached() if it is another one.
#pragma once
#include "base/config.h"
#include "core/core.h"
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace mc
{

class Icache
{
  public:
    Icache(const Config &config, std::vector<Core> &cores)
        : line_shift(unsigned(std::countr_zero(config.icache_line))), way_shift(unsigned(config.icache_ways - 1)),
          set_mask(unsigned(config.icache_size / config.icache_line / config.icache_ways) - 1),
          tags(((set_mask + 1) << way_shift) * cores.size(), ~0u)
    {
        for (Core &c : cores)
            c.tags = &tags[size_t((set_mask + 1) << way_shift) * c.id];
    }
    Icache(const Icache &) = delete;

    const unsigned line_shift, way_shift, set_mask;

    // Is the line there? Makes it the most recent one.
    bool cached(Core &c, uint32_t line) const
    {
        uint32_t *t = set(c, line);
        if (t[0] == line)
            return true;
        if (way_shift && t[1] == line) {
            std::swap(t[0], t[1]);
            return true;
        }
        return false;
    }
    void fill(Core &c, uint32_t line) const
    {
        uint32_t *t = set(c, line);
        if (way_shift)
            t[1] = t[0];
        t[0] = line;
    }
    void empty(Core &c) const { std::fill(c.tags, c.tags + ((set_mask + 1) << way_shift), ~0u); }

  private:
    std::vector<uint32_t> tags;
    uint32_t *set(Core &c, uint32_t line) const { return &c.tags[(line & set_mask) << way_shift]; }
};

} // namespace mc
