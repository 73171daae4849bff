/* The sources of work: taking, stealing, looking, inserting. See sources.h. */

#include "dedicated.h"
#include "home.h"
#include "idle.h"
#include "team.h"
#include "visit.h"
#include "watch.h"

struct ps_work vp_take_item_locked(struct ps_queue *q, struct ps_item *item)
{
    if (PS_LIKELY(item->kind == PS_KIND_THREAD)) {
        ps_queue_remove_locked(q, item);
        return ps_work_of(PS_CONTAINER_OF(item, struct psthread, item));
    }
    struct ps_team *team = PS_CONTAINER_OF(item, struct ps_team, item);
    unsigned id = ps_team_claim(team);
    if (ps_team_exhausted(team))
        ps_queue_remove_locked(q, item);
    return id ? (struct ps_work){.what = team, .id = id} : PS_NO_WORK;
}

unsigned vp_count_members(struct ps_queue *q)
{
    unsigned n = 0, looks = 64; /* only so many entries: a queue may have a million, and other vps wait for its lock */
    ps_spin_lock(&q->lock);
    for (struct ps_list *at = q->items.next; at != &q->items && looks; at = at->next, looks--)
        if (ps_queue_item(at)->kind == PS_KIND_TEAM)
            n += ps_team_left(PS_CONTAINER_OF(ps_queue_item(at), struct ps_team, item));
    ps_spin_unlock(&q->lock);
    return n;
}

struct ps_work vp_take_front(struct ps_queue *q)
{
    struct ps_work w = PS_NO_WORK;
    if (ps_queue_seems_empty(q))
        return w;
    ps_spin_lock(&q->lock);
    while (!ps_work_some(w) && !ps_list_empty(&q->items))
        w = vp_take_item_locked(q, ps_queue_item(q->items.next));
    ps_spin_unlock(&q->lock);
    return w;
}

/* A thief takes one entry for itself. If the victim has many threads, the thief also moves up to this many to its own
 * queue. A visit for each thread would keep the victim's lock busy, if threads run for less time than a cache line
 * takes to move. */
#define STEAL_MAX 32

/* Moves up to `most` threads from the back of the queue `from` to the queue of vp, the thief. The caller
 * holds the victim's lock. Other threads may insert into the thief's queue meanwhile. True: some threads have moved. */
static bool steal_more_locked(struct vp *vp, struct ps_queue *from, unsigned most)
{
    struct ps_list stolen;
    unsigned n = 0;
    ps_list_init(&stolen);
    while (n < most && !ps_list_empty(&from->items)) {
        struct ps_item *item = ps_queue_item(from->items.prev);
        if (item->kind != PS_KIND_THREAD)
            break;
        ps_queue_remove_locked(from, item);
        ps_list_push_front(&stolen, &item->link);
        n++;
    }
    if (n == 0)
        return false;
    /* Takes the thief's lock inside of the victim's. Two thieves cannot wait for each other, since this lock is only
     * tried. */
    struct ps_queue *own = &vp->queue;
    if (!ps_spin_try_lock(&own->lock)) {
        while (!ps_list_empty(&stolen)) {
            struct ps_item *item = ps_queue_item(ps_list_pop_front(&stolen));
            ps_queue_push_back_locked(from, item);
        }
        return false;
    }
    while (!ps_list_empty(&stolen)) {
        struct ps_item *item = ps_queue_item(ps_list_pop_front(&stolen));
        ps_queue_push_back_locked(own, item);
    }
    ps_spin_unlock(&own->lock);
    return true;
}

struct ps_work vp_steal_from(struct vp *vp, struct ps_queue *q)
{
    struct ps_work w = PS_NO_WORK;
    bool moved = false;
    if (ps_queue_seems_empty(q) || !ps_spin_try_lock(&q->lock))
        return w;
    /* Tested under the lock: a second root marks vp before it makes work, so a vp that finds such work sees the
     * mark. */
    if (home_is_aside(vp)) {
        ps_spin_unlock(&q->lock);
        return w;
    }
    while (!ps_work_some(w) && !ps_list_empty(&q->items))
        w = vp_take_item_locked(q, ps_queue_item(q->items.prev));
    if (ps_work_thread(w)) {
        unsigned more = ps_load_relaxed(&q->count) / 2;
        if (more)
            moved = steal_more_locked(vp, q, more < STEAL_MAX ? more : STEAL_MAX);
    }
    ps_spin_unlock(&q->lock);
    /* A move counts as an insertion, so it must notify: a vp on its way to sleep may have looked at the thief's queue
     * before the move, and at the victim's queue after it. */
    if (moved)
        idle_notify(NULL);
    return w;
}

/* Peeks into victim's closed queue. If vp's last peek was at the same victim, and found the same region open, opens the
 * queue to all thieves and returns true: vp may take from it. Otherwise returns false; if the queue is not empty,
 * remembers the region for the next peek. */
static PS_NOINLINE bool peek_at(struct vp *vp, struct vp *victim)
{
    uint32_t region = ps_load_relaxed(&victim->serial_regions);
    if (ps_queue_seems_empty(&victim->queue))
        return false;
    if (vp->thief.peeked != victim || vp->thief.peeked_region != region) {
        vp->thief.peeked = victim;
        vp->thief.peeked_region = region;
        return false;
    }
    ps_store_relaxed(&victim->closed, PS_CLOSED_CALLED_OFF);
    return true;
}

/* Returns true if vp may take from victim's queue. peek: if the queue is closed, vp peeks into it (peek_at). */
static inline bool open_to(struct vp *vp, struct vp *victim, bool peek)
{
    return PS_LIKELY(ps_load_relaxed(&victim->closed) != PS_CLOSED) || vp_is(vp, VP_SPARE) ||
           (peek && peek_at(vp, victim));
}

/* Visits the queue of the vp `other`, which may be NULL or vp itself: then finds nothing. */
static PS_ALWAYS_INLINE struct ps_work visit_other(struct vp *vp, struct vp *other, enum ps_visit visit,
                                                   bool closed_too)
{
    if (!other || other == vp || (visit == PS_TAKE && !open_to(vp, other, closed_too)) ||
        (visit == PS_PEEK && !closed_too && ps_load_relaxed(&other->closed) == PS_CLOSED))
        return PS_NO_WORK;
    return visit == PS_TAKE ? vp_steal_from(vp, &other->queue) : vp_visit_queue(other, &other->queue, visit);
}

/* Counts a theft by vp from the vp number `victim`, which is at this level of distance, and reports the theft. */
static PS_NOINLINE void count_theft(struct vp *vp, unsigned level, unsigned victim)
{
    vp_count_theft(vp, level);
    PS_WATCHED(steal, PS_WATCH_STEAL, vp_run(vp)->id, (uint64_t)level << 32 | victim);
}

/* Returns the level of distance of the vp at place i of vp's visiting order, which has no guests. */
static unsigned steal_level(struct vp *vp, const uint16_t *victims, unsigned i)
{
    unsigned level = victims ? 0 : PS_STEAL_LEVELS - 1;
    while (level < PS_STEAL_LEVELS - 1 && i >= vp->thief.victims_end[level])
        level++;
    return level;
}

/* Visits the queues of the other vps until one has something: of those in vp's visiting order, then of the guests. */
static PS_ALWAYS_INLINE struct ps_work visit_others(struct vp *vp, enum ps_visit visit, bool closed_too)
{
    struct ps_work w = PS_NO_WORK;
    unsigned regular = ps_rt.num_vps, slots = ps_load_acquire(&ps_rt.table_size);
    const uint16_t *victims = ps_load_acquire(&vp->thief.victims);
    for (unsigned i = 0, n = regular - (vp_run(vp)->id < regular); i < n; i++) {
        unsigned id = victims ? victims[i] : (vp_run(vp)->id + 1 + i) % regular;
        w = visit_other(vp, ps_vp_at(id), visit, closed_too);
        if (ps_work_some(w)) {
            if (visit == PS_TAKE)
                count_theft(vp, steal_level(vp, victims, i), id);
            return w;
        }
    }
    for (unsigned id = regular; id < slots; id++) {
        w = visit_other(vp, ps_vp_at(id), visit, closed_too);
        if (ps_work_some(w)) {
            if (visit == PS_TAKE)
                count_theft(vp, PS_STEAL_LEVELS, id);
            return w;
        }
    }
    return w;
}

struct ps_work vp_visit_others(struct vp *vp, enum ps_visit visit, bool closed_too)
{
    if (visit == PS_PEEK)
        return visit_others(vp, PS_PEEK, closed_too);
    if (visit == PS_LOOK)
        return visit_others(vp, PS_LOOK, closed_too);
    return visit_others(vp, PS_TAKE, closed_too);
}

struct ps_work vp_steal_round(struct vp *vp, bool closed_too)
{
    return vp_visit(vp, PS_ELSEWHERE, PS_TAKE, closed_too);
}

bool vp_look(struct vp *vp) { return ps_work_some(vp_visit(vp, PS_EVERYWHERE, PS_LOOK, true)); }

bool vp_look_at_own(struct vp *vp)
{
    return ps_load_seq(&ps_rt.stopping) || ps_work_some(vp_visit(vp, PS_IN_PINNED | PS_IN_QUEUE, PS_LOOK, true));
}

bool vp_look_for_all(unsigned which)
{
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && ((which & PS_IN_PINNED && ps_work_some(vp_visit_pinned(vp, PS_LOOK))) ||
                   (which & PS_IN_HANDOFF && ps_work_some(vp_visit_handoff(vp, PS_LOOK))) ||
                   (which & PS_IN_QUEUE && ps_queue_look(&vp->queue))))
            return true;
    }
    return (which & PS_IN_PLACES && ps_places_on() && ps_work_some(ps_bind_visit(NULL, PS_LOOK))) ||
           (which & PS_IN_GLOBAL && ps_rt.has_global && ps_queue_look(&ps_rt.global));
}

bool vp_work_waits(void)
{
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = 0; id < slots; id++) {
        struct vp *vp = ps_vp_at(id);
        if (vp && !ps_queue_seems_empty(&vp->queue))
            return true;
    }
    return (ps_places_on() && ps_work_some(ps_bind_visit(NULL, PS_PEEK))) ||
           (ps_rt.has_global && !ps_queue_seems_empty(&ps_rt.global));
}

/* --- inserting --- */

/* Wakes target if it is a home that stands aside and sleeps. Such a home does not count as idle, so idle_notify does
 * not find it. Before it sleeps it sets `sleeps`, and then looks at its queue under the lock. */
static inline void wake_home_aside(struct vp *target)
{
    if (home_is_aside(target) && ps_load_relaxed(&target->dedicated.sleeps))
        ps_wake_dedicated(target);
}

static PS_ALWAYS_INLINE void push_ready(struct ps_queue *q, struct ps_item *item, enum ps_end end)
{
    ps_spin_lock(&q->lock);
    if (end == PS_FRONT)
        ps_queue_push_front_locked(q, item);
    else
        ps_queue_push_back_locked(q, item);
    ps_spin_unlock(&q->lock);
}

void vp_enqueue(struct vp *target, struct ps_item *item, enum ps_end end)
{
    if (PS_UNLIKELY(item->bound) && ps_places_on() && ps_bind_queue(item) != NULL) {
        ps_bind_enqueue(item, end);
        return;
    }
    push_ready(&target->queue, item, end);
    wake_home_aside(target);
    idle_notify(target);
}

void vp_enqueue_ring(struct vp *target, struct ps_list *first, unsigned n, enum ps_end end)
{
    struct ps_queue *q = &target->queue;
    ps_spin_lock(&q->lock);
    ps_list_push_ring_back(end == PS_FRONT ? q->items.next : &q->items, first);
    ps_queue_count_locked(q, (int)n);
    ps_spin_unlock(&q->lock);
    wake_home_aside(target);
    idle_notify(target);
}

void vp_enqueue_global(struct ps_item *item, enum ps_end end)
{
    push_ready(&ps_rt.global, item, end);
    idle_notify(NULL);
}
