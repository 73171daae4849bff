/* Standbys: one spare rests for each root, and is called where none can be started. It rests again afterwards, and so
 * do others that were at work at once. A refused one is no fault. None are left when the library has stopped, nor in a
 * forked child. */
#include "psthread.h"
#include "standby.h"
#include "sync_support.h"
#include "tls.h"
#include "vp.h"
#include "watchdog.h"

#include <dirent.h>
#include <errno.h>

/* Kernel threads' starts are refused while a test says so. The linker puts this in the place of os.h's function
 * (CMakeLists.txt). */
static _Atomic bool refused;
int __real_os_thread_start(os_thread *out, void *(*fn)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*fn)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*fn)(void *), void *arg, size_t stack_bytes, bool block_signals)
{
    if (ps_load_acquire(&refused))
        return EAGAIN;
    return __real_os_thread_start(out, fn, arg, stack_bytes, block_signals);
}

static void with_spares(unsigned vps, unsigned most)
{
    psthread_config_t config = {.num_vps = vps, .max_spares = most};
    CHECK(psthread_init(&config) == 0);
}

/* A hand-made barrier: everybody keeps its kernel thread, and uses next to nothing of a processor. */
static _Atomic unsigned arrived;
static void *waits_for_all(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;
    ps_add_seq(&arrived, 1);
    while (ps_load_acquire(&arrived) < n)
        usleep(500);
    return NULL;
}

static void meet(unsigned n)
{
    ps_store_relaxed(&arrived, 0);
    for (unsigned i = 0; i < n; i++) {
        psthread_t t;
        CHECK(psthread_create(&t, NULL, waits_for_all, (void *)(uintptr_t)n) == 0);
        CHECK(psthread_enqueue(t, 0) == 0);
    }
    psthread_waitall();
    assert_int_equal(ps_load_relaxed(&arrived), n);
}

static unsigned kernel_threads(void)
{
    unsigned n = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(tasks);
    return n;
}

/* One rests for the root, where it may be released; no spare is at work. */
static void settle(void)
{
    while (ps_load_acquire(&ps_watchdog.spares) || standby_idle() < uth_tls_enabled()) {
        watchdog_arm();
        usleep(1000);
    }
}

static void one_rests_for_the_root(void **state)
{
    (void)state;
    with_spares(1, 10);
    for (unsigned n = 2; n <= 5; n++) {
        meet(n);
        settle();
    }
    CHECK(psthread_finalize() == 0);
}

/* Again and again: it rests after each. */
static void a_spare_needs_no_start(void **state)
{
    (void)state;
    if (!uth_tls_enabled())
        skip();
    with_spares(1, 10);
    for (int i = 0; i < 10; i++) {
        settle();
        ps_store_release(&refused, true);
        meet(2);
        ps_store_release(&refused, false);
    }
    CHECK(psthread_finalize() == 0);
}

static void a_refused_one_is_no_fault(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        with_spares(1, 10);
        watchdog_be_there();
        ps_store_release(&refused, true);
        watchdog_arm_slow();
        usleep(50000);
        assert_int_equal(standby_idle(), 0);
        ps_store_release(&refused, false);
        meet(3);
        CHECK(psthread_finalize() == 0);
    }
}

/* Those that were at work at once rest, and go by and by. */
static void others_rest_and_go(void **state)
{
    (void)state;
    with_spares(1, 20);
    meet(8);
    settle();
    assert_in_range(standby_idle(), 3, 9); /* halved, on a slow machine */
    while (standby_idle() > 2) {
        watchdog_arm();
        usleep(50000);
    }
    CHECK(psthread_finalize() == 0);
}

static void none_is_left_at_the_end(void **state)
{
    (void)state;
    unsigned before = kernel_threads();
    for (unsigned i = 0; i < 20; i++) {
        with_spares(2, 20);
        if (i % 2)
            meet(4);
        if (i % 3)
            settle();
        CHECK(psthread_finalize() == 0);
        assert_int_equal(standby_idle(), 0);
    }
    while (kernel_threads() > before) /* they count for a moment still */
        usleep(1000);
}

static void a_child_has_none(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    with_spares(1, 10);
    meet(3);
    settle();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(standby_idle() == 0);
        for (unsigned i = 0; i < 3; i++)
            meet(3);
        settle();
        CHECK(psthread_finalize() == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    meet(3);
    CHECK(psthread_finalize() == 0);
}

/* A thread that a spare carries forks. */
static void *forks(void *arg)
{
    waits_for_all(arg);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(standby_idle() == 0);
        psthread_t t;
        ps_store_relaxed(&arrived, 0);
        CHECK(psthread_create(&t, NULL, waits_for_all, (void *)1) == 0);
        CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
        CHECK(psthread_join(t, NULL) == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return NULL;
}

static void what_they_carry_may_fork(void **state)
{
    (void)state;
    if (PS_TSAN)
        skip();
    with_spares(1, 10);
    settle();
    ps_store_relaxed(&arrived, 0);
    for (unsigned i = 0; i < 4; i++) {
        psthread_t t;
        CHECK(psthread_create(&t, NULL, forks, (void *)4) == 0);
        CHECK(psthread_enqueue(t, 0) == 0);
    }
    psthread_waitall();
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rests_for_the_root),    cmocka_unit_test(a_spare_needs_no_start),
        cmocka_unit_test(a_refused_one_is_no_fault), cmocka_unit_test(others_rest_and_go),
        cmocka_unit_test(none_is_left_at_the_end),   cmocka_unit_test(a_child_has_none),
        cmocka_unit_test(what_they_carry_may_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
