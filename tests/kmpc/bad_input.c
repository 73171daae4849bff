/* Entry points called as no compiler calls them: each ends the program with one line that names the entry point and the
 * source location; a missing source location alone (a null ident_t) harms nothing.
 *
 * Each entry has its parameters as letters, all as wide as a register:
 *   L location   i 1 0 zero S schedule I increment C kind of construct P pointer that the ABI promises p one that may
 *                be null F function
 * Each promised pointer is null once, each schedule is one that there is not, each increment is 0. Those marked plain
 * are also called with good arguments and no location, a location without a source, and numbers (gtid) that no thread
 * has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../omp/check.h"

struct location {
    int32_t a, flags, b, c;
    const char *source;
};
static struct location here = {0, 2, 0, 0, ";bad_input.c;somewhere;12;34;;"};
static struct location nowhere = {0, 2, 0, 0, NULL};
static int64_t block[64];
static void nothing(void) {}

static const struct entry {
    const char *name, *parameters;
    int plain; /* good arguments can be given out of any construct */
} entries[] = {
    {"__kmpc_fork_call", "L0F", 1},
    {"__kmpc_fork_call_if", "L0Fip", 1},
    {"__kmpc_fork_teams", "L0F", 1},
    {"__kmpc_for_static_init_4", "LiSpPPPIi", 1},
    {"__kmpc_for_static_init_4u", "LiSpPPPIi", 1},
    {"__kmpc_for_static_init_8", "LiSpPPPIi", 1},
    {"__kmpc_for_static_init_8u", "LiSpPPPIi", 1},
    {"__kmpc_dist_for_static_init_4", "LiSpPPPPIi", 1},
    {"__kmpc_dist_for_static_init_4u", "LiSpPPPPIi", 1},
    {"__kmpc_dist_for_static_init_8", "LiSpPPPPIi", 1},
    {"__kmpc_dist_for_static_init_8u", "LiSpPPPPIi", 1},
    {"__kmpc_team_static_init_4", "LipPPPIi", 1},
    {"__kmpc_team_static_init_4u", "LipPPPIi", 1},
    {"__kmpc_team_static_init_8", "LipPPPIi", 1},
    {"__kmpc_team_static_init_8u", "LipPPPIi", 1},
    {"__kmpc_dispatch_init_4", "LiS0iIi", 1},
    {"__kmpc_dispatch_init_4u", "LiS0iIi", 1},
    {"__kmpc_dispatch_init_8", "LiS0iIi", 1},
    {"__kmpc_dispatch_init_8u", "LiS0iIi", 1},
    {"__kmpc_dist_dispatch_init_4", "LiSp0iIi", 1},
    {"__kmpc_dist_dispatch_init_4u", "LiSp0iIi", 1},
    {"__kmpc_dist_dispatch_init_8", "LiSp0iIi", 1},
    {"__kmpc_dist_dispatch_init_8u", "LiSp0iIi", 1},
    {"__kmpc_dispatch_next_4", "LipPPp", 0},
    {"__kmpc_dispatch_next_4u", "LipPPp", 0},
    {"__kmpc_dispatch_next_8", "LipPPp", 0},
    {"__kmpc_dispatch_next_8u", "LipPPp", 0},
    {"__kmpc_critical", "LiP", 1},
    {"__kmpc_critical_with_hint", "LiPi", 1},
    {"__kmpc_end_critical", "LiP", 0},
    {"__kmpc_reduce", "LiiippP", 1},
    {"__kmpc_reduce_nowait", "LiiippP", 1},
    {"__kmpc_end_reduce", "LiP", 1},
    {"__kmpc_end_reduce_nowait", "LiP", 1},
    {"__kmpc_copyprivate", "LiipFi", 1},
    {"__kmpc_omp_task", "LiP", 0},
    {"__kmpc_omp_task_parts", "LiP", 0},
    {"__kmpc_omp_task_begin_if0", "LiP", 0},
    {"__kmpc_omp_task_complete_if0", "LiP", 0},
    {"__kmpc_omp_task_with_deps", "LiP0p0p", 0},
    {"__kmpc_omp_wait_deps", "LiiP0p", 1},
    {"__kmpc_omp_taskwait_deps_51", "LiiP0p0", 1},
    {"__kmpc_task_allow_completion_event", "LiP", 0},
    {"__kmpc_invoke_task_func", "iP", 0},
    {"__kmpc_proxy_task_completed", "iP", 0},
    {"__kmpc_proxy_task_completed_ooo", "P", 0},
    {"__kmpc_taskred_init", "iiP", 0},
    {"__kmpc_task_reduction_init", "iiP", 0},
    {"__kmpc_taskloop", "LiPiPPiiiip", 0},
    {"__kmpc_taskloop_5", "LiPiPPiiiiip", 0},
    {"__kmpc_taskred_modifier_init", "LiiiP", 0},
    {"__kmpc_task_reduction_modifier_init", "LiiiP", 0},
    {"__kmpc_doacross_init", "LiiP", 0},
    {"__kmpc_doacross_post", "LiP", 0},
    {"__kmpc_doacross_wait", "LiP", 0},
    {"__kmpc_threadprivate", "LiPi", 1},
    {"__kmpc_threadprivate_cached", "LiPip", 1},
    {"__kmpc_threadprivate_register", "LPppp", 0},
    {"__kmpc_threadprivate_register_vec", "LPpppi", 0},
    {"__kmpc_init_lock", "LiP", 1},
    {"__kmpc_init_lock_with_hint", "LiPi", 1},
    {"__kmpc_destroy_lock", "LiP", 0},
    {"__kmpc_set_lock", "LiP", 0},
    {"__kmpc_unset_lock", "LiP", 0},
    {"__kmpc_test_lock", "LiP", 0},
    {"__kmpc_init_nest_lock", "LiP", 1},
    {"__kmpc_init_nest_lock_with_hint", "LiPi", 1},
    {"__kmpc_destroy_nest_lock", "LiP", 0},
    {"__kmpc_set_nest_lock", "LiP", 0},
    {"__kmpc_unset_nest_lock", "LiP", 0},
    {"__kmpc_test_nest_lock", "LiP", 0},
    {"__kmpc_push_num_threads_list", "LiiP", 1},
    {"__kmpc_push_num_threads_list_strict", "LiiPip", 1},
    {"__kmpc_cancel", "LiC", 1},
    {"__kmpc_cancellationpoint", "LiC", 1},
    {"__kmpc_process_loop_nest_rectang", "LiPi", 0},
    {"__kmpc_calc_original_ivs_rectang", "LiPPi", 0},
    {"__kmpc_for_collapsed_init", "LiPPip", 0},
    /* nothing can be wrong in these but the location */
    {"__kmpc_global_thread_num", "L", 1},
    {"__kmpc_global_num_threads", "L", 1},
    {"__kmpc_bound_thread_num", "L", 1},
    {"__kmpc_bound_num_threads", "L", 1},
    {"__kmpc_in_parallel", "L", 1},
    {"__kmpc_ok_to_fork", "L", 1},
    {"__kmpc_begin", "Li", 1},
    {"__kmpc_end", "L", 1},
    {"__kmpc_barrier", "Li", 1},
    {"__kmpc_cancel_barrier", "Li", 1},
    {"__kmpc_master", "Li", 1},
    {"__kmpc_end_master", "Li", 1},
    {"__kmpc_masked", "Lii", 1},
    {"__kmpc_single", "Li", 1},
    {"__kmpc_end_single", "Li", 1},
    {"__kmpc_ordered", "Li", 1},
    {"__kmpc_end_ordered", "Li", 1},
    {"__kmpc_flush", "L", 1},
    {"__kmpc_omp_taskwait", "Li", 1},
    {"__kmpc_omp_taskyield", "Lii", 1},
    {"__kmpc_sections_init", "Li", 1},
    {"__kmpc_end_sections", "Li", 1},
    {"__kmpc_dispatch_deinit", "Li", 1},
    {"__kmpc_for_static_fini", "Li", 1},
    {"__kmpc_push_num_threads", "Lii", 1},
    {"__kmpc_push_proc_bind", "Lii", 1},
    {"__kmpc_push_num_teams", "Liii", 1},
    {"__kmpc_push_num_teams_51", "Liiii", 1},
    {"__kmpc_error", "Lip", 1},
    {"__kmpc_barrier_master", "Li", 1},
    {"__kmpc_barrier_master_nowait", "Li", 1},
    {"__kmpc_copyprivate_light", "Lip", 1},
    {"__kmpc_end_masked", "Li", 1},
    {"__kmpc_scope", "Li", 1},
    {"__kmpc_serialized_parallel", "Li", 1},
    {"__kmpc_taskgroup", "Li", 1},
    {"__kmpc_end_taskgroup", "Li", 1},
    {"__kmpc_omp_task_alloc", "Liiiip", 1},
    {"__kmpc_omp_target_task_alloc", "Liiiipi", 1},
    {"__kmpc_dispatch_fini_4", "Li", 1},
    {"__kmpc_dispatch_fini_8u", "Li", 1},
    {"__kmpc_pop_num_threads", "Li", 1},
    {"__kmpc_push_num_threads_strict", "Liiip", 1},
    {"__kmpc_set_thread_limit", "Lii", 1},
    {"__kmpc_start_record_task", "Liii", 1},
    {"__kmpc_end_record_task", "Liii", 1},
    {"__kmpc_omp_has_task_team", "i", 1},
    {"__kmpc_omp_get_target_async_handle_ptr", "i", 1},
    {"__kmpc_get_default_allocator", "i", 1},
};
/* What compiled code passes where it does not know its number, and a number that no thread has. */
static const int32_t gtids[] = {-1, -2, -5, 4711, INT32_MAX};
static const int32_t schedules[] = {0, 31, 32, 48, 63, 64, 127, 77777, -1, INT32_MIN};

typedef void (*any)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                    uintptr_t, uintptr_t, uintptr_t);

static uintptr_t good(char kind)
{
    switch (kind) {
    case 'L':
        return (uintptr_t)&here;
    case 'P':
    case 'p':
        return (uintptr_t)block;
    case 'F':
        return (uintptr_t)nothing;
    case 'S':
        return 34;
    case '0':
    case 'C':
        return 0;
    default:
        return 1;
    }
}

/* Calls the entry with good arguments, but `value` for parameter `which`. */
static void call(const struct entry *e, size_t which, uintptr_t value)
{
    uintptr_t a[12] = {0};
    void *found = dlsym(RTLD_DEFAULT, e->name);
    any f;
    if (found == NULL)
        _exit(3);
    memcpy(&f, &found, sizeof f);
    for (size_t i = 0; e->parameters[i] != '\0'; i++)
        a[i] = i == which ? value : good(e->parameters[i]);
    f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    _exit(0);
}

/* dies: it must end with its line; else it must return. */
static void one(const struct entry *e, size_t which, uintptr_t value, int dies)
{
    int ends[2], status;
    char text[1024], line[64];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        call(e, which, value);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1 && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    snprintf(line, sizeof line, "psthreads: %s: ", e->name);
    int aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    const char *source = strchr(e->parameters, 'L') != NULL ? here.source : "unknown";
    int told =
        strncmp(text, line, strlen(line)) == 0 && strstr(text, source) != NULL && strchr(text, '\n') == text + n - 1;
    int right = dies ? aborted && told : status == 0;
    if (!right)
        fprintf(stderr, "%s, parameter %zu = %jd: status %d: %s\n", e->name, which + 1, (intmax_t)(intptr_t)value,
                status, text);
    CHECK(right);
}

int main(void)
{
    for (const struct entry *e = entries; e < entries + sizeof entries / sizeof *entries; e++) {
        for (size_t i = 0; e->parameters[i] != '\0'; i++) {
            char kind = e->parameters[i];
            if (kind == 'P' || kind == 'F' || kind == 'I')
                one(e, i, 0, 1);
            for (size_t k = 0; kind == 'S' && k < sizeof schedules / sizeof *schedules; k++)
                one(e, i, (uintptr_t)schedules[k], 1);
            for (int wrong = 5; kind == 'C' && wrong < 8; wrong++)
                one(e, i, (uintptr_t)(wrong == 7 ? -1 : wrong), 1);
        }
        if (!e->plain)
            continue;
        one(e, 0, 0, 0);
        if (e->parameters[0] == 'L')
            one(e, 0, (uintptr_t)&nowhere, 0);
        size_t gtid = e->parameters[0] == 'L'; /* where it is not one, any number will do */
        for (size_t k = 0; e->parameters[gtid] == 'i' && k < sizeof gtids / sizeof *gtids; k++)
            one(e, gtid, (uintptr_t)gtids[k], 0);
    }
    return 0;
}
