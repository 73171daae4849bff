/* The table of places, and the ready queues of places. See bind.h; migrate.c moves kernel threads to places. */
#include "bind.h"

#include "handoff.h"
#include "home.h"
#include "idle.h"
#include "runtime.h"
#include "sources.h"
#include "team.h"
#include "vp.h"
#include "watchdog.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

static struct ps_places *places(void) { return ps_load_acquire(&ps_rt.places); }

/* --- the table --- */

/* Lists the places' processors in the order in which vps get them: the first processor of each place, then the second
 * of each, and so on, each processor once. Returns how many there are. */
static unsigned deal_processors(unsigned n, const unsigned *first, const unsigned *cpu, unsigned *dealt)
{
    struct os_cpuset seen;
    unsigned used = 0;
    os_cpuset_zero(&seen);
    for (unsigned k = 0, some = 1; some; k++) {
        some = 0;
        for (unsigned p = 0; p < n; p++) {
            if (first[p] + k >= first[p + 1])
                continue;
            some = 1;
            unsigned c = cpu[first[p] + k];
            if (os_cpuset_has(&seen, c))
                continue;
            os_cpuset_add(&seen, c);
            dealt[used++] = c;
        }
    }
    return used;
}

/* Finds which vps are at home in which places. Vp v has the processor dealt[v % processors], and is at home in all
 * places with this processor. Writes the answer as a list for each vp (all->at) and as a list for each place (homes).
 * Both arrays are large enough. */
static void find_homes(struct ps_places *all, const unsigned *dealt, unsigned processors, uint16_t *homes)
{
    unsigned used = 0;
    for (unsigned v = 0; v < all->num_vps; v++) {
        all->first[v] = used;
        for (unsigned p = 0; p < all->n; p++)
            if (os_cpuset_has(&all->place[p].mask, dealt[v % processors]))
                all->at[used++] = p;
    }
    all->first[all->num_vps] = used;
    for (unsigned p = 0; p < all->n; p++) {
        struct ps_place *place = &all->place[p];
        place->homes = homes;
        for (unsigned v = 0; v < all->num_vps; v++)
            if (os_cpuset_has(&place->mask, dealt[v % processors]))
                place->homes[place->num_homes++] = (uint16_t)v;
        homes += place->num_homes;
    }
}

void ps_places_free(struct ps_places *all)
{
    if (all == NULL)
        return;
    free(all->place[0].homes);
    free(all->place);
    free(all->first);
    free(all->at);
    free(all);
}

struct ps_places *ps_places_make(unsigned num_vps, unsigned n, const unsigned *first, const unsigned *cpu)
{
    struct ps_places *all = aligned_alloc(PS_CACHE_LINE, sizeof *all);
    struct ps_place *place = aligned_alloc(PS_CACHE_LINE, n * sizeof *place);
    unsigned *dealt = malloc(first[n] * sizeof *dealt), *starts = malloc((num_vps + 1) * sizeof *starts);
    unsigned processors = dealt != NULL ? deal_processors(n, first, cpu, dealt) : 0, pairs = 0;
    for (unsigned v = 0; v < num_vps && processors > 0; v++)
        for (unsigned i = 0; i < first[n]; i++)
            pairs += cpu[i] == dealt[v % processors];
    unsigned *at = malloc((pairs + 1) * sizeof *at);
    uint16_t *homes = malloc((pairs + 1) * sizeof *homes);
    if (all == NULL || place == NULL || processors == 0 || starts == NULL || at == NULL || homes == NULL) {
        free(all), free(place), free(dealt), free(starts), free(at), free(homes);
        return NULL;
    }
    *all = (struct ps_places){.n = n, .num_vps = num_vps, .place = place, .first = starts, .at = at};
    for (unsigned p = 0; p < n; p++) {
        place[p] = (struct ps_place){.num_homes = 0};
        ps_queue_init(&place[p].queue);
        for (unsigned i = first[p]; i < first[p + 1]; i++)
            os_cpuset_add(&place[p].mask, cpu[i]);
    }
    find_homes(all, dealt, processors, homes);
    free(dealt);
    return all;
}

bool ps_bind_places(unsigned n, const unsigned *first, const unsigned *cpu)
{
    if (places() != NULL || n == 0)
        return places() != NULL;
    struct ps_places *all = ps_places_make(ps_rt.num_vps, n, first, cpu), *none = NULL;
    if (all != NULL && !ps_cas_seq(&ps_rt.places, &none, all))
        ps_places_free(all);
    ps_bind_offline();
    return places() != NULL;
}

/* While some vps are offline, opens the places' queues to every vp. Two threads call this. One publishes the table,
 * then reads the limit here. The other changes the limit, then reads the table here (all seq_cst). So at least one of
 * them sees both the table and the new limit. */
void ps_bind_offline(void)
{
    struct ps_places *all = ps_load_seq(&ps_rt.places);
    if (all == NULL)
        return;
    if (ps_load_seq(&ps_rt.limit) < ps_rt.num_vps)
        ps_or_seq(&all->open, PS_BIND_OFFLINE);
    else
        ps_and_seq(&all->open, ~(uint32_t)PS_BIND_OFFLINE);
}

void ps_bind_after_fork_in_child(void)
{
    struct ps_places *all = places();
    for (unsigned p = 0; all != NULL && p < all->n; p++)
        ps_queue_init(&all->place[p].queue);
    if (all != NULL)
        ps_store_relaxed(&all->open, 0);
}

/* --- queues --- */

/* Returns the number, from 1, of the place to which the item is bound. */
static unsigned item_place(const struct ps_item *item)
{
    if (item->kind == PS_KIND_TEAM)
        return PS_CONTAINER_OF(item, struct ps_team, item)->place;
    return PS_CONTAINER_OF(item, struct ps_member, thread.item)->place;
}

struct ps_queue *ps_bind_queue(const struct ps_item *item)
{
    struct ps_place *place = &places()->place[item_place(item) - 1];
    return place->num_homes > 0 ? &place->queue : NULL;
}

/* Wakes a parked vp that looks into the place's queue. If no such vp is parked, arms the watchdog, and wakes any parked
 * vp if the queues of places are open to every vp. */
static void wake_for(const struct ps_place *place)
{
    for (unsigned i = 0; i < place->num_homes; i++)
        if (idle_wake_this(ps_vp_at(place->homes[i])))
            return;
    unsigned slots = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = ps_rt.num_vps; id < slots; id++) {
        struct vp *guest = ps_vp_at(id);
        if (guest != NULL && idle_wake_this(guest))
            return;
    }
    if (ps_load_seq(&places()->open)) /* the place's homes may be offline, or have no kernel thread */
        idle_wake_one(NULL);
    watchdog_arm();
}

void ps_bind_enqueue(struct ps_item *item, enum ps_end end)
{
    struct ps_place *place = &places()->place[item_place(item) - 1];
    ps_spin_lock(&place->queue.lock);
    if (end == PS_FRONT)
        ps_queue_push_front_locked(&place->queue, item);
    else
        ps_queue_push_back_locked(&place->queue, item);
    ps_spin_unlock(&place->queue.lock);
    wake_for(place);
}

/* Returns the root to whose regions the item belongs. */
static const struct psthread *root_of_item(struct ps_item *item)
{
    const struct psthread *t = item->kind == PS_KIND_TEAM ? PS_CONTAINER_OF(item, struct ps_team, item)->parent
                                                          : PS_CONTAINER_OF(item, struct psthread, item);
    while (t->flags & PS_T_MEMBER)
        t = t->parent;
    return t;
}

/* Takes work from q's front, for a home that stands aside: such a home takes only what belongs to its own root's
 * regions. */
static PS_NOINLINE struct ps_work take_own_front(struct vp *vp, struct ps_queue *q)
{
    struct ps_work w = PS_NO_WORK;
    if (ps_queue_seems_empty(q))
        return w;
    ps_spin_lock(&q->lock);
    while (!ps_work_some(w) && !ps_list_empty(&q->items) &&
           root_of_item(ps_queue_item(q->items.next)) == &vp_run(vp)->root)
        w = vp_take_item_locked(q, ps_queue_item(q->items.next));
    ps_spin_unlock(&q->lock);
    return w;
}

struct ps_work ps_bind_visit(struct vp *vp, enum ps_visit visit)
{
    struct ps_places *all = places();
    struct ps_work w = PS_NO_WORK;
    bool every = vp == NULL || vp_run(vp)->id >= all->num_vps || ps_load_seq(&all->open);
    unsigned i = every ? 0 : all->first[vp_run(vp)->id], end = every ? all->n : all->first[vp_run(vp)->id + 1];
    for (; i < end && !ps_work_some(w); i++) {
        struct ps_queue *q = &all->place[every ? i : all->at[i]].queue;
        if (visit == PS_TAKE)
            w = vp && home_is_aside(vp) ? take_own_front(vp, q) : vp_take_front(q);
        else if (visit == PS_LOOK ? ps_queue_look(q) : !ps_queue_seems_empty(q))
            w.what = q;
    }
    return w;
}

unsigned ps_bind_pending(struct vp *vp)
{
    struct ps_places *all = places();
    unsigned sum = 0;
    if (vp_run(vp)->id < all->num_vps)
        for (unsigned i = all->first[vp_run(vp)->id]; i < all->first[vp_run(vp)->id + 1]; i++)
            sum += ps_load_relaxed(&all->place[all->at[i]].queue.count);
    return sum;
}

bool ps_bind_hand_off(struct vp *self, struct ps_member *m, unsigned id)
{
    const struct ps_place *place = &places()->place[m->place - 1];
    if (id >= PS_HANDOFF_MAX_ID)
        return false;
    for (unsigned i = 0; i < place->num_homes; i++) {
        struct vp *vp = ps_vp_at(place->homes[i]);
        uint64_t idle = HANDOFF_IDLE;
        if (vp == self || home_is_aside(vp) || ps_load_relaxed(&vp->handoff) != HANDOFF_IDLE ||
            !ps_cas_seq(&vp->handoff, &idle, ps_handoff(m->team, id)))
            continue;
        idle_wake_this(vp);
        return true;
    }
    return false;
}

void ps_bind_starving(bool starving)
{
    struct ps_places *all = places();
    if (starving && !(ps_load_relaxed(&all->open) & PS_BIND_STARVING))
        ps_or_seq(&all->open, PS_BIND_STARVING);
    else if (!starving && ps_load_relaxed(&all->open) & PS_BIND_STARVING)
        ps_and_seq(&all->open, ~(uint32_t)PS_BIND_STARVING);
    if (starving)
        idle_wake_one(NULL);
}

void ps_bind_home_lost(void)
{
    if (ps_places_on())
        ps_or_seq(&places()->open, PS_BIND_FOR_GOOD);
}
