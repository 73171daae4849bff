/* Kernel threads: start, join, detach, signal masks, names, refusals. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct seen {
    int id;
    int blocked;
    size_t stack_bytes;
    char name[16];
};

static int blocked_signals(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGUSR1) + sigismember(&mask, SIGINT) + sigismember(&mask, SIGPROF);
}

static void *look(void *arg)
{
    struct seen *seen = arg;
    pthread_attr_t attr;
    void *low;
    seen->id = os_thread_id();
    seen->blocked = blocked_signals();
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &seen->stack_bytes);
    pthread_attr_destroy(&attr);
    os_thread_name("a-name-longer-than-fifteen");
    prctl(PR_GET_NAME, seen->name);
    return NULL;
}

static void runs_with_id_and_name(void **state)
{
    (void)state;
    struct seen seen = {0};
    os_thread t;
    assert_int_equal(os_thread_start(&t, look, &seen, 0, false), 0);
    os_thread_join(t);
    assert_int_equal(os_thread_id(), getpid());
    assert_true(seen.id != os_thread_id() && seen.id > 0);
    assert_string_equal(seen.name, "a-name-longer-t");
    assert_int_equal(seen.blocked, 0);
}

static void signals_are_blocked_at_need_and_only_there(void **state)
{
    (void)state;
    struct seen seen = {0};
    os_thread t;
    assert_int_equal(os_thread_start(&t, look, &seen, 0, true), 0);
    os_thread_join(t);
    assert_int_equal(seen.blocked, 3);
    assert_int_equal(blocked_signals(), 0);
}

static void stack_sizes(void **state)
{
    (void)state;
    struct seen seen = {0};
    os_thread t;
    assert_int_equal(os_thread_start(&t, look, &seen, 1000001, false), 0);
    os_thread_join(t);
    assert_true(seen.stack_bytes >= 1000001);
    assert_true(seen.stack_bytes < 2 * 1000001);
    assert_int_equal(os_thread_start(&t, look, &seen, 1, false), 0); /* less than any system takes */
    os_thread_join(t);
}

static void impossible_thread_is_refused(void **state)
{
    (void)state;
    struct seen seen = {0};
    os_thread t;
    assert_int_equal(os_thread_start(&t, look, &seen, (size_t)1 << 62, true), EAGAIN);
    assert_int_equal(seen.id, 0);
    assert_int_equal(blocked_signals(), 0);
}

static void *post(void *arg)
{
    _Atomic uint32_t *word = arg;
    ps_store_release(word, 1);
    os_wake(word, 1);
    return NULL;
}

static void detached_thread_runs(void **state)
{
    (void)state;
    static _Atomic uint32_t word;
    os_thread t;
    assert_int_equal(os_thread_start(&t, post, &word, 0, true), 0);
    os_thread_detach(t);
    while (ps_load_acquire(&word) == 0)
        os_park(&word, 0, OS_FOREVER);
}

/* Two on one processor that give it to one another: both are given it again and again, and use next to nothing of
 * it. */
static _Atomic uint32_t partner_done;

static void *give_way(void *arg)
{
    (void)arg;
    while (!ps_load_acquire(&partner_done))
        os_yield();
    return NULL;
}

static void slices_are_counted(void **state)
{
    (void)state;
    cpu_set_t one, all;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct os_usage before, after;
    os_thread t;
    ps_store_relaxed(&partner_done, 0);
    assert_int_equal(os_thread_start(&t, give_way, NULL, 0, true), 0); /* with the caller's processors */
    assert_int_equal(os_thread_usage(os_thread_id(), &before), 0);
    do {
        for (int i = 0; i < 100; i++)
            os_yield();
        assert_int_equal(os_thread_usage(os_thread_id(), &after), 0);
    } while (after.slices < before.slices + 200); /* hangs where they are not counted */
    assert_false(after.sleeping);
    assert_true(after.cpu_ns - before.cpu_ns < 200 * UINT64_C(10000000)); /* it is no time that grows by as much */
    ps_store_release(&partner_done, 1);
    os_thread_join(t);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_with_id_and_name), cmocka_unit_test(signals_are_blocked_at_need_and_only_there),
        cmocka_unit_test(stack_sizes),           cmocka_unit_test(impossible_thread_is_refused),
        cmocka_unit_test(detached_thread_runs),  cmocka_unit_test(slices_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
