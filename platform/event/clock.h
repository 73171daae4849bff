// The cycle, what happens in it and in later ones, and how far the run goes.
#pragma once
#include "base/config.h"
#include "core/core.h"
#include "event/wheel.h"
#include <atomic>

namespace mc
{

class Clock
{
  public:
    explicit Clock(const Config &config);
    Clock(const Clock &) = delete;

    uint64_t now = 1; // (a bank's stamp of cycle 0 is "never")
    Wheel wheel;
    bool lock_step = false; // this kernel finds cores by their Core::at, and not in the wheel
    // Of the run-ahead kernel: where a core goes on that has waited (Core::entry), behind the instruction under way or
    // with the same once more; and the translator's stub that goes on there (Core::native).
    const void *next_entry = nullptr, *again_entry = nullptr, *native_entry = nullptr;

    void schedule(Event &e, Agent &agent, uint64_t when)
    {
        e.agent = &agent;
        wheel.add(e, when);
    }
    void events(); // those of this cycle
    // The core goes on in cycle `when` (later than now): with the instruction after the one under way (complete), or
    // with the same once more.
    void resume(Core &c, uint64_t when, bool complete);

    void run_until(uint64_t cycle); // the kernel returns in the first cycle from `cycle` (2 or more) on; ~0: never
    void check_limit()              // ends the run, or pauses it, after its last cycle
    {
        if (__builtin_expect(now > last.load(std::memory_order_relaxed), 0))
            too_long();
    }
    void interrupt() { last.store(0, std::memory_order_relaxed); } // ends the run; may be called by a signal's handler
    bool interrupted() const { return last.load(std::memory_order_relaxed) == 0; }
    [[noreturn]] void deadlock();
    // The cycle from which on a core that runs without events stops at the next checkpoint (run_ahead.cc).
    static uint64_t bound_after(uint64_t cycle) { return (cycle / 512 + 1) * 512; }

  private:
    const uint64_t limit;
    std::atomic<uint64_t> last; // the last cycle (run_until(), run.limit); 0: an interrupt ends the run
    [[noreturn]] void too_long();
};

} // namespace mc
