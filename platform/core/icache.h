// The cores' instruction caches: which lines are there. (Their bytes are those of the memory: code does not change.)
//
// Lines are numbered over all memory. A set's tags stand in the order of use, the last one first. The kernels compare
// that one themselves, and call cached() if it is another line. What else there is depends on icache.ways: nothing
// (direct-mapped), or the other ways (set-associative).
#pragma once
#include "base/config.h"
#include "core/core.h"
#include <vector>

namespace mc
{

class Icache
{
  public:
    Icache(const Config &config, std::vector<Core> &cores);
    Icache(const Icache &) = delete;

    const unsigned line_shift, way_shift, set_mask;

    // Is the line there? Makes it the most recent one.
    bool cached(Core &c, uint32_t line) const
    {
        uint32_t *t = set(c, line);
        return t[0] == line || (way_shift && in_another_way(t, line));
    }
    void fill(Core &c, uint32_t line) const; // it is the most recent one; the least recent one goes
    template <class A> void archive(A &a) { a(tags); }
    void empty(Core &c) const;

  private:
    std::vector<uint32_t> tags;
    uint32_t *set(Core &c, uint32_t line) const { return &c.tags[(line & set_mask) << way_shift]; }
    bool in_another_way(uint32_t *tags_of_set, uint32_t line) const;
};

} // namespace mc
