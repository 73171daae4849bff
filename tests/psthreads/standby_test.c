/* Standbys: parked kernel threads that carry spares and workers while nobody can start a kernel thread; more come where
 * that can be done; a refused one is no fault; none are left when the library has stopped. */
#include "hanging_start.h"
#include "psthread.h"
#include "standby.h"
#include "sync_support.h"
#include "tls.h"
#include "vp.h"
#include "watchdog.h"

#include <dirent.h>
#include <dlfcn.h>

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

/* Something of the program's: here, that is another object. */
static uint32_t enter(void)
{
    uintptr_t code = (uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests");
    if (!os_program_code(code)) /* a static cmocka */
        return 0;
    uint32_t entered = standby_enter(code);
    CHECK(entered != 0);
    return entered;
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

/* That of the root, which may be released: it comes when the watchdog has begun to watch. */
static unsigned of_root(void)
{
    unsigned n = uth_tls_enabled();
    while (standby_idle() < n)
        usleep(1000);
    return n;
}

static void there_is_one_for_the_root_unless_more_are_asked_for(void **state)
{
    (void)state;
    with_spares(1, 10);
    for (unsigned n = 2; n <= 5; n++)
        meet(n);
    assert_int_equal(standby_idle(), of_root());
    CHECK(psthread_finalize() == 0);
}

static void those_asked_for_are_there_and_end(void **state)
{
    (void)state;
    unsigned before = kernel_threads();
    for (unsigned i = 0; i < 20; i++) {
        with_spares(2, 20);
        standby_ask(i);
        assert_int_equal(standby_idle(), i);
        if (i % 2)
            meet(4);
        CHECK(psthread_finalize() == 0);
        assert_int_equal(standby_idle(), 0);
    }
    while (kernel_threads() > before) /* joined, and counted for a moment still */
        usleep(1000);
}

/* Again and again: a standby that has carried a spare is parked again. */
static void spares_need_no_start(void **state)
{
    (void)state;
    enum { N = 6 };
    with_spares(1, 10);
    standby_ask(N);
    uint32_t entered = enter();
    ps_store_release(&hangs, entered != 0);
    for (int i = 0; i < 10; i++)
        meet(N);
    while (ps_load_acquire(&ps_watchdog.spares)) /* before the others' starts go on */
        usleep(1000);
    ps_store_release(&hangs, false);
    standby_leave(entered);
    while (standby_idle() < N)
        usleep(1000);
    CHECK(psthread_finalize() == 0);
}

static void workers_need_no_start(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        with_spares(3, 40);
        standby_ask(20); /* spares that come because the machine is late take some, too */
        uint32_t entered = enter();
        ps_store_release(&hangs, true);
        meet(3);
        assert_int_equal(ps_load_relaxed(&hanging), 0);
        ps_store_release(&hangs, false);
        standby_leave(entered);
        CHECK(psthread_finalize() == 0);
    }
}

/* Where a start does not hang, the last standby that is parked starts more. */
static void more_come_while_somebody_is_inside(void **state)
{
    (void)state;
    with_spares(1, 40);
    standby_ask(2);
    uint32_t entered = enter();
    meet(12);
    if (entered)
        while (standby_idle() < 12)
            usleep(1000);
    standby_leave(entered);
    CHECK(psthread_finalize() == 0);
}

/* Workers take no standby that is still to start more. */
static void workers_leave_one_that_starts_more(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        with_spares(3, 40);
        standby_ask(2);
        uint32_t entered = enter();
        meet(8);
        standby_leave(entered);
        CHECK(psthread_finalize() == 0);
    }
}

/* Then everything is as without them. */
static void refused_ones_are_no_fault(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        with_spares(1, 10);
        meet(2);
        while (ps_load_acquire(&ps_watchdog.spares))
            usleep(1000);
        unsigned one = of_root();
        ps_store_release(&refused, true);
        standby_ask(3);
        assert_int_equal(standby_idle(), one);
        ps_store_release(&refused, false);
        uint32_t entered = standby_enter((uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
        assert_int_equal(entered != 0, one);
        meet(3);
        standby_leave(entered);
        CHECK(psthread_finalize() == 0);
    }
}

/* The asker may hold what a start wants. */
static void asking_in_vain_ends(void **state)
{
    (void)state;
    with_spares(1, 10);
    meet(2);
    while (ps_load_acquire(&ps_watchdog.spares))
        usleep(1000);
    unsigned one = of_root();
    ps_store_release(&hangs, true);
    standby_ask(3);
    assert_int_equal(standby_idle(), one);
    ps_store_release(&hangs, false);
    meet(3);
    CHECK(psthread_finalize() == 0);
}

static void a_child_has_none(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    with_spares(1, 10);
    standby_ask(4);
    uint32_t entered = enter();
    meet(3);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(standby_idle() == 0);
        standby_leave(entered); /* the parent's pool */
        for (unsigned i = 0; i < 3; i++)
            meet(3);
        standby_ask(2);
        CHECK(standby_idle() == 2);
        CHECK(psthread_finalize() == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    meet(3);
    standby_leave(entered);
    CHECK(psthread_finalize() == 0);
}

/* A thread that a standby carries forks. */
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
    standby_ask(4);
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
        cmocka_unit_test(there_is_one_for_the_root_unless_more_are_asked_for),
        cmocka_unit_test(those_asked_for_are_there_and_end),
        cmocka_unit_test(spares_need_no_start),
        cmocka_unit_test(workers_need_no_start),
        cmocka_unit_test(more_come_while_somebody_is_inside),
        cmocka_unit_test(workers_leave_one_that_starts_more),
        cmocka_unit_test(refused_ones_are_no_fault),
        cmocka_unit_test(asking_in_vain_ends),
        cmocka_unit_test(a_child_has_none),
        cmocka_unit_test(what_they_carry_may_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
