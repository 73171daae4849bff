/* OMPD: regions and tasks. A region is a team. Its implicit tasks are those of its members. */
#include "process.h"

#include <string.h>

/* --- regions --- */

static uint64_t region_of(const ompd_task_handle_t *task)
{
    return task->team != 0 ? task->team : process_pointer_in(task->process, task->at, "ort_task.team");
}

ompd_rc_t parallel_handle_for(struct ompd_aspace_handle *p, uint64_t team, ompd_parallel_handle_t **handle)
{
    if (team == 0)
        process_fails(p, ompd_rc_unavailable);
    ompd_parallel_handle_t *made = process_memory(p, sizeof *made);
    if (made != NULL) {
        *made = (ompd_parallel_handle_t){.process = p, .at = team};
        *handle = made;
    }
    return process_end(p);
}

uint64_t team_member(struct ompd_aspace_handle *p, uint64_t team, int number)
{
    uint32_t n = process_word_in(p, team, "ort_team.n");
    if (number < 0 || (uint32_t)number >= n)
        return process_fails(p, ompd_rc_bad_input);
    return team + process_field(p, "ort_team.threads") + (uint64_t)number * process_field(p, "sizeof.ort_thread");
}

PS_EXPORT ompd_rc_t ompd_get_curr_parallel_handle(ompd_thread_handle_t *thread, ompd_parallel_handle_t **region)
{
    PROCESS_OF(thread);
    if (region == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = thread->process;
    /* `open` is not 0 while the thread opens a region: the new region is then the current one. */
    uint64_t now = thread_now(thread), open = process_pointer_in(p, now, "ort_thread.open");
    return parallel_handle_for(p, open != 0 ? open : process_pointer_in(p, now, "ort_thread.team"), region);
}

PS_EXPORT ompd_rc_t ompd_get_enclosing_parallel_handle(ompd_parallel_handle_t *region, ompd_parallel_handle_t **outer)
{
    PROCESS_OF(region);
    if (outer == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = region->process;
    uint64_t parent = process_pointer_in(p, region->at, "ort_team.parent");
    return parallel_handle_for(p, parent != 0 ? process_pointer_in(p, parent, "ort_thread.team") : 0, outer);
}

PS_EXPORT ompd_rc_t ompd_get_task_parallel_handle(ompd_task_handle_t *task, ompd_parallel_handle_t **region)
{
    PROCESS_OF(task);
    if (region == NULL)
        return ompd_rc_bad_input;
    return parallel_handle_for(task->process, region_of(task), region);
}

PS_EXPORT ompd_rc_t ompd_parallel_handle_compare(ompd_parallel_handle_t *one, ompd_parallel_handle_t *other,
                                                 int *result)
{
    PROCESS_OF(one);
    PROCESS_OF(other);
    if (result == NULL || one->process != other->process)
        return ompd_rc_bad_input;
    *result = handle_order(one->at, other->at);
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_rel_parallel_handle(ompd_parallel_handle_t *region)
{
    return region != NULL ? process_give(region) : ompd_rc_stale_handle;
}

/* --- tasks --- */

ompd_rc_t task_handle_for(struct ompd_aspace_handle *p, uint64_t task, ompd_task_handle_t **handle)
{
    if (task == 0)
        process_fails(p, ompd_rc_unavailable);
    ompd_task_handle_t *made = process_memory(p, sizeof *made);
    if (made != NULL) {
        *made = (ompd_task_handle_t){.process = p, .at = task};
        *handle = made;
    }
    return process_end(p);
}

static bool task_has_flag(const ompd_task_handle_t *task, const char *flag)
{
    return process_word_in(task->process, task->at, "ort_task.flags") & process_field(task->process, flag);
}
static bool is_implicit(const ompd_task_handle_t *task)
{
    return task->team != 0 || task_has_flag(task, "flag.implicit");
}

/* Returns the task that opened the region of this implicit task; 0: it is an initial task. */
static uint64_t opener(const ompd_task_handle_t *task)
{
    uint64_t parent = process_pointer_in(task->process, region_of(task), "ort_team.parent");
    return parent != 0 ? process_pointer_in(task->process, parent, "ort_thread.task") : 0;
}

PS_EXPORT ompd_rc_t ompd_get_curr_task_handle(ompd_thread_handle_t *thread, ompd_task_handle_t **task)
{
    PROCESS_OF(thread);
    if (task == NULL)
        return ompd_rc_bad_input;
    return task_handle_for(thread->process, process_pointer_in(thread->process, thread_now(thread), "ort_thread.task"),
                           task);
}

PS_EXPORT ompd_rc_t ompd_get_generating_task_handle(ompd_task_handle_t *task, ompd_task_handle_t **creator)
{
    PROCESS_OF(task);
    if (creator == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = task->process;
    uint64_t found = is_implicit(task) ? opener(task) : process_pointer_in(p, task->at, "ort_task.parent");
    return task_handle_for(p, found, creator);
}

uint64_t task_record(struct ompd_aspace_handle *p, uint64_t task) { return task + process_field(p, "sizeof.ort_task"); }

PS_EXPORT ompd_rc_t ompd_get_scheduling_task_handle(ompd_task_handle_t *task, ompd_task_handle_t **below)
{
    PROCESS_OF(task);
    if (below == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = task->process;
    if (is_implicit(task))
        return task_handle_for(p, opener(task), below);
    if (!process_is_tracked(p))
        return process_end(p);
    return task_handle_for(p, process_pointer_in(p, task_record(p, task->at), "ort_tool_task.below"), below);
}

PS_EXPORT ompd_rc_t ompd_get_task_in_parallel(ompd_parallel_handle_t *region, int number, ompd_task_handle_t **task)
{
    PROCESS_OF(region);
    if (task == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = region->process;
    uint64_t member = team_member(p, region->at, number);
    ompd_rc_t rc = task_handle_for(p, process_pointer_in(p, member, "ort_thread.implicit"), task);
    if (rc == ompd_rc_ok)
        (*task)->team = region->at;
    return rc;
}

/* Returns the address of the program's function, of which `body` and `data` are what the core calls. If `body` is one
 * of the runtime's functions for LLVM's tasks, the program's function is in the kmpc_task at `data`. */
static uint64_t called_by(struct ompd_aspace_handle *p, uint64_t body, uint64_t data)
{
    for (unsigned i = 0; i < p->num_fields; i++)
        if (strncmp(p->field[i].name, "body.", 5) == 0 && p->field[i].value == body)
            return process_pointer_in(p, data, "kmpc_task.routine");
    return body;
}

PS_EXPORT ompd_rc_t ompd_get_task_function(ompd_task_handle_t *task, ompd_address_t *entry)
{
    uint64_t function;
    PROCESS_OF(task);
    if (entry == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = task->process;
    if (is_implicit(task)) {
        uint64_t team = region_of(task);
        function = process_pointer_in(p, team, "ort_team.fn");
        uint64_t common = process_number(p, process_field(p, "&ort_common_fn"), 8);
        if (function != 0 && function == common)
            function = process_number(p, process_pointer_in(p, team, "ort_team.data"), 8);
    } else if (task_has_flag(task, "flag.undeferred") && !process_is_tracked(p)) {
        /* Without a listener the runtime calls an undeferred task at once, and its descriptor has no function. */
        function = 0;
    } else {
        uint64_t body = process_pointer_in(p, task->at, "ort_task.fn");
        function = called_by(p, body, process_pointer_in(p, task->at, "ort_task.data"));
    }
    if (function == 0) /* nor has an initial task a function: the program itself is its code */
        process_fails(p, ompd_rc_unavailable);
    *entry = (ompd_address_t){OMPD_SEGMENT_UNSPECIFIED, function};
    return process_end(p);
}

static ompd_frame_info_t frame_in(struct ompd_aspace_handle *p, uint64_t at, const char *address, const char *flags)
{
    ompd_frame_info_t frame = {.frame_address = {OMPD_SEGMENT_UNSPECIFIED, process_pointer_in(p, at, address)},
                               .frame_flag = process_word_in(p, at, flags)};
    return frame;
}

PS_EXPORT ompd_rc_t ompd_get_task_frame(ompd_task_handle_t *task, ompd_frame_info_t *exit, ompd_frame_info_t *enter)
{
    PROCESS_OF(task);
    if (exit == NULL || enter == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = task->process;
    if (!process_is_tracked(p))
        return process_end(p);
    uint64_t at = task_record(p, task->at) + process_field(p, "ort_tool_task.frame");
    *exit = frame_in(p, at, "ort_tool_frame.exit", "ort_tool_frame.exit_f");
    *enter = frame_in(p, at, "ort_tool_frame.enter", "ort_tool_frame.enter_f");
    return process_end(p);
}

PS_EXPORT ompd_rc_t ompd_task_handle_compare(ompd_task_handle_t *one, ompd_task_handle_t *other, int *result)
{
    PROCESS_OF(one);
    PROCESS_OF(other);
    if (result == NULL || one->process != other->process)
        return ompd_rc_bad_input;
    *result = handle_order(one->at, other->at);
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_rel_task_handle(ompd_task_handle_t *task)
{
    return task != NULL ? process_give(task) : ompd_rc_stale_handle;
}

/* --- a tool's data --- */

/* Returns the address of the tool's word for a thread. The word is in the outermost ort_thread of the same OpenMP
 * thread. */
static uint64_t thread_data_at(struct ompd_aspace_handle *p, uint64_t thread)
{
    for (unsigned steps = 0; steps < PROCESS_MOST && p->failed == ompd_rc_ok; steps++) {
        uint64_t parent = process_pointer_in(p, process_pointer_in(p, thread, "ort_thread.team"), "ort_team.parent");
        if (parent == 0 || process_word_in(p, thread, "ort_thread.id") != 0)
            break;
        thread = parent;
    }
    return process_pointer_in(p, thread, "ort_thread.tool_data");
}

PS_EXPORT ompd_rc_t ompd_get_tool_data(void *handle, ompd_scope_t scope, ompd_word_t *value, ompd_address_t *address)
{
    ompd_task_handle_t *any = handle; /* all handles of threads, regions and tasks have the same first fields */
    PROCESS_OF(any);
    if (value == NULL || address == NULL || scope < ompd_scope_thread || scope > ompd_scope_task)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = any->process;
    if (!process_is_tracked(p))
        return process_end(p);
    uint64_t at;
    if (scope == ompd_scope_thread)
        at = thread_data_at(p, thread_now(handle));
    else if (scope == ompd_scope_parallel)
        at = any->at + process_field(p, "ort_team.tool_data");
    else
        at = task_record(p, any->at) + process_field(p, "ort_tool_task.data");
    *value = (ompd_word_t)process_number(p, at, 8);
    *address = (ompd_address_t){OMPD_SEGMENT_UNSPECIFIED, (uint64_t)*value};
    return process_end(p);
}
