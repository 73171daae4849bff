/* Tools: the events of threads, regions and implicit tasks, and the tool's end. See tool.h.
 *
 * thread_end. When a team block is given up, its parent opens one last region with it, in which each member only raises
 * its thread_end (`farewell`). So the event comes on the member's own stack, with its own thread-local variables. A
 * parent whose kernel thread is ending can open no region: then the members' threads end without the event. If the
 * program ends inside of a region, the threads of that region are still at work, and end without the event, too. The
 * tool's finalizer is called in any case.
 * The end of a region. Without a tool, a member whose body is done returns, and may later help with other members'
 * tasks (ee_team_ops.assist). With a tool, the end of a region is a barrier instead. So a member's implicit task ends
 * on the member's own stack, after the last explicit task that the member runs. */
#include "check.h"
#include "emergency_pool.h"
#include "ort.h"
#include "tool.h"

/* --- threads --- */

static void thread_begins(struct ort_thread *t, int kind)
{
    bool root = kind == ORT_TOOL_INITIAL_THREAD;
    t->tool.begun = true;
    t->tool.data = root ? ort_tool_root_data() : ort_mem_get(sizeof *t->tool.data);
    PS_CHECK(t->tool.data != NULL, "no memory for a word that a tool has of each thread");
    t->tool.data->value = 0;
    t->tool.state = ORT_STATE_OVERHEAD;
    ORT_RAISE(thread_begin, kind, t->tool.data);
    ort_stop_here(ORT_STOP_THREAD_BEGIN);
    t->tool.state = 0;
}

static void thread_ends(struct ort_thread *t)
{
    if (t->tool.begun) {
        ORT_RAISE(thread_end, t->tool.data);
        ort_stop_here(ORT_STOP_THREAD_END);
        if (t->id != 0)
            ort_mem_free(t->tool.data);
    }
    t->tool.begun = false;
}

void ort_tool_root_begins(struct ort_thread *t)
{
    struct ort_tool_task *task = ort_tool_task(t->task);
    *task = (struct ort_tool_task){.flags = ORT_TOOL_TASK_INITIAL};
    thread_begins(t, ORT_TOOL_INITIAL_THREAD);
    ORT_RAISE(implicit_task, ORT_SCOPE_BEGIN, &t->team->tool.data, &task->data, 1, 1, ORT_TOOL_TASK_INITIAL);
}

void ort_tool_root_ends(struct ort_thread *t)
{
    if (!t->tool.begun)
        return;
    if (t->hot != NULL)
        ort_tool_team_ends(t->hot);
    ORT_RAISE(implicit_task, ORT_SCOPE_END, NULL, &ort_tool_task(t->task)->data, 0, 1, ORT_TOOL_TASK_INITIAL);
    thread_ends(t);
}

static void empty_tool_body(PS_UNUSED void *data) {}

/* Called by each member in the farewell region. The member opens a farewell region for its own hot block, then raises
 * its own thread_end. Member 0 raises none: it is its parent's native thread. */
static void says_farewell(struct ort_thread *m)
{
    if (m->hot != NULL)
        ort_tool_team_ends(m->hot);
    if (m->id != 0)
        thread_ends(m);
}

void ort_tool_team_ends(struct ort_team *team)
{
    struct ort_thread *parent = team->parent;
    unsigned n = 1;
    if (parent == NULL || ee_local() != parent || parent->open != NULL)
        return; /* only the parent can open a region for the members, and only while no region of its own is open */
    for (unsigned i = 1; i < team->n_max; i++)
        if (team->threads[i].tool.begun)
            n = i + 1;
    if (n > 1 && ee_team_reserve(&team->ee, n) < n)
        return;
    team->n = n;
    team->within = 0;
    team->fn = empty_tool_body;
    team->tool.farewell = true;
    parent->open = team;
    if (n > 1)
        ee_team_fork(&team->ee, n, !parent->team->enclosed);
    else
        ee_set_local(&team->threads[0]);
    says_farewell(&team->threads[0]);
    if (n > 1)
        ee_team_join(&team->ee);
    else
        ee_set_local(parent);
    parent->open = NULL;
    team->tool.farewell = false;
}

bool ort_tool_detach(void)
{
    struct ort_thread *t = ee_local();
    if (!ort_tool_attached())
        return false;
    if (t != NULL && t->team->parent == NULL)
        ort_tool_root_ends(t);
    return ort_tool_no_more();
}

/* --- regions --- */

void ort_tool_region_begins(struct ort_thread *parent, struct ort_team *team, const struct ort_parallel *region)
{
    struct ort_tool_task *task = ort_tool_task(parent->task);
    unsigned n = region->num_threads != 0 ? region->num_threads : ort_icv(parent)->nthreads;
    ort_tool_decide_carriers();
    ort_tool_enter(parent, region->caller, region->frame);
    team->tool.data.value = 0;
    team->tool.caller = ort_tool_place(region->caller, region->fn);
    team->tool.flags = (team->fn != NULL ? ORT_TOOL_INVOKED_BY_RUNTIME : ORT_TOOL_INVOKED_BY_PROGRAM) |
                       (ort_is_league(team) ? ORT_TOOL_LEAGUE : ORT_TOOL_TEAM);
    ORT_RAISE(parallel_begin, &task->data, &task->frame, &team->tool.data, n, team->tool.flags, team->tool.caller);
    ort_stop_here(ORT_STOP_PARALLEL_BEGIN);
}

void ort_tool_region_ends(struct ort_thread *parent, struct ort_team *team)
{
    struct ort_tool_task *task = ort_tool_task(parent->task);
    ORT_RAISE(parallel_end, &team->tool.data, &task->data, team->tool.flags, team->tool.caller);
    ort_stop_here(ORT_STOP_PARALLEL_END);
    task->frame.enter.ptr = NULL;
}

void ort_tool_member_begins(struct ort_thread *m)
{
    struct ort_team *team = m->team;
    struct ort_tool_task *task = ort_tool_task(m->task);
    if (PS_UNLIKELY(team->tool.farewell)) {
        says_farewell(m);
        return;
    }
    if (ort_tool_by_carrier())
        m->tool.data = ort_tool_thread_data(m); /* for debuggers, which read the field */
    else if (m->id != 0 && !m->tool.begun)
        thread_begins(m, ORT_TOOL_WORKER_THREAD);
    *task = (struct ort_tool_task){.flags = ORT_TOOL_TASK_IMPLICIT};
    m->tool.state = 0;
    m->tool.work = 0;
    m->tool.caller = team->tool.caller;
    /* A tool is told of a league's teams one by one, as initial tasks (ort_tool_league_team_begins), not of its
     * members. */
    if (team->tool.flags & ORT_TOOL_LEAGUE)
        return;
    ORT_RAISE(implicit_task, ORT_SCOPE_BEGIN, &team->tool.data, &task->data, team->n, m->id, ORT_TOOL_TASK_IMPLICIT);
    ort_stop_here(ORT_STOP_TASK_BEGIN);
    /* Member 0's exit frame is the frame of the entry point's caller. Where the runtime calls the body itself,
     * ort_tool_run sets another exit frame. */
    if (m->id == 0) {
        task->frame.exit = ort_tool_task(team->parent->task)->frame.enter;
        task->frame.exit_flags = ORT_FRAME_RUNTIME_CFA;
    }
    if (team->begins_in != ORT_BEGINS_PLAIN) {
        const struct ort_loop_desc *d = ort_ws_begun_in(team);
        ort_tool_loop_begins(m, d->step == 0, d->n, d->sched);
    }
}

void ort_tool_member_ends(struct ort_thread *m)
{
    struct ort_team *team = m->team;
    struct ort_tool_task *task = ort_tool_task(m->task);
    const void *caller = m->id == 0 ? team->tool.caller : NULL;
    bool barrier = team->n > 1;
    ort_loop_abandon(m);
    if (PS_UNLIKELY(team->tool.farewell) || (team->tool.flags & ORT_TOOL_LEAGUE)) {
        ort_task_member_end(m);
        return;
    }
    ort_tool_loop_ends(m); /* if the member is still in a single region: its end, which GCC's code does not report */
    task->frame = (struct ort_tool_frame){.exit = {.ptr = NULL}};
    if (barrier) {
        ORT_RAISE(sync_region, ORT_SYNC_BARRIER_PARALLEL, ORT_SCOPE_BEGIN, &team->tool.data, &task->data, caller);
        ORT_RAISE(sync_region_wait, ORT_SYNC_BARRIER_PARALLEL, ORT_SCOPE_BEGIN, &team->tool.data, &task->data, caller);
    }
    m->tool.state = ORT_STATE_WAIT_BARRIER_PARALLEL;
    if (barrier)
        ort_task_barrier(m);
    ort_task_member_end(m);
    m->tool.state = ORT_STATE_OVERHEAD;
    if (barrier) {
        ORT_RAISE(sync_region_wait, ORT_SYNC_BARRIER_PARALLEL, ORT_SCOPE_END, NULL, &task->data, caller);
        ORT_RAISE(sync_region, ORT_SYNC_BARRIER_PARALLEL, ORT_SCOPE_END, NULL, &task->data, caller);
    }
    ORT_RAISE(implicit_task, ORT_SCOPE_END, NULL, &task->data, team->n, m->id, ORT_TOOL_TASK_IMPLICIT);
    ort_stop_here(ORT_STOP_TASK_END);
    m->tool.state = 0;
}

/* --- teams --- */

void ort_tool_league_team_begins(struct ort_thread *m, unsigned n, unsigned num)
{
    struct ort_tool_task *task = ort_tool_task(m->task);
    *task = (struct ort_tool_task){.flags = ORT_TOOL_TASK_INITIAL};
    ORT_RAISE(implicit_task, ORT_SCOPE_BEGIN, &m->team->tool.data, &task->data, n, num, ORT_TOOL_TASK_INITIAL);
}

void ort_tool_league_team_ends(struct ort_thread *m, unsigned num)
{
    struct ort_tool_task *task = ort_tool_task(m->task);
    ORT_RAISE(implicit_task, ORT_SCOPE_END, NULL, &task->data, 0, num, ORT_TOOL_TASK_INITIAL);
}
