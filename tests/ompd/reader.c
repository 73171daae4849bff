/* reader psthreads|pthreads PROGRAM - a debugger in small, linked to libompd: starts PROGRAM (observed.c), and compares
 * what the library tells of the process with what the process has printed. The process is read by process_vm_readv, and
 * is not stopped: it waits in known places. Exit status 77: no process may read another one here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ompd.h"

enum { OUTER = 2, INNER = 3, WAIT_LOCK = 0x41, WORK_PARALLEL = 1 };

/* --- the process, as a debugger's callbacks --- */

struct ompd_aspace_context {
    int pid;
};
static struct ompd_aspace_context process;
static long blocks;
static struct {
    char name[32];
    uint64_t address;
} symbol[8];
static unsigned num_symbols;

static ompd_rc_t alloc(ompd_size_t bytes, void **memory)
{
    *memory = malloc(bytes);
    blocks++;
    return *memory != NULL ? ompd_rc_ok : ompd_rc_nomem;
}
static ompd_rc_t give(void *memory)
{
    blocks--;
    free(memory);
    return ompd_rc_ok;
}
static ompd_rc_t print(const char *text, int category)
{
    (void)category;
    fputs(text, stderr);
    return ompd_rc_ok;
}
static ompd_rc_t sizes(struct ompd_aspace_context *context, ompd_device_type_sizes_t *to)
{
    if (context != &process)
        return ompd_rc_bad_input;
    *to = (ompd_device_type_sizes_t){1, 2, 4, 8, 8, 8};
    return ompd_rc_ok;
}
static ompd_rc_t look_up(struct ompd_aspace_context *context, ompd_thread_context_t *thread, const char *name,
                         ompd_address_t *address, const char *file)
{
    (void)context, (void)thread, (void)file;
    for (unsigned i = 0; i < num_symbols; i++)
        if (strcmp(symbol[i].name, name) == 0) {
            address->address = symbol[i].address;
            return ompd_rc_ok;
        }
    return ompd_rc_error;
}
static ompd_rc_t read_bytes(struct ompd_aspace_context *context, ompd_thread_context_t *thread,
                            const ompd_address_t *from, ompd_size_t bytes, void *to)
{
    (void)thread;
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from->address, bytes};
    return process_vm_readv(context->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? ompd_rc_ok : ompd_rc_error;
}
static ompd_rc_t read_text(struct ompd_aspace_context *context, ompd_thread_context_t *thread,
                           const ompd_address_t *from, ompd_size_t bytes, void *to)
{
    ompd_address_t at = *from;
    for (char *c = to; bytes-- > 0; c++, at.address++)
        if (read_bytes(context, thread, &at, 1, c) != ompd_rc_ok || *c == '\0')
            return *c == '\0' ? ompd_rc_ok : ompd_rc_error;
    return ompd_rc_incomplete;
}
static const ompd_callbacks_t callbacks = {.alloc_memory = alloc,
                                           .free_memory = give,
                                           .print_string = print,
                                           .sizeof_type = sizes,
                                           .symbol_addr_lookup = look_up,
                                           .read_memory = read_bytes,
                                           .read_string = read_text};

/* --- checks --- */

static int offences;
#define EXPECT(condition, ...)                                                \
    do {                                                                      \
        if (!(condition)) {                                                   \
            offences++;                                                       \
            fprintf(stderr, "%s:%d: %s: ", "reader.c", __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                     \
            fputc('\n', stderr);                                              \
        }                                                                     \
    } while (0)
#define OK(call)                                           \
    do {                                                   \
        ompd_rc_t rc_ = (call);                            \
        EXPECT(rc_ == ompd_rc_ok, "answers %d", (int)rc_); \
        if (rc_ != ompd_rc_ok)                             \
            return;                                        \
    } while (0)
#define ANSWERS(call, expected)                                      \
    do {                                                             \
        ompd_rc_t rc_ = (call);                                      \
        EXPECT(rc_ == (expected), "%s answers %d", #call, (int)rc_); \
    } while (0)

static char facts[200][160];
static unsigned num_facts;
static uint64_t text_from, text_to;
static bool on_kernel_threads, debugged;
static ompd_address_space_handle_t *space;
static ompd_parallel_handle_t *outer, *inner[OUTER];

static ompd_icv_id_t icv_number(const char *wanted, ompd_scope_t *scope)
{
    ompd_icv_id_t id = 0;
    const char *name;
    int more = 1;
    while (more && ompd_enumerate_icvs(space, id, &id, &name, scope, &more) == ompd_rc_ok) {
        bool found = strcmp(name, wanted) == 0;
        give((void *)(uintptr_t)name);
        if (found)
            return id;
    }
    return 0;
}

/* The ICV of what the handle is, as text. */
static void icv_text(void *handle, const char *name, char *text, size_t bytes)
{
    ompd_scope_t scope;
    const char *string = NULL;
    ompd_icv_id_t id = icv_number(name, &scope);
    ompd_rc_t rc = ompd_get_icv_string_from_scope(handle, scope, id, &string);
    snprintf(text, bytes, "%s", rc == ompd_rc_ok ? string : "?");
    if (rc == ompd_rc_ok)
        give((void *)(uintptr_t)string);
}

static void check_facts(int o, int i, ompd_thread_handle_t *thread, ompd_task_handle_t *task)
{
    for (unsigned f = 0; f < num_facts; f++) {
        int fo, fi;
        char name[40], value[40], told[80];
        ompd_scope_t scope;
        if (sscanf(facts[f], "icv %d %d %39s %39s", &fo, &fi, name, value) != 4 || fo != o || fi != i)
            continue;
        EXPECT(icv_number(name, &scope) != 0, "%s is not enumerated", name);
        void *handle = scope == ompd_scope_thread     ? (void *)thread
                       : scope == ompd_scope_parallel ? (void *)inner[o]
                                                      : task;
        icv_text(handle, name, told, sizeof told);
        EXPECT(strcmp(told, value) == 0, "%s of %d %d: %s, the program says %s", name, o, i, told, value);
    }
}

static void check_function(ompd_task_handle_t *task, uint64_t *function)
{
    ompd_address_t entry;
    OK(ompd_get_task_function(task, &entry));
    EXPECT(entry.address >= text_from && entry.address < text_to, "%#" PRIx64 " is not the program's", entry.address);
    *function = entry.address;
}

static bool same_task(ompd_task_handle_t *one, ompd_task_handle_t *other)
{
    int order = 1;
    return ompd_task_handle_compare(one, other, &order) == ompd_rc_ok && order == 0;
}
static bool same_thread(ompd_thread_handle_t *one, ompd_thread_handle_t *other)
{
    int order = 1;
    return ompd_thread_handle_compare(one, other, &order) == ompd_rc_ok && order == 0;
}

/* The task that 1 2 is in: explicit, made by its implicit task. */
static void check_explicit(ompd_task_handle_t *task, ompd_task_handle_t *implicit)
{
    ompd_task_handle_t *creator, *below;
    uint64_t function = 0, region = 0;
    char told[80];
    EXPECT(!same_task(task, implicit), "1 2 is in its implicit task");
    OK(ompd_get_generating_task_handle(task, &creator));
    EXPECT(same_task(creator, implicit), "another task has made it");
    give(creator);
    ompd_rc_t rc = ompd_get_scheduling_task_handle(task, &below);
    EXPECT(rc == (debugged ? ompd_rc_ok : ompd_rc_needs_state_tracking), "answers %d", (int)rc);
    if (rc == ompd_rc_ok) {
        EXPECT(same_task(below, implicit), "it has interrupted another task");
        give(below);
    }
    icv_text(task, "implicit-task-var", told, sizeof told);
    EXPECT(strcmp(told, "0") == 0, "it is implicit");
    if (debugged)
        check_function(task, &function);
    check_function(implicit, &region);
    EXPECT(function != region, "the task is the region");
}

static void check_state(int o, int i, ompd_thread_handle_t *thread)
{
    ompd_word_t state = -1;
    ompd_wait_id_t wait_id = 0;
    if (!debugged) {
        ANSWERS(ompd_get_state(thread, &state, &wait_id), ompd_rc_needs_state_tracking);
        return;
    }
    bool waits = o == 0 && i == 1;
    do /* it may still be on its way to the lock */
        OK(ompd_get_state(thread, &state, &wait_id));
    while (waits && state != WAIT_LOCK && usleep(1000) == 0);
    EXPECT(state == (waits ? WAIT_LOCK : WORK_PARALLEL), "%d %d is in state %#" PRIx64, o, i, state);
}

/* Of what runs: the kernel thread's number leads back to the same handle. */
static void check_kernel_thread(int o, int i, ompd_thread_handle_t *thread)
{
    uint64_t lwp = 0;
    char path[60];
    ompd_thread_handle_t *again;
    if (!on_kernel_threads && o == 0 && i == 1) { /* a user-level thread that waits: none is left with it, in the end */
        while (ompd_get_thread_id(thread, OMPD_THREAD_ID_LWP, sizeof lwp, &lwp) != ompd_rc_unavailable)
            usleep(1000);
        return;
    }
    OK(ompd_get_thread_id(thread, OMPD_THREAD_ID_LWP, sizeof lwp, &lwp));
    snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64, process.pid, lwp);
    EXPECT(access(path, F_OK) == 0, "%d %d: there is no kernel thread %" PRIu64, o, i, lwp);
    OK(ompd_get_thread_handle(space, OMPD_THREAD_ID_LWP, sizeof lwp, &lwp, &again));
    EXPECT(same_thread(thread, again), "%d %d: kernel thread %" PRIu64 " runs another one", o, i, lwp);
    OK(ompd_rel_thread_handle(again));
}

static void check_member(int o, int i)
{
    ompd_thread_handle_t *thread;
    ompd_task_handle_t *task, *implicit, *opener;
    ompd_frame_info_t exit, enter;
    OK(ompd_get_thread_in_parallel(inner[o], i, &thread));
    OK(ompd_get_curr_task_handle(thread, &task));
    OK(ompd_get_task_in_parallel(inner[o], i, &implicit));
    check_kernel_thread(o, i, thread);
    check_facts(o, i, thread, task);
    check_state(o, i, thread);
    if (o == 1 && i == 2)
        check_explicit(task, implicit);
    else
        EXPECT(same_task(task, implicit), "%d %d is not in its implicit task", o, i);
    OK(ompd_get_generating_task_handle(implicit, &opener));
    EXPECT(!same_task(opener, implicit), "%d %d: its region opened itself", o, i);
    ANSWERS(ompd_get_task_frame(implicit, &exit, &enter), debugged ? ompd_rc_ok : ompd_rc_needs_state_tracking);
    EXPECT(!debugged || i == 0 || exit.frame_address.address != 0, "%d %d: no frame is known", o, i);
    OK(ompd_rel_task_handle(opener));
    OK(ompd_rel_task_handle(implicit));
    OK(ompd_rel_task_handle(task));
    OK(ompd_rel_thread_handle(thread));
}

/* From the initial thread outwards, then into the other inner region. */
static void find_regions(void)
{
    uint64_t lwp = (uint64_t)process.pid;
    ompd_thread_handle_t *first, *second, *member;
    ompd_parallel_handle_t *found, *initial;
    char told[80];
    int order = 1;
    OK(ompd_get_thread_handle(space, OMPD_THREAD_ID_LWP, sizeof lwp, &lwp, &first));
    OK(ompd_get_curr_parallel_handle(first, &inner[0]));
    OK(ompd_get_enclosing_parallel_handle(inner[0], &outer));
    OK(ompd_get_thread_in_parallel(outer, 1, &second));
    OK(ompd_get_curr_parallel_handle(second, &inner[1]));
    OK(ompd_get_thread_in_parallel(inner[1], 0, &member));
    EXPECT(same_thread(second, member), "an inner region's first member is another thread than its opener");
    EXPECT(!same_thread(first, second), "two threads are one");
    OK(ompd_get_enclosing_parallel_handle(inner[1], &found));
    OK(ompd_parallel_handle_compare(found, outer, &order));
    EXPECT(order == 0, "the inner regions are in different ones");
    icv_text(outer, "team-size-var", told, sizeof told);
    EXPECT(strcmp(told, "2") == 0, "the outer region has %s members", told);
    for (int o = 0; o < OUTER; o++) {
        icv_text(inner[o], "team-size-var", told, sizeof told);
        EXPECT(strcmp(told, "3") == 0, "an inner region has %s members", told);
        icv_text(inner[o], "levels-var", told, sizeof told);
        EXPECT(strcmp(told, "2") == 0, "an inner region is at level %s", told);
    }
    ANSWERS(ompd_get_thread_in_parallel(outer, 2, &member), ompd_rc_bad_input);
    OK(ompd_get_enclosing_parallel_handle(outer, &initial));
    ompd_parallel_handle_t *none;
    ANSWERS(ompd_get_enclosing_parallel_handle(initial, &none), ompd_rc_unavailable);
    lwp = 1;
    ompd_thread_handle_t *stranger;
    ANSWERS(ompd_get_thread_handle(space, OMPD_THREAD_ID_LWP, sizeof lwp, &lwp, &stranger), ompd_rc_unavailable);
    OK(ompd_rel_parallel_handle(initial));
    OK(ompd_rel_parallel_handle(found));
    OK(ompd_rel_thread_handle(member));
    OK(ompd_rel_thread_handle(second));
    OK(ompd_rel_thread_handle(first));
}

static void check_process(void)
{
    char told[80];
    const char *const *variables;
    bool found = false;
    ompd_word_t version = 0, state = 0x102, more = 1;
    const char *name;
    unsigned states = 0;
    OK(ompd_get_omp_version(space, &version));
    EXPECT(version >= 202011, "OpenMP %" PRId64, version);
    icv_text(space, "debug-var", told, sizeof told);
    EXPECT(strcmp(told, debugged ? "1" : "0") == 0, "debug-var is %s", told);
    icv_text(space, "affinity-format-var", told, sizeof told);
    EXPECT(strcmp(told, "%n of %N") == 0, "affinity-format-var is %s", told);
    icv_text(space, "max-task-priority-var", told, sizeof told);
    EXPECT(strcmp(told, "7") == 0, "max-task-priority-var is %s", told);
    OK(ompd_get_display_control_vars(space, &variables));
    for (unsigned i = 0; variables[i] != NULL; i++)
        found |= strcmp(variables[i], "OMP_MAX_TASK_PRIORITY=7") == 0;
    EXPECT(found, "OMP_MAX_TASK_PRIORITY is not among the variables");
    OK(ompd_rel_display_control_vars(&variables));
    for (; more && ompd_enumerate_states(space, state, &state, &name, &more) == ompd_rc_ok; states++)
        give((void *)(uintptr_t)name);
    EXPECT(states >= 10, "%u states", states);
}

/* --- the program --- */

static FILE *start_program(char **command, int *to)
{
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0 || (process.pid = fork()) < 0)
        return NULL;
    if (process.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        for (int i = 0; i < 2; i++)
            close(in[i]), close(out[i]);
        execv(command[0], command);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *to = in[1];
    return fdopen(out[0], "r");
}

static bool read_facts(FILE *from)
{
    while (num_facts < sizeof facts / sizeof facts[0] && fgets(facts[num_facts], sizeof facts[0], from) != NULL) {
        char *line = facts[num_facts];
        if (strcmp(line, "ready\n") == 0)
            return true;
        if (num_symbols < 8 &&
            sscanf(line, "symbol %31s %" SCNx64, symbol[num_symbols].name, &symbol[num_symbols].address) == 2)
            num_symbols++;
        else if (sscanf(line, "text %" SCNx64 " %" SCNx64, &text_from, &text_to) != 2)
            num_facts++;
    }
    return false;
}

/* ompd_dll_locations names the library that is loaded here. */
static void check_location(void)
{
    ompd_address_t at = {0, 0};
    uint64_t list = 0, path = 0;
    char found[4096] = "";
    look_up(&process, NULL, "ompd_dll_locations", &at, NULL);
    OK(read_bytes(&process, NULL, &at, 8, &list));
    at.address = list;
    OK(read_bytes(&process, NULL, &at, 8, &path));
    at.address = path;
    OK(read_text(&process, NULL, &at, sizeof found, found));
    void *library = dlopen(found, RTLD_NOW);
    EXPECT(library != NULL, "%s", dlerror());
    if (library != NULL)
        EXPECT(dlsym(library, "ompd_initialize") == (void *)(uintptr_t)&ompd_initialize, "%s is another one", found);
}

int main(int argc, char **argv)
{
    int to;
    ompd_word_t version = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: reader psthreads|pthreads PROGRAM\n");
        return 2;
    }
    on_kernel_threads = strcmp(argv[1], "pthreads") == 0;
    const char *debug = getenv("OMP_DEBUG");
    debugged = debug != NULL && strcmp(debug, "enabled") == 0;
    FILE *from = start_program(argv + 2, &to);
    if (from == NULL || !read_facts(from)) {
        fprintf(stderr, "reader: %s does not say that it is ready\n", argv[2]);
        return 2;
    }
    ompd_address_t any = {0, symbol[0].address};
    char byte;
    if (read_bytes(&process, NULL, &any, 1, &byte) != ompd_rc_ok && errno == EPERM) {
        fprintf(stderr, "skipped: no process may be read here\n");
        kill(process.pid, SIGKILL);
        return 77;
    }
    check_location();
    ANSWERS(ompd_get_api_version(&version), ompd_rc_ok);
    ANSWERS(ompd_initialize(version, &callbacks), ompd_rc_ok);
    ANSWERS(ompd_process_initialize(&process, &space), ompd_rc_ok);
    if (space != NULL && offences == 0) {
        check_process();
        find_regions();
        for (int o = 0; o < OUTER; o++)
            for (int i = 0; i < INNER && inner[o] != NULL; i++)
                check_member(o, i);
        for (int o = 0; o < OUTER && inner[o] != NULL; o++)
            ompd_rel_parallel_handle(inner[o]);
        ompd_rel_parallel_handle(outer);
        ompd_rel_address_space_handle(space);
        EXPECT(blocks == 0, "%ld blocks of memory were not given back", blocks);
    }
    ANSWERS(ompd_finalize(), ompd_rc_ok);
    close(to);
    int status = 0;
    waitpid(process.pid, &status, 0);
    EXPECT(status == 0, "the program ends with status %#x", status);
    printf("%d offences\n", offences);
    return offences != 0;
}
