/* The OpenMP core: regions, teams' threads, and what the other modules of this room and the entry points call.
 *
 * Does: regions to any depth, work-sharing, synchronisation, ICVs. Does not: know an ABI, or anything of threads but
 * ee.h. The structures are in team_block.h; src/ort/README.md lists the folders, and each folder's README its files.
 * Callers: entry points, on the stack of the OpenMP thread concerned.
 *
 * Failures: no memory for a team: the region gets one member, one line says so once. No memory even for that: aborts
 * with one line.
 * Papers: psthreads-2009 section 3. OpenMP 5.2 sections 2.4 (ICVs), 10.1 (parallel), 11 (work-sharing). */
#ifndef PS_ORT_H
#define PS_ORT_H

#include "team_block.h"

/* No region gets more members than this. */
#define ORT_THREADS_MAX (1u << 20)

/* Called with the number of virtual processors when the first OpenMP thread appears; NULL: not called. Set while the
 * library is loaded. */
extern void (*ort_started)(unsigned num_vps);

/* --- threads --- */

/* Returns the calling OpenMP thread; makes a kernel thread that is none yet a root. To be read anew after a call that
 * may switch. */
/* thread.c */
extern __attribute__((visibility("hidden"))) struct ort_thread *(*const ort_thread_make_root)(void);
static inline struct ort_thread *ort_self(void)
{
    struct ort_thread *t = ee_local();
    return PS_LIKELY(t != NULL) ? t : ort_thread_make_root();
}

/* As ort_self, without a call. */
static PS_ALWAYS_INLINE struct ort_thread *ort_self_inline(void)
{
    struct ort_thread *t = ee_local_inline();
    return PS_LIKELY(t != NULL) ? t : ort_thread_make_root();
}

/* Whether ort_taskwait would return at once: there is nothing to wait for, and no tool or sanitizer to tell. */
static PS_ALWAYS_INLINE bool ort_taskwait_is_over(struct ort_thread *t)
{
    struct ort_task *self = t->task;
    struct ort_count *c = &self->count;
    return PS_LIKELY(!(self->flags & ORT_TASK_TRACED)) && PS_LIKELY((uint32_t)(c->own + ps_load_seq(&c->others)) == 0);
}

static inline struct ort_icv *ort_icv(const struct ort_thread *t) { return t->task->icv; }

/* Leaves a loop in which the member may still be when it goes on to another construct, or when its region ends: a
 * combined construct that a cancellation left has no end of its own. Gives the slot back, for which the team would wait
 * when the ring comes round. No event: ort_tool_loop_ends. [switches] */
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
    unsigned num_threads;  /* 0: as the ICVs say; 1 also for if(false) */
    enum ort_bind bind;    /* ORT_BIND_UNSET: as the ICVs say */
    uintptr_t *reductions; /* task reductions of the construct; NULL: none */
    const struct ort_loop_desc
        *loop;          /* combined work-sharing construct: every member is in it from the start; NULL: none */
    const void *caller; /* for a tool: ORT_CALLER and ORT_FRAME of the entry point */
    void *frame;
    struct ort_group *group; /* NULL: the opener's; else no level: a league, or one of its teams, whose own it is */
};

/* One fn that an ABI has for all its regions: the region's data begins with the address of the construct's own
 * function. NULL: there is none. Written before the first such region. */
extern void (*ort_common_fn)(void *data);

/* Runs the whole region; returns how many threads it had. [switches] */
unsigned ort_parallel(const struct ort_parallel *region);
/* Runs a region that has nothing but these clauses, bind as in GNU's flags, if it is as the thread's last one and has a
 * shorter way (region_again.c); false: nothing is done. [switches] */
#define ORT_AGAIN_NOT 0xff /* ort_team.again_bind: it has not */
static PS_ALWAYS_INLINE bool ort_parallel_again(void (*fn)(void *), void *data, unsigned num_threads, unsigned bind)
{
    if (!ORT_MEMBERS_APART)
        return false;
    struct ort_thread *t = ee_local_inline();
    if (PS_UNLIKELY(t == NULL))
        return false;
    /* Values that are compared are read first: a value that the next instruction needs costs a cycle more. */
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
/* The same for a region that is not as the thread's last one, but as the last one of another shape. */
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
/* ort_parallel in two halves, between which the caller runs its own share. On return of ort_parallel_start the caller
 * is member 0. */
unsigned ort_parallel_start(const struct ort_parallel *region);
void ort_parallel_end(void);
/* Returns how many threads a region would get now, under the thread limit and the threads that count against it now. */
unsigned ort_parallel_size_now(struct ort_thread *t, unsigned num_threads);

/* Opens a teams construct on the host: num_teams teams at once, as far as there are threads for them. */
void ort_league(const struct ort_parallel *teams, unsigned thread_limit);
/* Whether team is the hidden region whose members run a league's teams. */
bool ort_is_league(const struct ort_team *team);
/* Whether t is the initial thread of one of several teams that run at once: then what it shares with the others is not
 * its own. */
static inline bool ort_beside_teams(const struct ort_thread *t)
{
    const struct ort_group *group = t->team->contention;
    return PS_UNLIKELY(group->at_once) && t->team->level == group->level;
}
/* A teams construct within a target region: the caller runs the region's body as long as this returns true. */
bool ort_teams_next(unsigned num_teams, unsigned thread_limit, bool first);

/* Runs fn(data) as a target region on the host; thread_limit 0: none. [switches] */
void ort_target(void (*fn)(void *), void *data, unsigned thread_limit);

/* Barrier of the team, a task scheduling point. [switches] */
static inline void ort_barrier(struct ort_thread *t)
{
    if (!ee_barrier_pass())
        ort_task_barrier(t);
}

/* Returns the thread at `level` that is t or encloses it, by a walk outwards; NULL where there is no such level. */
struct ort_thread *ort_ancestor(struct ort_thread *t, int level);

/* Frees a block with everything that its threads keep. No region of it is open. */
void ort_team_free(struct ort_team *team);

/* --- after an omp_pause_resource, at fork --- */

/* Gives back what no open region needs. Returns 0, or nonzero where the caller is in a parallel region. */
int ort_pause(bool hard);

#endif
