// What happens around the cores' events in each cycle of the run-ahead kernel: agents' events, and the order of the
// cores that are due. A part of run_ahead.cc: without a name in the namespace, the compiler knows all callers, and
// inlines the constructor there.
#pragma once
#include "kernel/machine.h"
#include "kernel/translate.h"
#include <algorithm>
#include <vector>

#define MC_UNLIKELY(e) __builtin_expect(!!(e), 0)

namespace mc
{
namespace
{

constexpr unsigned kRow = 33; // a cluster's cores twice, and Translator::last()

// These functions are no part of simulate(), whose variables fill the host's registers.
struct Cycles {
    Machine &m;
    Translator &native;
    Translator::State &outside;
    Wheel &wheel;
    const unsigned clusters, per;
    // The cores of each cluster, twice: in a cycle whose first core is not 0, those before it come behind the others.
    // And all clusters twice, for the same reason.
    std::vector<Core *> rows;
    std::vector<Translator::Due> list;
    bool events_last = false;

    Cycles(Machine &machine, Translator &translator)
        : m(machine), native(translator), outside(translator.state), wheel(machine.clock.wheel),
          clusters(unsigned(machine.config.platform_clusters)), per(unsigned(machine.config.platform_cores)),
          rows(size_t(clusters) * 2 * kRow, translator.last()), list(clusters + 2)
    {
        for (Core &c : m.cores)
            for (size_t row : {c.cluster * kRow, (clusters + c.cluster) * kRow})
                rows[row + c.local] = rows[row + 16 + c.local] = &c;
    }

    // Takes a slot's cores: the clusters that have some, in this cycle's order, and an end. False: there are none.
    // Bits 0 to 15 of a cluster's mask: its cores from the cycle's first one on; 16 to 31: those before it; 32: set.
    bool take(uint64_t now, Turn turn)
    {
        uint64_t *words = wheel.cores(now);
        const unsigned rotate = turn.first_core(per), first = turn.first_cluster(clusters), in = first / 4;
        Translator::Due *to = list.data();
        // The clusters from `k` on of a word of the wheel; nothing is guessed, since it is hardly predictable which
        // cores are due.
        const uint64_t front = 0x0001000100010001u * (0xffffu << rotate & 0xffffu);
        auto some = [&](uint64_t w, unsigned k, unsigned end) {
            uint64_t high = w & front, low = w & ~front;
            for (Core *const *row = &rows[size_t(k) * kRow]; k < end; k++, row += kRow) {
                unsigned shift = k % 4 * 16;
                uint64_t cores = (high >> shift & 0xffff) | (low >> shift & 0xffff) << 16;
                *to = {cores | uint64_t(1) << 32, row};
                to += cores != 0;
            }
        };
        if (wheel.words == 1) {
            uint64_t w = words[0];
            if (!w)
                return false;
            words[0] = 0;
            if (clusters == 4) { // the default: the word turns, and the loop is unrolled
                uint64_t high = std::rotr(w & front, int(first * 16)), low = std::rotr(w & ~front, int(first * 16));
                Core *const *row = &rows[size_t(first) * kRow];
                for (unsigned i = 0; i < 4; i++, row += kRow, high >>= 16, low >>= 16) {
                    uint64_t cores = (high & 0xffff) | (low & 0xffff) << 16;
                    *to = {cores | uint64_t(1) << 32, row};
                    to += cores != 0;
                }
            } else {
                some(w, first, clusters);
                some(w, 0, first);
            }
        } else {
            auto all = [&](unsigned word, unsigned from, unsigned end) {
                if (words[word])
                    some(words[word], word * 4 + from, std::min(word * 4 + end, clusters));
            };
            all(in, first % 4, 4);
            for (unsigned i = in + 1; i < wheel.words; i++)
                all(i, 0, 4);
            for (unsigned i = 0; i < in; i++)
                all(i, 0, 4);
            all(in, 0, first % 4);
            if (to == list.data())
                return false;
            std::fill(words, words + wheel.words, 0);
        }
        *to = {0, nullptr};
        outside.now = now;
        outside.stamp = now << 20;
        outside.bound = Clock::bound_after(now);
        outside.list = list.data();
        outside.row = list[0].row;
        outside.due = list[0].cores;
        return true;
    }

    // The next cycle in which something happens, up to its cores' events. False: it has none.
    bool begin()
    {
        uint64_t now = wheel.next(m.clock.now);
        if (MC_UNLIKELY(now >= m.clock.now + Wheel::kSlots))
            m.clock.deadlock();
        m.clock.now = now;
        m.clock.check_limit();
        wheel.clear_mark(now);
        const Turn turn(now);
        events_last = false;
        if (wheel.any(now)) {
            events_last = !turn.events_first();
            if (!events_last)
                m.clock.events();
        }
        return take(now, turn);
    }
    void end()
    {
        if (events_last)
            m.clock.events();
        m.clock.now++;
    }
    // Cycles in translated code, until that is left.
    Translator::Leave translated()
    {
        for (;; end()) {
            if (!begin())
                continue;
            Translator::Leave why = native.run(native.next(), nullptr);
            if (why != Translator::Leave::empty)
                return why;
        }
    }
};

} // namespace

} // namespace mc
