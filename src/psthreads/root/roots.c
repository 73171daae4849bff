/* Roots: kernel threads that the library did not make. A kernel thread becomes a root at its first call of the library.
 * If the kernel thread ends before the library is stopped, the destructor of a pthread key detaches the root. */
#include "life.h"
#include "run.h"

#include "blocking.h"
#include "check.h"
#include "cpu.h"
#include "current.h"
#include "dedicated.h"
#include "handoff.h"
#include "home.h"
#include "identity.h"
#include "idle.h"
#include "inherited.h"
#include "lone_root.h"
#include "needs.h"
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "tls.h"
#include "uth.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* Sets where on a root's stack the root may call members: while its stack pointer is in a range (call_floor,
 * call_span: uth_struct.h). The stack is the program's. It may be smaller than the stack that members are promised. */
static void set_root_room(struct uth *native)
{
    uintptr_t top;
    size_t bytes, promised = ps_rt.stack_size - ps_rt.stack_size / UTH_CALL_SHARE;
    native->call_floor = native->call_span = 0;
    if (!os_thread_stack(&top, &bytes))
        return;
    /* An eighth of the stack is left free: the initial thread's stack is a little smaller than `bytes`. */
    if (!native->areas_n)
        uth_areas_at(native, top - bytes + bytes / UTH_CALL_SHARE, bytes);
    promised -= promised % 4096; /* the promise is whole pages, but the share may be rounded up */
    if (bytes < promised)
        return;
    size_t spare = bytes - promised, share = bytes / UTH_CALL_SHARE;
    native->call_span = spare > share ? spare : share;
    native->call_floor = top - native->call_span;
}

/* Claims a slot for the calling kernel thread. Waits if the library's kernel threads are being stopped. */
static struct vp *claim_root_slot(void)
{
    ps_add_seq(&ps_rt.num_roots, 1);
    struct vp *vp = life_claim_slot(0, PS_ATTACHED);
    if (PS_UNLIKELY(!vp)) {
        PS_CHECK(ps_load_relaxed(&ps_rt.table_size) < PS_MAX_VPS, "more than %u kernel threads use the library at once",
                 PS_MAX_VPS);
        ps_fatal("out of memory: a kernel thread cannot join the library");
    }
    if (PS_UNLIKELY(ps_load_seq(&ps_rt.quiescing))) {
        pthread_mutex_lock(&ps_life.start_lock);
        pthread_mutex_unlock(&ps_life.start_lock);
    }
    return vp;
}

/* Notes the mask and processors that the calling kernel thread has outside of regions. Threads that become dedicated
 * in its regions begin with these. */
static void note_own_state(struct vp *vp)
{
    vp_outer(vp)->mask = os_signal_mask();
    ps_store_seq(&vp_outer(vp)->inner_mask, vp_outer(vp)->mask);
    os_affinity_get(&vp_outer(vp)->cpus);
    vp_outer(vp)->own_changed = false;
}

struct vp *life_attach_root(void)
{
    ps_start();
    struct vp *vp = claim_root_slot();
    ps_store_relaxed(&vp_run(vp)->tid, os_thread_id());
    vp_run(vp)->kernel_tp = cpu_get_tp();
    ps_store_relaxed(&vp_run(vp)->own_tp, vp_run(vp)->kernel_tp);
    vp_run(vp)->own_errno = &errno;
    vp_run(vp)->tls = NULL;
    vp_run(vp)->place = 0;
    thread_signal_begins(vp_thread_signal(vp));
    ps_store_relaxed(&vp_run(vp)->stands_as, NULL);
    uth_overflow_thread_init();
    if (uth_adopt(&vp_run(vp)->native) != 0)
        ps_fatal("out of memory: a kernel thread cannot join the library");
    vp_run(vp)->native.vp = vp;
    vp_run(vp)->own_uth = &vp_run(vp)->native;
    vp_run(vp)->own_tls = NULL;
    set_root_room(&vp_run(vp)->native);
    ps_store_relaxed(&vp_run(vp)->special, (lone_root_expected() ? VP_COUNTED : 0) | needs_bit());
    home_stand_aside();
    ps_store_relaxed(&vp_dedicated(vp)->ends, 0);
    vp_priority(vp)->opened = false;
    vp_priority(vp)->mask = os_signal_mask();
    vp_run(vp)->per_region_at = 0;
    if (PS_HAS_IDENTITY)
        ps_identity.attach(vp);
    note_own_state(vp);
    vp_forked(vp)->as = NULL;
    vp_run(vp)->uth = &vp_run(vp)->native;
    ps_thread_init_root(&vp_run(vp)->root, vp, &vp_run(vp)->native);
    vp_run(vp)->current = &vp_run(vp)->root;
    ps_store_relaxed(vp_handoff(vp), HANDOFF_BUSY);
    home_begin(vp);
    vp_carry(vp);
    if (!ps_rt.homes_stand_aside) /* no entity layer says when regions are opened, so the root is prepared now */
        home_prepare(vp);
    pthread_setspecific(ps_life.root_key, vp);
    return vp;
}

/* Ends the root of vp, whose kernel thread calls. wait: waits first until the threads that the root has made have
 * ended. If false, the caller knows that none of them runs. */
void life_detach_root(struct vp *vp, bool wait)
{
    blocking_forget(vp);
    home_stay(vp);
    ps_end_local(&vp_run(vp)->root);
    ps_thread_end_root(&vp_run(vp)->root, wait);
    home_end(vp);
    uth_cache_leave(&vp_run(vp)->stacks);
    uth_tls_drain(&vp_run(vp)->blocks);
    uth_release(&vp_run(vp)->native);
    uth_overflow_thread_fini();
    vp_run(vp)->current = NULL;
    vp_carry(NULL);
    ps_store_release(vp_attached(vp), 0);
    ps_sub_seq(&ps_rt.num_roots, 1);
    if (!ps_queue_seems_empty(vp_queue(vp)))
        idle_notify(NULL);
}

void life_root_ended(void *arg)
{
    const struct vp *vp = ps_vp();
    /* A root ends at home: brings it there first. */
    while (vp && vp_run(vp)->uth->vp != arg && vp_run(vp)->tls == vp_run(arg)->own_tls && vp_run(vp)->tls) {
        home_come(vp_run(vp)->current);
        vp = ps_vp();
    }
    if (os_thread_id() == (int)getpid())
        ps_store_seq(&ps_life.main_ended, 1);
    if (vp == arg)
        life_end_last_root(arg);
}

int psthread_detach_self(void)
{
    home_come_outside();
    struct vp *vp = ps_vp();
    if (!vp)
        return 0;
    if (vp_run(vp)->current != &vp_run(vp)->root || vp == ps_life.starter)
        return EPERM;
    life_detach_root(vp, true);
    pthread_setspecific(ps_life.root_key, NULL);
    return 0;
}
