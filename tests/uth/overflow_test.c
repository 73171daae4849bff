/* A stack that overflows says whose it was; every other fault, and every handler that was there before, is left
 * alone. */
#define _GNU_SOURCE
#include "os.h"
#include "uth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)CPU_STACK_MIN + 256 * 1024)

static struct uth root;
static struct uth *running;

static struct uth *current(void) { return running; }
static void describe(char *buf, size_t bytes) { snprintf(buf, bytes, "OpenMP thread 3 of level 2"); }

PS_NOINLINE static int overflows(volatile int depth)
{
    volatile char local[256];
    memset((char *)local, depth, sizeof local);
    if (depth < 0)
        return 0; /* never: the stack ends long before */
    return overflows(depth + 1) + local[depth % 256];
}

static volatile int *volatile nowhere = (volatile int *)64; /* not NULL, which a sanitizer knows */

enum what { OVERFLOW, WILD, SENT, OVERFLOW_UNINSTALLED_THREAD };

static void misbehaves(void *transfer, void *arg)
{
    uth_switched(transfer, running);
    uth_overflow_thread_init(); /* the port with kernel threads is on another one now */
    switch ((enum what)(uintptr_t)arg) {
    case WILD:
        *nowhere = 1;
        break;
    case SENT:
        raise(SIGSEGV);
        break;
    default:
        overflows(0);
    }
    _exit(0);
}

static void handler_of_the_program(int signo)
{
    (void)signo;
    _exit(44);
}

static void child_does(enum what what, bool own_handler)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (own_handler) {
        stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
        sigaltstack(&alternate, NULL);
        sigaction(SIGSEGV, &(struct sigaction){.sa_handler = handler_of_the_program, .sa_flags = SA_ONSTACK}, NULL);
    } else {
        signal(SIGSEGV, SIG_DFL);
    }
    struct uth_cache cache;
    uth_init(STACK_BYTES);
    uth_cache_init(&cache);
    uth_overflow_install(current, describe, "TEST_STACKSIZE");
    uth_overflow_install(current, describe, "OMP_STACKSIZE"); /* the later word counts */
    if (uth_adopt(&root) != 0 || (running = uth_get(&cache)) == NULL ||
        uth_start(running, misbehaves, (void *)(uintptr_t)what) != 0)
        _exit(9);
    uth_switch(&root, running, &root, false);
    _exit(10);
}

/* Runs it in a child; what it wrote on standard error, and how it ended. */
static int observe(enum what what, bool own_handler, char *text, size_t bytes)
{
    int out[2], status;
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        child_does(what, own_handler);
    }
    close(out[1]);
    size_t used = 0;
    for (ssize_t n; used < bytes - 1 && (n = read(out[0], text + used, bytes - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
    close(out[0]);
    char *emulator = strstr(text, "qemu: uncaught target signal"); /* its own word on how the child ended */
    if (emulator != NULL)
        *emulator = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_line(const char *text)
{
    char expected[256];
    size_t page = os_page_size(), usable = (STACK_BYTES + page - 1) / page * page;
    snprintf(expected, sizeof expected,
             "psthreads: stack overflow in OpenMP thread 3 of level 2: its stack has %zu KiB; raise it with "
             "OMP_STACKSIZE\n",
             usable / 1024);
    assert_string_equal(text, expected);
}

static void expect_killed(int status)
{
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void test_overflow(void **state)
{
    (void)state;
    char text[512];
    expect_killed(observe(OVERFLOW, false, text, sizeof text));
    expect_line(text);
}

static void test_other_faults(void **state)
{
    (void)state;
    char text[512];
    expect_killed(observe(WILD, false, text, sizeof text));
    assert_string_equal(text, "");
    expect_killed(observe(SENT, false, text, sizeof text));
    assert_string_equal(text, "");
}

static void test_handler_of_the_program(void **state)
{
    (void)state;
    char text[512];
    int status = observe(WILD, true, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 44);
    assert_string_equal(text, "");
}

/* A kernel thread's alternate stack comes and goes with init and fini; one that is there is left alone. */
static void test_alternate_stack(void **state)
{
    (void)state;
    stack_t now, none = {.ss_flags = SS_DISABLE}, own = {.ss_size = 65536};
    sigaltstack(&none, NULL);
    uth_overflow_thread_init();
    sigaltstack(NULL, &now);
    assert_false(now.ss_flags & SS_DISABLE);
    void *ours = now.ss_sp;
    uth_overflow_thread_init();
    sigaltstack(NULL, &now);
    assert_ptr_equal(now.ss_sp, ours);
    uth_overflow_thread_fini();
    sigaltstack(NULL, &now);
    assert_true(now.ss_flags & SS_DISABLE);
    uth_overflow_thread_init(); /* it was left for the next kernel thread */
    sigaltstack(NULL, &now);
    assert_ptr_equal(now.ss_sp, ours);
    uth_overflow_thread_fini();
    unsigned char in;
    assert_int_equal(mincore(ours, os_page_size(), &in), 0);
    uth_overflow_drain();
    assert_int_equal(mincore(ours, os_page_size(), &in), -1);
    own.ss_sp = malloc(own.ss_size);
    sigaltstack(&own, NULL);
    uth_overflow_thread_init();
    uth_overflow_thread_fini();
    sigaltstack(NULL, &now);
    assert_ptr_equal(now.ss_sp, own.ss_sp);
    sigaltstack(&none, NULL);
    free(own.ss_sp);
}

int main(void)
{
    if (PS_ASAN || PS_TSAN) {
        printf("SKIPPED: the sanitizer has a handler of its own\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_other_faults),
        cmocka_unit_test(test_handler_of_the_program),
        cmocka_unit_test(test_alternate_stack),
    };
    return cmocka_run_group_tests_name("overflow on " CPU_PORT_NAME, tests, NULL, NULL);
}
