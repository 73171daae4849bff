/* Starts that are handed over: see starter.h for states and orderings. */
#include "starter.h"

#include <errno.h>
#include <limits.h>

#include "apart.h"
#include "atomic.h"
#include "current.h"
#include "inherited.h"
#include "run.h"
#include "standby.h"
#include "stray.h"
#include "watchdog.h"

#define ASK_TIMEOUT_NS UINT64_C(2000000000)

enum { FREE, HELD, ASKED, STARTS, DONE };

static struct {
    _Atomic uint32_t word;
    int error;
    os_thread *out;
    void *(*start)(void *);
    void *arg;
    size_t stack_bytes;
} order;

void starter_prepare(void) { watchdog_be_there(); }

bool starter_is_changed(const struct vp *here)
{
    return vp_run(here)->alone_for || vp_apart(here)->what || ps_load_relaxed(&vp_outer(here)->changed);
}

uint64_t starter_mask(void)
{
    const struct vp *here = ps_vp();
    if (!here)
        return os_signal_mask();
    bool inside = vp_run(here)->alone_for || (vp_is_roots(here) && vp_run(here)->current != &vp_run(here)->root);
    return inside ? vp_outer(here)->mask : vp_heard_mask(here);
}

/* --- the asker --- */

struct patience {
    uint64_t until_ns;
    uint32_t direct; /* standby_direct_now() when it began */
};

/* Sleeps while the word is this. False: the time is over, and the watchdog is gone, or is where it was when that began.
 * */
static bool sleep_while(uint32_t word, struct patience *p)
{
    uint64_t now_ns = os_now_ns();
    if (now_ns >= p->until_ns) {
        uint32_t direct = standby_direct_now();
        if (!watchdog_runs() || (direct && direct == p->direct))
            return false;
        *p = (struct patience){now_ns + ASK_TIMEOUT_NS, direct};
    }
    os_park(&order.word, word, (int64_t)(p->until_ns - now_ns));
    return true;
}

static bool hold_order(struct patience *p)
{
    for (;;) {
        uint32_t word = FREE;
        if (ps_cas_acq_rel(&order.word, &word, HELD))
            return true;
        if (!sleep_while(word, p))
            return false;
    }
}

static void free_order(void)
{
    ps_store_release(&order.word, FREE);
    os_wake(&order.word, INT_MAX);
}

/* The order is held. */
static int await_start(struct patience *p)
{
    uint32_t word;
    while ((word = ps_load_acquire(&order.word)) != DONE) {
        if (word == STARTS)
            os_park(&order.word, STARTS, OS_FOREVER);
        else if (!sleep_while(ASKED, p) && ps_cas_acq_rel(&order.word, &(uint32_t){ASKED}, FREE)) {
            os_wake(&order.word, INT_MAX);
            return EBUSY;
        }
    }
    int error = order.error;
    free_order();
    return error;
}

int starter_ask(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes)
{
    if (!watchdog_runs() || watchdog_is_here())
        return EBUSY;
    struct patience p = {0};
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS); /* a handler on top would wait for the order below it */
    int error = EBUSY;
    if (hold_order(&p)) {
        order.out = out;
        order.start = start;
        order.arg = arg;
        order.stack_bytes = stack_bytes;
        ps_store_seq(&order.word, ASKED);
        watchdog_serve_soon();
        error = await_start(&p);
    }
    os_set_signal_mask(mask);
    return error;
}

int starter_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes)
{
    const struct vp *here = ps_vp();
    int err = here && starter_is_changed(here) ? starter_ask(out, start, arg, stack_bytes) : EBUSY;
    return err == EBUSY ? os_thread_start(out, start, arg, stack_bytes, true) : err;
}

/* --- the watchdog's part --- */

bool starter_wanted(void) { return PS_UNLIKELY(ps_load_seq(&order.word) == ASKED); }

void starter_serve(void)
{
    uint32_t word = ASKED;
    if (PS_LIKELY(!starter_wanted()) || !ps_cas_seq(&order.word, &word, STARTS))
        return;
    order.error = EBUSY;
    if (standby_keep_out()) {
        order.error = os_thread_start(order.out, order.start, order.arg, order.stack_bytes, true);
        standby_direct_end();
    }
    ps_store_release(&order.word, DONE);
    os_wake(&order.word, INT_MAX);
}

void starter_reset(void) { ps_store_relaxed(&order.word, FREE); }
