/* Teams, their members' threads, and where their storage is.
 *
 * Storage. A *team block* is an ort_team with an array of n_max ort_thread behind it, got in one piece. Each ort_thread
 * keeps the team block of the region that it opened last (`hot`). So a region needs no allocation, and its members' own
 * hot blocks, task descriptors and so on are still there. If a region wants more members than the block has, a larger
 * block replaces it. A member's team and number stay the same as long as its block lives. A root (a kernel thread that
 * the runtime did not make) is member 0 of a block of one, at level 0. A region of one member needs no fork of the
 * entities: the core runs it on the parent's entity. Members apart: the comments of the fields say what is different.
 *
 * States of a block: idle (in a parent's `hot`) -> open (ort_parallel_start .. ort_parallel_end; the parent's `open`)
 * -> idle -> freed. Members initialise themselves when they begin (ort_member_begin). The parent writes its own storage
 * and the team's only.
 *
 * Shared fields: the parent writes a team's fields while no region is open, and members read them; ee_team_fork orders
 * this. Fields marked (shared) are different; their comments say how. An ort_thread is used by the entity that runs it.
 * Exceptions: other members use its parts for tasks and batches, whose comments say how; and the thread that frees or
 * replaces a block uses all of its members. */
#ifndef PS_ORT_TEAM_BLOCK_H
#define PS_ORT_TEAM_BLOCK_H

#include "batch.h"
#include "ee.h"
#include "icv.h"
#include "task.h"
#include "tool.h"
#include "workshare.h"

/* A contention group: an initial thread and all threads below it, which share this structure. */
struct ort_group {
    /* Threads of the group in open regions, the initial thread included. Parents raise and lower it by
     * read-modify-writes, only while a thread limit is set. */
    _Atomic uint32_t busy;
    /* of the innermost teams construct: how many teams, and which one the group runs; 1 and 0 if there is none */
    unsigned num_teams, team_num;
    bool at_once;   /* true: the group is a league's team, and other teams may run beside it */
    uint32_t level; /* if at_once: the level of the team's initial thread */
};

/* The head of what entry points keep for a thread from region to region. When the thread's team block is freed, the
 * core calls `free`, which frees the structure. */
struct ort_local {
    void (*free)(struct ort_local *local);
};

struct ort_thread {
    struct ee_member member; /* first, so that ee_local() is the address of both */
    struct ort_team *team;   /* the team block that the thread is in; constant while the block lives */
#if ORT_MEMBERS_APART
    uint16_t id; /* the member's number in the team */
    bool open;   /* true: the region of `hot` is open */
    bool anew;   /* true: the member must begin and end on the long path (region_again.c) */
#else
    uint32_t id;    /* the member's number in the team; constant */
#endif
    struct ort_task *task; /* the task that the thread runs */
    struct ort_team *hot;  /* the block of the last region that this thread opened; NULL: none */
#if !ORT_MEMBERS_APART
    struct ort_team *open; /* == hot while the region of `hot` is open, otherwise NULL */
#endif
    uint32_t ws_seq;     /* number of the next work-sharing construct that needs a slot */
    uint32_t single_seq; /* number of the next single construct */
#if ORT_MEMBERS_APART
    _Atomic(struct ort_in_loops *) in_loops; /* NULL: the part is not made yet (ort_in_loops) */
    _Atomic(struct ort_task_member *) tasks; /* NULL: the part is not made yet (ort_tasks) */
    unsigned long shape;                     /* its team's shape (ort_shape_around) */
    /* Link to other storage: to the next in the list of free storage, or to the same member's storage in another
     * cluster (members_apart.c). */
    struct ort_thread *next;
#else
    uint32_t shown; /* what the last affinity line of the thread showed (affinity_format.c); 0: it had none */
    /* For entry points: the thread's number in libomp's numbering, plus 1; 0: no entry point has asked for it. Once set
     * it stays. */
    uint32_t number;
    struct ort_local *local; /* what entry points keep for the thread; NULL: nothing yet */
    /* For entry points: in a reduction the address of the data that this member offers. The member writes it before one
     * barrier; member 0 reads it, and combines the data, before the next barrier. */
    void *offered;
    struct ort_loop loop;
    struct ort_task_member tasks;
    struct ort_tool_thread tool;
    struct ort_batch batch;
#endif
};
/* A cache has 2^k sets. If the threads of a block were an even number of cache lines apart, the same field of all of
 * them would fall into few of these sets. */
_Static_assert(ORT_MEMBERS_APART || sizeof(struct ort_thread) / PS_CACHE_LINE % 2 == 1,
               "add a line, or remove the one that was added");

/* How the members of a region begin. PLAIN: in no construct. The others are for combined constructs. IN_SLOT: in slot
 * ws_base, which the parent has prepared. IN_STATIC: in the static loop ort_static_loop, which needs no slot. */
enum { ORT_BEGINS_PLAIN, ORT_BEGINS_IN_SLOT, ORT_BEGINS_IN_STATIC };

#if ORT_MEMBERS_APART
typedef uint16_t ort_bound_number; /* such a target has a few thousand processors at most */
#else
typedef unsigned ort_bound_number;
#endif

struct ort_team {
    struct ee_team ee;
    /* These fields, up to ee_ready, are the ones that each member reads when it begins; they are on a cache line of
     * their own. In a loop of regions that are alike the line stays in the members' caches, because ps_update stores
     * only values that differ. */
    void (*fn)(void *);
    void *data;
    struct ort_thread *parent;     /* the thread that opens the block's regions; NULL: the team of an initial thread */
    struct ort_icv *icv;           /* the ICVs that implicit tasks begin with */
    struct ort_taskgroup *group;   /* the taskgroup that implicit tasks begin in (task reductions); NULL: none */
    uint32_t n;                    /* members of the open or last region */
    uint32_t n_max;                /* members that the block has room for; constant */
    uint32_t ws_base, single_base; /* the values that the members' ws_seq and single_seq begin with */
    uint8_t begins_in;             /* ORT_BEGINS_...: whether members begin in a combined construct */
    bool ee_ready;                 /* true: the entities know the block's members (ee_team_init) */
#if ORT_MEMBERS_APART
    uint16_t wanted; /* members that the last region asked for; n: what it got */
#endif
    PS_LINE_ALIGNED struct ort_group *contention;
    uint32_t level, active_level;
    bool enclosed;  /* true: the members are in an active region: this one or one around it */
    bool outermost; /* true: no active region is around this one */
    /* Members apart, true: the last region had several members, no combined loop, no reductions, and was not
     * cancelled. */
    bool plain;
    bool cancellable; /* cancellation is on (OMP_CANCELLATION) */
    bool counted;     /* true: its members are counted in contention->busy */
    int8_t bind;      /* enum ort_bind: how its members get their places (place.h) */
    uint8_t bind_var; /* enum ort_bind: bind-var of its members' tasks */
#if ORT_MEMBERS_APART
    int8_t bind_before; /* see wanted_before */
#endif
    uint32_t bind_used; /* elements of ort_settings.bind_list that this region and those around it have used */
    /* For the comparison of a region with the last one (team.c, "Alike"). */
    unsigned long shape; /* a number that changes when something changes that inner regions inherit; never 0 */
    /* The shape that the region around this one had when this region's fields were computed; 0: the next region
     * computes them anew. */
    unsigned long within;
    const struct ort_icv *icv_then; /* the ICVs of the task that opened the region at that time */
    unsigned asked;                 /* the region's clause num_threads; 0: none */
    int8_t asked_bind;              /* the region's clause proc_bind (enum ort_bind) */
    /* Members apart: the region's proc_bind in GNU's flags, if ort_parallel_again may open the next region; otherwise
     * ORT_AGAIN_NOT. */
    uint8_t again_bind;
    /* What the last ort_place_bind that bound the members was called with: number of members, place and partition of
     * the parent, policy. n 0: the members were never bound. */
    struct ort_bound {
        ort_bound_number n, place, first, places;
        int8_t bind;
    } bound;
#if !ORT_MEMBERS_APART
    struct ort_icv icv_store;         /* the members' ICVs, if they differ from the parent's */
    struct ort_loop_desc static_loop; /* the loop that members begin in, with ORT_BEGINS_IN_STATIC */
    struct ort_taskgroup group_store;
#endif
    struct ort_tool_team tool;
    /* (shared) members 1 .. n-1 that have begun, each of which adds 1; used under a thread sanitizer only (team.c) */
    _Atomic uint32_t begun;
    /* (shared) number of the first single construct that no member has taken; a member takes it by a compare-and-swap
     * to the next number */
    PS_LINE_ALIGNED _Atomic uint32_t single;
    /* (shared) the member that executes single copyprivate writes it; the others read it behind a barrier. */
    void *copyprivate;
    struct ort_task_team tasks;
#if ORT_MEMBERS_APART
    _Atomic(struct ort_team_store *) store; /* (shared) slots and more; NULL: not made yet (ort_store) */
    /* The parent's second block, of another shape (region_again.c); NULL: none. */
    struct ort_team *other;
    /* wanted_before and bind_before are `wanted` and asked_bind of the shape that this block had before its present
     * one. */
    uint16_t wanted_before;
    /* [n_max] the members. The block is made with member 0; the entities get storage for another member when they place
     * it (`near` of ee_team_ops). NULL: the member has none yet. */
    struct ort_thread **apart;
#else
    struct ort_workshare ring[ORT_WS_RING];
    struct ort_thread threads[]; /* [n_max] */
#endif
};

/* Returns member i's storage, which is in the block (members.c). With ORT_MEMBERS_APART, for a target with memory by
 * clusters, the storage is in the memory of the cluster where the member runs; a member that runs in another cluster in
 * the next region has other storage there (members_apart.c). */
static inline struct ort_thread *ort_member(struct ort_team *team, unsigned i)
{
#if ORT_MEMBERS_APART
    return team->apart[i];
#else
    return &team->threads[i];
#endif
}

/* A member's parts for tasks, and for loops other than those that compilers divide inline. With members apart they are
 * allocated at the first use. ort_tasks_make and ort_in_loops_make allocate them near t, or end the program with one
 * line. t is the caller, or a thread that has the part already. Any thread may call ort_tasks_or_none and
 * ort_batch_or_none for any t. The functions ..._or_none return NULL if t has no such part (ort_absent). */
#if ORT_MEMBERS_APART
struct ort_in_loops {
    struct ort_loop loop;
    struct ort_batch batch;
};
struct ort_task_member *ort_tasks_make(struct ort_thread *t);
struct ort_in_loops *ort_in_loops_make(struct ort_thread *t);
/* Frees the member's parts for tasks and loops. */
void ort_member_bare(struct ort_thread *t);

static inline struct ort_task_member *ort_tasks_or_none(struct ort_thread *t) { return ps_load_acquire(&t->tasks); }
static inline struct ort_task_member *ort_tasks(struct ort_thread *t)
{
    /* A plain load: only t itself writes the field. */
    struct ort_task_member *own = *(struct ort_task_member **)&t->tasks;
    return PS_LIKELY(own != NULL) ? own : ort_tasks_make(t);
}
static inline struct ort_in_loops *ort_in_loops(struct ort_thread *t)
{
    struct ort_in_loops *own = *(struct ort_in_loops **)&t->in_loops;
    return PS_LIKELY(own != NULL) ? own : ort_in_loops_make(t);
}
static inline struct ort_loop *ort_loop(struct ort_thread *t) { return &ort_in_loops(t)->loop; }
static inline struct ort_batch *ort_batch(struct ort_thread *t) { return &ort_in_loops(t)->batch; }
static inline struct ort_loop *ort_loop_or_none(const struct ort_thread *t)
{
    struct ort_in_loops *own = *(struct ort_in_loops *const *)&t->in_loops;
    return own != NULL ? &own->loop : NULL;
}
/* Does what ort_loop does, for a t that is in a loop and so has the part. */
static inline const struct ort_loop *ort_loop_begun(const struct ort_thread *t)
{
    return &(*(struct ort_in_loops *const *)&t->in_loops)->loop;
}
static inline struct ort_batch *ort_batch_or_none(struct ort_thread *t)
{
    struct ort_in_loops *its = ps_load_acquire(&t->in_loops);
    return its != NULL ? &its->batch : NULL;
}

/* A member's storage with members apart: the thread, and behind it as much of an ort_task as an implicit task uses
 * (task.h). The storage is never given back to the heap (members_apart.c). */
struct ort_apart {
    alignas(PS_CACHE_LINE) struct ort_thread thread; /* `near` (ee.h) returns its address */
    alignas(struct ort_task) unsigned char implicit[ORT_TASK_IMPLICIT_BYTES];
};
_Static_assert(!ORT_TOOLS, "a tool's words stand behind a whole task");
static inline struct ort_task_implicit *ort_implicit(struct ort_thread *t)
{
    return (struct ort_task_implicit *)(void *)PS_CONTAINER_OF(t, struct ort_apart, thread)->implicit;
}
/* The team's helpers (task_helpers.h), a bit for each member; how many words they have in a block of n members. */
static inline unsigned ort_helper_words(unsigned n) { return (n + 31) / 32; }
static inline _Atomic uint32_t *ort_helper_bits(struct ort_team *team)
{
    return (_Atomic uint32_t *)(team->apart + team->n_max);
}
#else
static inline struct ort_task_member *ort_tasks_or_none(struct ort_thread *t) { return &t->tasks; }
static inline struct ort_task_member *ort_tasks(struct ort_thread *t) { return &t->tasks; }
static inline struct ort_loop *ort_loop(struct ort_thread *t) { return &t->loop; }
static inline struct ort_batch *ort_batch(struct ort_thread *t) { return &t->batch; }
static inline const struct ort_loop *ort_loop_or_none(const struct ort_thread *t) { return &t->loop; }
static inline const struct ort_loop *ort_loop_begun(const struct ort_thread *t) { return &t->loop; }
static inline struct ort_batch *ort_batch_or_none(struct ort_thread *t) { return &t->batch; }
static inline struct ort_task_implicit *ort_implicit(struct ort_thread *t) { return t->tasks.implicit; }
static inline void ort_member_bare(struct ort_thread *t)
{
    if (t->local != NULL)
        t->local->free(t->local);
}
#endif
static inline bool ort_absent(const void *p) { return ORT_MEMBERS_APART && p == NULL; }

/* With members apart: copies the description of the slot, which is READY, into the member's own memory. Without the
 * copy a member in another cluster would read the description over the network for each chunk. */
static inline void ort_ws_keep(PS_UNUSED struct ort_loop *loop)
{
#if ORT_MEMBERS_APART
    loop->own = loop->ws->desc;
    loop->desc = &loop->own;
#endif
}

/* A team's slots, and what some of its regions begin with. With members apart the first thread that needs them
 * allocates them (ort_store_make), and ort_store_give frees them. */
#if ORT_MEMBERS_APART
struct ort_team_store {
    struct ort_workshare ring[ORT_WS_RING];
    struct ort_loop_desc static_loop;
    struct ort_taskgroup group;
    struct ort_icv icv;
};
struct ort_team_store *ort_store_make(struct ort_team *team);
void ort_store_give(struct ort_team *team);
static inline struct ort_team_store *ort_store(struct ort_team *team)
{
    struct ort_team_store *store = ps_load_acquire(&team->store);
    return PS_LIKELY(store != NULL) ? store : ort_store_make(team);
}
static inline struct ort_workshare *ort_slot(struct ort_team *team, uint32_t s)
{
    return &ort_store(team)->ring[s % ORT_WS_RING];
}
static inline bool ort_has_slots(struct ort_team *team) { return ps_load_acquire(&team->store) != NULL; }
static inline struct ort_loop_desc *ort_static_loop(struct ort_team *team) { return &ort_store(team)->static_loop; }
static inline struct ort_taskgroup *ort_group_store(struct ort_team *team) { return &ort_store(team)->group; }
static inline struct ort_icv *ort_icv_store(struct ort_team *team) { return &ort_store(team)->icv; }
#else
static inline struct ort_workshare *ort_slot(struct ort_team *team, uint32_t s) { return &team->ring[s % ORT_WS_RING]; }
static inline bool ort_has_slots(PS_UNUSED struct ort_team *team) { return true; }
static inline struct ort_loop_desc *ort_static_loop(struct ort_team *team) { return &team->static_loop; }
static inline struct ort_taskgroup *ort_group_store(struct ort_team *team) { return &team->group_store; }
static inline struct ort_icv *ort_icv_store(struct ort_team *team) { return &team->icv_store; }
static inline void ort_store_give(PS_UNUSED struct ort_team *team) {}
#endif

/* ort_shape_around returns the shape of the team that t is a member of. With members apart the member keeps a copy in
 * its own memory. ort_member_reshaped writes the copy and sets `anew`; called when the member begins, and when member 0
 * has changed the shape. */
static inline unsigned long ort_shape_around(const struct ort_thread *t)
{
#if ORT_MEMBERS_APART
    return t->shape;
#else
    return t->team->shape;
#endif
}
static inline void ort_member_reshaped(PS_UNUSED struct ort_thread *t)
{
#if ORT_MEMBERS_APART
    t->shape = t->team->shape;
    t->anew = true;
#endif
}

/* Called when the task that t runs gets a child, a table of dependences or ICVs of its own. With members apart the end
 * of this region and the begin of the next then take the long path for t. */
static inline void ort_member_changed(PS_UNUSED struct ort_thread *t)
{
#if ORT_MEMBERS_APART
    t->anew = true;
#endif
}

#endif
