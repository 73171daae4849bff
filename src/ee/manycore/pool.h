/* Entities of a fixed thread pool: what ee.c shares with the ways to start and join them (hal.h).
 *
 * The words are those of manycore-nested-2016, section 3.1: a persistent thread is docked on each core; a team takes
 * threads from the pool and gives them back. */
#ifndef PS_EE_POOL_H
#define PS_EE_POOL_H

#include "board.h"
#include "ee.h"
#include "member_end.h"

#include <string.h>

struct team;
struct self;
struct member {
    /* team and core are set by the core that runs the member, when it is told of a mapping (look_at). */
    struct team *team;
    uint16_t core;        /* cluster * cores of a cluster + number in the cluster */
    uint32_t region;      /* the team's region number, counted by the member itself */
    _Atomic uint32_t end; /* decides which thread reports its end: member_end.h */
    uint32_t phase;       /* number of the team's barrier phase, as far as the member knows */
    uint8_t slots;        /* copy of the team's `slots` */
    bool met;             /* it has arrived at this barrier in the synchroniser too, and has to take the signal */
    uint16_t barriers;    /* sw-paper: barriers of this region that it has met by flags */
};
_Static_assert(sizeof(struct member) <= sizeof(struct ee_member), "ee_member is too small");

/* Clusters, as bits, in which a team has the same cores; and these cores. */
struct span {
    uint64_t clusters;
    uint32_t cores;
};

struct team {
    const struct ee_team_ops *ops;
    struct member **members; /* a table that the OpenMP core made; `near` fills it */
    uint32_t n;
    void *parent_local;
    struct member *parent; /* the member that forked the team; NULL: the root forked it */
    int16_t place;         /* the place of all members, or EE_NO_PLACE */
    bool scattered, bound_anew;
    /* The mapping of members to cores. It stays from region to region, as long as the cores are idle again. */
    uint16_t mapped;  /* number of members, including member 0, that have a core; 0: no mapping */
    uint16_t version; /* number of the mapping, different from those of the last 65535 mappings */
    uint16_t home;    /* member 0's core */
    bool root;        /* the root's team: it was forked outside of any other team */
    bool told;        /* its cores have been told of this mapping */
    bool again;       /* the region is like the last one, so the order carries only fn and data */
    uint8_t num_spans;
    /* slot of the synchroniser for the join; the barrier has the next slot; 0: none */
    uint8_t slots;
    /* the idle cores (mapping.c) of the parent's cluster, if all cores are there; else NULL */
    _Atomic uint32_t *idle;
    struct span *spans;                  /* num_spans entries; without member 0's core */
    uint32_t *cores;                     /* [clusters] the same cores, cluster by cluster */
    uint16_t *id_of;                     /* [cores] the member that runs on each core */
    struct paper_descriptor *descriptor; /* the open region's descriptor: hal/paper.h */
    uint8_t *cluster_of;                 /* [members] the cluster of the member's place, + 1; 0: any cluster */
    void (*fn)(void *);
    void *data;
    uint32_t region;         /* number of the open region; odd */
    volatile uint32_t *gate; /* ee_gate and ee_gate_mask of member 0; NULL: it has none yet */
    uint32_t gate_mask;
    const struct self *opener; /* the core that may call ee_team_run_again; NULL: no core may */
    struct member *first;      /* While opener is not NULL: member 0. */
    /* While opener is not NULL: the cores of members 1 on, if all these are in the opener's cluster. */
    uint32_t near;
    /* While opener is not NULL: a copy of ops->again in near memory. */
    void (*run_again)(struct ee_member *, void (*)(void *), void *);
    /* runs a whole region; set by the HAL's ee_team_lasts */
    void (*go)(struct team *, void (*)(void *), void *);
    uint16_t expects; /* the value that two bytes of the opener's struct self must have (pool_may_run_again) */
    /* hws: a load from this register of the synchroniser waits for the join, and takes its signal */
    volatile uint32_t *joined;
    _Atomic uint32_t released; /* sw-paper: the last barrier that member 0 has ended by flags; 0: none yet */
    /* sw: in the root's team, what `left` begins with: members in its cluster + other clusters */
    uint16_t arrivals;
    /* sw: the first and the number of the team's cores in the parent's cluster, if they are neighbours; else run_n is
     * 0 */
    uint8_t run_first, run_n;
    /* The fields below are written by members. */
    /* software join: members other than the first that are not done (sw: see arrivals) */
    _Atomic uint32_t left;
    _Atomic uint32_t assistants;    /* members that assist after they were done */
    _Atomic uint32_t wanted;        /* 1: member 0, whose core waits in the join, is called as a helper */
    _Atomic uint32_t notified;      /* 1: the region has tasks */
    _Atomic uint32_t arrivals_left; /* software barrier: members that have not arrived */
    _Atomic uint32_t phase;
};
_Static_assert(sizeof(struct team) <= sizeof(struct ee_team), "ee_team is too small");

static inline struct team *team_of(struct ee_team *t) { return (struct team *)(void *)t; }
static inline struct member *member_at(const struct team *team, unsigned id) { return team->members[id]; }

/* An order to a docked thread. The lowest bits of `what` tell its kind; the other bits are an address: of the member
 * with ORDER_ASSIST, otherwise of the team. ORDER_ROOT: the team is the root's. ORDER_AGAIN: fn and data are given.
 * Without ORDER_AGAIN, `cores` has the team's cores in the thread's cluster, with the mapping's version in its upper
 * half. */
struct order {
    uintptr_t what;
    uint32_t cores;
    void (*fn)(void *);
    void *data;
};
enum {
    ORDER_ROOT = 1,
    ORDER_ASSIST = 2,
    ORDER_AGAIN = 4,
    ORDER_HAL = 8,
    ORDER_BITS = 15
}; /* ORDER_HAL is for the HAL's own use */
_Static_assert(_Alignof(struct ee_team) > ORDER_BITS && PS_CACHE_LINE > ORDER_BITS && BOARD_BLOCK_UNIT > ORDER_BITS,
               "the lowest bits of a team's or a member's address are an order's");

/* A team that a core has been told of, and the core's member in it. */
struct known {
    struct team *team; /* NULL: the entry is empty */
    struct member *m;
    uintptr_t order;         /* `what` of the order to run m again */
    volatile uint32_t *gate; /* ee_gate and ee_gate_mask of m; NULL: it has none yet */
    uint32_t gate_mask;
    uint16_t version; /* version of the mapping from which the entry is */
    uint16_t cores;   /* the team's cores in this cluster */
    uint8_t slots;
};
/* What each core keeps in its cluster's memory; no other core reads or writes it. */
struct self {
    struct member *member; /* the member that it runs; NULL: the core is the root, or docked */
    /* The next two bytes are compared as one number (pool_may_run_again). */
    bool sees_tasks;     /* the core has learnt that its team, or an enclosing one, has tasks */
    bool of_root_team;   /* it is in the root's team, and root_cores belong to the open region */
    uint16_t root_cores; /* this cluster's cores in the last root's team that the core was in */
    /* The two teams that the core was told of last. Two suffice for regions of two shapes in turn, or of two levels. */
    struct known *known; /* the entry that was used last; NULL: the core was told of no team */
    struct known teams[2];
    void (*body)(struct ee_member *); /* body and again are the same in all teams' ops */
    void (*again)(struct ee_member *, void (*fn)(void *), void *data);
};
#define POOL_SEES_NOTHING 0x000 /* both bytes as one number: no tasks seen, not in the root's team */
#define POOL_OF_ROOT_TEAM 0x100
_Static_assert(offsetof(struct self, of_root_team) == offsetof(struct self, sees_tasks) + 1, "they are neighbours");
extern __thread struct self pool_self;
/* POOL_OWN computes the address of a core's own (thread-local) variable at the place of its use; POOL_OWN_SET stores to
 * such a variable. Without them GCC would keep half of the address over a call, in a register that has to be saved; the
 * linker then finds that this half is zero. */
#define POOL_OWN(variable)                                                                             \
    __extension__({                                                                                    \
        __typeof__(variable) *own_;                                                                    \
        __asm__ volatile("lui %0, %%tprel_hi(" #variable ")\n\tadd %0, %0, tp, %%tprel_add(" #variable \
                         ")\n\taddi %0, %0, %%tprel_lo(" #variable ")"                                 \
                         : "=r"(own_));                                                                \
        own_;                                                                                          \
    })
#define POOL_OWN_SET(variable, value)                                                                  \
    do {                                                                                               \
        __typeof__(variable) value_ = (value);                                                         \
        uintptr_t half_;                                                                               \
        __asm__ volatile("lui %0, %%tprel_hi(" #variable ")\n\tadd %0, %0, tp, %%tprel_add(" #variable \
                         ")\n\tsw %z1, %%tprel_lo(" #variable ")(%0)"                                  \
                         : "=&r"(half_)                                                                \
                         : "rJ"(value_)                                                                \
                         : "memory");                                                                  \
    } while (0)
extern __thread void *pool_local; /* what ee_local() returns */
/* The core's gate, which ee_port.h describes; NULL: closed. hal/synchroniser.c opens it in a barrier. A later region
 * that is like that one begins with the same gate, open. */
extern __thread volatile uint32_t *ee_gate;
extern __thread uint32_t ee_gate_mask;
extern __thread bool ee_gate_arrived;
static inline void pool_saw_tasks(void)
{
    pool_self.sees_tasks = true;
    ee_gate = NULL;
}
/* The root's team while it is open, else NULL. Written by the root. */
extern struct team *volatile pool_open_root;
/* The root's last team. */
extern struct team *pool_last_root;
/* The number of clusters, and of cores in a cluster. Each cluster's memory has a copy. */
extern BOARD_LOCAL unsigned pool_clusters, pool_cores;
static inline unsigned pool_core(void) { return board_cluster() * pool_cores + board_core(); }

/* Loads and read-modify-writes of orders and joins, with acquire and release. Where the memory is sequentially
 * consistent, only the compiler has to keep their order. */
static inline uint32_t pool_load(_Atomic uint32_t *word)
{
    if (!board_in_order())
        return ps_load_acquire(word);
    uint32_t value = *(volatile uint32_t *)word;
    ps_fence_compiler();
    return value;
}
#define POOL_FETCH(name, operation)                                                         \
    static inline uint32_t pool_##name(_Atomic uint32_t *word, uint32_t value)              \
    {                                                                                       \
        if (!board_in_order())                                                              \
            return atomic_##operation##_explicit(word, value, memory_order_acq_rel);        \
        ps_fence_compiler();                                                                \
        uint32_t before = atomic_##operation##_explicit(word, value, memory_order_relaxed); \
        ps_fence_compiler();                                                                \
        return before;                                                                      \
    }
POOL_FETCH(and, fetch_and)
POOL_FETCH(or, fetch_or)
POOL_FETCH(sub, fetch_sub)
POOL_FETCH(swap, exchange)
#undef POOL_FETCH

/* What a docked core that has run `known` expects: the same order again, for which it prepares. The whole team waits
 * for what a core does after the order and before it counts its member in the join, so as much as possible is done
 * before the order. */
struct expected {
    struct member *m;
    uintptr_t order;
    uint32_t region;
    void (*again)(struct ee_member *, void (*)(void *), void *);
};
static PS_ALWAYS_INLINE struct expected pool_expect(struct self *self, const struct known *known)
{
    struct member *m = known->m;
    struct expected e = {.m = m, .order = known->order, .region = m->region + 2, .again = self->again};
    pool_local = m;
    self->member = m;
    self->sees_tasks = false;
    ee_gate = known->gate;
    ee_gate_mask = known->gate_mask;
    m->phase = 0;
    /* computes these values now, not later */
    __asm__ volatile("" : "+r"(e.order), "+r"(e.region), "+r"(e.again) : : "memory");
    return e;
}

/* Returns the core's other entry. The caller looks for the order's team there, or overwrites the entry. */
static inline struct known *pool_other_known(struct self *self)
{
    return self->known == &self->teams[0] ? &self->teams[1] : &self->teams[0];
}
/* Notes that the core runs the member of `known` next, and whether the member's team is the root's, as `order`
 * tells. */
static inline void pool_know(struct self *self, struct known *known, uintptr_t order)
{
    self->known = known;
    self->of_root_team = order & ORDER_ROOT;
    if (order & ORDER_ROOT)
        self->root_cores = known->cores;
}

/* Called by a member whose body has returned, and whose `end` says that the region has tasks (TOLD, member_end.h). Runs
 * tasks as this member until the core is a helper (ops->idle returns false). */
void pool_assist_told(struct member *m);
/* Called by a member other than the first when its body has returned: exchanges `end`, as member_end_return does, and
 * assists if it must. The caller then counts the member in the join (hal_arrive). */
static PS_ALWAYS_INLINE void pool_member_end(struct member *m, uint32_t region)
{
    if (PS_UNLIKELY(pool_swap(&m->end, member_end_returned(region)) == member_end_told(region)))
        pool_assist_told(m);
}
/* Called by a docked core whose expected order has come: runs the member's share, and assists if it must. The core then
 * counts the member in the join, and calls pool_ran_expected, which stores the region's number in the member. */
static PS_ALWAYS_INLINE void pool_run_expected(const struct expected *e, void (*fn)(void *), void *data)
{
    e->again((struct ee_member *)(void *)e->m, fn, data);
    pool_member_end(e->m, e->region);
}
static PS_ALWAYS_INLINE void pool_ran_expected(const struct expected *e) { e->m->region = e->region; }
/* Called by the parent when it waits in the join and knows of tasks. Assists if the parent has member 0's identity
 * (*mine, true at first), or if member 0 was called as a helper. */
void pool_assist(struct team *team, bool *mine);

/* mapping.c or hal/paper.c keeps which cores are idle, and has ee_team_reserve (ee.h) too. The first core calls
 * pool_start before others dock: all cores except the first become idle. */
void pool_start(void);
/* Called by the parent: marks the open region's cores, except its own, as idle again. */
void pool_give_back(struct team *team);
/* Tells the trace (manycore-cc --phases) what the parent does now. `name` is a literal: INIT, FETCH, RELEASE, BODY,
 * GATHER, CLOSE or UPDATE. */
static inline void pool_phase(const char *name)
{
#ifdef POOL_PHASES
    board_region(name);
#else
    (void)name;
#endif
}

/* Called by the parent after a region, before ee_team_run_again may open the next one: waits for the members that
 * assist, and sets the team's words to what a region begins with. */
void pool_tidy(struct team *team);
/* Takes all of the team's cores or none, for ee_team_run_again of a team whose cores are all in the caller's cluster.
 * Returns whether it took them. Sets *region to the number of the team's last region, which is read while the answer of
 * pool_and is on its way. */
static inline bool pool_claim_again(const struct team *team, uint32_t cores, uint32_t *region)
{
    /* root_cores stays the same while the root's team is open */
    uint32_t taken = pool_self.root_cores, before = pool_and(team->idle, ~cores);
    *region = team->region;
    __asm__ volatile("" : "+r"(before), "+r"(*region));
    if (PS_LIKELY(((~before | taken) & cores) == 0))
        return true;
    pool_or(team->idle, before & cores);
    return false;
}
/* Prepares what ee_team_run_again needs. Returns the result of ee_team_lasts. */
static inline bool pool_lasts(struct team *team)
{
    bool lasts = team->told && (team->root ? pool_last_root == team : team->idle != NULL && pool_self.of_root_team);
    team->opener = lasts ? &pool_self : NULL;
    team->expects = team->root ? POOL_SEES_NOTHING : POOL_OF_ROOT_TEAM;
    team->first = team->members[0];
    if (lasts)
        pool_tidy(team); /* the slow path does this in open_team */
    team->near = team->spans[0].cores;
    team->run_again = team->ops->again;
    return lasts;
}
/* Returns whether ee_team_run_again may use the fast path: this core is the team's opener, and has seen no tasks. */
static inline bool pool_may_run_again(const struct team *team, const struct self *self)
{
    uint16_t seen;
    memcpy(&seen, &self->sees_tasks, sizeof seen);
    /* one branch, after all loads */
    return (((uintptr_t)team->opener ^ (uintptr_t)self) | (uintptr_t)(seen ^ team->expects)) == 0;
}
/* pool_open_again notes that a region of the root's last team is open, pool_close_again that it is closed. */
static inline void pool_open_again(struct team *team, struct self *self)
{
    self->of_root_team = true;
    pool_open_root = team;
}
static inline void pool_close_again(struct self *self)
{
    self->sees_tasks = self->of_root_team = false;
    pool_open_root = NULL;
}
/* Called by the parent. pool_begin_first makes the caller member 0. pool_end_first makes it again what it was before
 * the fork: the root, or a member of an enclosing team. Other members may still run then. */
static inline struct ee_member *pool_begin_first(struct team *team)
{
    struct member *first = team->first;
    pool_self.member = first;
    pool_local = first;
    ee_gate = team->gate;
    ee_gate_mask = team->gate_mask;
    return (struct ee_member *)(void *)first;
}
static inline void pool_end_first(const struct team *team, struct self *self)
{
    void *local = team->parent_local;
    struct member *parent = team->parent;
    POOL_OWN_SET(pool_local, local);
    self->member = parent;
    POOL_OWN_SET(ee_gate, NULL);
}
/* Called by the parent on the fast path, if there were tasks in this region or an enclosing one, and all members are
 * done: closes the region, gives a nested team's cores back, and calls ops->ended. */
void pool_end_with_tasks(struct team *team);
/* Called when the fast path is not possible: calls ops->otherwise, which opens the region by the slow path. */
PS_COLD void pool_run_otherwise(struct team *team, void (*fn)(void *), void *data);

#endif
