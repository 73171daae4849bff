/* Starts that are handed to the watchdog. Each start is done once, by a kernel thread that has what the process had,
 * however late the watchdog comes. In three cases the caller is told to do it itself: there is no watchdog; the
 * watchdog hangs in another start; another thread keeps others from starting kernel threads. */
#include "hanging_start.h"
#include "psthread.h"
#include "standby.h"
#include "starter.h"
#include "sync_support.h"
#include "watchdog.h"
#include "watchdog_sample.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>

/* By the linker, in the place of watchdog_sample.h's: the watchdog's look may last. */
static _Atomic bool late, is_late;
void __real_watchdog_sample_take(struct watchdog_sample *s);
void __wrap_watchdog_sample_take(struct watchdog_sample *s);
void __wrap_watchdog_sample_take(struct watchdog_sample *s)
{
    ps_store_release(&is_late, ps_load_acquire(&late));
    while (ps_load_acquire(&late))
        usleep(1000);
    __real_watchdog_sample_take(s);
}

static void with_spares(unsigned most)
{
    psthread_config_t config = {.num_vps = 2, .max_spares = most};
    CHECK(psthread_init(&config) == 0);
}

static void *count_up(void *arg)
{
    ps_add_seq((_Atomic unsigned *)arg, 1);
    return NULL;
}

static void nobody_serves_where_no_watchdog_is(void **state)
{
    (void)state;
    _Atomic unsigned n = 0;
    os_thread thread;
    for (unsigned most = 0; most < 2; most++) {
        with_spares(most ? most : PSTHREAD_NO_SPARES);
        assert_int_equal(starter_ask(&thread, count_up, &n, 0), EBUSY);
        starter_prepare();
        assert_int_equal(watchdog_runs(), most);
        int err = starter_ask(&thread, count_up, &n, 0);
        assert_int_equal(err, most ? 0 : EBUSY);
        if (!err)
            os_thread_join(thread);
        assert_int_equal(ps_load_relaxed(&n), most);
        CHECK(psthread_finalize() == 0);
        assert_int_equal(starter_ask(&thread, count_up, &n, 0), EBUSY);
    }
}

static void *nice_value(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)getpriority(PRIO_PROCESS, (id_t)os_thread_id());
}
static void *nice_asker(void *arg)
{
    os_thread thread;
    void *value;
    int process = getpriority(PRIO_PROCESS, (id_t)getpid()), own = process < 15 ? process + 4 : process;
    CHECK(setpriority(PRIO_PROCESS, (id_t)os_thread_id(), own) == 0);
    CHECK(starter_ask(&thread, nice_value, NULL, 0) == 0);
    CHECK(pthread_join((pthread_t)thread, &value) == 0 && (intptr_t)value == process);
    CHECK(starter_start(&thread, nice_value, NULL, 0) == 0); /* it is no kernel thread of the runtime's */
    CHECK(pthread_join((pthread_t)thread, &value) == 0 && (intptr_t)value == own);
    return arg;
}

static void what_the_asker_has_set_is_its_own(void **state)
{
    (void)state;
    pthread_t asker;
    with_spares(4);
    starter_prepare();
    CHECK(pthread_create(&asker, NULL, nice_asker, NULL) == 0 && pthread_join(asker, NULL) == 0);
    CHECK(psthread_finalize() == 0);
}

#define ASKERS 8u
#define TIMES (PS_TSAN || PS_ASAN ? 20u : 200u)
static _Atomic unsigned begun;
static void *asker(void *arg)
{
    for (unsigned i = 0; i < TIMES; i++) {
        os_thread thread;
        int err = starter_ask(&thread, count_up, &begun, 0);
        CHECK(err == 0);
        os_thread_join(thread);
        if (i % 50 == 49) /* meanwhile the watchdog falls asleep, where nobody else asks */
            usleep(150000);
    }
    return arg;
}

static void *spins(void *arg)
{
    (void)arg;
    uint64_t end = os_now_ns() + 30000000;
    while (os_now_ns() < end)
        continue;
    return NULL;
}

/* The watchdog has its own work, too. */
static void each_is_done_once(void **state)
{
    (void)state;
    pthread_t askers[ASKERS];
    with_spares(4);
    starter_prepare();
    ps_store_relaxed(&begun, 0);
    for (unsigned i = 0; i < ASKERS; i++)
        CHECK(pthread_create(&askers[i], NULL, asker, NULL) == 0);
    for (unsigned i = 0; i < 6; i++) {
        psthread_t t;
        CHECK(psthread_create(&t, NULL, spins, NULL) == 0 && psthread_enqueue(t, 0) == 0);
    }
    psthread_waitall();
    for (unsigned i = 0; i < ASKERS; i++)
        CHECK(pthread_join(askers[i], NULL) == 0);
    assert_int_equal(ps_load_relaxed(&begun), ASKERS * TIMES);
    CHECK(psthread_finalize() == 0);
}

static void a_refusal_is_told(void **state)
{
    (void)state;
    _Atomic unsigned n = 0;
    os_thread thread;
    with_spares(4);
    starter_prepare();
    ps_store_release(&refused, true);
    assert_int_equal(starter_ask(&thread, count_up, &n, 0), EAGAIN);
    ps_store_release(&refused, false);
    assert_int_equal(starter_ask(&thread, count_up, &n, 0), 0);
    os_thread_join(thread);
    assert_int_equal(ps_load_relaxed(&n), 1);
    CHECK(psthread_finalize() == 0);
}

static void *ask_once(void *arg)
{
    os_thread thread;
    CHECK(starter_ask(&thread, count_up, arg, 0) == 0);
    os_thread_join(thread);
    return NULL;
}

/* A thread that asks; the watchdog is in the middle of its start. */
static pthread_t ask_and_hang(void *(*ask)(void *), _Atomic unsigned *n)
{
    pthread_t asker;
    ps_store_release(&hangs, true);
    CHECK(pthread_create(&asker, NULL, ask, (void *)n) == 0);
    while (ps_load_acquire(&hanging) == 0)
        usleep(1000);
    return asker;
}

/* The watchdog is in the middle of a start: the next asker waits for a while, the first one as long as it takes. */
static void asking_in_vain_ends(void **state)
{
    (void)state;
    _Atomic unsigned n = 0;
    os_thread thread;
    pthread_t first;
    with_spares(4);
    starter_prepare();
    first = ask_and_hang(ask_once, &n);
    uint64_t from = os_now_ns();
    assert_int_equal(starter_ask(&thread, count_up, &n, 0), EBUSY);
    assert_true(os_now_ns() - from > 1000000000);
    ps_store_release(&hangs, false);
    CHECK(pthread_join(first, NULL) == 0);
    assert_int_equal(starter_ask(&thread, count_up, &n, 0), 0);
    os_thread_join(thread);
    assert_int_equal(ps_load_relaxed(&n), 2);
    CHECK(psthread_finalize() == 0);
}

/* It looks, as on a machine that gives it no processor for so long. */
static void a_late_watchdog_is_waited_for(void **state)
{
    (void)state;
    _Atomic unsigned n = 0;
    pthread_t first, second;
    with_spares(4);
    starter_prepare();
    ps_store_release(&late, true);
    watchdog_arm();
    while (!ps_load_acquire(&is_late))
        usleep(1000);
    CHECK(pthread_create(&first, NULL, ask_once, &n) == 0);
    CHECK(pthread_create(&second, NULL, ask_once, &n) == 0);
    usleep(2500000);
    assert_int_equal(ps_load_relaxed(&n), 0);
    ps_store_release(&late, false);
    CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, NULL) == 0);
    assert_int_equal(ps_load_relaxed(&n), 2);
    CHECK(psthread_finalize() == 0);
}

static pthread_t between;
static _Atomic bool asks_too;
static void asks_in_handler(int number)
{
    (void)number;
    ps_store_release(&asks_too, true);
    ask_once(&begun);
}

static void *ask_meanwhile(void *arg)
{
    between = pthread_self();
    return ask_once(arg);
}

/* Of the same kernel thread, while the order is held. */
static void a_handler_may_ask_as_well(void **state)
{
    (void)state;
    pthread_t first;
    with_spares(4);
    starter_prepare();
    ps_store_relaxed(&begun, 0);
    CHECK(signal(SIGUSR1, asks_in_handler) != SIG_ERR);
    first = ask_and_hang(ask_meanwhile, &begun);
    CHECK(pthread_kill(between, SIGUSR1) == 0);
    usleep(50000);
    assert_false(ps_load_acquire(&asks_too));
    ps_store_release(&hangs, false);
    CHECK(pthread_join(first, NULL) == 0);
    assert_int_equal(ps_load_relaxed(&begun), 2);
    CHECK(psthread_finalize() == 0);
}

static void nobody_is_kept_by_a_callback(void **state)
{
    (void)state;
    _Atomic unsigned n = 0;
    os_thread thread;
    with_spares(4);
    starter_prepare();
    standby_ask(1);
    uint32_t entered = standby_enter((uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
    assert_int_equal(starter_ask(&thread, count_up, &n, 0), entered ? EBUSY : 0);
    if (!entered)
        os_thread_join(thread);
    standby_leave(entered);
    assert_int_equal(starter_ask(&thread, count_up, &n, 0), 0);
    os_thread_join(thread);
    CHECK(psthread_finalize() == 0);
}

/* Of a process in which somebody asks just then. */
static void a_child_has_its_own(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    _Atomic unsigned n = 0;
    pthread_t first;
    os_thread thread;
    with_spares(4);
    starter_prepare();
    first = ask_and_hang(ask_once, &n);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        ps_store_relaxed(&hangs, false);
        CHECK(starter_ask(&thread, count_up, &n, 0) == EBUSY);
        starter_prepare();
        CHECK(starter_ask(&thread, count_up, &n, 0) == 0);
        os_thread_join(thread);
        CHECK(ps_load_relaxed(&n) == 1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    ps_store_release(&hangs, false);
    CHECK(pthread_join(first, NULL) == 0);
    assert_int_equal(ps_load_relaxed(&n), 1);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_serves_where_no_watchdog_is),
        cmocka_unit_test(what_the_asker_has_set_is_its_own),
        cmocka_unit_test(each_is_done_once),
        cmocka_unit_test(a_refusal_is_told),
        cmocka_unit_test(asking_in_vain_ends),
        cmocka_unit_test(a_late_watchdog_is_waited_for),
        cmocka_unit_test(a_handler_may_ask_as_well),
        cmocka_unit_test(nobody_is_kept_by_a_callback),
        cmocka_unit_test(a_child_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
