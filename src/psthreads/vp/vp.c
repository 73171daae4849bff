/* The vp that the calling kernel thread carries, and the thread that runs on it.
 *
 * Callers: any kernel thread. */
#include "vp.h"

#include "current.h"
#include "dedicated.h"
#include "exit.h"
#include "handoff.h"
#include "idle.h"
#include "inherited.h"
#include "os.h"
#include "runtime.h"
#include "scheduler.h"
#include "upcalls.h"
#include "watchdog.h"

/* Named ee_here because the entity contract (ee.h) reads this variable in place, and then run.current of the vp to
 * which it points. */
__thread struct vp *ee_here __attribute__((tls_model("initial-exec")));

struct ps_runtime ps_rt;

PS_NOINLINE struct vp *ps_vp(void)
{
    struct vp *vp = ee_here;
    __asm__ volatile("" : "+r"(vp)); /* so that no interprocedural pass computes the value in the caller */
    return vp;
}
PS_NOINLINE void vp_carry(struct vp *vp)
{
    ee_here = vp;
    __asm__ volatile("" ::: "memory");
}

PS_NOINLINE struct vp *ps_vp_attach(void)
{
    struct vp *vp = ps_vp();
    return PS_LIKELY(vp != NULL) ? vp : ps_upcalls.attach();
}

/* Returns false in the block of a member that has a helper now: there `ee_here` names the helper's vp, which another
 * kernel thread carries (ps_member_run_body). */
bool vp_in_own_block(void)
{
    struct vp *vp = ps_vp();
    return vp && ps_load_relaxed(&vp_run(vp)->tid) == os_thread_id();
}

void ps_wake_dedicated(struct vp *vp)
{
    if (!ps_xchg_seq(&vp->dedicated.wake, 1))
        os_wake(&vp->dedicated.wake, 1);
}

void ps_pin_dedicated(struct vp *vp, struct psthread *t)
{
    ps_store_seq(&vp->pinned, t);
    if (ps_load_seq(&vp->dedicated.sleeps))
        ps_wake_dedicated(vp);
}

struct psthread *ps_current(void)
{
    struct vp *vp = ps_vp();
    return vp ? vp_run(vp)->current : NULL;
}
struct uth *ps_current_uth(void)
{
    struct vp *vp = ps_vp();
    return vp ? vp_run(vp)->uth : NULL;
}
/* Returns the descriptor of vp's root. ps_self returns it in a handler that has interrupted vp's loop. On the library's
 * own kernel threads it stands for no thread. */
static struct psthread *in_loop(struct vp *vp) { return &vp_run(vp)->root; }

struct psthread *vp_left_root(const struct vp *vp)
{
    const struct uth *own = vp_run(vp)->own_uth;
    /* the root itself has left, not a thread that it called */
    bool by_root = !vp_is(vp, VP_DEDICATED) && own && own->vp == vp && own->tls == vp_run(vp)->own_tls;
    return by_root ? vp_left_by(own) : NULL;
}

/* Returns what ps_local returns while vp's loop runs. This is stands_as, if it is set; else the `local` of vp's root.
 * If the root has left its stack, the saved context says as which member it ran. */
static PS_NOINLINE void *local_in_loop(struct vp *vp)
{
    if (vp == NULL)
        return NULL;
    void *local = ps_load_relaxed(&vp_run(vp)->stands_as);
    const struct psthread *root = local ? NULL : vp_left_root(vp);
    local = root ? root->local : local;
    return local ? local : in_loop(vp)->local;
}

struct psthread *ps_self(void)
{
    struct vp *vp = ps_vp_attach_now();
    return PS_LIKELY(vp_run(vp)->current != NULL) ? vp_run(vp)->current : in_loop(vp);
}

PS_NOINLINE void *ps_local(void)
{
    struct vp *vp = ps_vp_now();
    struct psthread *t;
    if (PS_LIKELY(vp != NULL && (t = vp_run(vp)->current) != NULL))
        return t->local;
    return local_in_loop(vp);
}

void **ps_thread_keys_slot(struct psthread *self) { return &self->keys; }

_Static_assert(sizeof(struct ps_exits) <= sizeof(((struct uth *)0)->room), "what psthread_exit needs fits");
struct ps_exits *ps_exits(void) { return vp_exits(ps_vp_attach()); }

/* --- the parts of a vp, for files that do not include vp.h --- */

/* Drops the const: a caller that gets a part of a vp may write it. */
static struct vp *whole(const struct vp *vp) { return (struct vp *)(uintptr_t)vp; }

struct ps_thief *vp_thief(const struct vp *vp) { return &whole(vp)->thief; }
struct ps_root_spread *vp_root_spread(const struct vp *vp) { return &whole(vp)->spread; }
struct ps_wake_spread *vp_wake_spread(const struct vp *vp) { return &whole(vp)->wake_spread; }
struct vp_priority *vp_priority(const struct vp *vp) { return &whole(vp)->priority; }
struct vp_thread_signal *vp_thread_signal(const struct vp *vp) { return &whole(vp)->thread_signal; }
struct vp_dedicated *vp_dedicated(const struct vp *vp) { return &whole(vp)->dedicated; }
struct vp_home *vp_home(const struct vp *vp) { return &whole(vp)->home; }
struct vp_outer *vp_outer(const struct vp *vp) { return &whole(vp)->outer; }
struct vp_forked *vp_forked(const struct vp *vp) { return &whole(vp)->forked; }
struct vp_worker *vp_worker(const struct vp *vp) { return &whole(vp)->worker; }
_Atomic uint32_t *vp_attached(const struct vp *vp) { return &whole(vp)->attached; }
struct ps_queue *vp_queue(const struct vp *vp) { return &whole(vp)->queue; }
_Atomic uint64_t *vp_handoff(const struct vp *vp) { return &whole(vp)->handoff; }
_Atomic(struct psthread *) *vp_pinned(const struct vp *vp) { return &whole(vp)->pinned; }
uint64_t *vp_asked_at(const struct vp *vp) { return &whole(vp)->asked_at; }
_Atomic uint32_t *vp_offline(const struct vp *vp) { return &whole(vp)->offline; }
_Atomic uint32_t *vp_wake_word(const struct vp *vp) { return &whole(vp)->wake_word; }
_Atomic uint32_t *vp_root_first(const struct vp *vp) { return &whole(vp)->root_first; }
