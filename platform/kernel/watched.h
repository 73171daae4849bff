// A run of which some cycles are watched. They run in the lock-step kernel, which knows of each instruction when it
// begins and ends; all others run in the kernel that the user chose, at its speed. The counters are the same.
#pragma once
#include "kernel/machine.h"

namespace mc
{

struct Window { // cycles, as a program reads them (mc_cycles); they begin with 1
    uint64_t from = 1, to = ~uint64_t(0);
};

// Several that watch, as one.
struct Watchers : Hooks {
    std::vector<Hooks *> all;
    void begin() override
    {
        for (Hooks *h : all)
            h->begin();
    }
    void end() override
    {
        for (Hooks *h : all)
            h->end();
    }
    void before(Core &c, uint64_t t) override
    {
        for (Hooks *h : all)
            h->before(c, t);
    }
    void after(Core &c, const Op &op, uint64_t t) override
    {
        for (Hooks *h : all)
            h->after(c, op, t);
    }
};

// Runs up to a cycle, as Clock::run_until() has it. `hooks` are those of the lock-step kernel; null: none.
void run_until(Machine &m, bool lock_step, Hooks *hooks, uint64_t cycle);
// Runs to the program's end, which comes as an exception. `hooks` may be null: nothing is watched.
void run_watched(Machine &m, bool lock_step, Hooks *hooks, Window window);

} // namespace mc
