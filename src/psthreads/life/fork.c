/* The library in a forked child. The child has one kernel thread and a copy of all of the parent's memory.
 *
 * The thread that forked goes on. The parent's other kernel threads do not exist in the child. So the threads that
 * those ran do not exist either, nor do the threads that waited. The runtime forgets what it has noted about them. It
 * does not read their records: these lie on stacks that the C library gives to new kernel threads. The program's
 * objects (mutexes and so on) stay as they are; the program must make anew those at which other threads waited. If the
 * thread that forked has a thread-local block, the C library takes the child's kernel thread for that thread from here
 * on. */
#include "life.h"

#include "address_wait.h"
#include "bind.h"
#include "current.h"
#include "dedicated.h"
#include "dump_request.h"
#include "handoff.h"
#include "home.h"
#include "identity.h"
#include "idle.h"
#include "lone_root.h"
#include "needs.h"
#include "os.h"
#include "quota_park.h"
#include "runtime.h"
#include "standby.h"
#include "team.h"
#include "timer.h"
#include "tls.h"
#include "uth.h"
#include "vp.h"
#include "vp_tls.h"
#include "wake_spread.h"
#include "watchdog.h"

#include <errno.h>
#include <unistd.h>

/* Marks t, the thread that forked, as the only thread: its children and its joiner are not in this process. */
static void lonely(struct psthread *t)
{
    static struct psthread no_parent = {.flags = PS_T_ROOT};
    t->created = 0;
    ps_store_relaxed(&t->children, 0);
    if (t->flags & (PS_T_ROOT | PS_T_MEMBER))
        return;
    t->parent = &no_parent; /* no_parent's `children` is never 1, so the end of t readies no parent */
    ps_store_relaxed(&t->join, PS_JOIN_DETACHED);
}

/* Clears what the stacks except `but` say about waiting threads. Otherwise debuggers and reports would count threads
 * that do not exist. */
static void forget_who_waits(const struct uth *but)
{
    for (struct uth_chunk *c = &uth_registry; c != NULL; c = ps_load_acquire(&c->next))
        for (unsigned i = 0; i < UTH_CHUNK_SLOTS; i++) {
            struct uth *u = ps_load_relaxed(&c->slot[i]);
            if (u != NULL && u != but)
                u->wait.thread = NULL;
        }
}

/* Makes self a root's vp, with block as its own storage. Called if the thread that forked was in a thread-local block.
 * fork has put the block's descriptor in the place of the initial thread's: for the C library and the kernel, the
 * thread of the block is the child's only kernel thread. So the context that runs is bound to self. (The storage that
 * the kernel thread had in the parent is free memory to the C library now, unless it was the initial thread's.) */
static void own_by_fork(struct vp *self, struct uth_tls *block)
{
    vp_run(self)->own_uth = vp_run(self)->uth;
    vp_run(self)->own_tls = block;
    self->home.at = self;
    self->home.empty = NULL;
    home_never_left(self);
    vp_run(self)->kernel_tp = cpu_get_tp();
    ps_store_relaxed(&vp_run(self)->own_tp, vp_run(self)->kernel_tp);
    uth_tls_adopt(block, self, ps_load_relaxed(&vp_run(self)->tid));
    vp_run(self)->own_errno = &errno;
    vp_run(self)->uth->vp = self;
    vp_run(self)->uth->left_by = NULL;
    vp_run(self)->is_guest = vp_run(self)->id != 0;
    ps_store_relaxed(&vp_run(self)->special, VP_UNPREPARED);
    if (PS_HAS_IDENTITY)
        ps_identity.reset();
    self->outer.mask = life_mask_of_forker();
    ps_store_seq(&self->outer.inner_mask, self->outer.mask);
    self->priority.mask = self->outer.mask;
    self->priority.opened = false;
    os_affinity_get(&self->outer.cpus);
    unsigned vps = ps_load_relaxed(&ps_rt.table_size);
    /* A dedicated thread may have run on a root's stack, the `native` of another vp. That vp must not be given to
     * another root in the child, because its stack is in use. */
    for (unsigned id = 0; id < vps; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp == self || vp_run(self)->uth != &vp_run(vp)->native)
            continue;
        ps_store_relaxed(&vp_run(vp)->tid, 0);
        ps_store_relaxed(&vp->attached, PS_ATTACHED_OURS);
        vp->home.at = self;
    }
    ps_team_forget_block(vp_run(self)->current, block);
}

/* Clears what other threads left in vp while it was in the parent process. */
static void forget_messages(struct vp *vp)
{
    ps_queue_init(&vp->queue);
    vp_run(vp)->per_region_at = 0; /* the next region starts the thread for dumps if needed (dump_request.h) */
    vp->waiters.root = NULL;
    vp->waiters.uncounted = 0;
    ps_list_init(&vp->waiters.list);
    ps_store_relaxed(&vp->waiters.count, 0);
    vp_is_no_more(vp, VP_SIGNALS_BLOCKED);
    ps_store_relaxed(&vp->pinned, NULL);
    ps_store_relaxed(&vp->wake_word, 0);
    ps_wake_spread_reset(vp);
    ps_store_relaxed(&vp->dedicated.wake, 0);
    /* otherwise deadlock.c would take a spare that gets this vp later for a dedicated thread that sleeps */
    ps_store_relaxed(&vp->dedicated.sleeps, 0);
    ps_store_relaxed(&vp->dedicated.ends, 0);
    ps_store_relaxed(&vp->worker.started, PS_WORKER_NONE);
    ps_store_relaxed(&vp_run(vp)->counts.made, 0);
    ps_store_relaxed(&vp_run(vp)->counts.submitted, 0);
    ps_store_relaxed(&vp_run(vp)->counts.ended, 0);
    vp_run(vp)->native.wait.thread = NULL;
}

/* Forgets the kernel thread that carried vp, which is not in this process. It may have been in the midst of changing
 * vp's caches, so the child drops them. */
static void forget_carrier(struct vp *vp, unsigned id)
{
    uth_cache_init(&vp_run(vp)->stacks);
    vp_run(vp)->blocks.num = 0;
    vp_run(vp)->descriptors.magazine = (struct ps_magazine){0};
    vp_run(vp)->descriptors.slab_left = 0;
    vp->searching = false;
    ps_store_relaxed(&vp_run(vp)->special, 0);
    vp_run(vp)->held = false;
    vp_run(vp)->current = NULL;
    ps_store_relaxed(&vp_run(vp)->stands_as, NULL);
    ps_store_relaxed(&vp_run(vp)->in_handler, NULL);
    vp_run(vp)->tls = NULL; /* this pointer was to the block of the thread that the vp carried in the parent */
    vp_run(vp)->dedicated_to = NULL;
    vp_run(vp)->is_guest = id >= ps_rt.num_vps; /* own_by_fork may have changed this in an earlier fork */
    vp_run(vp)->own_uth = &vp_run(vp)->native;
    vp_run(vp)->own_tls = NULL;
    vp->home.at = vp;
    vp->home.empty = NULL;
    vp_run(vp)->first_work = (struct ps_work){0};
    ps_store_relaxed(&vp->attached, 0);
    ps_store_relaxed(&vp->handoff, vp_run(vp)->is_guest || id == 0 ? HANDOFF_BUSY : HANDOFF_IDLE);
}

/* Forgets the library's own kernel threads, and what belonged to them. */
static void forget_kernel_threads(void)
{
    ps_descriptors_after_fork_in_child();
    uth_after_fork_in_child();
    ps_wait_on_after_fork();
    timer_after_fork_in_child();
    ps_store_relaxed(&ps_rt.num_kernel_threads, 0);
    ps_store_relaxed(&ps_rt.quiescing, 0);
    ps_store_relaxed(&ps_rt.stopping, 0);
    watchdog_reset();
    standby_reset();
    needs_reset();
    dump_request_after_fork_in_child();
    ps_dedicated_after_fork_in_child();
}

static void note_forked_as(struct vp *self, const struct psthread *current)
{
    self->forked.as = current;
    if (current && current->flags & PS_T_MEMBER)
        self->forked.region = PS_CONTAINER_OF(current, struct ps_member, thread)->team->region;
}

/* Lets self, the vp of the thread that forked, go on like any other vp: its marks as dedicated, spare, aside or blocked
 * are cleared. block: the thread-local block that the thread is in, dedicated or not; NULL: none. */
static void go_on_in_child(struct vp *self, const struct psthread *current, struct uth_tls *block)
{
    ps_team_after_fork_in_child(self);
    vp_is_no_more(self, VP_DEDICATED | VP_SPARE | VP_ASIDE | VP_BLOCKED);
    vp_run(self)->dedicated_to = NULL;
    ps_store_relaxed(&vp_run(self)->stands_as, NULL);
    ps_store_relaxed(&self->attached, PS_ATTACHED);
    note_forked_as(self, current);
    if (vp_run(self)->id != 0 && vp_run(self)->id < ps_rt.num_vps)
        /* a member on a worker has forked: this kernel thread carries the worker's vp already */
        idle_never_start(self);
    if (block)
        own_by_fork(self, block);
}

void ps_after_fork_in_child(void)
{
    static _Atomic int done_in;
    if (!ps_load_relaxed(&ps_life.started) || ps_xchg_acq_rel(&done_in, (int)getpid()) == (int)getpid())
        return;
    struct vp *self = ps_vp();
    struct psthread *current = self ? vp_run(self)->current : NULL;
    unsigned vps = ps_load_relaxed(&ps_rt.table_size);
    for (unsigned id = 0; id < vps; id++) {
        struct vp *vp = ps_vp_at(id);
        forget_messages(vp);
        if (vp != self)
            forget_carrier(vp, id);
    }
    if (current && !(current->flags & (PS_T_ROOT | PS_T_MEMBER))) {
        vp_count_made(self);
        vp_count_submitted(self);
    }
    if (current)
        lonely(current);
    forget_who_waits(self ? vp_run(self)->uth : NULL);
    ps_life.starter = current && current->flags & PS_T_ROOT ? self : NULL;
    ps_life.forked = current && !(current->flags & PS_T_ROOT) ? self : NULL;
    ps_store_relaxed(&ps_life.main_ended, ps_life.forked != NULL);
    forget_kernel_threads();
    struct uth_tls *block = ps_tls_on() ? uth_tls_after_fork_in_child(self ? vp_run(self)->kernel_tp : NULL) : NULL;
    if (self)
        ps_store_relaxed(&vp_run(self)->tid, os_thread_id());
    ps_store_relaxed(&ps_rt.num_roots, self != NULL);
    if (self && vp_run(self)->tls && vp_run(self)->tls == vp_run(self)->own_tls && vp_run(self)->tls->adopted)
        uth_tls_adopt(vp_run(self)->tls, self, os_thread_id());
    else if (self && vp_run(self)->tls && vp_run(self)->tls->adopted)
        block = vp_run(self)->tls; /* the block of a root that ran on another kernel thread than its own */
    ps_rt.forked_root = current && (current->flags & (PS_T_ROOT | PS_T_MEMBER)) != PS_T_ROOT ? current : NULL;
    ps_rt.forked_home = self;
    if (ps_rt.forked_root)
        ps_store_relaxed(&ps_rt.roots_leave, true);
    ps_queue_init(&ps_rt.global);
    ps_bind_after_fork_in_child();
    quota_park_restart();
    if (self)
        go_on_in_child(self, current, block);
}
