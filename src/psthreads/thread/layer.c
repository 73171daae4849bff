/* The table ps_layer, by which other libraries' layers use threads: see layer.h. */
#include "layer.h"

#include "current.h"
#include "dedicated.h"
#include "scheduler.h"
#include "thread.h"
#include "vp.h"

static void *self_for_layer(void)
{
    struct psthread *t = ps_current();
    return t && !(t->flags & PS_T_NOSTACK) ? t : NULL;
}

static unsigned number_of_vp(void)
{
    struct vp *vp = ps_vp_now();
    return vp ? vp_run(vp)->id : PS_LAYER_NO_VP;
}

static void wait(void *thread, const volatile void *object)
{
    PS_WATCHED(wait__begin, PS_WATCH_WAIT_BEGIN, number_of_vp(), (uintptr_t)thread);
    ps_block(thread, PS_WAIT_OUTSIDE, object);
    PS_WATCHED(wait__end, PS_WATCH_WAIT_END, number_of_vp(), (uintptr_t)thread);
}

static void ready_for_layer(void *thread) { ps_ready(thread, PS_BACK); }

static bool has_others(void) { return !ps_spin_useful(); }

static void poll_by(bool (*poll)(void)) { ps_store_release(&ps_layer_poll, poll); }

_Atomic(void (*)(const void *code)) ps_layer_object;
static void objects_by(void (*fn)(const void *code)) { ps_store_release(&ps_layer_object, fn); }

_Atomic(ps_watch_fn) ps_watch;
static void watch_by(ps_watch_fn fn) { ps_store_release(&ps_watch, fn); }

const struct ps_layer ps_layer PS_EXPORT = {
    sizeof(struct ps_layer), self_for_layer, wait,         ready_for_layer, ps_yield, has_others, poll_by,
    ps_dedicate_self,        objects_by,     number_of_vp, watch_by};
