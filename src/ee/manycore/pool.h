/* Entities of a fixed thread pool, between ee.c and the ways to start and join them (hal.h).
 *
 * Words are manycore-nested-2016's, section 3.1: a persistent thread is docked on each core; a team takes threads from
 * the pool and gives them back. */
#ifndef PS_EE_POOL_H
#define PS_EE_POOL_H

#include "board.h"
#include "ee.h"
#include "member_end.h"

#include <string.h>

struct team;
struct self;
struct member {
    struct team *team;
    uint16_t core;        /* that runs it: cluster * cores of a cluster + number there */
    uint32_t region;      /* as the team's, counted by the member itself */
    _Atomic uint32_t end; /* member_end.h */
    uint32_t phase;       /* of the barrier, as far as it knows */
    uint8_t slots;        /* as the team's */
    bool met;             /* it has arrived in the synchroniser at this barrier, too */
    uint16_t barriers;    /* sw-paper: that it has met by flags in this region */
};
_Static_assert(sizeof(struct member) <= sizeof(struct ee_member), "ee_member is too small");

/* Clusters in which a team has the same cores. */
struct span {
    uint64_t clusters;
    uint32_t cores;
};

struct team {
    const struct ee_team_ops *ops;
    struct member **members; /* a table of the core's, where `near` puts them */
    uint32_t n;
    void *parent_local;
    struct member *parent; /* what the forking core was; NULL: the root */
    int16_t place;         /* that all members have; EE_NO_PLACE */
    bool scattered, bound_anew;
    /* The mapping, members to cores, stays from region to region as long as the cores are idle again. */
    uint16_t mapped;  /* members that it has, the first counted; 0: none */
    uint16_t version; /* of the mapping: a number of its own among the last 65536 */
    uint16_t home;    /* core of member 0 */
    bool root;        /* the root's: no other team forked when it did */
    bool told;        /* its cores have been told of this mapping */
    bool again;       /* the region is as the last one: fn and data are sent with the order */
    uint8_t num_spans;
    uint8_t slots;                       /* of the synchroniser: the join's, the barrier's is the next one; 0: none */
    _Atomic uint32_t *idle;              /* mapping.c: its cluster's, where it is in the parent's alone; NULL */
    struct span *spans;                  /* [clusters]; without member 0 */
    uint32_t *cores;                     /* [clusters] the same by cluster */
    uint16_t *id_of;                     /* [cores] */
    struct paper_descriptor *descriptor; /* hal/paper.h; its block of the open region */
    uint8_t *cluster_of;                 /* [members] that of the place it is bound to, + 1; 0: anywhere */
    void (*fn)(void *);
    void *data;
    uint32_t region;         /* its number, odd */
    volatile uint32_t *gate; /* member 0's in the team, ee_gate and ee_gate_mask; NULL: it has none yet */
    uint32_t gate_mask;
    const struct self *opener; /* the core that may call ee_team_run_again; NULL: none may */
    struct member *first;      /* then: member 0, */
    uint32_t near;             /* and the cores of a team that has all but the first in the opener's cluster */
    void (*run_again)(struct ee_member *, void (*)(void *), void *); /* and of `ops`, in memory that is near */
    void (*go)(struct team *, void (*)(void *), void *);             /* the HAL's own: the whole region */
    uint16_t expects;          /* and what the opener's two bytes must be, see struct self */
    volatile uint32_t *joined; /* and the register of the synchroniser that waits for the join */
    _Atomic uint32_t released; /* sw-paper: number of the barrier that member 0 has ended by flags; 0: none yet */
    uint16_t arrivals;         /* sw: of the root's team, that the parent waits for */
    uint8_t run_first, run_n;  /* sw: its cores in the parent's cluster, where they are neighbours */
    /* (shared) written by members */
    _Atomic uint32_t left;          /* software join: members but the first that are not done */
    _Atomic uint32_t assistants;    /* members that assist after they were done */
    _Atomic uint32_t wanted;        /* member 0 is called as a helper: the parent, which waits in the join */
    _Atomic uint32_t notified;      /* the region has tasks */
    _Atomic uint32_t arrivals_left; /* software barrier */
    _Atomic uint32_t phase;
};
_Static_assert(sizeof(struct team) <= sizeof(struct ee_team), "ee_team is too small");

static inline struct team *team_of(struct ee_team *t) { return (struct team *)(void *)t; }
static inline struct member *member_at(const struct team *team, unsigned id) { return team->members[id]; }

/* An order to a docked thread; the lowest bits of `what` tell its kind. ORDER_ROOT: the team, and which cores of the
 * thread's cluster are the team's, with the mapping's version above. ORDER_AGAIN: the team, fn and data. ORDER_ASSIST:
 * the member. */
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
}; /* ORDER_HAL: the HAL's own */
_Static_assert(_Alignof(struct ee_team) > ORDER_BITS && PS_CACHE_LINE > ORDER_BITS && BOARD_BLOCK_UNIT > ORDER_BITS,
               "the lowest bits of a team's or a member's address are an order's");

/* A team that a core has been told of, and its member there. */
struct known {
    struct team *team; /* NULL: none */
    struct member *m;
    uintptr_t order;         /* what tells to run m again */
    volatile uint32_t *gate; /* ee_gate and ee_gate_mask of m; NULL: it has none yet */
    uint32_t gate_mask;
    uint16_t version; /* the mapping that this is from */
    uint16_t cores;   /* of the root's team in this cluster */
    uint8_t slots;
};
/* What each core keeps in its cluster's memory; its own alone. */
struct self {
    struct member *member; /* that runs; NULL: it is the root, or docked */
    /* Two bytes that are looked at together (pool_may_run_again). */
    bool sees_tasks;     /* it has been told of tasks in one of the teams around it */
    bool of_root_team;   /* and root_cores are of the region that is open */
    uint16_t root_cores; /* of this cluster, in the root's team that the core was in last */
    /* The two teams that it was told of last: regions of two shapes in turn, or of two levels. */
    struct known *known; /* the later one; NULL: it was told of none */
    struct known teams[2];
    void (*body)(struct ee_member *); /* of all teams' ops */
    void (*again)(struct ee_member *, void (*fn)(void *), void *data);
};
#define POOL_SEES_NOTHING 0x000 /* both, as a number */
#define POOL_OF_ROOT_TEAM 0x100
_Static_assert(offsetof(struct self, of_root_team) == offsetof(struct self, sees_tasks) + 1, "they are neighbours");
extern __thread struct self pool_self;
/* The address of a core's own variable, and a store to it, computed where this stands. GCC would keep half of the
 * address over a call, in a register that has to be saved, and the linker then finds that half to be nothing. */
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
extern __thread void *pool_local; /* ee_local() */
/* ee_port.h says what they are; only the way hws opens them. */
extern __thread volatile uint32_t *ee_gate;
extern __thread uint32_t ee_gate_mask;
extern __thread bool ee_gate_arrived;
static inline void pool_saw_tasks(void)
{
    pool_self.sees_tasks = true;
    ee_gate = NULL;
}
/* The root's team while it is open, set by the root. In each cluster: those of its cores that are in that team. */
extern struct team *volatile pool_open_root;
/* The root's last team. */
extern struct team *pool_last_root;
/* In each cluster's memory: the clusters, and the cores of one. */
extern BOARD_LOCAL unsigned pool_clusters, pool_cores;
static inline unsigned pool_core(void) { return board_cluster() * pool_cores + board_core(); }

/* Loads and stores of orders and joins, with acquire and release; where memory is sequentially consistent, only the
 * compiler has to keep their order. */
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

/* What a docked core that has run `known` expects: the last order again, for which it prepares. All others of its team
 * wait for what it does between the order and its arrival. */
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
    __asm__ volatile("" : "+r"(e.order), "+r"(e.region), "+r"(e.again) : : "memory"); /* now, not later */
    return e;
}

/* The place of a team that is not the last one that the core was told of: its own, or the one that it takes. */
static inline struct known *pool_other_known(struct self *self)
{
    return self->known == &self->teams[0] ? &self->teams[1] : &self->teams[0];
}
/* The core runs a member of `known` next; of the root's team or of another one, as `order` says. */
static inline void pool_know(struct self *self, struct known *known, uintptr_t order)
{
    self->known = known;
    self->of_root_team = order & ORDER_ROOT;
    if (order & ORDER_ROOT)
        self->root_cores = known->cores;
}

/* A member that has been told: assists until it is a helper again. */
void pool_assist_told(struct member *m);
/* Does everything for a member but the first, after its body has returned, except its arrival. As member_end_return. */
static PS_ALWAYS_INLINE void pool_member_end(struct member *m, uint32_t region)
{
    if (PS_UNLIKELY(pool_swap(&m->end, member_end_returned(region)) == member_end_told(region)))
        pool_assist_told(m);
}
/* Runs the expected order, which has come, and does everything but the arrival. pool_ran_expected does what is left
 * after that. */
static PS_ALWAYS_INLINE void pool_run_expected(const struct expected *e, void (*fn)(void *), void *data)
{
    e->again((struct ee_member *)(void *)e->m, fn, data);
    pool_member_end(e->m, e->region);
}
static PS_ALWAYS_INLINE void pool_ran_expected(const struct expected *e) { e->m->region = e->region; }
/* Called by the parent where it waits in the join and knows of tasks: it assists if member 0 is its own (*mine; at
 * first) or was called as a helper. */
void pool_assist(struct team *team, bool *mine);

/* Which cores are idle is kept by mapping.c, or hal/paper.c, which have ee_team_reserve (ee.h), too. pool_start is
 * called by the first core before others dock: all cores but itself are idle. */
void pool_start(void);
/* Called by the parent: marks the open region's cores, except its own, as idle again. */
void pool_give_back(struct team *team);
/* Tells the trace (manycore-cc --phases) what the parent does now: a literal, one of INIT, FETCH, RELEASE, BODY,
 * GATHER, CLOSE, UPDATE. */
static inline void pool_phase(const char *name)
{
#ifdef POOL_PHASES
    board_region(name);
#else
    (void)name;
#endif
}

/* After a region that had tasks: what the next one begins with. */
void pool_tidy(struct team *team);
/* Takes all of the team's cores or none; for ee_team_run_again, where they all are in the caller's cluster. *region is
 * set to the team's last region, which is read while the answer of pool_and is on its way. */
static inline bool pool_claim_again(const struct team *team, uint32_t cores, uint32_t *region)
{
    uint32_t taken = pool_self.root_cores, before = pool_and(team->idle, ~cores); /* those do not change meanwhile */
    *region = team->region;
    __asm__ volatile("" : "+r"(before), "+r"(*region));
    if (PS_LIKELY(((~before | taken) & cores) == 0))
        return true;
    pool_or(team->idle, before & cores);
    return false;
}
/* ee_team_lasts: what ee_team_run_again needs. */
static inline bool pool_lasts(struct team *team)
{
    bool lasts = team->told && (team->root ? pool_last_root == team : team->idle != NULL && pool_self.of_root_team);
    team->opener = lasts ? &pool_self : NULL;
    team->expects = team->root ? POOL_SEES_NOTHING : POOL_OF_ROOT_TEAM;
    team->first = team->members[0];
    if (lasts)
        pool_tidy(team); /* as open_team does it for the slow path */
    team->near = team->spans[0].cores;
    team->run_again = team->ops->again;
    return lasts;
}
/* Of ee_team_run_again: this core, and no tasks that it knows of. */
static inline bool pool_may_run_again(const struct team *team, const struct self *self)
{
    uint16_t seen;
    memcpy(&seen, &self->sees_tasks, sizeof seen);
    /* one branch, behind all loads */
    return (((uintptr_t)team->opener ^ (uintptr_t)self) | (uintptr_t)(seen ^ team->expects)) == 0;
}
/* Opens a region of the root's team, which is the last one that the root has mapped. */
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
/* Member 0 begins, and is done; others may be not. */
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
/* All members are done, and one has made a task. */
void pool_end_with_tasks(struct team *team);
/* The fast path cannot be had. */
PS_COLD void pool_run_otherwise(struct team *team, void (*fn)(void *), void *data);

#endif
