/* Sends vps offline and brings them back. See quota_park.h. */
#include "quota_park.h"

#include "bind.h"
#include "check.h"
#include "handoff.h"
#include "idle.h"
#include "os.h"
#include "parts.h"
#include "run.h"
#include "runtime.h"
#include "share.h"
#include "sources.h"
#include "team.h"
#include "watchdog.h"
#include "watchdog_sample.h"

#include <limits.h>

static struct ps_spin lock; /* held while the limit changes: by the watchdog, or by the thread that stops the library */
/* Grows each time that the limit is set. Vps that are offline sleep on it. */
static PS_LINE_ALIGNED _Atomic uint32_t changes;
static _Atomic uint32_t sleeping; /* how many vps sleep in quota_park_run; each counts itself */
/* The time, in cpu_cycles, from which on a root that opens a region wakes the watchdog for a look at what the system
 * allows. Written by that root, and by the watchdog while the process lends processors, both seq_cst. The watchdog
 * writes what the process wants, then `lends` (share.c), then `due`. A root writes `due`, then reads `lends` and what
 * is wanted. If the root's store to `due` is the later one, the root sees both. Otherwise the watchdog's store stays,
 * and the root that opens the next region looks. */
static _Atomic uint64_t due;
/* The largest quota and the largest mask so far. Used by the watchdog alone, after the start. */
static struct quota_park_most most;
/* The last limit that quota_park_allow has set. Used under the lock; without it at a start and in a forked child, when
 * no other thread uses it. */
static unsigned allowed;
/* The limits that the system and the other processes set; UINT_MAX: none. Used by the watchdog, and by other threads
 * only while it has no kernel thread. */
static unsigned by_system, by_share;

static unsigned quota_at_start(void)
{
    unsigned n = os_cpu_quota_at_start();
    return n ? n : UINT_MAX;
}

/* Called when no worker runs: makes the vps below the limit online. The other workers have no kernel thread now, and do
 * not count as parked, so no vp starts them. */
static void begin_offline(void)
{
    for (unsigned id = 1; id < ps_rt.num_vps; id++) {
        struct vp *vp = ps_vp_at(id);
        ps_store_relaxed(vp_pinned(vp), NULL);
        /* true in a forked child only, for the vp of the thread that forked */
        bool carried = ps_load_relaxed(vp_attached(vp));
        ps_store_relaxed(vp_offline(vp), id < allowed || carried ? PS_ONLINE : PS_OFFLINE_UNSTARTED);
        if (!carried)
            ps_store_relaxed(vp_handoff(vp), id < allowed ? HANDOFF_IDLE : HANDOFF_BUSY);
    }
    ps_store_relaxed(&ps_rt.limit, allowed);
    idle_init(1, allowed);
}

void quota_park_init(void)
{
    ps_spin_init(&lock);
    allowed = ps_rt.num_vps;
    ps_store_relaxed(&sleeping, 0);
    ps_store_relaxed(&due, cpu_cycles());
    most = (struct quota_park_most){.quota = quota_at_start()};
    by_system = by_share = UINT_MAX;
    begin_offline();
}

void quota_park_restart(void)
{
    ps_spin_init(&lock);
    ps_store_relaxed(&sleeping, 0);
    by_share = UINT_MAX; /* no limit, until the next watchdog to start calls quota_park_share */
    allowed = by_system < ps_rt.num_vps ? by_system : ps_rt.num_vps;
    begin_offline();
}

/* --- the vp's side --- */

/* Moves the threads in vp's queue to the queues of the online vps, one to each in turn. Entries of teams stay: vps
 * steal their members. */
static void empty_queue(struct vp *vp)
{
    struct ps_queue *q = vp_queue(vp);
    struct ps_list threads;
    ps_list_init(&threads);
    ps_spin_lock(&q->lock);
    for (struct ps_list *at = q->items.next, *next; at != &q->items; at = next) {
        next = at->next;
        if (ps_queue_item(at)->kind != PS_KIND_THREAD)
            continue;
        ps_queue_remove_locked(q, ps_queue_item(at));
        ps_list_push_back(&threads, at);
    }
    ps_spin_unlock(&q->lock);
    for (unsigned to = 0; !ps_list_empty(&threads); to++) {
        struct ps_item *item = ps_queue_item(ps_list_pop_front(&threads));
        vp_enqueue(ps_vp_at(to % ps_load_relaxed(&ps_rt.limit)), item, PS_BACK);
    }
}

static bool must_be_offline(const struct vp *vp)
{
    return vp_run(vp)->id >= ps_load_seq(&ps_rt.limit) && !ps_load_seq(&ps_rt.stopping);
}

void quota_park_run(struct vp *vp)
{
    uint32_t seen = ps_load_seq(&changes);
    if (must_be_offline(vp)) {
        ps_store_release(vp_offline(vp), PS_OFFLINE);
        ps_store_release(vp_attached(vp), 0);
        empty_queue(vp);
        if (!ps_queue_seems_empty(vp_queue(vp)))
            idle_notify(NULL);
        uth_cache_trim(&vp_run(vp)->stacks, 2);
        ps_add_seq(&sleeping, 1); /* counted only here, since from now on the vp makes nothing ready (deadlock.h) */
        for (; must_be_offline(vp); seen = ps_load_seq(&changes))
            os_park(&changes, seen, OS_FOREVER);
        ps_sub_seq(&sleeping, 1);
        ps_store_release(vp_attached(vp), 1);
    }
    ps_store_release(vp_offline(vp), PS_ONLINE);
}

void quota_park_refused(struct vp *vp) { ps_store_release(vp_offline(vp), PS_ONLINE); }

unsigned quota_park_count(void) { return ps_load_seq(&sleeping); }

/* --- the watchdog's side --- */

/* Sends worker vp offline: at once if it has no kernel thread, otherwise by a request in its pinned slot. Does nothing
 * if vp is offline, has the request already, or was refused a kernel thread. */
static void send_offline(struct vp *vp)
{
    if (ps_load_acquire(vp_offline(vp)) != PS_ONLINE || ps_load_acquire(&vp_worker(vp)->started) == PS_WORKER_REFUSED)
        return;
    if (idle_take_unstarted(vp)) {
        ps_store_relaxed(vp_offline(vp), PS_OFFLINE_UNSTARTED);
        ps_handoff_close(vp, vp);
        return;
    }
    ps_store_release(vp_offline(vp), PS_OFFLINE_ASKED);
    ps_store_seq(vp_pinned(vp), PS_PINNED_OFFLINE);
    idle_wake_this(vp);
}

/* Brings worker vp online again, if it has no kernel thread: from now on vp counts as parked, so that it can be
 * started. */
static void bring_online(struct vp *vp)
{
    if (ps_load_relaxed(vp_offline(vp)) != PS_OFFLINE_UNSTARTED)
        return; /* a vp that sleeps in quota_park_run is woken by set_limit_locked, and reads the limit itself */
    ps_store_relaxed(vp_offline(vp), PS_ONLINE);
    ps_store_seq(vp_handoff(vp), HANDOFF_IDLE);
    idle_give_unstarted(vp);
    /* A parent may have put a member into the slot before vp's bit was set. That parent has woken no vp, so vp is woken
     * here. */
    if (ps_load_seq(vp_handoff(vp)) > HANDOFF_IDLE)
        idle_wake_this(vp);
}

static void set_limit_locked(unsigned limit)
{
    unsigned before = ps_load_relaxed(&ps_rt.limit);
    ps_store_seq(&ps_rt.limit, limit);
    ps_bind_offline();
    for (unsigned id = 1; id < ps_rt.num_vps; id++)
        if (id < limit)
            bring_online(ps_vp_at(id));
        else
            send_offline(ps_vp_at(id));
    ps_add_seq(&changes, 1);
    if (limit > before)
        os_wake(&changes, -1);
}

void quota_park_allow(unsigned limit)
{
    bool grown = false;
    ps_spin_lock(&lock);
    if (!ps_load_seq(&ps_rt.stopping)) {
        grown = limit > allowed;
        set_limit_locked(allowed = limit);
    }
    ps_spin_unlock(&lock);
    if (grown && vp_look_for_all(PS_IN_QUEUE | PS_IN_GLOBAL))
        idle_notify(NULL);
}

void quota_park_end(void)
{
    ps_spin_lock(&lock);
    set_limit_locked(ps_rt.num_vps);
    ps_spin_unlock(&lock);
}

/* --- what is allowed ---
 *
 * The quota limits the number of online vps if it is smaller than the largest quota that was seen so far. The same
 * holds for the affinity mask of the watchdog, which is bound to no place. So if the user chose more vps than the
 * machine has processors, that number stays. The watchdog looks every WATCHDOG_ALLOWED_NS while it watches. If nothing
 * makes it watch, a root wakes it for one look: a root that opens an outermost region, WATCHDOG_ALLOWED_NS or more
 * after the last reminder. A process that does nothing is not looked at. */

/* Returns n if it is less than the most so far. Else n becomes the most so far, and there is no limit: returns
 * UINT_MAX. */
static unsigned if_fewer(unsigned n, unsigned *most_so_far)
{
    if (n < *most_so_far)
        return n;
    *most_so_far = n;
    return UINT_MAX;
}

unsigned quota_park_decide(const struct watchdog_sample *s, struct quota_park_most *so_far)
{
    if (!s->new_limits)
        return 0;
    unsigned a = if_fewer(s->in_mask, &so_far->in_mask), b = if_fewer(s->by_quota, &so_far->quota);
    unsigned limit = a < b ? a : b;
    if (limit > s->num_vps)
        limit = s->num_vps;
    return limit ? limit : 1;
}

/* Applies the smaller one of the two limits, by_system and by_share. A limit that has not changed is applied too: a vp
 * that had no stack for going offline, or has started since, is asked again. */
static void apply(void)
{
    unsigned limit = by_system < by_share ? by_system : by_share;
    if (limit < ps_rt.num_vps || ps_load_relaxed(&ps_rt.limit) < ps_rt.num_vps)
        quota_park_allow(limit < ps_rt.num_vps ? limit : ps_rt.num_vps);
}

unsigned quota_park_by_system(void) { return by_system < ps_rt.num_vps ? by_system : ps_rt.num_vps; }

void quota_park_share(unsigned limit)
{
    if (limit == by_share && limit >= ps_rt.num_vps)
        return;
    by_share = limit;
    apply();
}

void quota_park_look(const struct watchdog_sample *s)
{
    static _Atomic uint32_t said;
    unsigned limit = quota_park_decide(s, &most);
    if (!limit)
        return;
    by_system = limit;
    apply();
    if (limit < ps_rt.num_vps && ps_rt.verbose && !ps_xchg_acq_rel(&said, 1))
        ps_warn("the system allows %u processors now: %u of %u virtual processors are offline (said once)", limit,
                ps_rt.num_vps - limit, ps_rt.num_vps);
}

void quota_park_remind_now(void) { ps_store_seq(&due, cpu_cycles()); }

void quota_park_remind(uint64_t now, unsigned n)
{
    if (PS_LIKELY((int64_t)(now - ps_load_relaxed(&due)) < 0))
        return;
    ps_store_seq(&due, now + ps_rt.per_region_cycles * (WATCHDOG_ALLOWED_NS / PS_PER_REGION_NS));
    share_open(n);
    if (ps_rt.num_vps > 1)
        watchdog_glance();
}
