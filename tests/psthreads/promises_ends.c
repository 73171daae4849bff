/* The part of the promises test (promises_test.c) that forks, ends, and polls. */
#include "promises_support.h"

#include <poll.h>
#include <sys/prctl.h>

/* --- fork --- */

static _Atomic uint32_t stop;
static void *until_stopped(void *arg)
{
    while (!ps_load_acquire(&stop))
        psthread_yield();
    return arg;
}
static void *waits_for_ever(void *arg)
{
    psthread_mutex_lock(arg);
    psthread_mutex_unlock(arg);
    return NULL;
}

/* Uses everything anew, on every vp. */
static void use_all(unsigned vps)
{
    ps_store_relaxed(&counter, 0);
    for (unsigned i = 0; i < 100; i++)
        submit(count, NULL, (int)(i % vps));
    psthread_waitall();
    CHECK(ps_load_relaxed(&counter) == 100);
}
static void *runs_there(void *arg)
{
    ps_store_release((_Atomic uint32_t *)arg, 1 + psthread_vp_self());
    return NULL;
}

static void a_child_goes_on_alone(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    for (int busy = 0; busy < 2; busy++)
        for (unsigned vps = 1; vps <= 3; vps++) {
            with_vps(vps);
            use_all(vps);
            psthread_mutex_t mutex = PSTHREAD_MUTEX_INITIALIZER;
            psthread_mutex_lock(&mutex);
            ps_store_release(&stop, 0);
            for (unsigned i = 0; busy && i < vps; i++) {
                submit(until_stopped, NULL, (int)i);
                submit(waits_for_ever, &mutex, (int)i);
            }
            for (int i = 0; busy && i < 10; i++)
                psthread_yield();
            for (int how = 0; how < 2; how++) {
                pid_t child = fork();
                if (child == 0) {
                    if (how)
                        psthread_waitall(); /* the parent's threads are not here */
                    use_all(vps);
                    if (vps > 1) { /* other vps have kernel threads again */
                        _Atomic uint32_t where = 0;
                        submit(runs_there, &where, 1);
                        while (!ps_load_acquire(&where))
                            usleep(100);
                        CHECK(ps_load_relaxed(&where) > 1); /* or the third one took it */
                        psthread_waitall();
                    }
                    CHECK(psthread_finalize() == 0);
                    with_vps(vps);
                    use_all(vps);
                    CHECK(psthread_finalize() == 0);
                    _exit(7);
                }
                assert_int_equal(status_of(child), 7);
            }
            ps_store_release(&stop, 1);
            psthread_mutex_unlock(&mutex);
            psthread_waitall();
            done();
        }
}

static pid_t forked;
static void *forks_and_returns(void *arg)
{
    pid_t child = fork();
    if (child == 0) {
        use_all(2);
        return arg; /* the process's last thread: it ends with status 0 */
    }
    forked = child;
    return arg;
}

static void a_child_of_a_psthread_ends_with_it(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    for (int where = 0; where < 2; where++) {
        with_vps(2);
        forked = 0;
        psthread_t t = submit(forks_and_returns, NULL, where);
        assert_int_equal(psthread_join(t, NULL), 0);
        assert_int_equal(status_of(forked), 0);
        done();
    }
}

static void *foreign_forks(void *arg)
{
    use_all(1);
    pid_t child = fork();
    if (child == 0) {
        use_all(2);
        CHECK(psthread_finalize() == 0); /* it is the only kernel thread */
        _exit(9);
    }
    *(int *)arg = status_of(child);
    return NULL;
}
static void a_child_of_a_foreign_thread_may_stop_the_library(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    with_vps(2);
    int status = 0;
    pthread_t p;
    pthread_create(&p, NULL, foreign_forks, &status);
    pthread_join(p, NULL);
    assert_int_equal(status, 9);
    done();
}

/* --- the end of main --- */

/* In a child of fork? The kernel has to clear a word when a thread ends, and musl's lock of its list of threads is that
 * word. musl 1.2.3 does not tell the kernel so in a child. The child's main thread leaves the list locked when it ends,
 * and the next pthread_create waits for ever, in a program of plain pthreads too. */
static bool main_can_end(void)
{
    pid_t child = fork();
    if (child == 0) {
        int *cleared;
        _exit(prctl(PR_GET_TID_ADDRESS, &cleared) == 0 && !cleared);
    }
    return status_of(child) == 0;
}

_Atomic unsigned *shared;
static void *counts_late(void *arg)
{
    for (int i = 0; i < 50; i++) {
        psthread_yield();
        usleep(200);
    }
    ps_add_relaxed(shared, 1);
    return arg;
}
static void *leaves_a_detached_one(void *arg)
{
    const psthread_attr_t detached = {.flags = PSTHREAD_ATTR_DETACHED};
    psthread_t t;
    CHECK(psthread_create(&t, &detached, counts_late, arg) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    return NULL;
}
static void *foreign_uses(void *arg)
{
    usleep(20000);
    submit(leaves_a_detached_one, NULL, PSTHREAD_VP_ANY);
    psthread_waitall();
    return arg;
}

static void main_may_end_first(void **state)
{
    (void)state;
    if (PS_TSAN || !main_can_end()) /* TSan: a forked child may have no second thread there */
        skip();
    for (int how = 0; how < 8; how++) {
        ps_store_relaxed(shared, 0);
        pid_t child = fork();
        if (child == 0) {
            alarm(100);
            pthread_t p;
            if (how & 2) {
                with_vps(how & 1 ? 1 : 3);
                for (int i = 0; i < 3; i++)
                    submit(leaves_a_detached_one, NULL, PSTHREAD_VP_ANY);
            }
            if (how & 4)
                pthread_create(&p, NULL, foreign_uses, NULL);
            if (how & 1)
                psthread_exit(NULL);
            pthread_exit(NULL);
        }
        assert_int_equal(status_of(child), 0);
        assert_int_equal(ps_load_relaxed(shared), (how & 2 ? 3 : 0) + (how & 4 ? 1 : 0));
    }
}

static void who_was_not_enqueued_does_not_keep_main(void **state)
{
    (void)state;
    if (PS_TSAN || !main_can_end()) /* TSan: a forked child may have no second thread there */
        skip();
    for (int how = 0; how < 4; how++) {
        ps_store_relaxed(shared, 0);
        pid_t child = fork();
        if (child == 0) {
            alarm(100);
            with_vps(how & 1 ? 1 : 3);
            make(nothing, NULL);
            submit(leaves_a_detached_one, NULL, PSTHREAD_VP_ANY);
            if (how & 2)
                psthread_exit(NULL);
            pthread_exit(NULL);
        }
        assert_int_equal(status_of(child), 0);
        assert_int_equal(ps_load_relaxed(shared), 1);
    }
}

/* --- a destructor that ends --- */

static psthread_key_t ending_key, other_key;
static _Atomic unsigned ended_early, ended_late;
static void exits(void *value)
{
    ps_add_relaxed(&ended_early, 1);
    psthread_exit(value);
}
static void returns(void *value)
{
    (void)value;
    ps_add_relaxed(&ended_late, 1);
}
static void *has_ending_values(void *arg)
{
    CHECK(psthread_setspecific(ending_key, &ending_key) == 0 && psthread_setspecific(other_key, &other_key) == 0);
    if ((uintptr_t)arg % 2)
        psthread_exit(arg);
    return arg;
}

/* However the thread runs: on a stack of its own, as a call of its joiner, at once, as a foreign one. */
static void destructors_may_exit(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        with_vps(vps);
        CHECK(psthread_key_create(&ending_key, exits) == 0 && psthread_key_create(&other_key, returns) == 0);
        ps_store_relaxed(&ended_early, 0);
        ps_store_relaxed(&ended_late, 0);
        for (uintptr_t i = 0; i < 40; i++) {
            psthread_t t;
            void *result = NULL;
            if (i % 4 < 2)
                t = submit(has_ending_values, (void *)i, PSTHREAD_VP_ANY);
            else
                CHECK(psthread_spawn(&t, NULL, has_ending_values, (void *)i) == 0);
            if (i % 8 < 4)
                while (psthread_tryjoin(t, &result) == EBUSY)
                    psthread_yield();
            else
                CHECK(psthread_join(t, &result) == 0);
            assert_ptr_equal(result, (void *)i);
        }
        pthread_t foreign;
        void *result;
        CHECK(pthread_create(&foreign, NULL, has_ending_values, (void *)2) == 0);
        CHECK(pthread_join(foreign, &result) == 0 && result == (void *)2);
        assert_int_equal(ps_load_relaxed(&ended_early), 41);
        assert_int_equal(ps_load_relaxed(&ended_late), 41);
        CHECK(psthread_key_delete(ending_key) == 0 && psthread_key_delete(other_key) == 0);
        done();
    }
}

/* --- polling --- */

static psthread_sem_t polled_sem;
static psthread_rwlock_t polled_lock = PSTHREAD_RWLOCK_INITIALIZER;
static psthread_mutex_t polled_mutex = PSTHREAD_MUTEX_INITIALIZER;
static psthread_t polled_thread;
static int polled_pipe[2];
static _Atomic bool polled_word;

static bool polls_sem(void) { return psthread_sem_trywait(&polled_sem) == 0; }
static bool polls_sem_late(void) { return psthread_sem_timedwait(&polled_sem, 0) == 0; }
static bool polls_read_lock(void) { return psthread_rwlock_tryrdlock(&polled_lock) == 0; }
static bool polls_write_lock(void) { return psthread_rwlock_trywrlock(&polled_lock) == 0; }
static bool polls_read_lock_late(void) { return psthread_rwlock_timedrdlock(&polled_lock, 1) == 0; }
static bool polls_write_lock_late(void) { return psthread_rwlock_timedwrlock(&polled_lock, 1) == 0; }
static bool polls_mutex_late(void) { return psthread_mutex_timedlock(&polled_mutex, 0) == 0; }
static bool polls_thread(void) { return psthread_tryjoin(polled_thread, NULL) == 0; }
static bool polls_thread_late(void) { return psthread_timedjoin(polled_thread, NULL, 1) == 0; }
static bool polls_pipe(void)
{
    struct pollfd at = {.fd = polled_pipe[0], .events = POLLIN};
    return psthread_poll(&at, 1, 0) == 1;
}
static bool polls_sleep(void)
{
    psthread_sleep(0);
    return ps_load_relaxed(&polled_word);
}

static _Atomic bool holds;

static void *releases(void *arg)
{
    CHECK(psthread_rwlock_wrlock(&polled_lock) == 0 && psthread_mutex_lock(&polled_mutex) == 0);
    ps_store_relaxed(&holds, true);
    psthread_yield(); /* behind the one that polls, which has the only vp */
    ps_store_relaxed(&polled_word, true);
    CHECK(psthread_sem_post(&polled_sem) == 0);
    CHECK(write(polled_pipe[1], "x", 1) == 1);
    CHECK(psthread_rwlock_unlock(&polled_lock) == 0 && psthread_mutex_unlock(&polled_mutex) == 0);
    return arg;
}
static void *polls(void *arg)
{
    bool (*got)(void) = *(bool (**)(void))arg;
    psthread_t releaser = make(releases, NULL);
    polled_thread = releaser;
    CHECK(psthread_sem_init(&polled_sem, 0) == 0);
    ps_store_relaxed(&polled_word, false);
    ps_store_relaxed(&holds, false);
    CHECK(psthread_enqueue(releaser, 0) == 0);
    while (!ps_load_relaxed(&holds))
        psthread_yield();
    while (!got())
        continue;
    return NULL;
}

static void who_polls_gives_way(void **state)
{
    (void)state;
    static bool (*const ways[])(void) = {polls_sem,        polls_sem_late,       polls_read_lock,
                                         polls_write_lock, polls_read_lock_late, polls_write_lock_late,
                                         polls_mutex_late, polls_thread,         polls_thread_late,
                                         polls_pipe,       polls_sleep};
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        psthread_config_t config = {.num_vps = 1, .max_spares = PSTHREAD_NO_SPARES};
        CHECK(psthread_init(&config) == 0);
        CHECK(pipe(polled_pipe) == 0);
        CHECK(psthread_rwlock_init(&polled_lock) == 0 && psthread_mutex_init(&polled_mutex) == 0);
        submit(polls, (void *)(uintptr_t)&ways[i], 0);
        psthread_waitall();
        close(polled_pipe[0]);
        close(polled_pipe[1]);
        done();
    }
}

/* --- many that have begun --- */

#if PS_ASAN || PS_TSAN
enum { BEGUN = 2000 };
#else
enum { BEGUN = 200000 };
#endif
static psthread_mutex_t gate = PSTHREAD_MUTEX_INITIALIZER;
static psthread_cond_t opened = PSTHREAD_COND_INITIALIZER;
static bool gate_open;
static void *waits_at_gate(void *arg)
{
    volatile char room[100] = {1};
    ps_add_relaxed(&counter, 1);
    psthread_mutex_lock(&gate);
    while (!gate_open)
        psthread_cond_wait(&opened, &gate);
    psthread_mutex_unlock(&gate);
    return room[0] ? arg : NULL;
}

/* On kernels where a guard costs two mappings fewer fit, and the limit is the kernel's. */
static void many_may_have_begun(void **state)
{
    (void)state;
    if (os_stack_mappings() != 0)
        skip();
    for (unsigned vps = 1; vps <= 2; vps++) {
        psthread_config_t config = {.num_vps = vps, .stack_size = PSTHREAD_STACK_MIN};
        CHECK(psthread_init(&config) == 0);
        ps_store_relaxed(&counter, 0);
        gate_open = false;
        const psthread_attr_t detached = {.flags = PSTHREAD_ATTR_DETACHED};
        for (int i = 0; i < BEGUN / (int)vps; i++) {
            psthread_t t;
            CHECK(psthread_create(&t, &detached, waits_at_gate, NULL) == 0);
            CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
        }
        while (ps_load_relaxed(&counter) < (unsigned)BEGUN / vps)
            psthread_yield();
        psthread_mutex_lock(&gate);
        gate_open = true;
        psthread_cond_broadcast(&opened);
        psthread_mutex_unlock(&gate);
        psthread_waitall();
        done();
    }
}

/* A child that a thread has forked ends with exit on that thread's stack: the leak checker looks there, and not at
 * main's. */
int __lsan_is_turned_off(void) __attribute__((visibility("default")));
int __lsan_is_turned_off(void) { return 1; }

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_child_goes_on_alone),
    cmocka_unit_test(a_child_of_a_psthread_ends_with_it),
    cmocka_unit_test(a_child_of_a_foreign_thread_may_stop_the_library),
    cmocka_unit_test(main_may_end_first),
    cmocka_unit_test(who_was_not_enqueued_does_not_keep_main),
    cmocka_unit_test(destructors_may_exit),
    cmocka_unit_test(who_polls_gives_way),
    cmocka_unit_test(many_may_have_begun),
};
const struct test_part promises_ends = TEST_PART(tests);
