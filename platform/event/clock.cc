#include "event/clock.h"
#include "base/text.h"
#include "core/stop.h"
#include <algorithm>

namespace mc
{

Clock::Clock(const Config &config)
    : wheel(unsigned(config.platform_clusters + 3) / 4), limit(config.run_limit), last(limit ? limit : ~uint64_t(0))
{
}

void Clock::events()
{
    for (Event *e = wheel.take(now), *next; e; e = next) {
        next = e->next;
        wheel.taken();
        if (e->when != now)
            wheel.add(*e, e->when); // a later round
        else
            e->agent->happen(*e);
    }
}

void Clock::resume(Core &c, uint64_t when, bool complete)
{
    c.wait = Wait::none;
    c.at = when;
    c.resumed = complete;
    c.event = !complete;
    c.entry = complete ? next_entry : again_entry;
    c.native = native_entry;
    if (!lock_step)
        wheel.add_core(c.cluster * 16u + c.local, when);
}

void Clock::deadlock()
{
    throw Fault{nullptr, "deadlock: every core waits, and nothing is under way that could wake one"};
}

void Clock::run_until(uint64_t cycle)
{
    uint64_t end = limit ? limit : ~uint64_t(0), then = last.load(std::memory_order_relaxed);
    while (then && !last.compare_exchange_weak(then, std::min(end, cycle - (cycle != ~uint64_t(0))),
                                               std::memory_order_relaxed)) {
    }
}

void Clock::too_long()
{
    uint64_t end = last.load(std::memory_order_relaxed);
    if (!end)
        throw Fault{nullptr, "interrupted"};
    if (!limit || end < limit)
        throw Paused{};
    now = limit + 1;
    throw Fault{nullptr, text("stopped after %llu cycles (run.limit)", (unsigned long long)limit)};
}

} // namespace mc
