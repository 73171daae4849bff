/* Openers that differ from the pool: see apart.h. */
#include "apart.h"

#include "atomic.h"
#include "current.h"
#include "life.h"
#include "os.h"
#include "promote.h"
#include "run.h"
#include "runtime.h"
#include "watchdog.h"

#include <unistd.h>

/* The pool's. Under `lock`. */
static struct os_scheduling pool;
static bool known;
static _Atomic uint32_t lock;

static bool differs_from_pool(bool redefine)
{
    struct os_scheduling own;
    if (!os_scheduling(&own))
        return false;
    while (ps_xchg_acquire(&lock, 1))
        os_yield();
    if (!known || redefine)
        pool = own;
    known = true;
    bool differs = own.policy != pool.policy || own.nice != pool.nice || own.priority != pool.priority ||
                   own.slack_ns != pool.slack_ns;
    ps_store_release(&lock, 0);
    return differs;
}

void apart_reset(void)
{
    known = false;
    ps_store_relaxed(&lock, 0);
}

static void be_apart(struct vp *vp, uint8_t apart)
{
    vp_apart(vp)->what = apart;
    if (apart)
        vp_becomes(vp, VP_APART);
    else if (vp_is(vp, VP_APART))
        vp_is_no_more(vp, VP_APART);
}

void apart_attach(struct vp *vp)
{
    vp_apart(vp)->opened = false;
    vp_apart(vp)->mask = os_signal_mask();
    vp_run(vp)->rechecked_at = 0;
    be_apart(vp, differs_from_pool(false) ? APART_ROOT | APART_INNER : 0);
}

void apart_before_change(void)
{
    if (os_thread_id() == (int)getpid() || ps_vp()) /* as a child of vfork's */
        return;
    ps_start();
    differs_from_pool(false);
    watchdog_be_there();
}

/* As long as there is no kernel thread of the pool's, the only opener makes what they will have. */
void apart_changed(void)
{
    struct vp *vp = ps_vp();
    if (!vp || ps_in_vfork_child())
        return;
    bool roots = vp_is_roots(vp);
    bool first = roots && vp_run(vp)->current == &vp_run(vp)->root && ps_load_relaxed(&ps_rt.num_kernel_threads) == 0 &&
                 !life_other_roots(vp);
    bool differs = differs_from_pool(first);
    uint8_t root = vp_apart(vp)->opened ? vp_apart(vp)->what & APART_ROOT : differs ? APART_ROOT : 0;
    if (roots)
        be_apart(vp, root | (differs ? APART_INNER : 0));
    else if (vp_run(vp)->alone_for)
        vp_apart(vp)->what = differs ? APART_INNER : 0;
}
