/* An interrupt tells whose code it met: only the program's own, or its own wait in a library that the runtime calls,
 * may be left for a while. The test is linked with the runtime's objects, so its own functions count as the runtime's;
 * the program's stand in a shared object that is loaded. */
#define _GNU_SOURCE
#include "test.h"

#include "atomic.h"
#include "interrupt_program.h"
#include "os.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PARK_NS INT64_C(2000000000)
#define TIMES 4 /* a call with a limit is made anew in another way (restart_block.h) */

/* --- the code that is interrupted --- */

typedef void code(struct place *at);
typedef void caller(code *fn, struct place *at);
typedef void handler(int number);
struct object {
    code *spins, *waits, *waits_in_time, *loads;
    caller *calls, *handler_is_to;
    handler *handler;
};
static struct object program;

static struct object object_in(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    return (struct object){.spins = (code *)dlsym(handle, "program_spins"),
                           .waits = (code *)dlsym(handle, "program_waits"),
                           .waits_in_time = (code *)dlsym(handle, "program_waits_in_time"),
                           .loads = (code *)dlsym(handle, "program_loads"),
                           .calls = (caller *)dlsym(handle, "program_calls"),
                           .handler_is_to = (caller *)dlsym(handle, "program_handler_is_to"),
                           .handler = (handler *)dlsym(handle, "program_handler")};
}

static PS_NOINLINE void runtime_spins(struct place *at)
{
    at->there = 1;
    while (!at->go)
        continue;
}

static PS_NOINLINE void runtime_waits(struct place *at)
{
    char c;
    at->there = 1;
    while (read(at->fd, &c, 1) != 1)
        continue;
    at->go = 1;
}

/* With a time limit. */
static PS_NOINLINE void runtime_parks(struct place *at)
{
    _Atomic uint32_t word = 0;
    at->there = 1;
    while (!at->go)
        os_park(&word, 0, PARK_NS);
    at->go = 1;
}

/* One that may be left, by itself and in what it calls. */
static PS_PREEMPTIBLE PS_NOINLINE void preemptible_spins(struct place *at)
{
    at->there = 1;
    while (!at->go)
        continue;
}
static PS_PREEMPTIBLE PS_NOINLINE void preemptible_calls_runtime(struct place *at)
{
    runtime_spins(at);
    at->go = 1;
}
static PS_PREEMPTIBLE PS_NOINLINE void preemptible_calls_program(struct place *at)
{
    program.spins(at);
    at->go = 1;
}
static PS_NOINLINE void runtime_calls_leavable(struct place *at)
{
    preemptible_calls_program(at);
    at->go = 1;
}

/* As it would call malloc, which may be the program's: by name, and something comes behind it. */
static PS_NOINLINE void runtime_calls_spins(struct place *at)
{
    program_spins(at);
    at->go = 1;
}
static PS_NOINLINE void runtime_calls_waits(struct place *at)
{
    program_waits(at);
    at->go = 1;
}

static PS_NOINLINE void runtime_calls_waits_in_time(struct place *at)
{
    program_waits_in_time(at);
    at->go = 1;
}

static PS_NOINLINE void program_calls_park(struct place *at) { program.calls(runtime_parks, at); }
static PS_NOINLINE void program_calls_runtime(struct place *at) { program.calls(runtime_waits, at); }

static PS_NOINLINE void with_handler(struct place *at, code *does, code *beneath)
{
    struct place below = {.go = 1, .fd = at->fd};
    program.handler_is_to(does, at);
    signal(SIGUSR1, program.handler);
    raise(SIGUSR1);
    beneath(&below);
}
static void handler_spins(struct place *at) { with_handler(at, program.spins, runtime_spins); }
static void handler_waits_in_time(struct place *at) { with_handler(at, program.waits_in_time, runtime_spins); }
static void handler_waits(struct place *at) { with_handler(at, program.waits, runtime_spins); }

/* --- asking --- */

static char *stack_low;
static size_t stack_bytes;
static _Atomic int answer;

static bool ask(void *frame)
{
    ps_store_release(&answer, 1 + os_interrupted_program(frame, stack_low, stack_bytes));
    return false;
}

struct run {
    code *fn;
    struct place at;
    _Atomic int tid;
};

static void *run_main(void *arg)
{
    struct run *run = arg;
    pthread_attr_t attr;
    void *low;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &stack_bytes);
    pthread_attr_destroy(&attr);
    stack_low = low;
    ps_store_release(&run->tid, os_thread_id());
    run->fn(&run->at);
    return NULL;
}

static void await_sleep(int tid)
{
    for (struct os_usage u = {0}; !u.sleeping;) {
        usleep(1000);
        assert_int_equal(os_thread_usage(tid, &u), 0);
    }
}

/* Whether interrupts of fn, once it is where it stays (in_kernel: in a system call), say that they met the program. */
static bool meets_program(code *fn, bool in_kernel)
{
    int channel[2], tid;
    pthread_t thread;
    assert_int_equal(pipe(channel), 0);
    struct run run = {.fn = fn, .at = {.fd = channel[0]}};
    assert_int_equal(pthread_create(&thread, NULL, run_main, &run), 0);
    while (!run.at.there)
        usleep(1000);
    tid = ps_load_acquire(&run.tid);
    for (int i = 0, before = 0; i < TIMES; i++, before = ps_load_relaxed(&answer)) {
        int error;
        if (in_kernel)
            await_sleep(tid);
        ps_store_relaxed(&answer, 0);
        while ((error = os_interrupt(tid, ask)) == EAGAIN) /* it was in vain before */
            usleep(1000);
        assert_int_equal(error, 0);
        while (!ps_load_acquire(&answer))
            usleep(1000);
        assert_true(i == 0 || ps_load_relaxed(&answer) == before);
    }
    run.at.go = 1;
    assert_int_equal(write(channel[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(channel[0]);
    close(channel[1]);
    return ps_load_relaxed(&answer) == 2;
}

static void the_programs_own_is_its_own(void **state)
{
    (void)state;
    assert_true(meets_program(program.spins, false));
    assert_true(meets_program(program.waits, true));
    assert_true(meets_program(program.waits_in_time, true));
}

static void the_runtimes_is_not(void **state)
{
    (void)state;
    assert_false(meets_program(runtime_spins, false));
    assert_false(meets_program(runtime_waits, true));
    assert_false(meets_program(program_calls_runtime, true));
    assert_false(meets_program(runtime_parks, true));
    assert_false(meets_program(program_calls_park, true));
}

/* A program that spins in such calls is met there; not in the middle of what they call, nor where the runtime itself
 * calls one. */
static void but_for_functions_that_may_be_left(void **state)
{
    (void)state;
    assert_true(meets_program(preemptible_spins, false));
    assert_true(meets_program(preemptible_calls_program, false));
    assert_false(meets_program(preemptible_calls_runtime, false));
#if defined(__x86_64__)
    assert_false(meets_program(runtime_calls_leavable, false));
#else
    (void)runtime_calls_leavable;
#endif
}

/* A function of the C library's that the program has replaced: the runtime is in the middle of something. */
static void nor_what_the_runtime_calls_by_name(void **state)
{
    (void)state;
    assert_false(meets_program(runtime_calls_spins, false));
    assert_false(meets_program(runtime_calls_waits, true));
    assert_false(meets_program(runtime_calls_waits_in_time, true));
}

static code *called;
static PS_NOINLINE void program_calls_it(struct place *at) { program.calls(called, at); }
static bool meets_program_in(code *fn, bool in_kernel)
{
    called = fn;
    return meets_program(program_calls_it, in_kernel);
}

/* What the runtime is bound to, as to a malloc that stands before the C library's: it may hold what the runtime needs.
 * While the program waits in it, it may be left. */
static void nor_what_the_runtime_is_bound_to(void **state)
{
    struct place none = {.go = 1};
    (void)state;
    program_spins(&none); /* references may be bound at their first use */
    assert_false(meets_program_in(program_spins, false));
    assert_true(meets_program_in(program_waits, true));
    assert_true(meets_program_in(program.spins, false));
}

/* It may hold what all copies share. */
static void nor_another_copy_of_it(void **state)
{
    (void)state;
    struct object copy = object_in(INTERRUPT_COPY);
    assert_true(copy.spins != program_spins && copy.spins != program.spins);
    assert_false(meets_program_in(copy.spins, false));
    assert_true(meets_program_in(copy.waits, true));
}

/* The dynamic linker calls it back. */
static void nor_an_unwinder(void **state)
{
    (void)state;
    struct object unwinder = object_in(INTERRUPT_UNWINDER);
    assert_false(meets_program_in(unwinder.spins, false));
    assert_true(meets_program_in(unwinder.waits, true));
}

/* What such a handler stands on is unknown: the runtime may have a lock in hand there. */
static void nor_what_a_handler_does(void **state)
{
    (void)state;
    assert_false(meets_program(handler_spins, false));
    assert_false(meets_program(handler_waits, true));
    assert_false(meets_program(handler_waits_in_time, true));
}

static bool ask_of_another_stack(void *frame)
{
    ps_store_release(&answer, 1 + os_interrupted_program(frame, stack_low, 4096));
    return false;
}

static void nor_what_runs_on_another_stack(void **state)
{
    (void)state;
    pthread_t thread;
    struct run run = {.fn = program.spins};
    assert_int_equal(pthread_create(&thread, NULL, run_main, &run), 0);
    while (!run.at.there)
        usleep(1000);
    ps_store_relaxed(&answer, 0);
    assert_int_equal(os_interrupt(ps_load_acquire(&run.tid), ask_of_another_stack), 0);
    while (!ps_load_acquire(&answer))
        usleep(1000);
    run.at.go = 1;
    pthread_join(thread, NULL);
    assert_int_equal(ps_load_relaxed(&answer), 1);
}

#if defined(__x86_64__)
/* The dynamic linker reads as many bytes as is the number of a wait on a futex. The interrupt comes when the call is
 * over: the reader has got its bytes, but its processor only now. */
#define TRIES 200
static _Atomic int tid_of_reader;
static void *loads(void *arg)
{
    const struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    ps_store_release(&tid_of_reader, os_thread_id());
    return run_main(arg);
}

static bool ask_behind_a_call(void *frame)
{
    const ucontext_t *uc = frame;
    const unsigned char *pc = (const unsigned char *)uc->uc_mcontext.gregs[REG_RIP];
    bool is_there = uc->uc_mcontext.gregs[REG_RAX] == SYS_futex && pc[-2] == 0x0f && pc[-1] == 0x05;
    return is_there ? ask(frame) : false;
}

static void try_in_loader(void)
{
    const char bytes[SYS_futex] = {0};
    int channel[2];
    pthread_t thread;
    assert_int_equal(pipe(channel), 0);
    struct run run = {.fn = program.loads, .at = {.fd = channel[0]}};
    ps_store_relaxed(&tid_of_reader, 0);
    assert_int_equal(pthread_create(&thread, NULL, loads, &run), 0);
    while (!run.at.there)
        usleep(1000);
    await_sleep(ps_load_acquire(&tid_of_reader));
    assert_int_equal(write(channel[1], bytes, sizeof bytes), sizeof bytes);
    int error = os_interrupt(ps_load_acquire(&tid_of_reader), ask_behind_a_call);
    assert_true(error == 0 || error == EAGAIN || error == ESRCH);
    close(channel[1]);
    pthread_join(thread, NULL);
    close(channel[0]);
}

/* The dynamic linker may hold a lock there. */
static void nor_a_call_of_the_loaders_that_is_over(void **state)
{
    cpu_set_t before, one;
    (void)state;
    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    ps_store_relaxed(&answer, 0);
    for (int i = 0; i < TRIES && !ps_load_acquire(&answer); i++)
        try_in_loader();
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof before, &before), 0);
    assert_true(!ps_load_relaxed(&answer) || ps_load_relaxed(&answer) == 1);
    if (!ps_load_relaxed(&answer))
        skip();
}
#else
static void nor_a_call_of_the_loaders_that_is_over(void **state) { (void)state; }
#endif

/* --- threads that hear --- */

#define SIGNAL SIGUSR2
#define BIT (UINT64_C(1) << (SIGNAL - 1))
static _Atomic uint32_t step; /* 1: the thread blocks the signal; 2: it is to hear it; 3: it does; 4: it is to end */
static void await_step(uint32_t at)
{
    while (ps_load_acquire(&step) != at)
        usleep(100);
}
static void *blocks_and_hears(void *arg)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    ps_store_release(&step, 1);
    await_step(2);
    os_set_signal_mask(mask & ~BIT);
    ps_store_release(&step, 3);
    await_step(4);
    return arg;
}
static void a_signal_is_heard_where_another_thread_does_not_block_it(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, blocks_and_hears, NULL), 0);
    await_step(1);
    assert_true(os_signals_heard(BIT) == 0);
    ps_store_release(&step, 2);
    await_step(3);
    assert_true(os_signals_heard(BIT) == BIT);
    assert_true(os_signals_heard(0) == 0);
    ps_store_release(&step, 4);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_is_heard_where_another_thread_does_not_block_it),
        cmocka_unit_test(the_programs_own_is_its_own),
        cmocka_unit_test(the_runtimes_is_not),
        cmocka_unit_test(nor_what_the_runtime_calls_by_name),
        cmocka_unit_test(nor_what_the_runtime_is_bound_to),
        cmocka_unit_test(nor_another_copy_of_it),
        cmocka_unit_test(nor_an_unwinder),
        cmocka_unit_test(nor_what_a_handler_does),
        cmocka_unit_test(nor_what_runs_on_another_stack),
        cmocka_unit_test(nor_a_call_of_the_loaders_that_is_over),
        cmocka_unit_test(but_for_functions_that_may_be_left),
    };
    program = object_in(INTERRUPT_PROGRAM);
    return PS_TSAN ? 77 : cmocka_run_group_tests(tests, NULL, NULL); /* it delivers signals when it likes */
}
