/* Teams, their members' threads, and where their storage is.
 *
 * Storage. A *team block* is an ort_team with n_max times ort_thread behind it, got in one piece. Each ort_thread keeps
 * the block of the region that it opened last (`hot`). So a region costs no allocation, and its members' own hot
 * blocks, task descriptors and so on are still there. A region that wants more members than the block has gets a larger
 * one. A member's team and number never change as long as its block lives. A root (a kernel thread that the runtime did
 * not make) is member 0 of a block of one, at level 0. A serialized region is a region of one member that does not
 * trouble the entities.
 *
 * States of a block: idle (in a parent's hot) -> open (ort_parallel_start .. ort_parallel_end; `open` of the parent) ->
 * idle -> freed. Members initialise themselves when they begin (ort_member_begin): the parent touches its own storage
 * and the team's only.
 *
 * Shared fields: those of a team up to `ws_base` are written by the parent while no region is open, and read by the
 * members; ee_team_fork orders this. The others have a comment of their own. An ort_thread belongs to the entity that
 * runs it. But when a block is freed, the `hot` blocks of its members are freed with it. */
#ifndef PS_ORT_TEAM_BLOCK_H
#define PS_ORT_TEAM_BLOCK_H

#include "batch.h"
#include "ee.h"
#include "icv.h"
#include "task.h"
#include "tool.h"
#include "workshare.h"

/* State that the members of one contention group share: the threads under one root. */
struct ort_group {
    _Atomic uint32_t busy;        /* threads in open regions, the root counted; kept only while a thread limit is set */
    unsigned num_teams, team_num; /* of the teams construct on the host */
    bool at_once;                 /* one of a league's, which run at once */
    uint32_t level;               /* then: its initial thread's */
};

/* Storage that entry points keep for a thread from region to region; `free` gives it back, with the thread's block. */
struct ort_local {
    void (*free)(struct ort_local *local);
};

struct ort_thread {
    struct ee_member member; /* first: ee_local() is the address of both */
    struct ort_team *team;   /* constant */
#if ORT_MEMBERS_APART
    uint16_t id; /* as below */
    bool open;
    bool anew; /* it has to begin as in its first region, and to end slowly (region_again.c) */
#else
    uint32_t id;     /* constant: number in the team */
#endif
    struct ort_task *task; /* current */
    struct ort_team *hot;  /* block of the last region that this thread opened; NULL: none */
#if !ORT_MEMBERS_APART
    struct ort_team *open; /* == hot while that region is open; apart: whether it is */
#endif
    uint32_t ws_seq;     /* number of the next work-sharing construct that needs a slot */
    uint32_t single_seq; /* number of the next single construct */
#if ORT_MEMBERS_APART
    _Atomic(struct ort_in_loops *) in_loops; /* NULL: it has been in none that needs it (ort_loop) */
    _Atomic(struct ort_task_member *) tasks; /* NULL: it has had nothing to do with tasks (ort_tasks) */
    unsigned long shape;                     /* ort_shape_around */
    struct ort_thread *next;                 /* free, or of the same member in another cluster's memory */
#else
    uint32_t shown;  /* size of the team for which its affinity was displayed last */
    uint32_t number; /* entry points' own: what they number it by, from 1; 0: they were not asked yet. For good */
    struct ort_local *local; /* NULL: nothing */
    void *offered;           /* to member 0 of the team, between two barriers: what it combines (entry points' own) */
    struct ort_loop loop;
    struct ort_task_member tasks;
    struct ort_tool_thread tool;
    struct ort_batch batch;
#endif
};
/* A cache has a power of two of sets. With an even number of lines from thread to thread, the same field of many
 * threads would share a few of these sets. */
_Static_assert(ORT_MEMBERS_APART || sizeof(struct ort_thread) / PS_CACHE_LINE % 2 == 1,
               "add a line, or remove the one that was added");

/* How the members of a combined construct begin. SLOT: in the slot ws_base, which the parent has prepared. STATIC: in a
 * loop whose schedule is known, which needs no slot; compilers divide such loops inline and neither ask for a chunk nor
 * leave the loop. */
enum { ORT_BEGINS_PLAIN, ORT_BEGINS_IN_SLOT, ORT_BEGINS_IN_STATIC };

#if ORT_MEMBERS_APART
typedef uint16_t ort_bound_number; /* a machine of that kind has some thousand processors at most */
#else
typedef unsigned ort_bound_number;
#endif

struct ort_team {
    struct ee_team ee;
    /* Written by the parent while no region is open. What each member reads when it begins has a line of its own, which
     * stays in their caches in a loop of regions that are alike (ps_update). */
    void (*fn)(void *);
    void *data;
    struct ort_thread *parent;   /* NULL: a root's */
    struct ort_icv *icv;         /* what implicit tasks begin with */
    struct ort_taskgroup *group; /* of the implicit tasks (task reductions); NULL: none */
    uint32_t n;
    uint32_t n_max;
    uint32_t ws_base, single_base; /* what the members' ws_seq and single_seq begin with */
    uint8_t begins_in;             /* combined construct: ORT_BEGINS_... */
    bool ee_ready;                 /* ee_team_init has been called */
#if ORT_MEMBERS_APART
    uint16_t wanted; /* members that the last region wanted; n is how many it got */
#endif
    PS_LINE_ALIGNED struct ort_group *contention;
    uint32_t level, active_level;
    bool enclosed;    /* an active region encloses it on this entity */
    bool outermost;   /* and none encloses it on the parent's */
    bool plain;       /* apart: the last region had nothing that members begin in, several members, and its end */
    bool cancellable; /* cancellation is on */
    bool counted;     /* its members are counted in contention->busy */
    int8_t bind;      /* enum ort_bind: how its members have their places (place.h) */
    uint8_t bind_var; /* enum ort_bind: of its members' tasks */
#if ORT_MEMBERS_APART
    int8_t bind_before;
#endif
    uint32_t bind_used; /* elements of ort_settings.bind_list that it and those around it have taken */
    /* Regions that are alike (team.c, "Alike"). */
    unsigned long shape;  /* another one when something changes that regions inside take from it; never 0 */
    unsigned long within; /* shape of the region around it when this one got its own; 0: not to be relied on */
    const struct ort_icv *icv_then; /* then: the ICVs of the task that opened it, */
    unsigned asked;                 /* and its clauses: num_threads, */
    int8_t asked_bind;              /* and proc_bind */
    uint8_t again_bind;             /* apart: that of GNU's flags, where ort_parallel_again may open the next region */
    struct ort_bound {              /* what its members were bound for last (ort_place_bind); n 0: never */
        ort_bound_number n, place, first, places;
        int8_t bind;
    } bound;
#if !ORT_MEMBERS_APART
    struct ort_icv icv_store;
    struct ort_loop_desc static_loop; /* with ORT_BEGINS_IN_STATIC */
    struct ort_taskgroup group_store;
#endif
    struct ort_tool_team tool;
    _Atomic uint32_t begun; /* (shared) members that have begun; counted under a thread sanitizer alone (team.c) */
    /* (shared) number of the next single construct that no member has taken yet: compare-and-swap by members. */
    PS_LINE_ALIGNED _Atomic uint32_t single;
    /* (shared) written by the member that executes single copyprivate, read by the others behind a barrier. */
    void *copyprivate;
    struct ort_task_team tasks;
#if ORT_MEMBERS_APART
    _Atomic(struct ort_team_store *) store; /* NULL: nothing has needed it yet (ort_slot) */
    struct ort_team *other;                 /* the parent's, of another shape (region_again.c); NULL: none */
    uint16_t wanted_before;    /* as `wanted`, of the shape before in this block; bind_before: as asked_bind */
    struct ort_thread **apart; /* [n_max] those from number 1 on where the entities want them; NULL: not yet */
#else
    struct ort_workshare ring[ORT_WS_RING];
    struct ort_thread threads[]; /* [n_max] */
#endif
};

/* Member i's storage. ORT_MEMBERS_APART, for a target with memory by clusters: the storage is in the memory of the
 * cluster where the member runs, and moves with the member between regions (members_apart.c). Else it is in the block
 * (members.c). */
static inline struct ort_thread *ort_member(struct ort_team *team, unsigned i)
{
#if ORT_MEMBERS_APART
    return team->apart[i];
#else
    return &team->threads[i];
#endif
}

/* What a member needs for tasks, and for loops other than those that compilers divide inline. With members apart the
 * first use makes it: ..._make gets it near t, or ends the program with one line. t is the caller, except in
 * ..._or_none, which any thread may call: NULL, which ort_absent tests, where t has made none. */
#if ORT_MEMBERS_APART
struct ort_in_loops {
    struct ort_loop loop;
    struct ort_batch batch;
};
struct ort_task_member *ort_tasks_make(struct ort_thread *t);
struct ort_in_loops *ort_in_loops_make(struct ort_thread *t);
/* What t has besides its tasks is given back with its block. */
void ort_member_bare(struct ort_thread *t);

static inline struct ort_task_member *ort_tasks_or_none(struct ort_thread *t) { return ps_load_acquire(&t->tasks); }
static inline struct ort_task_member *ort_tasks(struct ort_thread *t)
{
    struct ort_task_member *own = *(struct ort_task_member **)&t->tasks; /* no other thread writes it */
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
/* t is in a loop. */
static inline const struct ort_loop *ort_loop_begun(const struct ort_thread *t)
{
    return &(*(struct ort_in_loops *const *)&t->in_loops)->loop;
}
static inline struct ort_batch *ort_batch_or_none(struct ort_thread *t)
{
    struct ort_in_loops *its = ps_load_acquire(&t->in_loops);
    return its != NULL ? &its->batch : NULL;
}

/* A member's storage, with the part of a task that an implicit task uses (task.h). This implicit task is not given back
 * (members_apart.c). */
struct ort_apart {
    alignas(PS_CACHE_LINE) struct ort_thread thread; /* ee.h: what `near` returns */
    alignas(struct ort_task) unsigned char implicit[ORT_TASK_IMPLICIT_BYTES];
};
_Static_assert(!ORT_TOOLS, "a tool's words stand behind a whole task");
static inline struct ort_task_implicit *ort_implicit(struct ort_thread *t)
{
    return (struct ort_task_implicit *)(void *)PS_CONTAINER_OF(t, struct ort_apart, thread)->implicit;
}
/* The thread's link in its team's list of helpers, and back. */
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

/* With members apart: copies the slot's description, which is READY, into the member's own memory. Else each chunk of a
 * member in another cluster would cost nine reads over the network. */
static inline void ort_ws_keep(PS_UNUSED struct ort_loop *loop)
{
#if ORT_MEMBERS_APART
    loop->own = loop->ws->desc;
    loop->desc = &loop->own;
#endif
}

/* A team's slots, and what some of its regions begin with; also allocated at the first use, by any member. */
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

/* Returns the shape of the team that t is a member of. With ORT_MEMBERS_APART the member has it in its own memory from
 * its begin on. */
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

/* With members apart: t's implicit task gets a child, a table of dependences or ICVs of its own. Notes that the
 * region's end and the next one's begin have something to do for t. */
static inline void ort_member_changed(PS_UNUSED struct ort_thread *t)
{
#if ORT_MEMBERS_APART
    t->anew = true;
#endif
}

#endif
