/* Starts that are handed over: see starter.h for states and orderings. */
#include "starter.h"

#include <errno.h>
#include <limits.h>

#include "apart.h"
#include "atomic.h"
#include "current.h"
#include "promote.h"
#include "run.h"
#include "standby.h"
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

/* --- the asker --- */

/* Sleeps while the word is this; false: it is time to give up. */
static bool sleep_while(uint32_t word, uint64_t until_ns)
{
    uint64_t now = os_now_ns();
    if (now >= until_ns)
        return false;
    os_park(&order.word, word, (int64_t)(until_ns - now));
    return true;
}

static bool hold_order(uint64_t until_ns)
{
    for (;;) {
        uint32_t word = FREE;
        if (ps_cas_acq_rel(&order.word, &word, HELD))
            return true;
        if (!sleep_while(word, until_ns))
            return false;
    }
}

static void free_order(void)
{
    ps_store_release(&order.word, FREE);
    os_wake(&order.word, INT_MAX);
}

int starter_ask(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes)
{
    uint64_t until_ns = os_now_ns() + ASK_TIMEOUT_NS;
    if (!watchdog_runs() || !hold_order(until_ns))
        return EBUSY;
    order.out = out;
    order.start = start;
    order.arg = arg;
    order.stack_bytes = stack_bytes;
    ps_store_seq(&order.word, ASKED);
    watchdog_serve_soon();
    uint32_t word;
    while ((word = ps_load_acquire(&order.word)) != DONE) {
        if (word == STARTS)
            os_park(&order.word, STARTS, OS_FOREVER);
        else if (!sleep_while(ASKED, until_ns) && ps_cas_acq_rel(&order.word, &(uint32_t){ASKED}, FREE)) {
            os_wake(&order.word, INT_MAX);
            return EBUSY;
        }
    }
    int error = order.error;
    free_order();
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
