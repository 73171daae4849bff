/* The switch between uths. It is inline, since it is most of what a yield costs. Included by uth.h only. */
#ifndef PS_UTH_SWITCH_H
#define PS_UTH_SWITCH_H

#include "check.h"
#include "sanitizers.h"
#include "uth_struct.h"

static inline bool uth_claim(struct uth *to)
{
    PS_ASSERT(ps_load_relaxed(&to->running) == 0);
    ps_store_relaxed(&to->running, 1);
    ps_fence_compiler(); /* a compiler barrier is enough: uth_visit makes the fence in all kernel threads */
    return PS_LIKELY(!ps_load_acquire(&to->visited));
}

static inline void *uth_switch_claimed(struct uth *from, struct uth *to, void *transfer, bool dying)
{
    san_leave(from, to, dying);
    return cpu_switch(&from->ctx, &to->ctx, transfer);
}

static inline void *uth_switch(struct uth *from, struct uth *to, void *transfer, bool dying)
{
    if (PS_UNLIKELY(!uth_claim(to)))
        uth_await_visitor(to);
    return uth_switch_claimed(from, to, transfer, dying);
}

static inline void uth_switched(struct uth *from, struct uth *self)
{
    san_arrived(from, self);
    ps_store_release(&from->running, 0);
}

static inline bool uth_saved_soon(struct uth *u)
{
    return PS_LIKELY(ps_load_acquire(&u->running_or_visited) == 0) || uth_saved_soon_slow(u);
}

#endif
