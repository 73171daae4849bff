/* ort_debug_layout: tells a debugger where the fields of threads, regions, tasks and their ICVs are.
 * base/debug_layout.h describes the format. This file has data only. */
#include "debug_layout.h"

#include "display.h"
#include "icv.h"
#include "ort.h"

/* An entry whose name is not "structure.field": a shorter name, or one for a field of a nested structure. */
#define AS(name, type, member)              \
    {                                       \
        name, offsetof(struct type, member) \
    }
#define ICV(member) AS("icv." #member, ort_icv, member)
#define SETTING(member) AS("set." #member, ort_settings, member)

/* clang-format off */
#define M PS_DEBUG_MEMBER

extern const struct ps_debug_layout ort_debug_layout;
const struct ps_debug_layout ort_debug_layout PS_EXPORT = {PS_DEBUG_HEAD, .field = {
    PS_DEBUG_ADDRESS(ee_debug_layout), {"openmp", ORT_OPENMP},
    M(ort_thread, team), M(ort_thread, id), M(ort_team, n), M(ort_team, level), M(ort_team, active_level),
    M(ort_team, fn), M(ort_team, data),
    M(ort_team, parent), M(ort_team, bind_var), M(ort_team, bind_used), M(ort_team, threads),
    M(ort_thread, task), M(ort_thread, open), AS("ort_thread.implicit", ort_thread, tasks.implicit),
    PS_DEBUG_SIZE(ort_thread),
    M(ort_task, fn), M(ort_task, data), M(ort_task, parent), M(ort_task, team), M(ort_task, icv), M(ort_task, flags),
    PS_DEBUG_SIZE(ort_task), {"flag.final", ORT_TASK_FINAL},
    {"flag.undeferred", ORT_TASK_UNDEFERRED}, {"flag.implicit", ORT_TASK_IMPLICIT},
    PS_DEBUG_ADDRESS(ort_common_fn),
    /* Fields that are valid only while a tool or a debugger listens. */
    PS_DEBUG_ADDRESS(ort_tool_task_bytes), PS_DEBUG_ADDRESS(ort_debugger_stop),
    AS("ort_thread.state", ort_thread, tool.state), AS("ort_thread.wait_id", ort_thread, tool.wait_id),
    AS("ort_thread.tool_data", ort_thread, tool.data), AS("ort_team.tool_data", ort_team, tool.data),
    M(ort_tool_task, data), M(ort_tool_task, frame), M(ort_tool_task, below),
    M(ort_tool_frame, exit), M(ort_tool_frame, enter), AS("ort_tool_frame.exit_f", ort_tool_frame, exit_flags),
    AS("ort_tool_frame.enter_f", ort_tool_frame, enter_flags),
    /* Internal control variables. */
    ICV(dynamic), ICV(max_active_levels), ICV(nthreads), ICV(nthreads_rest), ICV(nthreads_list), ICV(sched),
    ICV(chunk), ICV(thread_limit), ICV(default_device), ICV(default_allocator),
    {"sched.monotonic", ORT_SCHED_MONOTONIC}, {"sched.unset", ORT_SCHED_UNSET},
    {"sched.static", ORT_SCHED_STATIC}, {"sched.dynamic", ORT_SCHED_DYNAMIC}, {"sched.guided", ORT_SCHED_GUIDED},
    {"sched.auto", ORT_SCHED_AUTO}, {"sched.trapezoidal", ORT_SCHED_TRAPEZOIDAL},
    PS_DEBUG_ADDRESS(ort_settings), SETTING(bind_rest), SETTING(bind_list), SETTING(cancellation),
    SETTING(display_affinity), SETTING(offload), SETTING(max_task_priority),
    SETTING(stack_bytes), SETTING(num_teams), SETTING(teams_thread_limit), SETTING(affinity_format),
    {"&affinity_defaults", (uintptr_t)&ort_affinity_defaults},
    {"&display_as_libomp", (uintptr_t)&ort_display_as_libomp},
    {"", 0},
}};
/* clang-format on */
