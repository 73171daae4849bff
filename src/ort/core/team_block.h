/* Teams, their members' threads, and where their storage is.
 *
 * Storage. A *team block* is an ort_team with an array of n_max ort_thread behind it, got in one piece. Each ort_thread
 * keeps the block of the region that it opened last (`hot`). So a region needs no allocation, and its members' own hot
 * blocks, task descriptors and so on are still there. If a region wants more members than the block has, a larger block
 * replaces it. A member's team and number stay the same as long as its block lives. A root (a kernel thread that the
 * runtime did not make) is member 0 of a block of one, at level 0. A region of one member is run without a call of the
 * entities.
 *
 * States of a block: idle (in a parent's `hot`) -> open (ort_parallel_start .. ort_parallel_end; the parent's `open`)
 * -> idle -> freed. Members initialise themselves when they begin (ort_member_begin). The parent writes its own storage
 * and the team's only.
 *
 * Shared fields: the parent writes a team's fields while no region is open, and members read them; ee_team_fork orders
 * this. Fields marked (shared) are different; their comments say how. An ort_thread is used by the entity that runs it.
 * Exception: freeing a block also frees the `hot` blocks of its members. */
#ifndef PS_ORT_TEAM_BLOCK_H
#define PS_ORT_TEAM_BLOCK_H

#include "batch.h"
#include "ee.h"
#include "icv.h"
#include "task.h"
#include "tool.h"
#include "workshare.h"

/* What the members of one contention group share: the threads below one initial thread. */
struct ort_group {
    /* Threads in open regions, the initial thread included; counted only while a thread limit is set. */
    _Atomic uint32_t busy;
    unsigned num_teams, team_num; /* of the teams construct on the host that the group's threads are in */
    bool at_once;                 /* true: the group is that of a league's team, beside which other teams run */
    uint32_t level;               /* if at_once: the level of the team's initial thread */
};

/* The head of what entry points keep for a thread from region to region. `free` frees it, together with the thread's
 * block. */
struct ort_local {
    void (*free)(struct ort_local *local);
};

struct ort_thread {
    struct ee_member member; /* first, so that ee_local() is the address of both */
    struct ort_team *team;   /* the block that it is in; constant */
#if ORT_MEMBERS_APART
    uint16_t id; /* id and open: as in the other branch */
    bool open;
    bool anew; /* true: the member must begin and end on the long path (region_again.c) */
#else
    uint32_t id;    /* constant: the member's number in the team */
#endif
    struct ort_task *task; /* the task that the thread runs */
    struct ort_team *hot;  /* the block of the last region that this thread opened; NULL: none */
#if !ORT_MEMBERS_APART
    struct ort_team *open; /* == hot while that region is open, else NULL; with members apart a bool */
#endif
    uint32_t ws_seq;     /* number of the next work-sharing construct that needs a slot */
    uint32_t single_seq; /* number of the next single construct */
#if ORT_MEMBERS_APART
    _Atomic(struct ort_in_loops *) in_loops; /* NULL: the member has been in no loop that needs it (ort_in_loops) */
    _Atomic(struct ort_task_member *) tasks; /* NULL: the member has had nothing to do with tasks (ort_tasks) */
    unsigned long shape;                     /* its team's shape (ort_shape_around) */
    /* The next free storage, or the same member's storage in another cluster. */
    struct ort_thread *next;
#else
    uint32_t shown; /* what the thread's last affinity line showed (affinity_format.c); 0: there was none */
    /* For entry points: the thread's number in libomp's numbering, plus 1; 0: not asked for yet. Never changes
     * afterwards. */
    uint32_t number;
    struct ort_local *local; /* what entry points keep for the thread; NULL: nothing yet */
    /* For entry points: the data that a member offers to member 0, which combines it between two barriers. */
    void *offered;
    struct ort_loop loop;
    struct ort_task_member tasks;
    struct ort_tool_thread tool;
    struct ort_batch batch;
#endif
};
/* Caches have a power of two of sets. If threads were an even number of cache lines apart, the same field of many
 * threads would fall into few of these sets. */
_Static_assert(ORT_MEMBERS_APART || sizeof(struct ort_thread) / PS_CACHE_LINE % 2 == 1,
               "add a line, or remove the one that was added");

/* How the members of a combined construct begin. IN_SLOT: in slot ws_base, which the parent has prepared. IN_STATIC: in
 * a static loop whose schedule is known, which needs no slot; compilers divide such loops inline, and call neither for
 * a chunk nor at the loop's end. */
enum { ORT_BEGINS_PLAIN, ORT_BEGINS_IN_SLOT, ORT_BEGINS_IN_STATIC };

#if ORT_MEMBERS_APART
typedef uint16_t ort_bound_number; /* a target with memory by clusters has a few thousand processors at most */
#else
typedef unsigned ort_bound_number;
#endif

struct ort_team {
    struct ee_team ee;
    /* The fields that each member reads when it begins are on a cache line of their own. In a loop of regions that are
     * alike the line stays in the members' caches, because ps_update stores only values that differ. */
    void (*fn)(void *);
    void *data;
    struct ort_thread *parent;   /* the thread that opens the block's regions; NULL: it is a root's block */
    struct ort_icv *icv;         /* the ICVs that implicit tasks begin with */
    struct ort_taskgroup *group; /* the taskgroup that implicit tasks begin in (task reductions); NULL: none */
    uint32_t n;
    uint32_t n_max;
    uint32_t ws_base, single_base; /* the values that the members' ws_seq and single_seq begin with */
    uint8_t begins_in;             /* ORT_BEGINS_...: whether members begin in a combined construct */
    bool ee_ready;                 /* ee_team_init has been called */
#if ORT_MEMBERS_APART
    uint16_t wanted; /* number of members that the last region asked for; n is what it got */
#endif
    PS_LINE_ALIGNED struct ort_group *contention;
    uint32_t level, active_level;
    bool enclosed;  /* an active region, this one or one around it, encloses its members */
    bool outermost; /* no active region encloses this one */
    /* Members apart: the last region had several members, no combined loop, no reductions, and was not cancelled. */
    bool plain;
    bool cancellable; /* cancellation is on (OMP_CANCELLATION) */
    bool counted;     /* its members are counted in contention->busy */
    int8_t bind;      /* enum ort_bind: how its members get their places (place.h) */
    uint8_t bind_var; /* enum ort_bind: bind-var of its members' tasks */
#if ORT_MEMBERS_APART
    int8_t bind_before;
#endif
    uint32_t bind_used; /* elements of ort_settings.bind_list that this region and those around it have used */
    /* For the comparison of a region with the last one (team.c, "Alike"). */
    unsigned long shape; /* a new number whenever something changes that regions inside inherit; never 0 */
    /* The shape of the region around it when its fields were computed; 0: they must be computed anew. */
    unsigned long within;
    const struct ort_icv *icv_then; /* at that time: the ICVs of the task that opened it, */
    unsigned asked;                 /* its clause num_threads (0: none), */
    int8_t asked_bind;              /* and its clause proc_bind */
    /* Members apart: its proc_bind in GNU's flags, if ort_parallel_again may open the next region; else
     * ORT_AGAIN_NOT. */
    uint8_t again_bind;
    /* The arguments of the last ort_place_bind, with the parent's place; n 0: members were never bound. */
    struct ort_bound {
        ort_bound_number n, place, first, places;
        int8_t bind;
    } bound;
#if !ORT_MEMBERS_APART
    struct ort_icv icv_store;
    struct ort_loop_desc static_loop; /* the loop, with ORT_BEGINS_IN_STATIC */
    struct ort_taskgroup group_store;
#endif
    struct ort_tool_team tool;
    _Atomic uint32_t begun; /* (shared) members that have begun; used under a thread sanitizer only (team.c) */
    /* (shared) number of the first single construct that no member has taken; members raise it by compare-and-swap */
    PS_LINE_ALIGNED _Atomic uint32_t single;
    /* (shared) the member that executes single copyprivate writes it; the others read it behind a barrier. */
    void *copyprivate;
    struct ort_task_team tasks;
#if ORT_MEMBERS_APART
    _Atomic(struct ort_team_store *) store; /* (shared) NULL: nothing has needed it yet (ort_store) */
    /* The parent's second block, of another shape (region_again.c); NULL: none. */
    struct ort_team *other;
    uint16_t wanted_before; /* `wanted` and asked_bind of the shape that this block had before the present one */
    /* [n_max] the members. Number 0 is there from the start; the entities get the others (`near`); NULL: not yet */
    struct ort_thread **apart;
#else
    struct ort_workshare ring[ORT_WS_RING];
    struct ort_thread threads[]; /* [n_max] */
#endif
};

/* Returns member i's storage. With ORT_MEMBERS_APART, for a target with memory by clusters, it is in the memory of the
 * cluster where the member runs, and moves with the member between regions (members_apart.c). Otherwise it is in the
 * block (members.c). */
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
 * line. t is the caller, except in ort_tasks_or_none and ort_batch_or_none, which any thread may call; they return NULL
 * if t has no such part (ort_absent). */
#if ORT_MEMBERS_APART
struct ort_in_loops {
    struct ort_loop loop;
    struct ort_batch batch;
};
struct ort_task_member *ort_tasks_make(struct ort_thread *t);
struct ort_in_loops *ort_in_loops_make(struct ort_thread *t);
/* Frees what a member's storage points to. */
void ort_member_bare(struct ort_thread *t);

static inline struct ort_task_member *ort_tasks_or_none(struct ort_thread *t) { return ps_load_acquire(&t->tasks); }
static inline struct ort_task_member *ort_tasks(struct ort_thread *t)
{
    /* A plain load: only the calling member writes it. */
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
/* As ort_loop, for a t that is in a loop. */
static inline const struct ort_loop *ort_loop_begun(const struct ort_thread *t)
{
    return &(*(struct ort_in_loops *const *)&t->in_loops)->loop;
}
static inline struct ort_batch *ort_batch_or_none(struct ort_thread *t)
{
    struct ort_in_loops *its = ps_load_acquire(&t->in_loops);
    return its != NULL ? &its->batch : NULL;
}

/* A member's storage, with the fields of a task that an implicit task uses (task.h). It is never given back to the heap
 * (members_apart.c). */
struct ort_apart {
    alignas(PS_CACHE_LINE) struct ort_thread thread; /* `near` (ee.h) returns it */
    alignas(struct ort_task) unsigned char implicit[ORT_TASK_IMPLICIT_BYTES];
};
_Static_assert(!ORT_TOOLS, "a tool's words stand behind a whole task");
static inline struct ort_task_implicit *ort_implicit(struct ort_thread *t)
{
    return (struct ort_task_implicit *)(void *)PS_CONTAINER_OF(t, struct ort_apart, thread)->implicit;
}
/* The thread's link in its team's list of helpers, and the thread of a link. */
static inline struct ps_list *ort_helper_link(struct ort_thread *t) { return &ort_tasks(t)->helper; }
static inline struct ort_thread *ort_of_helper_link(struct ps_list *link)
{
    return PS_CONTAINER_OF(link, struct ort_task_member, helper)->thread;
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
static inline struct ps_list *ort_helper_link(struct ort_thread *t) { return &t->tasks.helper; }
static inline struct ort_thread *ort_of_helper_link(struct ps_list *link)
{
    return PS_CONTAINER_OF(link, struct ort_thread, tasks.helper);
}
static inline void ort_member_bare(struct ort_thread *t)
{
    if (t->local != NULL)
        t->local->free(t->local);
}
#endif
static inline bool ort_absent(const void *p) { return ORT_MEMBERS_APART && p == NULL; }

/* With members apart: copies the slot's description, which is READY, into the member's own memory. Without the copy,
 * each chunk of a member in another cluster would cost nine reads over the network. */
static inline void ort_ws_keep(PS_UNUSED struct ort_loop *loop)
{
#if ORT_MEMBERS_APART
    loop->own = loop->ws->desc;
    loop->desc = &loop->own;
#endif
}

/* A team's slots, and what some of its regions begin with. With members apart the first member that needs them
 * allocates them. */
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

/* Returns the shape of the team that t is a member of. With members apart the member keeps a copy in its own memory,
 * written when it begins. */
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

/* With members apart. Called when t's implicit task gets a child, a table of dependences or ICVs of its own: the
 * region's end and the next region's begin then take the long path for t. */
static inline void ort_member_changed(PS_UNUSED struct ort_thread *t)
{
#if ORT_MEMBERS_APART
    t->anew = true;
#endif
}

#endif
