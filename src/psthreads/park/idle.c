/* The functions of the idle protocol. idle.h has its steps, and says why no wake-up is lost. */
#include "idle.h"

#include "bind.h"
#include "current.h"
#include "handoff.h"
#include "home.h"
#include "os.h"
#include "runtime.h"
#include "sources.h"
#include "upcalls.h"
#include "vp.h"
#include "wake_spread.h"
#include "watch.h"

struct ps_idle ps_idle;

/* Sets a vp's bit in the idle set. Returns true if the bit was set before. */
static bool bit_set(unsigned id) { return ps_or_seq(&ps_idle.bits[id / 64], UINT64_C(1) << id % 64) >> id % 64 & 1; }
/* Clears a vp's bit. True: the bit was set, and this caller has cleared it, so only this caller may wake or start the
 * vp. */
static bool bit_take(unsigned id)
{
    uint64_t mask = UINT64_C(1) << id % 64;
    if (!(ps_load_seq(&ps_idle.bits[id / 64]) & mask))
        return false;
    return ps_and_seq(&ps_idle.bits[id / 64], ~mask) & mask;
}

void idle_init(unsigned num_workers_first, unsigned num_vps)
{
    for (unsigned i = 0; i < IDLE_MAX / 64; i++)
        ps_store_relaxed(&ps_idle.bits[i], 0);
    for (unsigned id = num_workers_first; id < num_vps; id++)
        bit_set(id);
    uint64_t parked = num_vps > num_workers_first ? num_vps - num_workers_first : 0;
    ps_store_seq(&ps_idle.word, parked * IDLE_ONE_PARKED);
}

void idle_never_start(struct vp *vp)
{
    /* In state REFUSED the stop of the library does not join the worker's kernel thread. */
    ps_store_release(&vp->worker.started, PS_WORKER_REFUSED);
    ps_bind_home_lost();
    if (bit_take(vp_run(vp)->id))
        ps_sub_seq(&ps_idle.word, IDLE_ONE_PARKED);
}

bool idle_take_unstarted(struct vp *vp)
{
    if (ps_load_acquire(&vp->worker.started) != PS_WORKER_NONE || !bit_take(vp_run(vp)->id))
        return false;
    ps_sub_seq(&ps_idle.word, IDLE_ONE_PARKED);
    return true;
}

void idle_give_unstarted(struct vp *vp)
{
    /* counted before the bit is set: a waker that takes the bit subtracts this again */
    ps_add_seq(&ps_idle.word, IDLE_ONE_PARKED);
    bit_set(vp_run(vp)->id);
}

/* Step [L] of idle.h. Returns true if there is work that this vp could take, or if the library stops. */
static bool look_everywhere(struct vp *vp) { return ps_load_seq(&ps_rt.stopping) || vp_look(vp); }

void idle_search_begin(struct vp *vp)
{
    vp->searching = true;
    ps_add_seq(&ps_idle.word, 1);
}

void idle_forget_search(struct vp *vp) { vp->searching = false; }

void idle_search_end(struct vp *vp)
{
    vp->searching = false;
    uint64_t before = ps_sub_seq(&ps_idle.word, 1);
    if (PS_LIKELY(IDLE_SEARCHING(before) != 1))
        return;
    if (PS_UNLIKELY(IDLE_PARKED(before) != 0)) {
        if (look_everywhere(vp))
            idle_wake_one(vp);
    } else {
        watchdog_arm(); /* no vp searches or is parked any more, so the watchdog looks after work that is left */
    }
}

/* Starts the kernel thread of worker vp, whose bit the caller has taken. False: the system refuses the kernel thread,
 * or the library stops. Then the worker counts neither as searching nor as parked, so no thread tries to start it
 * again. */
static bool start_worker(struct vp *vp)
{
    if (!ps_load_seq(&ps_rt.stopping)) {
        vp->searching = true; /* the caller has counted vp as searching */
        ps_store_release(&vp->worker.started, PS_WORKER_STARTING);
        if (vp_start_worker(vp) == 0)
            return true;
    }
    ps_store_release(&vp->worker.started, PS_WORKER_REFUSED);
    ps_bind_home_lost();
    ps_sub_seq(&ps_idle.word, 1);
    ps_store_relaxed(&vp->pinned, NULL); /* the slot may have the request to go offline */
    struct vp *here = ps_vp();
    ps_handoff_close(vp, here ? here : vp); /* a member that was handed off to vp must run elsewhere */
    return false;
}

void idle_start_wanted(void)
{
    for (unsigned id = 1; id < ps_rt.num_vps; id++)
        if (ps_load_seq(&ps_vp_at(id)->worker.started) == PS_WORKER_WANTED && !start_worker(ps_vp_at(id)))
            /* The worker has counted as searching, so threads that inserted work may have woken no other vp. */
            idle_notify(NULL);
}

/* As start_worker; if the caller may not start kernel threads (watchdog_starts_for), makes the watchdog call
 * start_worker, and returns true. */
static bool start_taken(struct vp *vp)
{
    if (PS_LIKELY(!watchdog_starts_for(ps_vp())) || ps_load_seq(&ps_rt.stopping))
        return start_worker(vp);
    ps_store_seq(&vp->worker.started, PS_WORKER_WANTED);
    watchdog_ask(WATCHDOG_WORKERS);
    return true;
}

/* Counts vp, whose bit the caller has taken, as searching, and wakes it. If vp is a worker that has no kernel thread
 * yet, starts it. False: the start has failed, as in start_worker. */
static bool wake_taken(struct vp *vp)
{
    ps_add_seq(&ps_idle.word, 1 - IDLE_ONE_PARKED);
    if (!vp_run(vp)->is_guest && vp_run(vp)->id != 0 && ps_load_acquire(&vp->worker.started) == PS_WORKER_NONE)
        return start_taken(vp); /* this caller has taken the bit, so no other thread starts the worker */
    struct os_cpuset own;       /* the mask of vp's kernel thread */
    bool moves = ps_wake_spread_begin(vp, &own);
    ps_store_seq(&vp->wake_word, 1);
    os_wake(&vp->wake_word, 1);
    if (PS_UNLIKELY(moves))
        ps_wake_spread_end(vp, &own);
    return true;
}

void idle_wake_one(struct vp *near)
{
    if (near && vp_run(near)->id < IDLE_MAX && bit_take(vp_run(near)->id) && wake_taken(near))
        return;
    unsigned n = ps_load_acquire(&ps_rt.table_size);
    for (unsigned i = 0; i < (n + 63) / 64; i++) {
        uint64_t bits;
        while ((bits = ps_load_seq(&ps_idle.bits[i])) != 0) {
            unsigned id = i * 64 + (unsigned)__builtin_ctzll(bits);
            if (bit_take(id) && wake_taken(ps_vp_at(id)))
                return;
        }
    }
    if (!idle_any()) /* those that counted as parked were refused a kernel thread, or were woken and found work */
        watchdog_arm();
}

void idle_wake_all(void)
{
    unsigned n = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < n; id++)
        if (ps_load_acquire(&ps_vp_at(id)->worker.started) == PS_WORKER_RUNS)
            idle_wake_this(ps_vp_at(id));
}

bool idle_all_parked(unsigned *carried)
{
    unsigned n = ps_load_acquire(&ps_rt.table_size);
    *carried = 0;
    for (unsigned id = 0; id < n; id++) {
        struct vp *vp = ps_vp_at(id);
        if (!vp || !ps_load_seq(&vp->attached))
            continue;
        ++*carried;
        if (!(ps_load_seq(&ps_idle.bits[id / 64]) >> id % 64 & 1) &&
            (!ps_load_seq(&vp->dedicated.sleeps) || ps_load_seq(&vp_run(vp)->in_handler)))
            return false;
    }
    return IDLE_SEARCHING(ps_load_seq(&ps_idle.word)) == 0;
}

bool idle_wake_this(struct vp *vp) { return bit_take(vp_run(vp)->id) && wake_taken(vp); }

/* Sleeps until a waker has set wake_word. Before vp sleeps, and again whenever the time that before_sleep has returned
 * is over, before_sleep looks for a deadlock (deadlock.h). */
static void sleep_until_woken(struct vp *vp)
{
    int64_t timeout_ns = ps_upcalls.before_sleep(vp, 0);
    for (unsigned looks = 1; !ps_xchg_seq(&vp->wake_word, 0); looks++) {
        os_park(&vp->wake_word, 0, timeout_ns < 0 ? OS_FOREVER : timeout_ns);
        if (timeout_ns >= 0)
            timeout_ns = ps_upcalls.before_sleep(vp, looks);
    }
    ps_wake_spread_woken(vp);
}

/* Makes the steps [P] and [L] of idle.h. True: vp has seen work, and counts as searching again. False: vp has to sleep
 * on wake_word. */
static bool park_unless_found(struct vp *vp)
{
    uth_cache_trim(&vp_run(vp)->stacks, 2);
    ps_add_seq(&ps_idle.word, IDLE_ONE_PARKED - 1); /* step [P] of idle.h */
    ps_add_seq(&ps_idle.parks, 1);
    bit_set(vp_run(vp)->id);
    bool found = look_everywhere(vp);
    /* vp sleeps if it has found nothing. If it has found work and a waker has taken the bit already, that wake-up ends
     * the sleep at once. */
    if (!found || !bit_take(vp_run(vp)->id))
        return false;
    ps_add_seq(&ps_idle.word, 1 - IDLE_ONE_PARKED);
    return true;
}

void idle_park(struct vp *vp)
{
    home_settle(vp);
    ps_wake_spread_parks(vp);
    if (park_unless_found(vp))
        return;
    PS_WATCHED(park, PS_WATCH_PARK, vp_run(vp)->id, 0);
    sleep_until_woken(vp);
    PS_WATCHED(unpark, PS_WATCH_UNPARK, vp_run(vp)->id, 0);
}

bool idle_park_for(struct vp *vp, int64_t ns)
{
    if (park_unless_found(vp))
        return true;
    ps_upcalls.before_sleep(vp, 0);
    uint64_t end = os_now_ns() + (uint64_t)ns;
    while (!ps_xchg_seq(&vp->wake_word, 0)) {
        uint64_t now = os_now_ns();
        if (now >= end && bit_take(vp_run(vp)->id)) {
            ps_add_seq(&ps_idle.word, 1 - IDLE_ONE_PARKED);
            return false;
        }
        /* If the time is over here, a waker has taken the bit, and its wake-up is about to come. */
        os_park(&vp->wake_word, 0, now < end ? (int64_t)(end - now) : OS_FOREVER);
    }
    return true;
}
