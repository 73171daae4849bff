// What happens when: a wheel of 1024 slots, one a cycle. A slot holds the cores (a mask) and the agents' events (a
// list) whose cycle it is.
//
// The order of a cycle's events is a function of the cycle alone (struct Turn), and is the same in both kernels.
// Events of agents come in the order in which they were scheduled, before or after all cores. Clusters, and the cores
// of a cluster, come in ascending order from a first one on. The first one is drawn by a hash of the cycle. With a
// turn that simply goes round, requests with a period of the round's divisors would starve some cores. (16 cores at a
// bank that each access keeps for 4 cycles: only every fourth core would ever be first.) Every event schedules others
// for later cycles only, so a cycle's events are known before its first one runs.
#pragma once
#include "event/event.h"
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace mc
{

struct Turn {
    uint32_t hash;
    explicit Turn(uint64_t cycle) : hash((uint32_t(cycle) * 0x9e3779b1u) ^ (uint32_t(cycle) * 0x85ebca6bu >> 15)) {}
    bool events_first() const { return hash >> 31; }
    unsigned first_core(unsigned n) const { return ((hash >> 8 & 0xffff) * n) >> 16; }
    unsigned first_cluster(unsigned n) const { return ((hash & 0xffff) * n) >> 16; }
};

class Wheel
{
  public:
    static constexpr unsigned kSlots = 1024;

    explicit Wheel(unsigned core_words)
        : words(core_words), cores_(size_t(kSlots) * core_words), heads(kSlots), tails(kSlots)
    {
    }

    void add_core(unsigned bit, uint64_t when)
    {
        unsigned slot = when % kSlots;
        cores_[size_t(slot) * words + bit / 64] |= uint64_t(1) << (bit % 64);
        occupied[slot] = 1;
    }
    // Takes all cores out. A slot is marked that has events of agents, and no other one.
    void clear_cores()
    {
        std::fill(cores_.begin(), cores_.end(), 0);
        for (unsigned i = 0; i < kSlots; i++)
            occupied[i] = heads[i] != nullptr;
    }
    uint64_t *cores(uint64_t cycle) { return &cores_[size_t(cycle % kSlots) * words]; }
    uint8_t *occupied_slots() { return occupied; }

    // An event for a later round of the wheel waits in its slot until its round comes.
    void add(Event &e, uint64_t when)
    {
        unsigned slot = when % kSlots;
        e.when = when;
        e.next = nullptr;
        if (heads[slot])
            tails[slot]->next = &e;
        else
            heads[slot] = &e;
        tails[slot] = &e;
        occupied[slot] = 1;
        events++;
    }
    bool any(uint64_t cycle) const { return heads[cycle % kSlots]; }
    // Takes the whole list of a slot.
    Event *take(uint64_t cycle)
    {
        Event *e = heads[cycle % kSlots];
        heads[cycle % kSlots] = nullptr;
        return e;
    }
    void taken() { events--; }
    // All events of agents; those of a slot in their order.
    void each(std::vector<Event *> &to) const
    {
        for (Event *first : heads)
            for (Event *e = first; e; e = e->next)
                to.push_back(e);
    }
    uint64_t pending() const { return events; }

    // The next cycle from `cycle` on with an occupied slot; the same cycle + kSlots where there is none. Clears the
    // marks that it passes over.
    uint64_t next(uint64_t cycle)
    {
        for (unsigned n = 0; n <= kSlots / 8; n++) {
            unsigned slot = cycle % kSlots;
            uint64_t eight;
            std::memcpy(&eight, &occupied[slot / 8 * 8], 8);
            eight >>= slot % 8 * 8;
            if (eight)
                return cycle + unsigned(std::countr_zero(eight)) / 8;
            cycle += 8 - slot % 8;
        }
        return cycle;
    }
    void clear_mark(uint64_t cycle) { occupied[cycle % kSlots] = 0; }
    const unsigned words;

  private:
    std::vector<uint64_t> cores_;
    alignas(8) uint8_t occupied[kSlots] = {}; // a byte a slot: a store marks it, nothing need be read
    std::vector<Event *> heads, tails;
    uint64_t events = 0;
};

} // namespace mc
