/* The thread-local blocks of threads that run on a vp: see vp_tls.h. */
#include "vp_tls.h"

#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "os.h"
#include "receiver.h"
#include "team.h"
#include "upcalls.h"

/* If vp was the last vp in the block, `ee_here` there is still vp, and is not written again. */
PS_NOINLINE void vp_enter_tls(struct vp *vp, struct uth_tls *tls)
{
    if (tls == vp_run(vp)->tls)
        return;
    if (!tls) {
        vp_leave_tls_here(vp);
        return;
    }
    if (PS_UNLIKELY(!vp_enter_tls_again(vp, tls))) {
        vp_carry_at(vp, tls->tp);
        uth_tls_enter(tls, vp, ps_load_relaxed(&vp_run(vp)->tid));
        vp_run(vp)->tls = tls; /* after the thread pointer: home_storage_free relies on that */
    }
    vp_unblock_signals_in(vp, tls);
}

/* Called in a handler, on any kernel thread: sets the kernel thread's own thread pointer, and returns the one that was
 * set before. Uses no thread-local variable: the handler may have interrupted a write to it. */
static void *to_own_pointer(void)
{
    void *before = cpu_get_tp();
    int tid = os_thread_id();
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++) {
        const struct vp *vp = ps_vp_at(id);
        if (vp && ps_load_acquire(vp_attached(vp)) && ps_load_relaxed(&vp_run(vp)->tid) == tid)
            cpu_set_tp(vp_run(vp)->kernel_tp);
    }
    return before;
}

void vp_prepare_tls(void) { os_library_signal_between(to_own_pointer, cpu_set_tp); }

/* Sets run.held, which signal handlers on this kernel thread read: true while the runtime calls a function that may be
 * the program's, and then goes on with vp. */
static inline void hold(struct vp *vp, bool held)
{
    __asm__ volatile("" ::: "memory");
    vp_run(vp)->held = held;
    __asm__ volatile("" ::: "memory");
}

struct uth_tls *vp_try_tls(struct vp *vp)
{
    hold(vp, true);
    struct uth_tls *tls = uth_tls_try_get();
    hold(vp, false);
    return tls;
}

struct uth_tls *vp_new_tls(struct vp *vp)
{
    static _Atomic uint32_t said;
    hold(vp, true);
    struct uth_tls *tls = uth_tls_get(&vp_run(vp)->blocks);
    hold(vp, false);
    if (PS_LIKELY(tls != NULL))
        uth_tls_set_stack(tls, vp_run(vp)->uth->stack, vp_run(vp)->uth->stack_bytes);
    else if (!ps_xchg_acq_rel(&said, 1))
        ps_warn("no memory for a thread's own thread-local storage: it uses its kernel thread's, and regions have one "
                "thread from now on");
    return tls;
}

/* Gives the block back. vp is in the kernel thread's own storage meanwhile, since uth_tls_put may start a kernel
 * thread and wait for its end. */
static PS_NOINLINE void put_block(struct vp *vp, struct uth_tls *tls)
{
    struct uth_tls *here = vp_run(vp)->tls;
    vp_enter_tls(vp, NULL);
    hold(vp, true);
    uth_tls_put(tls);
    hold(vp, false);
    vp_enter_tls(vp, here);
}

/* If self is DEDICATED, its dedicated kernel thread may be in the block, to run a handler (thread_signal.h). Then self
 * moves to that kernel thread. First vp enters the kernel thread's own storage, since another vp may be by now in the
 * block in which vp is. */
PS_NOINLINE struct vp *vp_resume_caller_slowly(struct vp *vp, struct psthread *self, struct uth_tls *tls)
{
    vp = ps_upcalls.await_first(vp, self, tls);
    struct vp *own = ps_load_seq(&tls->dedicated);
    if (!own || own == vp) {
        vp_enter_tls(vp, tls);
        return vp;
    }
    vp_enter_tls(vp, NULL);
    vp_run(vp)->current = self;
    self->vp = vp;
    ps_move_dedicated(vp, self, own);
    return ps_vp();
}

struct vp *vp_end_tls_for(struct vp *vp, struct psthread *self, struct uth_tls *next)
{
    struct uth_tls *tls = vp_run(vp)->tls;
    if (tls) {
        uth_tls_end(tls);
        ps_go_home(next);
        vp = ps_vp();
    }
    if (next)
        vp = vp_resume_caller(vp, self, next);
    else
        vp_enter_tls(vp, NULL);
    if (!tls || PS_UNLIKELY(tls->adopted)) /* adopted: the storage of a kernel thread, which has forked */
        return vp;
    if (PS_UNLIKELY(ps_load_relaxed(&tls->own) != NULL))
        ps_retire_dedicated(tls);
    if (PS_UNLIKELY(!uth_tls_keep(&vp_run(vp)->blocks, tls)))
        put_block(vp, tls);
    return vp;
}

struct vp *vp_end_tls(struct vp *vp) { return vp_run(vp)->tls ? vp_end_tls_for(vp, NULL, NULL) : vp; }

/* How many threads look at a team through a member's block (lookers). ps_team_succeed waits for them after it has given
 * a block to a larger team. */
static _Atomic uint32_t lookers;

/* Finds the member that keeps the block, and returns it; NULL: there is none. If vp is not NULL, ps_local on vp answers
 * as this member from now on. The caller has counted itself in `lookers`. */
static struct ps_member *stand(struct vp *vp, const struct uth_tls *block)
{
    const struct ps_team *team = ps_load_seq(&block->team);
    struct ps_member *keeper = NULL;
    for (unsigned id = 1; team && id < team->n_max && !keeper; id++)
        if (ps_team_member(team, id)->tls == block)
            keeper = ps_team_member(team, id);
    if (vp)
        ps_store_relaxed(&vp_run(vp)->stands_as, keeper);
    return keeper;
}

bool ps_team_rests(struct vp *vp, const struct uth_tls *block)
{
    ps_add_seq(&lookers, 1);
    const struct ps_member *m = stand(vp, block);
    bool rests = m && os_fence_all() &&
                 (ps_load_acquire(&m->team->left) == 0 || ps_load_acquire(&m->done_in) == m->team->region);
    ps_sub_seq(&lookers, 1);
    return rests;
}

void ps_team_stand(struct vp *vp, const struct uth_tls *block)
{
    ps_add_seq(&lookers, 1);
    stand(vp, block);
    ps_sub_seq(&lookers, 1);
}

void ps_team_await_lookers(void)
{
    while (ps_load_seq(&lookers) != 0)
        os_yield();
}

void ps_team_lookers_reset(void) { ps_store_relaxed(&lookers, 0); }
