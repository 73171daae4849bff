/* The work search: see search.h.
 *
 * Callers: the kernel thread that carries vp. */
#include "search.h"

#include "adaptive_spin.h"
#include "cpu.h"
#include "idle.h"
#include "layer.h"
#include "mail.h"
#include "os.h"
#include "promote.h"
#include "quota_park.h"
#include "runtime.h"
#include "sources.h"
#include "watchdog.h"

#define SEARCH_CLOCK_PERIOD 64 /* rounds between looks at the clock */
#define SEARCH_PEEK_PERIOD 512 /* rounds between peeks into queues that are kept: some ten microseconds */
#define SEARCH_POLITE_NS 20000 /* after that the search yields the processor to other kernel threads */

void vp_hand_back(struct vp *vp, struct psthread *t, struct vp *to)
{
    if (PS_UNLIKELY(t->uth && t->uth->vp))
        ps_store_seq(&vp->pinned, t);
    else
        vp_enqueue(to, &t->item, PS_BACK);
}

void vp_put_back(struct vp *vp, struct ps_work w)
{
    if (ps_work_team(w))
        ps_team_enqueue_late(ps_work_team(w), (unsigned)w.id, vp);
    else if (ps_work_is_rest(w))
        quota_park_refused(vp);
    else if (ps_work_some(w))
        vp_hand_back(vp, ps_work_thread(w), vp);
}

/* One look at everything, from the state IDLE; on success the mailbox is BUSY. */
static struct ps_work search_once(struct vp *vp, bool peek)
{
    struct ps_work w = vp_visit_mail(vp, PS_TAKE);
    if (ps_work_some(w)) {
        struct ps_work first = vp_take_pinned(vp); /* nobody else can run it, but anybody the member */
        if (PS_LIKELY(!ps_work_some(first)))
            return w;
        vp_put_back(vp, w);
        return first;
    }
    if (!ps_work_some(vp_visit(vp, PS_OWN | PS_ELSEWHERE, PS_PEEK, peek)))
        return w;
    uint64_t idle = MAIL_IDLE;
    if (!ps_cas_acquire(&vp->mail, &idle, MAIL_BUSY))
        return vp_visit_mail(vp, PS_TAKE);
    w = vp_take_own(vp);
    if (!ps_work_some(w))
        w = vp_steal_round(vp, peek);
    if (!ps_work_some(w))
        ps_store_seq(&vp->mail, MAIL_IDLE);
    return w;
}

/* Searches for vp->spin_ns; none found: no work. */
static struct ps_work search(struct vp *vp)
{
    uint64_t start = 0;
    uint32_t region = vp->peeked_region;
    for (unsigned round = 1;; round++) {
        struct ps_work w = search_once(vp, round % SEARCH_PEEK_PERIOD == 0);
        if (ps_work_some(w) || ps_load_relaxed(&ps_rt.stopping))
            return w;
        if (PS_UNLIKELY(ps_load_relaxed(&ps_layer_poll) != NULL) && ps_layer_polls())
            continue;
        cpu_pause();
        if (round % SEARCH_CLOCK_PERIOD)
            continue;
        uint64_t now = os_now_ns();
        if (!start || region != vp->peeked_region) { /* where regions are kept it may soon be wanted */
            start = now;
            region = vp->peeked_region;
        }
        if (now - start > vp->spin_ns)
            return w;
        if (now - start > SEARCH_POLITE_NS)
            os_yield();
    }
}

void vp_offer(struct vp *vp)
{
    if (!vp->is_spare && !ps_work_some(vp_visit(vp, PS_IN_SLOT | PS_IN_QUEUE, PS_PEEK, false)))
        ps_store_release(&vp->mail, MAIL_IDLE);
}

/* What a spare takes: nothing once nobody starves, or when nothing is at hand. Then it retires. */
static struct ps_work find_work_spare(struct vp *vp)
{
    if (!ps_load_relaxed(&ps_watchdog.starving))
        return PS_NO_WORK;
    struct ps_work w = vp_take_own(vp);
    return ps_work_some(w) ? w : vp_steal_round(vp, false);
}

static void sleep_and_learn(struct vp *vp)
{
    uint64_t before = os_now_ns();
    idle_park(vp);
    if (ps_rt.search_learns)
        vp->spin_ns = ps_adaptive_spin_after(vp->spin_ns, os_now_ns() - before, ps_rt.search_ns);
}

/* A signal for the process goes to any kernel thread that does not block it. Where threads have kernel threads of their
 * own with masks of their own, a worker that carries nobody is none that the program knows: it takes no signals. Two
 * system calls each time a worker finds nothing to do, in such programs only. */
static inline bool is_nobody(struct vp *vp) { return PS_UNLIKELY(ps_alone_count() > 0) && !vp_is_roots(vp); }

struct ps_work vp_find_work(struct vp *vp)
{
    if (PS_UNLIKELY(vp->is_spare))
        return find_work_spare(vp);
    struct ps_work w;
    if (!vp->searching) {
        w = ps_load_relaxed(&vp->mail) == MAIL_BUSY ? vp_steal_round(vp, false) : PS_NO_WORK;
        if (ps_work_some(w))
            return w;
        idle_search_begin(vp);
    }
    if (ps_load_relaxed(&vp->mail) == MAIL_BUSY) /* else a message is in it, or it was never busy */
        ps_store_seq(&vp->mail, MAIL_IDLE);
    bool deaf = false;
    uint64_t mask = 0;
    for (;;) {
        if (!deaf && is_nobody(vp)) {
            mask = os_signal_mask();
            os_set_signal_mask(~UINT64_C(0));
            deaf = true;
        }
        w = search(vp);
        if (ps_work_some(w) || ps_load_acquire(&ps_rt.stopping))
            break;
        if (PS_UNLIKELY(!ps_victims_prepared()) &&
            !vp_is_roots(vp)) { /* a root's own state in the C library stays as it is */
            /* It calls functions of the C library, which may wait for a lock that somebody holds who is ready: so it
             * does not count as one who would take work meanwhile. */
            idle_search_end(vp);
            ps_prepare_victims();
            idle_search_begin(vp);
            continue;
        }
        sleep_and_learn(vp);
    }
    if (deaf)
        os_set_signal_mask(mask);
    idle_search_end(vp);
    return w;
}

void vp_stand_aside(struct vp *vp)
{
    if (vp->searching)
        idle_search_end(vp);
    uint64_t mail = ps_xchg_acq_rel(&vp->mail, MAIL_BUSY);
    if (mail > MAIL_IDLE)
        ps_team_enqueue_late(ps_mail_team(mail), ps_mail_id(mail), vp);
    if (!ps_queue_seems_empty(&vp->queue))
        idle_notify(NULL);
}
