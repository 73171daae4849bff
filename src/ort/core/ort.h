/* The OpenMP core: regions, their threads, and the functions that the other folders of this room and the entry points
 * call.
 *
 * Does: regions to any depth, work-sharing, synchronisation, ICVs. Does not: know an ABI, or anything of threads but
 * ee.h. The structures are in team_block.h; src/ort/README.md lists the folders, and each folder's README its files.
 * Callers: entry points, on the stack of the OpenMP thread that has called them.
 *
 * Failures: without memory for all members of a team the region gets fewer, at least one, and one line says so once.
 * Without memory even for one member, one line is printed and the program is aborted.
 * Papers: psthreads-2009 section 3. OpenMP 5.2 sections 2.4 (ICVs), 10.1 (parallel), 11 (work-sharing). */
#ifndef PS_ORT_H
#define PS_ORT_H

#include "team_block.h"

/* The largest number of members of a region. */
#define ORT_THREADS_MAX (1u << 20)

/* A function that the core calls once, with the number of virtual processors, before it makes the first root. NULL:
 * nothing is called. The variable is set while the library is loaded. */
extern void (*ort_started)(unsigned num_vps);

/* --- threads --- */

/* ort_self returns the calling OpenMP thread. A kernel thread that is none yet becomes a root in the call
 * (ort_thread_make_root, defined in thread.c). The caller must not use the result after a call that may switch; it
 * calls ort_self again. */
extern __attribute__((visibility("hidden"))) struct ort_thread *(*const ort_thread_make_root)(void);
static inline struct ort_thread *ort_self(void)
{
    struct ort_thread *t = ee_local();
    return PS_LIKELY(t != NULL) ? t : ort_thread_make_root();
}

/* Does what ort_self does, with ee_local inline. */
static PS_ALWAYS_INLINE struct ort_thread *ort_self_inline(void)
{
    struct ort_thread *t = ee_local_inline();
    return PS_LIKELY(t != NULL) ? t : ort_thread_make_root();
}

/* Returns true if ort_taskwait would return at once: the current task has no incomplete child, and no tool or sanitizer
 * listens. */
static PS_ALWAYS_INLINE bool ort_taskwait_is_over(struct ort_thread *t)
{
    struct ort_task *self = t->task;
    return PS_LIKELY(!(self->flags & ORT_TASK_TRACED)) && PS_LIKELY(ort_count_children(&self->count) == 0);
}

static inline struct ort_icv *ort_icv(const struct ort_thread *t) { return t->task->icv; }

/* Called when the member goes on to another construct, or when its region ends: leaves the loop that the member may
 * still be in. (After a cancellation a combined construct has no end of its own.) The member must give the loop's slot
 * back, because otherwise the team would wait for the slot when it is used again. A tool is told of the loop's end by
 * ort_tool_loop_ends, not here. [switches] */
static inline void ort_loop_abandon(struct ort_thread *t)
{
    const struct ort_loop *loop = ort_loop_or_none(t);
    if (PS_UNLIKELY(!ort_absent(loop) && loop->ws != NULL))
        ort_loop_leave_slot(t);
}

/* --- regions --- */

struct ort_parallel {
    void (*fn)(void *);
    void *data;
    unsigned num_threads;             /* the clause's value; 1 also for if(false); 0: as the ICVs say */
    enum ort_bind bind;               /* the clause's value; ORT_BIND_UNSET: as the ICVs say */
    uintptr_t *reductions;            /* the construct's task reductions; NULL: none */
    const struct ort_loop_desc *loop; /* combined construct: the loop that every member begins in; NULL: none */
    const void *caller;               /* for a tool: ORT_CALLER and ORT_FRAME of the entry point */
    void *frame;
    /* NULL for a parallel region, which is in its opener's contention group. Otherwise the region has no level of its
     * own and is in this group: a league is in its opener's group, a league's team is in a new one. */
    struct ort_group *group;
};

/* An ABI that passes one and the same function as `fn` for all its regions stores that function here, before its first
 * region. The data of each such region begins with the address of the construct's own function. NULL: no ABI does
 * this. */
extern void (*ort_common_fn)(void *data);

/* Runs a region from its start to its end. Returns how many members it had. [switches] */
unsigned ort_parallel(const struct ort_parallel *region);
/* Only with members apart; otherwise returns false. Runs a region with no other clauses than num_threads and proc_bind
 * (bind: as in GNU's flags), if it is like the thread's last region. Takes the short path of region_again.c, and
 * returns true. If the short path is not possible at the moment, the region takes the ordinary one. If the region is
 * not like the last one, does nothing and returns false. [switches] */
#define ORT_AGAIN_NOT 0xff /* the value of ort_team.again_bind if the next region cannot take the short path */
static PS_ALWAYS_INLINE bool ort_parallel_again(void (*fn)(void *), void *data, unsigned num_threads, unsigned bind)
{
    if (!ORT_MEMBERS_APART)
        return false;
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(t == NULL))
        return false;
    /* The values are read before they are compared: a value that the very next instruction needs costs one cycle
     * more. */
    struct ort_team *team = t->hot;
    const struct ort_task *task = t->task;
    unsigned long around = ort_shape_around(t);
    __asm__("" : "+r"(team), "+r"(task), "+r"(around));
    if (PS_UNLIKELY(team == NULL))
        return false;
    const struct ort_icv *icv = task->icv, *icv_then = team->icv_then;
    unsigned long within = team->within;
    unsigned asked = team->asked, again_bind = team->again_bind;
    __asm__("" : "+r"(icv), "+r"(icv_then), "+r"(within), "+r"(asked), "+r"(again_bind));
    if (PS_UNLIKELY(within != around || asked != num_threads || again_bind != bind || icv_then != icv))
        return false;
    ee_team_run_again(&team->ee, fn, data);
    return true;
}
/* Do what ort_parallel_again does, for a region that is like the last region of the thread's other block
 * (region_again.c). ort_parallel_turn first tests whether there is such a block. [both switch] */
bool ort_parallel_of_other(struct ort_thread *t, void (*fn)(void *), void *data, unsigned num_threads, unsigned bind);
static PS_ALWAYS_INLINE bool ort_parallel_turn(PS_UNUSED void (*fn)(void *), PS_UNUSED void *data,
                                               PS_UNUSED unsigned num_threads, PS_UNUSED unsigned bind)
{
#if ORT_MEMBERS_APART
    struct ort_thread *t = ee_local_inline();
    if (t != NULL && t->hot != NULL && t->hot->other != NULL)
        return ort_parallel_of_other(t, fn, data, num_threads, bind);
#endif
    return false;
}
/* ort_parallel in two halves. ort_parallel_start makes the caller member 0, and returns the number of members. The
 * caller then runs its own share and calls ort_parallel_end. [both switch] */
unsigned ort_parallel_start(const struct ort_parallel *region);
void ort_parallel_end(void);
/* Returns how many members t's next region would get, if it asked for num_threads (0: as the ICVs say) and began now.
 * Threads that are busy now count against the thread limit. */
unsigned ort_parallel_size_now(struct ort_thread *t, unsigned num_threads);

/* Runs a teams construct on the host. The league gets up to num_teams members, which run the teams at once; with fewer
 * members than teams, a member runs several teams in turn. thread_limit 0: the program gives none. [switches] */
void ort_league(const struct ort_parallel *teams, unsigned thread_limit);
/* Returns whether `team` is a league: the hidden region whose members run the teams of a teams construct. */
bool ort_is_league(const struct ort_team *team);
/* Returns whether t is the initial thread of a league's team. Other teams of the league may run at the same time, so
 * this thread is alone in its team, but perhaps not alone in the teams construct. */
static inline bool ort_beside_teams(const struct ort_thread *t)
{
    const struct ort_group *group = t->team->contention;
    return PS_UNLIKELY(group->at_once) && t->team->level == group->level;
}
/* For a teams construct within a target region, whose teams run one after the other. The caller passes `first` true in
 * the first call, and runs the construct's body each time that the result is true. */
bool ort_teams_next(unsigned num_teams, unsigned thread_limit, bool first);

/* Runs fn(data) as a target region on the host. thread_limit 0: the program gives none. [switches] */
void ort_target(void (*fn)(void *), void *data, unsigned thread_limit);

/* The team's barrier, which is a task scheduling point. [switches] */
static inline void ort_barrier(struct ort_thread *t)
{
    if (!ee_barrier_pass())
        ort_task_barrier(t);
}

/* Returns t itself or the thread around it that is at `level`. Returns NULL if the level is negative or deeper than t's
 * region. Costs a step for each level. */
struct ort_thread *ort_ancestor(struct ort_thread *t, int level);

/* Frees a team block with everything that its threads keep. No region of the block is open. */
void ort_team_free(struct ort_team *team);

/* --- omp_pause_resource --- */

/* Frees the caller's team blocks, and stops the runtime's idle kernel threads (ee_quiesce). Returns 0. If the caller is
 * in a region or in a league's team, does nothing and returns -1. Soft and hard pauses do the same. */
int ort_pause(bool hard);

#endif
