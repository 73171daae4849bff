/* Wakes a vp on another processor than its waker's. See wake_spread.h. */
#include "wake_spread.h"

#include "run.h"
#include "runtime.h"

/* A try was in vain if the worker ran later than this after the wake-up. */
#define LATE_NS 200000
/* How long a woken worker sleeps before it looks again whether its waker has given its mask back. */
#define LOOK_NS INT64_C(20000)
/* After the system has woken a worker on its waker's processor, the next PULLED_FOR wake-ups are made elsewhere. Then
 * the system chooses again. */
#define PULLED_FOR 256

/* Returns true if vp is a worker's: no guest, and not vp 0. */
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

/* Takes the processor `without` out of the mask of vp's kernel thread. *own gets the mask that it had before. False:
 * that is not possible, and the mask has not changed. */
static bool narrow(struct vp *vp, unsigned without, struct os_cpuset *own)
{
    int tid = ps_load_relaxed(&vp_run(vp)->tid);
    if (os_affinity_of(tid, own) != 0 || !os_cpuset_has(own, without) || os_cpuset_count(own) == 1)
        return false;
    struct os_cpuset others = *own;
    os_cpuset_remove(&others, without);
    return os_affinity_set_of(tid, &others) == 0;
}

/* Makes a try, unless there is a pause after tries in vain: takes `here`, the caller's processor, out of the mask of
 * vp's kernel thread. False: the mask has not changed. */
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
    ps_store_relaxed(&s->moving, 1); /* the store to wake_word publishes this */
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
    /* the worker seldom waits here: only if the waker lost its processor after the wake-up */
    while (ps_load_acquire(&s->moving))
        os_park(&s->moving, 1, LOOK_NS);
}

void ps_wake_spread_reset(struct vp *vp)
{
    vp_wake_spread(vp)->moved = vp_wake_spread(vp)->tried = false;
    ps_store_relaxed(&vp_wake_spread(vp)->moving, 0);
}
