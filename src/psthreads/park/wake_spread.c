/* A vp that would be woken on its waker's processor is woken on another one: see wake_spread.h. */
#include "wake_spread.h"

#include "run.h"
#include "runtime.h"

#define LATE_NS 200000
#define LOOK_NS INT64_C(20000)
#define PULLED_FOR 256 /* wake-ups, until the system is left to choose once */

/* Whether vp's kernel thread is the library's, and carries vp for good. */
static bool is_worker(const struct vp *vp) { return !vp_run(vp)->is_guest && vp_run(vp)->id != 0; }

void ps_wake_spread_parks(struct vp *vp)
{
    struct ps_wake_spread *s = vp_wake_spread(vp);
    if (!is_worker(vp))
        return;
    s->slept_on = os_cpu_here();
    if (PS_LIKELY(!s->tried))
        return;
    s->tried = false;
    if (s->late_ns > LATE_NS || os_times_preempted() != s->preempted)
        ps_wake_tries_in_vain(&s->tries, os_now_ns());
    else
        ps_wake_tries_paid(&s->tries);
}

/* False: it cannot be, and vp's mask is as it was. */
static bool narrow(struct vp *vp, unsigned without, struct os_cpuset *own)
{
    int tid = ps_load_relaxed(&vp_run(vp)->tid);
    if (os_affinity_of(tid, own) != 0 || !os_cpuset_has(own, without) || os_cpuset_count(own) == 1)
        return false;
    struct os_cpuset others = *own;
    os_cpuset_remove(&others, without);
    return os_affinity_set_of(tid, &others) == 0;
}

static PS_NOINLINE bool try_elsewhere(struct vp *vp, unsigned here, struct os_cpuset *own)
{
    struct ps_wake_spread *s = vp_wake_spread(vp);
    uint64_t now = os_now_ns();
    if (!ps_wake_tries_now(&s->tries, now))
        return false;
    if (!narrow(vp, here, own)) {
        ps_wake_tries_in_vain(&s->tries, now);
        return false;
    }
    s->moved = true;
    s->woken_at_ns = now;
    ps_store_relaxed(&s->moving, 1); /* published by wake_word */
    return true;
}

bool ps_wake_spread_begin(struct vp *vp, struct os_cpuset *own)
{
    if (!is_worker(vp) || ps_places_on())
        return false;
    struct ps_wake_spread *s = vp_wake_spread(vp);
    int here = s->woken_from = os_cpu_here();
    if (here < 0 || PS_LIKELY(here != s->slept_on && !s->pulled) || !try_elsewhere(vp, (unsigned)here, own))
        return false;
    s->pulled -= s->pulled > 0;
    return true;
}

void ps_wake_spread_end(struct vp *vp, const struct os_cpuset *own)
{
    os_affinity_give_back(ps_load_relaxed(&vp_run(vp)->tid), own);
    ps_store_release(&vp_wake_spread(vp)->moving, 0);
}

void ps_wake_spread_woken(struct vp *vp)
{
    struct ps_wake_spread *s = vp_wake_spread(vp);
    if (PS_LIKELY(!s->moved)) {
        if (is_worker(vp) && PS_UNLIKELY(s->woken_from == os_cpu_here()))
            s->pulled = PULLED_FOR;
        return;
    }
    s->moved = false;
    s->tried = true;
    s->late_ns = os_now_ns() - s->woken_at_ns;
    s->preempted = os_times_preempted();
    while (ps_load_acquire(&s->moving)) /* seldom: the waker had to leave its processor */
        os_park(&s->moving, 1, LOOK_NS);
}

void ps_wake_spread_reset(struct vp *vp)
{
    vp_wake_spread(vp)->moved = vp_wake_spread(vp)->tried = false;
    ps_store_relaxed(&vp_wake_spread(vp)->moving, 0);
}
