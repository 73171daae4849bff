/* A tool that checks the order of what it is told, part of the program that includes it. Every begin has its end on the
 * same thread and in the right order. Tasks go from created to running to complete. Data words begin as zero and stay
 * with their thread, region and task. Frames and the inquiries agree with the events. What is wrong gets a line; the
 * tool's finalizer ends the process with status 1 then.
 *
 * Numbers and signatures are the specification's (OpenMP 5.1 chapter 4), written once more here, so that they are not
 * the runtime's own. */
#ifndef CHECKER_H
#define CHECKER_H

#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompt.h"

enum { BEGIN = 1, END = 2 };
enum { IMPLICIT_BARRIER_AT_END = 9, TASKWAIT = 5, TASKGROUP = 6 };
enum { INITIAL = 1, IMPLICIT = 2, EXPLICIT = 4, UNDEFERRED = 0x8000000 };
enum { COMPLETE = 1, YIELD = 2, CANCEL = 3, DETACH = 4, EARLY = 5, LATE = 6, SWITCH = 7, WAIT_COMPLETE = 8 };
enum { TEAM = (int)0x80000000, LEAGUE = 0x40000000 };

/* How often each event came. */
static atomic_int n_threads, n_threads_ended, n_regions, n_regions_ended, n_implicit, n_created, n_complete,
    n_dependences, n_pairs, n_chunks, n_flushes, n_errors, n_locks, n_controls, n_reductions, n_masked, n_cancels;
static atomic_int n_sync[16], n_work[16], n_acquired[16], n_released[16];
static atomic_int wrong;

static void say_wrong(const char *where, int line, const char *what)
{
    if (atomic_fetch_add(&wrong, 1) < 20)
        fprintf(stderr, "wrong: %s, line %d: %s\n", where, line, what);
}
#define WRONG(what) say_wrong(__func__, __LINE__, what)
#define EXPECT(condition) ((condition) ? (void)0 : WRONG(#condition))

static ompt_data_t *(*get_thread_data)(void);
static int (*get_task_info)(int, int *, ompt_data_t **, ompt_frame_t **, ompt_data_t **, int *);
static int (*get_parallel_info)(int, ompt_data_t **, int *);
static int (*get_state)(uint64_t *);
static uint64_t (*get_unique_id)(void);

/* --- a thread's open scopes --- */

enum scope { S_REGION = 1, S_TASK, S_SYNC, S_WAIT, S_WORK, S_MASKED, S_REDUCTION };
struct thread {
    ompt_data_t *data;
    int depth, over;
    struct {
        int scope, kind;
        void *what;
    } open[256];
    uint64_t acquiring; /* mutex it waits for */
};
struct region {
    ompt_data_t *encountering;
    atomic_int begun, ended, size;
    uint64_t id;
    int level, team; /* what the routines answer in its tasks */
};
enum { CREATED, RUNNING, LEFT, DONE };
struct task {
    int flags, state;
    int host_state; /* explicit: its thread's when the task began */
    struct region *region;
    uint64_t id;
    int level, team, number;
};

/* The tool's own thread-local variable: of the native thread. The native thread is the OpenMP thread, or the kernel
 * thread (CHECKER_NATIVE=kernel). */
static __thread struct thread *of_native_thread;
static int kernel_threads;

static struct thread *self(void)
{
    ompt_data_t *data = get_thread_data();
    if (data == NULL || data->ptr == NULL) {
        WRONG("an event comes from a thread that has not begun");
        _exit(1);
    }
    struct thread *t = data->ptr;
    EXPECT(t->data == data);
    EXPECT(t == of_native_thread);
    EXPECT(!t->over);
    return t;
}

static void push(int scope, int kind, void *what)
{
    struct thread *t = self();
    if (t->depth == 256) {
        WRONG("too many open scopes");
        _exit(1);
    }
    t->open[t->depth].scope = scope;
    t->open[t->depth].kind = kind;
    t->open[t->depth++].what = what;
}

static void pop(int scope, int kind, void *what)
{
    struct thread *t = self();
    int top = t->depth - 1;
    if (top < 0 || t->open[top].scope != scope || t->open[top].kind != kind || t->open[top].what != what)
        fprintf(stderr, "scope %d of kind %d ends, scope %d of kind %d is open\n", scope, kind,
                top < 0 ? 0 : t->open[top].scope, top < 0 ? 0 : t->open[top].kind),
            WRONG("a scope ends that is not the innermost");
    else
        t->depth--;
}

static void *current_task(void)
{
    struct thread *t = self();
    for (int i = t->depth - 1; i >= 0; i--)
        if (t->open[i].scope == S_TASK)
            return t->open[i].what;
    return NULL;
}

static void check_current(ompt_data_t *region, ompt_data_t *task)
{
    ompt_data_t *traced_task = NULL, *traced_region = NULL;
    EXPECT(task->ptr == current_task());
    EXPECT(get_task_info(0, NULL, &traced_task, NULL, &traced_region, NULL) == 2);
    EXPECT(traced_task == task);
    EXPECT(region == NULL || traced_region == region);
}

/* --- threads, regions, implicit tasks --- */

static void on_thread_begin(int kind, ompt_data_t *data)
{
    EXPECT(data->ptr == NULL);
    EXPECT(kind == 1 || kind == 2);
    EXPECT(get_thread_data() == data);
    EXPECT(of_native_thread == NULL);
    struct thread *t = calloc(1, sizeof *t);
    t->data = data;
    data->ptr = of_native_thread = t;
    n_threads++;
}

static void on_thread_end(ompt_data_t *data)
{
    struct thread *t = self();
    EXPECT(get_thread_data() == data);
    EXPECT(t->depth == 0);
    t->over = 1;
    of_native_thread = NULL;
    n_threads_ended++;
}

/* A league is no level, nor is the region of one thread that has a team's code. */
static void check_place(int level, int team)
{
    EXPECT(omp_get_level() == level && omp_get_active_level() <= level && omp_get_team_num() == team);
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned asked,
                              int flags, const void *ra)
{
    EXPECT(region->ptr == NULL);
    EXPECT(asked > 0 && ra != NULL);
    EXPECT(flags & (TEAM | LEAGUE));
    EXPECT(frame->enter_frame.ptr != NULL);
    check_current(NULL, task);
    struct task *in = task->ptr;
    bool of_team = in->flags == INITIAL && in->region != NULL;
    struct region *r = calloc(1, sizeof *r);
    r->encountering = task;
    r->level = in->level + !(flags & LEAGUE || of_team);
    r->team = of_team ? in->number : in->team;
    check_place(in->level, in->team);
    r->id = get_unique_id();
    region->ptr = r;
    push(S_REGION, 0, r);
    n_regions++;
}

static void on_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *ra)
{
    struct region *r = region->ptr;
    EXPECT(r->encountering == task);
    EXPECT(ra != NULL && (flags & (TEAM | LEAGUE)));
    check_place(((struct task *)task->ptr)->level, ((struct task *)task->ptr)->team);
    EXPECT(r->begun == r->size && r->begun > 0);
    pop(S_REGION, 0, r);
    n_regions_ended++;
}

static void on_implicit_task(int end, ompt_data_t *region, ompt_data_t *task, unsigned n, unsigned id, int flags)
{
    if (end == BEGIN) {
        struct region *r = region->ptr;
        int flags_traced = 0, number = -1;
        EXPECT(task->ptr == NULL);
        struct task *t = calloc(1, sizeof *t);
        task->ptr = t;
        *t = (struct task){.flags = flags, .state = RUNNING, .region = r, .number = (int)id};
        push(S_TASK, flags, t);
        check_current(region, task);
        EXPECT(get_task_info(0, &flags_traced, NULL, NULL, NULL, &number) == 2);
        EXPECT(number == (r == NULL ? 0 : (int)id));
        EXPECT(flags_traced & flags);
        if (r != NULL) { /* not the program's initial task */
            int size = 0;
            EXPECT(get_parallel_info(0, NULL, &size) == 2 && size == (int)n);
            EXPECT(id < n);
            t->level = r->level;
            t->team = r->team;
            check_place(t->level, t->team);
            r->size = (int)n;
            r->begun++;
            n_implicit += flags == IMPLICIT;
        }
    } else {
        struct task *t = task->ptr;
        EXPECT(t->state == RUNNING);
        t->state = DONE;
        pop(S_TASK, flags, t);
        if (t->region != NULL) {
            check_place(t->level, t->team);
            t->region->ended++;
        }
    }
}

/* --- explicit tasks --- */

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *made, int flags, int depends,
                           const void *ra)
{
    (void)depends;
    check_current(NULL, task);
    EXPECT(made->ptr == NULL);
    EXPECT(flags & (EXPLICIT | 0x10));
    EXPECT(ra != NULL && frame->enter_frame.ptr != NULL);
    struct task *t = calloc(1, sizeof *t), *in = task->ptr;
    *t = (struct task){.flags = flags, .state = CREATED, .level = in->level, .team = in->team};
    made->ptr = t;
    if (flags & EXPLICIT)
        n_created++;
}

static void on_task_schedule(ompt_data_t *before, int status, ompt_data_t *next)
{
    struct task *from = before->ptr, *to = next != NULL ? next->ptr : NULL;
    if (status == EARLY || status == LATE) {
        EXPECT(to == NULL);
        if (status == LATE) {
            from->state = DONE;
            n_complete++;
        }
        return;
    }
    if (status == WAIT_COMPLETE)
        return;
    EXPECT(from == current_task());
    EXPECT(from->state == RUNNING);
    if (status == COMPLETE || status == CANCEL || status == DETACH) {
        EXPECT(to->state == LEFT);
        EXPECT(from->flags & EXPLICIT);
        from->state = status == DETACH ? LEFT : DONE;
        n_complete += status != DETACH;
        EXPECT(get_state(NULL) == from->host_state); /* again */
        pop(S_TASK, EXPLICIT, from);
        EXPECT(current_task() == to);
    } else {
        EXPECT(status == SWITCH || status == YIELD);
        EXPECT(to->state == CREATED && (to->flags & EXPLICIT));
        from->state = LEFT;
        to->host_state = get_state(NULL);
        push(S_TASK, EXPLICIT, to);
    }
    to->state = RUNNING;
}

struct dependence {
    ompt_data_t variable;
    int type;
};
static void on_dependences(ompt_data_t *task, const struct dependence *list, int n)
{
    EXPECT(task->ptr != NULL && n > 0);
    for (int i = 0; i < n; i++)
        EXPECT(list[i].type > 0);
    n_dependences += n;
}
static void on_task_dependence(ompt_data_t *first, ompt_data_t *second)
{
    struct task *a = first->ptr, *b = second->ptr;
    EXPECT(a != b && b->state == CREATED); /* a may have said that it is complete, and not yet let its successors go */
    n_pairs++;
}

/* --- synchronisation, work --- */

/* At a region's end the region's data may be gone: NULL. */
static void region_of_kind(int scope, int kind, int end, ompt_data_t *region, ompt_data_t *task)
{
    EXPECT(kind > 0 && kind < 11);
    EXPECT(region != NULL || (end == END && kind == IMPLICIT_BARRIER_AT_END));
    check_current(region, task);
    if (scope == S_SYNC && kind == TASKGROUP) { /* around whatever the group's body does: no scope of the stack */
        n_sync[kind] += end == BEGIN;
    } else if (end == BEGIN) {
        push(scope, kind, NULL);
        n_sync[kind] += scope == S_SYNC;
        if (scope == S_SYNC)
            EXPECT(get_state(NULL) < 0x100);
    } else {
        pop(scope, kind, NULL);
    }
}
static void on_sync_region(int kind, int end, ompt_data_t *region, ompt_data_t *task, const void *ra)
{
    (void)ra;
    region_of_kind(S_SYNC, kind, end, region, task);
}
static void on_sync_region_wait(int kind, int end, ompt_data_t *region, ompt_data_t *task, const void *ra)
{
    (void)ra;
    region_of_kind(S_WAIT, kind, end, region, task);
}
static void on_reduction(int kind, int end, ompt_data_t *region, ompt_data_t *task, const void *ra)
{
    (void)ra;
    EXPECT(kind == 7);
    check_current(region, task);
    n_reductions += end == BEGIN;
    end == BEGIN ? push(S_REDUCTION, 0, NULL) : pop(S_REDUCTION, 0, NULL);
}
static void on_work(int kind, int end, ompt_data_t *region, ompt_data_t *task, uint64_t count, const void *ra)
{
    (void)count;
    EXPECT(kind > 0 && kind < 14 && ra != NULL);
    check_current(region, task);
    n_work[kind] += end == BEGIN;
    end == BEGIN ? push(S_WORK, kind, NULL) : pop(S_WORK, kind, NULL);
}
static void on_masked(int end, ompt_data_t *region, ompt_data_t *task, const void *ra)
{
    EXPECT(ra != NULL);
    check_current(region, task);
    n_masked += end == BEGIN;
    end == BEGIN ? push(S_MASKED, 0, NULL) : pop(S_MASKED, 0, NULL);
}
static void on_dispatch(ompt_data_t *region, ompt_data_t *task, int kind, ompt_data_t what)
{
    EXPECT(kind >= 2 && kind <= 5 && what.ptr != NULL);
    check_current(region, task);
    n_chunks++;
}
static void on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t id, const void *ra)
{
    (void)hint;
    (void)impl;
    EXPECT(kind > 0 && kind < 8 && ra != NULL && id != 0);
    self()->acquiring = id;
}
static void on_mutex_acquired(int kind, uint64_t id, const void *ra)
{
    EXPECT(ra != NULL && self()->acquiring == id);
    n_acquired[kind]++;
}
static void on_mutex_released(int kind, uint64_t id, const void *ra)
{
    EXPECT(ra != NULL && id != 0);
    n_released[kind]++;
}
static void on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t id, const void *ra)
{
    (void)kind;
    (void)hint;
    (void)impl;
    EXPECT(id != 0 && ra != NULL);
    n_locks++;
}
static void on_lock_destroy(int kind, uint64_t id, const void *ra)
{
    (void)kind;
    EXPECT(id != 0 && ra != NULL);
    n_locks--;
}
static void on_flush(ompt_data_t *thread, const void *ra)
{
    EXPECT(thread == get_thread_data() && ra != NULL);
    n_flushes++;
}
static void on_cancel(ompt_data_t *task, int flags, const void *ra)
{
    (void)ra;
    EXPECT(task->ptr != NULL && (flags & 0x70));
    n_cancels++;
}
static int on_control(uint64_t command, uint64_t modifier, void *argument, const void *ra)
{
    (void)argument;
    EXPECT(ra != NULL && command == 1 && modifier == 7);
    n_controls++;
    return 42;
}
static void on_error(int severity, const char *message, size_t length, const void *ra)
{
    EXPECT(severity == 1 && strlen(message) == length && ra != NULL);
    n_errors++;
}

/* --- start and end --- */

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    static const struct {
        int number;
        void (*f)(void);
    } wanted[] = {
        {1, (void (*)(void))on_thread_begin},
        {2, (void (*)(void))on_thread_end},
        {3, (void (*)(void))on_parallel_begin},
        {4, (void (*)(void))on_parallel_end},
        {5, (void (*)(void))on_task_create},
        {6, (void (*)(void))on_task_schedule},
        {7, (void (*)(void))on_implicit_task},
        {11, (void (*)(void))on_control},
        {16, (void (*)(void))on_sync_region_wait},
        {17, (void (*)(void))on_mutex_released},
        {18, (void (*)(void))on_dependences},
        {19, (void (*)(void))on_task_dependence},
        {20, (void (*)(void))on_work},
        {21, (void (*)(void))on_masked},
        {23, (void (*)(void))on_sync_region},
        {24, (void (*)(void))on_lock_init},
        {25, (void (*)(void))on_lock_destroy},
        {26, (void (*)(void))on_mutex_acquire},
        {27, (void (*)(void))on_mutex_acquired},
        {29, (void (*)(void))on_flush},
        {30, (void (*)(void))on_cancel},
        {31, (void (*)(void))on_reduction},
        {32, (void (*)(void))on_dispatch},
        {37, (void (*)(void))on_error},
    };
    int (*set)(int, void (*)(void)) = (int (*)(int, void (*)(void)))lookup("ompt_set_callback");
    int (*get)(int, void (**)(void)) = (int (*)(int, void (**)(void)))lookup("ompt_get_callback");
    get_thread_data = (ompt_data_t * (*)(void)) lookup("ompt_get_thread_data");
    get_task_info =
        (int (*)(int, int *, ompt_data_t **, ompt_frame_t **, ompt_data_t **, int *))lookup("ompt_get_task_info");
    get_parallel_info = (int (*)(int, ompt_data_t **, int *))lookup("ompt_get_parallel_info");
    get_state = (int (*)(uint64_t *))lookup("ompt_get_state");
    get_unique_id = (uint64_t(*)(void))lookup("ompt_get_unique_id");
    kernel_threads = getenv("CHECKER_NATIVE") != NULL;
    (void)device;
    (void)data;
    EXPECT(lookup("ompt_no_such_entry") == NULL);
    EXPECT(set(1000, NULL) == ompt_set_error);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void (*f)(void) = NULL;
        EXPECT(set(wanted[i].number, wanted[i].f) == ompt_set_always);
        (void)get;
        (void)f;
    }
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    EXPECT(n_regions == n_regions_ended);
    EXPECT(n_created == n_complete);
    EXPECT(n_threads == n_threads_ended || kernel_threads);
    if (n_threads == 0)
        WRONG("nothing was told");
    fflush(stdout);
    if (wrong)
        _exit(1);
}

__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    EXPECT(version >= 201611 && runtime[0] != 0);
    return &result;
}

/* --- for the program --- */

/* An event came as often as it should. */
static void count(const char *name, int is, int expected, int line)
{
    if (is != expected)
        fprintf(stderr, "%s is %d, not %d\n", name, is, expected), say_wrong("main", line, name);
}
#define COUNT(counter, expected) count(#counter, counter, expected, __LINE__)

#endif
