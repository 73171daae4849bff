#include "kernel/watched.h"
#include "core/float.h"

namespace mc
{

void run_until(Machine &m, bool lock_step, Hooks *hooks, uint64_t cycle)
{
    m.clock.run_until(cycle);
    fp::host_clear();
    if (lock_step)
        run_lock_step(m, hooks);
    else
        run_ahead(m);
}

void run_watched(Machine &m, bool lock_step, Hooks *hooks, Window window)
{
    constexpr uint64_t never = ~uint64_t(0);
    try {
        if (hooks) {
            // The run-ahead kernel executes instructions ahead of their cycle, by less than a round of the wheel.
            if (window.from > Wheel::kSlots + 1)
                run_until(m, lock_step, nullptr, window.from - Wheel::kSlots);
            if (window.from > 1)
                run_until(m, true, nullptr, window.from);
            hooks->begin();
            run_until(m, true, hooks, window.to == never ? never : window.to + 1);
            hooks->end();
            hooks = nullptr;
        }
        run_until(m, lock_step, nullptr, never);
    } catch (...) {
        if (hooks)
            hooks->end();
        throw;
    }
}

} // namespace mc
