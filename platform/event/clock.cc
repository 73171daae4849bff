#include "event/clock.h"
#include "base/text.h"
#include "core/stop.h"

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

void Clock::too_long()
{
    if (interrupted())
        throw Fault{nullptr, "interrupted"};
    now = limit + 1;
    throw Fault{nullptr, text("stopped after %llu cycles (run.limit)", (unsigned long long)limit)};
}

} // namespace mc
