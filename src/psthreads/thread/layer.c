/* See layer.h. */
#include "layer.h"

#include "dedicated.h"
#include "scheduler.h"
#include "thread.h"

static void *self_for_layer(void)
{
    struct psthread *t = ps_current();
    return t && !(t->flags & PS_T_NOSTACK) ? t : NULL;
}

static void wait(void *thread, const volatile void *object) { ps_block(thread, PS_WAIT_OUTSIDE, object); }

static void ready_for_layer(void *thread) { ps_ready(thread, PS_BACK); }

static bool has_others(void) { return !ps_spin_useful(); }

static void poll_by(bool (*poll)(void)) { ps_store_release(&ps_layer_poll, poll); }

_Atomic(void (*)(const void *code)) ps_layer_object;
static void objects_by(void (*fn)(const void *code)) { ps_store_release(&ps_layer_object, fn); }

const struct ps_layer ps_layer PS_EXPORT = {
    sizeof(struct ps_layer), self_for_layer, wait, ready_for_layer, ps_yield, has_others, poll_by,
    ps_dedicate_self,        objects_by};
