/* Roots, and what fork() leaves behind. See ort.h.
 *
 * A root's storage is a block of one at level 0, and a contention group. The root gets both when its kernel thread
 * first calls OpenMP. When that kernel thread ends, the entities call root_exit, which frees both, unless it ends
 * within a region.
 * After fork() only the calling entity exists in the child. Its hot block, and those of its ancestors, may have members
 * on kernel threads that are gone. The child forgets the blocks in which no region is open. It does not free them,
 * because a thread that is gone may hold one of their locks. */
#include "check.h"
#include "ort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"
#include "env.h"
#include "lock.h"
#include "os.h"
#include "own_lock.h"
#include "race.h"
#include "region.h"

extern const struct ps_debug_layout ort_debug_layout; /* defined in debug_layout.c */

static void root_exit(void *local)
{
    struct ort_thread *t = local;
    if (t->team->parent != NULL)
        return; /* the kernel thread ends within a region, whose members may still run */
    if (ort_tool_on())
        ort_tool_root_ends(t);
    ort_mem_free(t->team->contention);
    ort_team_free(t->team);
}

static void describe(char *buf, size_t bytes)
{
    struct ort_thread *t = ee_local();
    if (t != NULL)
        snprintf(buf, bytes, "OpenMP thread %u of level %u", (unsigned)t->id, (unsigned)t->team->level);
    else
        snprintf(buf, bytes, "no OpenMP thread");
}

static void core_after_fork_in_child(void)
{
    ee_after_fork_in_child();
    ort_own_after_fork_in_child();
    ort_emergency_pool_after_fork_in_child();
    ort_task_after_fork_in_child(ee_local());
    for (struct ort_thread *t = ee_local(); t != NULL; t = t->team->parent)
        if (!t->open)
            t->hot = NULL;
}

void (*ort_started)(unsigned num_vps);

static void configure(void)
{
    ort_env_ask();
    struct ee_config config = {
        .num_vps = 0,
        .stack_bytes = ort_settings.stack_bytes,
        .spin_count = ort_settings.spin_count,
        .root_exit = root_exit,
        .floats_of_opener = &ort_env_as_libomp,
        .describe = describe,
        .debug_layout = &ort_debug_layout,
    };
    switch (ort_settings.wait_policy) {
    case ORT_POLICY_ACTIVE:
        config.wait_policy = EE_WAIT_ACTIVE;
        break;
    case ORT_POLICY_PASSIVE:
        config.wait_policy = EE_WAIT_PASSIVE;
        break;
    default:
        config.wait_policy = EE_WAIT_DEFAULT;
    }
    ort_env_finish();
    ee_init(&config);
    if (ort_started != NULL)
        ort_started(ee_num_vps());
}

/* A constructor registers the handlers. If they were registered when the first region is opened, a fork already under
 * way on another kernel thread would not call them. */
__attribute__((constructor)) static void core_watch_forks(void)
{
    if (ORT_BATCHES)
        ort_batch_init();
    os_at_fork(ort_own_before_fork, ort_own_after_fork, core_after_fork_in_child);
}

static void start_tool(void)
{
    if (ORT_TOOLS && ort_debugger_stop != NULL)
        ort_tool_attach();
    if (ort_tool_start != NULL)
        ort_tool_start();
    bool tool = ort_tool_attached();
    __atomic_store_n(&ort_tool_wanted, tool, __ATOMIC_RELAXED);
    unsigned char tasks = (unsigned char)((tool || ps_race_enabled() ? ORT_TASKS_TRACED : 0) |
                                          (ort_settings.cancellation ? ORT_TASKS_CANCEL : 0));
    __atomic_store_n(&ort_tasks_wanted, tasks, __ATOMIC_RELAXED);
    bool traced = tasks & ORT_TASKS_TRACED;
    ps_store_relaxed(&ort_lock_fast, traced ? ORT_LOCK_NEVER : ORT_LOCK_FREE);
    ps_store_relaxed(&ort_implicit_flags, (uint16_t)(ORT_TASK_IMPLICIT | (traced ? ORT_TASK_TRACED : 0)));
}

/* Starts the tool, once, before the first root is made. If the tool calls OpenMP routines meanwhile, the caller becomes
 * a root in that call. Then this function returns that root, else NULL. */
static struct ort_thread *with_tool_started(void)
{
    static os_once_flag once = OS_ONCE_INIT;
    static __thread bool starts;
    if (starts)
        return NULL;
    starts = true;
    os_once(&once, start_tool);
    starts = false;
    struct ort_thread *t = ee_local();
    if (t != NULL && ort_tool_attached())
        ort_tool_root_begins(t);
    return t;
}

struct ort_team *ort_team_initial(const char *what)
{
    struct ort_team *team = ort_team_alloc(1);
    struct ort_group *group = ort_mem_zeroed(sizeof *group);
    PS_CHECK(team != NULL && group != NULL, "no memory for %s", what);
    atomic_init(&group->busy, 1);
    group->num_teams = 1;
    team->contention = group;
    team->n = 1;
    team->bind_var = ort_settings.bind;
    team->shape = 1;
    return team;
}

struct ort_thread *ort_thread_begin_initial(struct ort_team *team)
{
    struct ort_thread *t = ort_member(team, 0);
    ee_set_local(t);
    ort_member_begin(t);
    t->task->flags |= ORT_TASK_INCLUDES;
    return t;
}

static struct ort_thread *make_root(void)
{
    static os_once_flag once = OS_ONCE_INIT;
    /* A signal handler may get here: ee_local knows the thread that the handler runs as, ee_local_inline may not. */
    struct ort_thread *self = ee_local();
    if (self != NULL)
        return self;
    os_once(&once, configure);
    struct ort_thread *made = with_tool_started();
    if (made != NULL)
        return made;
    struct ort_team *team = ort_team_initial("the first OpenMP thread of a kernel thread");
    team->icv = &ort_settings.initial;
    return ort_thread_begin_initial(team);
}

struct ort_thread *(*const ort_thread_make_root)(void) = make_root;

struct ort_thread *ort_ancestor(struct ort_thread *t, int level)
{
    if (level < 0 || (unsigned)level > t->team->level)
        return NULL;
    while (t->team->level > (unsigned)level)
        t = t->team->parent;
    return t;
}

int ort_pause(bool hard)
{
    struct ort_thread *t = ort_self();
    (void)hard;                  /* a soft pause and a hard pause do the same */
    if (t->team->parent != NULL) /* true in a region, and in a team of a league */
        return -1;
    ort_hot_free(t);
    ee_quiesce();
    return 0;
}
