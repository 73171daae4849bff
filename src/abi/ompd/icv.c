/* OMPD: internal control variables (ICVs), and the environment of the process.
 *
 * The first thirty ICVs have the numbers, names and scopes of LLVM's library, because LLVM's plug-in for gdb relies on
 * them. A thread's ICVs are those of the task that it runs. The ICVs of tools (tool-var and the like) are in no
 * structure of the runtime. They are read from the process's environment, which the program may have changed since its
 * start. */
#include "process.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum in { IN_ICV, IN_TASK, IN_TEAM, IN_THREAD, IN_SETTINGS, COMPUTED };
enum icv {
    ICV_RUN_SCHED = 2,
    ICV_DEBUG = 6,
    ICV_NTHREADS = 7,
    ICV_AFFINITY_FORMAT = 9,
    ICV_DEFAULT_DEVICE = 10,
    ICV_TOOL = 11,
    ICV_TOOL_LIBRARIES = 12,
    ICV_TOOL_VERBOSE = 13,
    ICV_BIND = 18,
    ICV_NUM_PROCS = 19,
    ICV_OLD_NUM_PROCS = 20,
};

/* The known ICVs; the index is the ICV's number. in: the structure that has the value, or COMPUTED if a function
 * computes it. field: the value's name in the process's tables; bytes: its size. flag: NULL if the value is a number;
 * otherwise the name, in the tables, of the bits of the field that tell whether the ICV is true. */
static const struct {
    const char *name;
    ompd_scope_t scope;
    enum in in;
    const char *field, *flag;
    unsigned bytes;
} icvs[] = {
    {"", ompd_scope_global, COMPUTED, "", NULL, 0}, /* number 0 is not used: numbers begin with 1 */
    {"dyn-var", ompd_scope_thread, IN_ICV, "icv.dynamic", NULL, 1},
    {"run-sched-var", ompd_scope_task, COMPUTED, "", NULL, 0},
    {"stacksize-var", ompd_scope_address_space, IN_SETTINGS, "set.stack_bytes", NULL, 8},
    {"cancel-var", ompd_scope_address_space, IN_SETTINGS, "set.cancellation", NULL, 1},
    {"max-task-priority-var", ompd_scope_address_space, IN_SETTINGS, "set.max_task_priority", NULL, 4},
    {"debug-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"nthreads-var", ompd_scope_thread, IN_ICV, "icv.nthreads", NULL, 4},
    {"display-affinity-var", ompd_scope_address_space, IN_SETTINGS, "set.display_affinity", NULL, 1},
    {"affinity-format-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"default-device-var", ompd_scope_thread, IN_ICV, "icv.default_device", NULL, 4},
    {"tool-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"tool-libraries-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"tool-verbose-init-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"levels-var", ompd_scope_parallel, IN_TEAM, "ort_team.level", NULL, 4},
    {"active-levels-var", ompd_scope_parallel, IN_TEAM, "ort_team.active_level", NULL, 4},
    {"thread-limit-var", ompd_scope_task, IN_ICV, "icv.thread_limit", NULL, 4},
    {"max-active-levels-var", ompd_scope_task, IN_ICV, "icv.max_active_levels", NULL, 4},
    {"bind-var", ompd_scope_task, COMPUTED, "", NULL, 0},
    {"num-procs-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"ompd-num-procs-var", ompd_scope_address_space, COMPUTED, "", NULL, 0},
    {"thread-num-var", ompd_scope_thread, IN_THREAD, "ort_thread.id", NULL, 4},
    {"ompd-thread-num-var", ompd_scope_thread, IN_THREAD, "ort_thread.id", NULL, 4},
    {"final-task-var", ompd_scope_task, IN_TASK, "ort_task.flags", "flag.final", 2},
    {"ompd-final-var", ompd_scope_task, IN_TASK, "ort_task.flags", "flag.final", 2},
    {"ompd-final-task-var", ompd_scope_task, IN_TASK, "ort_task.flags", "flag.final", 2},
    {"implicit-task-var", ompd_scope_task, IN_TASK, "ort_task.flags", "flag.implicit", 2},
    {"ompd-implicit-var", ompd_scope_task, IN_TASK, "ort_task.flags", "flag.implicit", 2},
    {"ompd-implicit-task-var", ompd_scope_task, IN_TASK, "ort_task.flags", "flag.implicit", 2},
    {"team-size-var", ompd_scope_parallel, IN_TEAM, "ort_team.n", NULL, 4},
    {"ompd-team-size-var", ompd_scope_parallel, IN_TEAM, "ort_team.n", NULL, 4},
    {"target-offload-var", ompd_scope_address_space, IN_SETTINGS, "set.offload", NULL, 4},
    {"nteams-var", ompd_scope_address_space, IN_SETTINGS, "set.num_teams", NULL, 4},
    {"teams-thread-limit-var", ompd_scope_address_space, IN_SETTINGS, "set.teams_thread_limit", NULL, 4},
    {"def-allocator-var", ompd_scope_task, IN_ICV, "icv.default_allocator", NULL, 8},
};
#define NUM_ICVS (sizeof icvs / sizeof icvs[0])
#define TEXT_MAX 4096 /* the most bytes that are read of a text of the process */

/* --- the environment --- */

static bool belongs_to_runtimes(uint64_t beginning)
{
    static const char *const prefixes[] = {"OMP_", "GOMP_", "KMP_", "LIBOMP_", "PSTHREAD"};
    for (unsigned i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (memcmp(&beginning, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Reads the next variable of an OpenMP runtime into text, as NAME=VALUE. *i is the entry of the list at which the
 * search begins, and afterwards the entry behind the one found. Returns false if there is none. The first 8 bytes of an
 * entry tell whether it is a runtime's variable. Only then is the whole text read: a debugger's read_string may fail
 * for some other text. */
static bool next_variable(struct ompd_aspace_handle *p, uint64_t list, unsigned *i, char *text)
{
    while (list != 0 && *i < PROCESS_MOST) {
        uint64_t at = process_number(p, list + 8 * (uint64_t)(*i)++, 8);
        if (at == 0)
            break;
        if (!belongs_to_runtimes(process_number(p, at, 8)))
            continue;
        process_text(p, at, text, TEXT_MAX);
        return p->failed == ompd_rc_ok;
    }
    return false;
}

static uint64_t environment_of(struct ompd_aspace_handle *p)
{
    uint64_t variable = process_symbol(p, "environ");
    return variable != 0 ? process_number(p, variable, 8) : 0;
}

/* Writes the variable's value into text, or `otherwise` if the variable is not set. */
static void variable_of(struct ompd_aspace_handle *p, const char *name, const char *otherwise, char *text)
{
    uint64_t list = environment_of(p);
    size_t length = strlen(name);
    for (unsigned i = 0; next_variable(p, list, &i, text);)
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            memmove(text, text + length + 1, strlen(text + length));
            return;
        }
    snprintf(text, TEXT_MAX, "%s", otherwise);
}

PS_EXPORT ompd_rc_t ompd_get_display_control_vars(ompd_address_space_handle_t *p, const char *const **variables)
{
    char text[TEXT_MAX];
    size_t n = 0, bytes = 0;
    if (p == NULL)
        return ompd_rc_stale_handle;
    if (variables == NULL)
        return ompd_rc_bad_input;
    process_begin(p);
    uint64_t list = environment_of(p);
    for (unsigned i = 0; next_variable(p, list, &i, text); n++)
        bytes += strlen(text) + 1;
    char **vector = process_memory(p, (n + 1) * sizeof *vector + bytes); /* the texts follow the vector */
    if (vector == NULL)
        return process_end(p);
    char *to = (char *)(vector + n + 1);
    size_t m = 0;
    for (unsigned i = 0; m < n && next_variable(p, list, &i, text) && strlen(text) < bytes; m++) {
        vector[m] = to;
        bytes -= strlen(text) + 1;
        to = stpcpy(to, text) + 1;
    }
    vector[m] = NULL;
    *variables = (const char *const *)vector;
    return process_end(p);
}

PS_EXPORT ompd_rc_t ompd_rel_display_control_vars(const char *const **variables)
{
    return variables != NULL ? process_give((void *)(uintptr_t)*variables) : ompd_rc_bad_input;
}

/* --- values --- */

static uint64_t read_icv(struct ompd_aspace_handle *p, uint64_t at, ompd_icv_id_t id)
{
    if (icvs[id].in == IN_SETTINGS)
        at = process_field(p, "&ort_settings");
    if (icvs[id].in == IN_ICV)
        at = process_pointer_in(p, at, "ort_task.icv");
    uint64_t value = process_number(p, at + process_field(p, icvs[id].field), icvs[id].bytes);
    if (icvs[id].flag != NULL)
        return (value & process_field(p, icvs[id].flag)) != 0;
    if (id == ICV_DEFAULT_DEVICE)
        return (uint64_t)(int32_t)value;
    return icvs[id].bytes == 4 && value > INT_MAX ? INT_MAX : value;
}

/* nthreads-var and bind-var are lists: the first element is the current value, and the rest is for inner levels.
 * nthreads_rest and bind_rest return how many elements the rest has. bind_used returns how many elements of the rest
 * belong to levels that are open already. */
static uint32_t nthreads_rest(struct ompd_aspace_handle *p, uint64_t task)
{
    return process_word_in(p, process_pointer_in(p, task, "ort_task.icv"), "icv.nthreads_rest");
}

static uint32_t bind_used(struct ompd_aspace_handle *p, uint64_t task)
{
    return process_word_in(p, process_pointer_in(p, task, "ort_task.team"), "ort_team.bind_used");
}
static uint32_t bind_rest(struct ompd_aspace_handle *p)
{
    return process_word_in(p, process_field(p, "&ort_settings"), "set.bind_rest");
}

static ompd_rc_t icv_number(struct ompd_aspace_handle *p, uint64_t at, ompd_icv_id_t id, ompd_word_t *value)
{
    char text[TEXT_MAX];
    bool list = false;
    switch (id) {
    case ICV_RUN_SCHED:
    case ICV_AFFINITY_FORMAT:
    case ICV_TOOL_LIBRARIES:
    case ICV_TOOL_VERBOSE:
        return ompd_rc_incompatible;
    case ICV_DEBUG:
        *value = process_number(p, process_field(p, "&ort_debugger_stop"), 8) != 0;
        break;
    case ICV_TOOL:
        variable_of(p, "OMP_TOOL", "enabled", text);
        *value = strcasecmp(text, "disabled") != 0;
        break;
    case ICV_NUM_PROCS:
    case ICV_OLD_NUM_PROCS:
        if (process_has(p, "&ps_rt"))
            *value = process_word_in(p, process_field(p, "&ps_rt"), "ps_runtime.num_vps");
        else
            *value = (ompd_word_t)process_number(p, process_field(p, "&num_procs"), 4);
        break;
    case ICV_BIND:
        *value = (ompd_word_t)process_number(
            p, process_pointer_in(p, at, "ort_task.team") + process_field(p, "ort_team.bind_var"), 1);
        list = bind_used(p, at) < bind_rest(p);
        break;
    default:
        *value = (ompd_word_t)read_icv(p, at, id);
        list = id == ICV_NTHREADS && nthreads_rest(p, at) != 0;
    }
    return p->failed == ompd_rc_ok && list ? ompd_rc_incomplete : p->failed;
}

/* --- text --- */

static void append(char *text, const char *what)
{
    size_t used = strlen(text);
    snprintf(text + used, TEXT_MAX - used, "%s%s", used != 0 ? "," : "", what);
}
static void append_number(char *text, long number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%ld", number);
    append(text, digits);
}

static bool asked_as_libomp(struct ompd_aspace_handle *p)
{
    return process_number(p, process_field(p, "&display_as_libomp"), 1) != 0;
}

/* Writes for example "dynamic,2". Debuggers rely on the comma. */
static void schedule_text(struct ompd_aspace_handle *p, uint64_t task, char *text)
{
    static const char *const names[] = {"static", "dynamic", "guided", "auto", "trapezoidal"};
    uint64_t icv = process_pointer_in(p, task, "ort_task.icv"), monotonic = process_field(p, "sched.monotonic");
    uint64_t sched = process_word_in(p, icv, "icv.sched");
    int32_t chunk = (int32_t)process_word_in(p, icv, "icv.chunk");
    text[0] = '\0';
    if (sched == process_field(p, "sched.unset")) { /* no schedule was set: the default of the program's ABI */
        bool as_libomp = asked_as_libomp(p);
        sched = process_field(p, as_libomp ? "sched.static" : "sched.dynamic");
        chunk = as_libomp ? 0 : chunk;
    }
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        char field[24];
        snprintf(field, sizeof field, "sched.%s", names[i]);
        if ((sched & ~monotonic) == process_field(p, field))
            snprintf(text, TEXT_MAX, "%s%s", sched & monotonic ? "monotonic:" : "", names[i]);
    }
    append_number(text, chunk);
}

static void bind_text(struct ompd_aspace_handle *p, uint64_t task, char *text)
{
    static const char *const names[] = {"false", "true", "primary", "close", "spread"};
    uint64_t list = process_pointer_in(p, process_field(p, "&ort_settings"), "set.bind_list");
    ompd_word_t value = 0;
    icv_number(p, task, ICV_BIND, &value);
    text[0] = '\0';
    for (uint32_t i = bind_used(p, task), n = bind_rest(p);; i++) {
        append(text, value >= 0 && value <= 4 ? names[value] : "undefined");
        if (i >= n || p->failed != ompd_rc_ok)
            return;
        value = (ompd_word_t)process_number(p, list + i, 1);
    }
}

static void nthreads_text(struct ompd_aspace_handle *p, uint64_t task, char *text)
{
    uint64_t list = process_pointer_in(p, process_pointer_in(p, task, "ort_task.icv"), "icv.nthreads_list");
    text[0] = '\0';
    append_number(text, (long)read_icv(p, task, ICV_NTHREADS));
    for (uint32_t i = 0, n = nthreads_rest(p, task); i < n && p->failed == ompd_rc_ok; i++)
        append_number(text, (long)process_number(p, list + 4 * (uint64_t)i, 4));
}

static void affinity_format_text(struct ompd_aspace_handle *p, char *text)
{
    uint64_t format = process_pointer_in(p, process_field(p, "&ort_settings"), "set.affinity_format");
    if (format == 0)
        format = process_number(p, process_field(p, "&affinity_defaults") + (asked_as_libomp(p) ? 8 : 0), 8);
    process_text(p, format, text, TEXT_MAX);
}

static void icv_text(struct ompd_aspace_handle *p, uint64_t at, ompd_icv_id_t id, char *text)
{
    ompd_word_t value = 0;
    switch (id) {
    case ICV_RUN_SCHED:
        schedule_text(p, at, text);
        return;
    case ICV_NTHREADS:
        nthreads_text(p, at, text);
        return;
    case ICV_AFFINITY_FORMAT:
        affinity_format_text(p, text);
        return;
    case ICV_TOOL:
        variable_of(p, "OMP_TOOL", "enabled", text);
        return;
    case ICV_TOOL_LIBRARIES:
        variable_of(p, "OMP_TOOL_LIBRARIES", "", text);
        return;
    case ICV_TOOL_VERBOSE:
        variable_of(p, "OMP_TOOL_VERBOSE_INIT", "disabled", text);
        return;
    case ICV_BIND:
        bind_text(p, at, text);
        return;
    default:
        icv_number(p, at, id, &value);
        text[0] = '\0';
        append_number(text, value);
    }
}

/* --- the interface --- */

PS_EXPORT ompd_rc_t ompd_enumerate_icvs(ompd_address_space_handle_t *p, ompd_icv_id_t current, ompd_icv_id_t *next,
                                        const char **name, ompd_scope_t *scope, int *more)
{
    if (p == NULL)
        return ompd_rc_stale_handle;
    if (next == NULL || name == NULL || scope == NULL || more == NULL || current >= NUM_ICVS - 1)
        return ompd_rc_bad_input;
    process_begin(p);
    *next = current + 1;
    *scope = icvs[*next].scope;
    *more = *next + 1 < NUM_ICVS;
    return process_string(p, icvs[*next].name, name);
}

/* Checks the arguments of a request for an ICV. Sets *process and *at. *at is 0 for an ICV of the process, and
 * otherwise the address of the structure that has the ICV: the handle's task or team, or the ort_thread of the handle's
 * thread. For a thread's ICV that tasks have (IN_ICV), *at is the task that the thread runs. */
static ompd_rc_t asked_for(void *handle, ompd_scope_t scope, ompd_icv_id_t id, const void *answer,
                           struct ompd_aspace_handle **process, uint64_t *at)
{
    ompd_task_handle_t *any = handle; /* all handles except the process's have the same first fields */
    if (handle == NULL)
        return ompd_rc_stale_handle;
    if (answer == NULL || id == 0 || id >= NUM_ICVS || scope != icvs[id].scope)
        return ompd_rc_bad_input;
    *process = scope == ompd_scope_address_space ? handle : any->process;
    *at = 0;
    process_begin(*process);
    if (scope == ompd_scope_thread)
        *at = thread_now(handle);
    else if (scope != ompd_scope_address_space)
        *at = any->at;
    if (scope == ompd_scope_thread && icvs[id].in == IN_ICV)
        *at = process_pointer_in(*process, *at, "ort_thread.task");
    return process_end(*process);
}

PS_EXPORT ompd_rc_t ompd_get_icv_from_scope(void *handle, ompd_scope_t scope, ompd_icv_id_t id, ompd_word_t *value)
{
    struct ompd_aspace_handle *p;
    uint64_t at;
    ompd_rc_t rc = asked_for(handle, scope, id, value, &p, &at);
    return rc == ompd_rc_ok ? icv_number(p, at, id, value) : rc;
}

PS_EXPORT ompd_rc_t ompd_get_icv_string_from_scope(void *handle, ompd_scope_t scope, ompd_icv_id_t id,
                                                   const char **string)
{
    struct ompd_aspace_handle *p;
    uint64_t at;
    char text[TEXT_MAX];
    ompd_rc_t rc = asked_for(handle, scope, id, string, &p, &at);
    if (rc != ompd_rc_ok)
        return rc;
    icv_text(p, at, id, text);
    return process_string(p, text, string);
}
