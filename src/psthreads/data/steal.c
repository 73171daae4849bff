/* Computes the order of psthreads-2009, figures 2 and 3, in which a vp visits its victims. See steal.h. */
#include "steal.h"
#include "check.h"
#include "os.h"

#include <string.h>

_Static_assert(PS_STEAL_LEVELS == OS_MAX_LEVELS + 1, "the machine is one level more than the user's groups");

/* A level: a division of the vps into groups. If `size` is not 0, each group has `size` vps with consecutive numbers.
 * If `size` is 0, vp v sits on processor v modulo `processors`, and group_of has each processor's group (NULL: each
 * processor is a group). */
struct level {
    unsigned size;
    unsigned processors;
    const uint16_t *group_of;
};

/* The computation of one vp's order. */
struct walk {
    unsigned my_id, num_vps;
    /* how many vps my group had in the level walked last, mine included; 0: none was walked yet */
    unsigned lower_count;
    unsigned used;   /* entries in `order` so far */
    unsigned levels; /* levels that are done */
    uint16_t *order;
    uint16_t *ends; /* where each level ends in `order`; NULL: not wanted */
    /* A bit for each vp that is in `order`, and for the vp itself. */
    uint64_t visited[PS_STEAL_MAX_VPS / 64];
};

static unsigned group_number(const struct level *l, unsigned vp)
{
    if (l->size != 0)
        return vp / l->size;
    vp %= l->processors;
    return l->group_of != NULL ? l->group_of[vp] : vp;
}

static void visit_group(struct walk *w, unsigned vp)
{
    uint64_t bit = UINT64_C(1) << vp % 64;
    if (w->visited[vp / 64] & bit)
        return;
    w->visited[vp / 64] |= bit;
    w->order[w->used++] = (uint16_t)vp;
}

static void walk_init(struct walk *w, unsigned my_id, unsigned num_vps, uint16_t *order, uint16_t *ends)
{
    PS_CHECK(num_vps <= PS_STEAL_MAX_VPS && my_id < num_vps, "visiting order of vp %u of %u", my_id, num_vps);
    w->my_id = my_id;
    w->num_vps = num_vps;
    w->lower_count = 0;
    w->used = 0;
    w->levels = 0;
    w->order = order;
    w->ends = ends;
    memset(w->visited, 0, (num_vps + 63) / 64 * sizeof *w->visited);
    w->visited[my_id / 64] |= UINT64_C(1) << my_id % 64;
}

static void end_level(struct walk *w)
{
    PS_ASSERT(w->levels < PS_STEAL_LEVELS);
    if (w->ends)
        w->ends[w->levels] = (uint16_t)w->used;
    w->levels++;
}

/* Walks once around the vp's own group of this level, and visits the vps that were not visited before. */
static void walk_group(struct walk *w, const struct level *l)
{
    unsigned mine = group_number(l, w->my_id), before_me = 0, after_me = 0;
    for (unsigned vp = 0; vp < w->num_vps; vp++) {
        if (vp == w->my_id || group_number(l, vp) != mine)
            continue;
        if (vp < w->my_id)
            before_me++;
        else
            after_me++;
    }
    unsigned count = before_me + 1 + after_me;
    unsigned first = (before_me + w->lower_count) % count;
    for (int before_first = 0; before_first < 2; before_first++) {
        unsigned place = 0;
        for (unsigned vp = 0; vp < w->num_vps; vp++)
            if (group_number(l, vp) == mine && (place++ < first) == before_first)
                visit_group(w, vp);
    }
    w->lower_count = count;
}

static void walk_level(struct walk *w, const struct level *l)
{
    walk_group(w, l);
    end_level(w);
}

/* Ends the list of levels: levels that the caller has not given end here, too, and the last level is the whole machine.
 * Walks this last level, and returns how many vps are in the order: all other vps. */
static unsigned walk_rest(struct walk *w)
{
    while (w->levels < PS_STEAL_LEVELS - 1)
        end_level(w);
    if (w->used < w->num_vps - 1)
        walk_group(w, &(struct level){.size = w->num_vps});
    end_level(w);
    PS_ASSERT(w->used == w->num_vps - 1);
    return w->used;
}

unsigned ps_steal_order(unsigned my_id, unsigned num_vps, const unsigned group_size[], unsigned num_levels,
                        uint16_t order_out[], uint16_t ends_out[])
{
    struct walk w;
    walk_init(&w, my_id, num_vps, order_out, ends_out);
    for (unsigned i = 0; i < num_levels; i++)
        if (group_size[i] != 0)
            walk_level(&w, &(struct level){.size = group_size[i]});
        else
            end_level(&w);
    return walk_rest(&w);
}

unsigned ps_steal_order_topology(unsigned my_id, unsigned num_vps, const struct os_topology *topology,
                                 uint16_t order_out[], uint16_t ends_out[])
{
    struct walk w;
    walk_init(&w, my_id, num_vps, order_out, ends_out);
    walk_level(&w, &(struct level){.processors = topology->n});
    for (unsigned i = 0; i + 1 < topology->num_levels; i++)
        walk_level(&w, &(struct level){.processors = topology->n, .group_of = topology->level[i].group_of});
    return walk_rest(&w);
}
