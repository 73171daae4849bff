#include "kernel/watched.h"

namespace mc
{

void run_watched(Machine &m, bool lock_step, Hooks *hooks, Window window)
{
    constexpr uint64_t never = ~uint64_t(0);
    auto run = [&](uint64_t until, bool slow, Hooks *watching) {
        m.clock.run_until(until);
        if (slow)
            run_lock_step(m, watching);
        else
            run_ahead(m);
    };
    try {
        if (hooks) {
            // The run-ahead kernel executes instructions ahead of their cycle, by less than a round of the wheel.
            if (window.from > Wheel::kSlots + 1)
                run(window.from - Wheel::kSlots, lock_step, nullptr);
            if (window.from > 1)
                run(window.from, true, nullptr);
            hooks->begin();
            run(window.to == never ? never : window.to + 1, true, hooks);
            hooks->end();
            hooks = nullptr;
        }
        run(never, lock_step, nullptr);
    } catch (...) {
        if (hooks)
            hooks->end();
        throw;
    }
}

} // namespace mc
