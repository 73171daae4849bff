/* What a root itself does: its storage, and how it comes home. See home.h. */
#include "home.h"

#include "bind.h"
#include "current.h"
#include "dedicated.h"
#include "identity.h"
#include "idle.h"
#include "inherited.h"
#include "os.h"
#include "receiver.h"
#include "scheduler.h"
#include "sources.h"
#include "switch.h"
#include "team.h"
#include "upcalls.h"
#include "vp_tls.h"
#include "watch.h"

#include <errno.h>

int home_number(void)
{
    const struct uth_tls *block = uth_tls_current();
    bool away = PS_UNLIKELY(block && block->adopted) && !ps_in_vfork_child();
    return away ? ps_load_relaxed(&vp_run(block->home)->tid) : 0;
}

/* --- the root's side, at home --- */

void home_never_left(struct vp *vp)
{
    struct vp_home *home = vp_home(vp);
    ps_store_relaxed(&home->leaves, false);
    ps_store_relaxed(&home->was_out, false);
    ps_store_relaxed(&home->stays, false);
}

void home_begin(struct vp *vp)
{
    if (vp_run(vp)->own_tls || !ps_tls_on() || vp_run(vp)->current != &vp_run(vp)->root)
        return;
    home_never_left(vp);
    uth_tls_adopt(&vp_home(vp)->block, vp, ps_load_relaxed(&vp_run(vp)->tid));
    vp_run(vp)->own_tls = vp_run(vp)->tls = &vp_home(vp)->block;
}

void home_prepare(struct vp *vp)
{
    struct vp_home *home = vp_home(vp);
    if (home->empty || !home_block(vp) || (home->empty = vp_try_tls(vp)) == NULL)
        return;
    home_note();
    home->errno_at = (char *)vp_run(vp)->own_errno - (char *)vp_run(vp)->kernel_tp;
    uth_tls_for_no_thread(home->empty, true);
    home_vacate_early(vp);
}

void home_stay(struct vp *vp) { ps_store_relaxed(&vp_home(vp)->stays, true); }

void home_end(struct vp *vp)
{
    struct vp_home *home = vp_home(vp);
    struct uth_tls *block = home_block(vp);
    if (!block)
        return;
    ps_retire_dedicated(block);
    vp_run(vp)->own_tls = vp_run(vp)->tls = NULL;
    ps_store_relaxed(&vp_run(vp)->own_tp, vp_run(vp)->kernel_tp);
    vp_run(vp)->own_errno = &errno;
    if (home->empty) {
        uth_tls_for_no_thread(home->empty, false);
        uth_tls_put(home->empty);
        home->empty = NULL;
    }
}

struct uth_tls *home_block_here(void)
{
    const struct vp *vp = ps_vp();
    return vp ? home_block(vp) : NULL;
}

/* --- homecoming --- */

void home_note(void)
{
    const struct uth_tls *block = uth_tls_current();
    if (!block)
        block = home_block_here();
    if (!block || !block->adopted)
        return;
    os_alternate_stack(NULL, &vp_home(block->home)->stack);
}

static void equip(const struct vp_home *home)
{
    if (!(home->stack.ss_flags & SS_ONSTACK) && !uth_overflow_is_ours(home->stack.ss_sp))
        os_alternate_stack(&home->stack, NULL);
}

void home_equip(struct vp *vp)
{
    const struct vp *home = vp_run(vp)->dedicated_to->home;
    struct os_cpuset cpus;
    vp_block_signals_slowly(vp);
    vp_run(vp)->unblocked_mask = ps_load_seq(&vp_outer(home)->inner_mask);
    ps_store_seq(&vp_outer(vp)->inner_mask, vp_run(vp)->unblocked_mask);
    equip(vp_home(home));
    if (!ps_places_on() && os_affinity_of(ps_load_relaxed(&vp_run(home)->tid), &cpus) == 0)
        os_affinity_set(&cpus);
}

/* Blocked signals that are pending on the root's dedicated kernel thread. pack takes them off this kernel thread. The
 * root takes up to PENDING_MOST of them home; a signal that was sent to the process is sent to the process again. */
#define PENDING_MOST 4
struct pending {
    int n, number[PENDING_MOST];
    _Alignas(8) unsigned char info[PENDING_MOST][OS_SIGNAL_BYTES];
};
static void pack(struct pending *p, uint64_t blocked)
{
    int number;
    p->n = 0;
    while (p->n < PENDING_MOST && (number = os_take_signal(blocked, p->info[p->n])) > 0) {
        p->number[p->n] = number;
        if (os_signal_sent(number, p->info[p->n]) != OS_SIGNAL_TO_PROCESS)
            p->n++;
        else if (os_signal_again(number, p->info[p->n]))
            blocked &= ~(UINT64_C(1) << (number - 1));
    }
}

PS_NOINLINE void home_come(struct psthread *self)
{
    struct vp *vp = ps_vp();
    struct vp *to = home_of(self);
    struct uth *stack = vp_run(vp)->uth;
    if (vp == to) {
        stack->vp = to;
        return;
    }
    struct vp_home *home = vp_home(to);
    bool dedicated = vp_is(vp, VP_DEDICATED);
    struct pending pending;
    if (dedicated) {
        ps_store_seq(&vp_outer(to)->inner_mask, vp_unblocked_mask(vp));
        pack(&pending, vp_unblocked_mask(vp));
    }
    vp_block_signals(vp);
    self->uth = stack;
    stack->wait.thread = self; /* debuggers and reports find self here */
    stack->wait.kind = PS_WAIT_NOTHING;
    stack->vp = to;
    /* keeps releasers from taking the root away again on its way home: home is free, or will be soon */
    ps_store_relaxed(&home->stays, true);
    ps_ready(self, PS_FRONT);
    if (dedicated)
        vp_leave_dedicated(vp, stack, vp_run(to)->own_tls);
    else
        vp_leave_bound(vp, self);
    stack->wait.thread = NULL;
    ps_store_relaxed(&home->stays, false);
    PS_WATCHED(root__home, PS_WATCH_ROOT_HOME, vp_run(to)->id, 0);
    if (!dedicated)
        return;
    equip(home);
    os_set_signal_mask(ps_load_seq(&vp_outer(to)->inner_mask));
    if (PS_HAS_IDENTITY)
        ps_identity.came_home();
    for (int i = 0; i < pending.n; i++)
        os_signal_to_thread(ps_load_relaxed(&vp_run(to)->tid), pending.number[i], pending.info[i]);
}

void home_come_outside(void)
{
    struct vp *vp = ps_vp();
    struct psthread *self = vp ? vp_run(vp)->current : NULL;
    while (self && (self->flags & (PS_T_ROOT | PS_T_MEMBER)) == PS_T_ROOT && vp_run(vp)->uth->vp != home_of(self)) {
        home_come(self);
        vp = ps_vp();
    }
}
