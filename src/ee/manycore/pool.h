/* Entities of a fixed thread pool, between ee.c and the ways to start and join them (hal.h).
 *
 * Words are manycore-nested-2016's, section 3.1: a persistent thread is docked on each core; a team takes threads from
 * the pool and gives them back. */
#ifndef PS_EE_POOL_H
#define PS_EE_POOL_H

#include "board.h"
#include "ee.h"

#define CORES_MAX (BOARD_CLUSTERS_MAX * BOARD_CORES_MAX)

struct team;
struct member {
    struct team *team;
    uint16_t core;         /* that runs it: cluster * cores of a cluster + number there */
    _Atomic uint32_t done; /* 1: its body has returned, and it may be asked to assist */
    uint32_t phase;        /* of the barrier, as far as it knows */
    uint8_t slots;         /* as the team's */
    bool met;              /* it has arrived in the synchroniser at this barrier, too */
    uint16_t barriers;     /* sw-paper: that it has met by flags in this region */
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
    /* The mapping: members to cores. It stays from region to region, as long as the cores are idle again. */
    uint16_t mapped;  /* members that it has, the first counted; 0: none */
    uint16_t version; /* of the mapping: a number of its own among the last 65536 */
    uint16_t home;    /* core of member 0 */
    bool root;        /* the root's: nobody else forked when it did */
    bool told;        /* its cores have been told of this mapping */
    bool again;       /* the region is as the last one: fn and data are sent with the order */
    uint8_t num_spans;
    uint8_t slots;                       /* of the synchroniser: the join's, the barrier's is the next one; 0: none */
    _Atomic uint32_t *idle;              /* mapping.c: its cluster's, where it is in the parent's alone; NULL */
    struct span *spans;                  /* [clusters]; without member 0 */
    uint32_t *cores;                     /* [clusters] the same by cluster */
    uint16_t *id_of;                     /* [cores] */
    struct paper_descriptor *descriptor; /* hal/paper.h; its block of the open region */
    uint16_t *place_of;                  /* [members] number + 1; 0: anywhere */
    void (*fn)(void *);
    void *data;
    uint32_t arrivals; /* sw: of the root's team, that the parent waits for */
    /* (shared) written by members */
    _Atomic uint32_t left;          /* software join: members but the first that are not done */
    _Atomic uint32_t assistants;    /* who assist after they were done */
    _Atomic uint32_t calls;         /* requests for assistance */
    _Atomic uint32_t interrupted;   /* the region has tasks */
    _Atomic uint32_t arrivals_left; /* software barrier */
    _Atomic uint32_t phase;
};
_Static_assert(sizeof(struct team) <= sizeof(struct ee_team), "ee_team is too small");

static inline struct team *team_of(struct ee_team *t) { return (struct team *)(void *)t; }
static inline struct member *member_at(const struct team *team, unsigned id) { return team->members[id]; }

/* What a docked thread is told: the team with ORDER_ROOT in its lowest bits, and its cluster's cores of the team with
 * the mapping's version above, or, with ORDER_AGAIN, fn and data; or the member, with ORDER_ASSIST. */
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

/* What each core keeps in its cluster's memory; its own alone. */
struct self {
    struct member *member; /* that runs; NULL: it is the root, or docked */
    bool sees_tasks;       /* it has been told of tasks in one of the teams around it */
    bool of_root_team;     /* and `root_team` of its cluster is of the region that is open */
    uint8_t known_slots;
    uint16_t known_version; /* the mapping that `known` is from */
    struct team *known_team;
    struct member *known;
    void (*known_body)(struct ee_member *);
    void (*known_again)(struct ee_member *, void (*fn)(void *), void *data);
};
extern __thread struct self pool_self;
/* The root's team while it is open, set by the root; and in each cluster its cores there. */
extern struct team *volatile pool_open_root;
extern BOARD_LOCAL volatile uint32_t pool_root_cores;
/* In each cluster's memory: the clusters, and the cores of one. */
extern BOARD_LOCAL unsigned pool_clusters, pool_cores;
static inline unsigned pool_core(void) { return board_cluster() * pool_cores + board_core(); }

/* Which cores are idle: mapping.c, or hal/paper.c; ee_team_reserve (ee.h) is theirs, too. First core, before others
 * dock: all but itself are idle. */
void pool_start(void);
/* Parent: the open region's cores, but its own, are idle again. */
void pool_give_back(struct team *team);
/* The cluster of the place's first core. */
unsigned pool_cluster_of_place(unsigned place);

/* What the parent is at, for the trace (manycore-cc --phases): a literal, one of INIT, FETCH, RELEASE, BODY, GATHER,
 * CLOSE, UPDATE. */
static inline void pool_phase(const char *name)
{
#ifdef POOL_PHASES
    board_region(name);
#else
    (void)name;
#endif
}

#endif
