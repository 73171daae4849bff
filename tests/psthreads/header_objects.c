/* The part of the header test (header_test.c) that has time, and the objects by which threads wait for each other. */
#define _GNU_SOURCE
#include "header_support.h"

#include <time.h>

/* --- time --- */

static uint64_t system_now(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static void the_clock_is_monotonic(void **state)
{
    (void)state;
    uint64_t before = system_now(), now = psthread_now();
    assert_in_range(now, before, system_now());
}

#if PS_CHECKED
#define HELD_BY_CALLER EDEADLK
#else
#define HELD_BY_CALLER ETIMEDOUT
#endif

/* What can be had is had, and what cannot is not waited for: 0 has long passed, and PSTHREAD_NEVER never does. */
static void deadlines_that_have_passed(void **state)
{
    (void)state;
    with(1);
    psthread_mutex_t mutex = PSTHREAD_MUTEX_INITIALIZER;
    psthread_cond_t cond = PSTHREAD_COND_INITIALIZER;
    psthread_sem_t sem;
    psthread_rwlock_t lock = PSTHREAD_RWLOCK_INITIALIZER;
    steps = 0;
    go(step, NULL);
    assert_int_equal(psthread_sem_init(&sem, 1), 0);
    assert_int_equal(psthread_mutex_timedlock(&mutex, 0), 0);
    assert_int_equal(psthread_sem_timedwait(&sem, 0), 0);
    assert_int_equal(psthread_sem_timedwait(&sem, 0), ETIMEDOUT);
    assert_int_equal(psthread_rwlock_timedrdlock(&lock, 0), 0);
    assert_int_equal(psthread_rwlock_timedwrlock(&lock, 0), ETIMEDOUT);
    assert_int_equal(psthread_rwlock_unlock(&lock), 0);
    assert_int_equal(psthread_rwlock_timedwrlock(&lock, 0), 0);
    assert_int_equal(psthread_rwlock_timedrdlock(&lock, 0), ETIMEDOUT);
    assert_int_equal(psthread_rwlock_unlock(&lock), 0);
    assert_int_equal(psthread_sleep(0), 0);
    assert_int_equal(steps, 0); /* no other thread has run: none of them has waited */
    assert_int_equal(psthread_cond_timedwait(&cond, &mutex, 0), ETIMEDOUT);
    assert_int_equal(psthread_mutex_trylock(&mutex), EBUSY); /* held again */
    assert_int_equal(psthread_mutex_timedlock(&mutex, psthread_now() + MS), HELD_BY_CALLER);
    assert_int_equal(psthread_mutex_unlock(&mutex), 0);
    assert_int_equal(psthread_mutex_timedlock(&mutex, PSTHREAD_NEVER), 0);
    assert_int_equal(psthread_mutex_unlock(&mutex), 0);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

/* The kernel shows a thread for a moment longer than its joiner waits. */
static bool none_is_left(const char *name)
{
    for (int i = 0; kernel_threads(name) != 0; i++)
        if (i == 5000 || usleep(1000) != 0)
            return false;
    return true;
}

static void the_first_deadline_starts_the_clocks_thread(void **state)
{
    (void)state;
    assert_true(none_is_left("psthreads-io")); /* of an earlier test */
    with(1);
    assert_int_equal(psthread_join(go(nothing, NULL), NULL), 0);
    assert_int_equal(kernel_threads("psthreads-io"), 0);
    uint64_t until = psthread_now() + MS;
    steps = 0;
    go(step, NULL);
    assert_int_equal(psthread_sleep(until), 0);
    assert_true(psthread_now() >= until);
    assert_int_equal(steps, 1); /* it has blocked */
    assert_int_equal(kernel_threads("psthreads-io"), 1);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

/* --- barrier --- */

enum { MEMBERS = 5 };
static psthread_barrier_t barrier;
static int serials, arrived;
static void *meets(void *arg)
{
    arrived++;
    int answer = psthread_barrier_wait(barrier, (unsigned)(uintptr_t)arg);
    CHECK(arrived == MEMBERS && (answer == 0 || answer == PSTHREAD_BARRIER_SERIAL));
    serials += answer == PSTHREAD_BARRIER_SERIAL;
    return NULL;
}
static void barriers(void **state)
{
    (void)state;
    with(1);
    assert_int_equal(psthread_barrier_init(&barrier, 0), EINVAL);
    assert_int_equal(psthread_barrier_init(&barrier, MEMBERS), 0);
    assert_int_equal(psthread_barrier_wait(barrier, MEMBERS), EINVAL);
    serials = arrived = 0;
    for (uintptr_t i = 1; i < MEMBERS; i++)
        go(meets, (void *)i);
    let_run();
    assert_int_equal(psthread_barrier_destroy(barrier), EBUSY);
    meets(NULL);
    assert_int_equal(psthread_waitall(), 0);
    assert_int_equal(serials, 1);
    assert_int_equal(psthread_barrier_destroy(barrier), 0);
    done();
}

/* --- mutex, spin lock, condition variable, once --- */

static void mutexes(void **state)
{
    (void)state;
    with(1);
    psthread_mutex_t mutex; /* all zero: initialised */
    memset(&mutex, 0, sizeof mutex);
    assert_int_equal(psthread_mutex_lock(&mutex), 0);
    assert_int_equal(psthread_mutex_trylock(&mutex), EBUSY);
    assert_int_equal(psthread_mutex_destroy(&mutex), EBUSY);
    assert_int_equal(psthread_mutex_unlock(&mutex), 0);
    assert_int_equal(psthread_mutex_trylock(&mutex), 0);
    assert_int_equal(psthread_mutex_unlock(&mutex), 0);
    assert_int_equal(psthread_mutex_destroy(&mutex), 0);
    psthread_spin_t spin = PSTHREAD_SPIN_INITIALIZER;
    assert_int_equal(psthread_spin_lock(&spin), 0);
    assert_int_equal(psthread_spin_trylock(&spin), EBUSY);
    assert_int_equal(psthread_spin_unlock(&spin), 0);
    assert_int_equal(psthread_spin_trylock(&spin), 0);
    assert_int_equal(psthread_spin_unlock(&spin), 0);
    assert_int_equal(psthread_spin_init(&spin), 0);
    done();
}

static psthread_mutex_t shared_mutex;
static psthread_cond_t cond;
static void *waits_for_signal(void *arg)
{
    CHECK(psthread_mutex_lock(&shared_mutex) == 0);
    CHECK(psthread_cond_wait(&cond, &shared_mutex) == 0);
    CHECK(psthread_mutex_trylock(&shared_mutex) == EBUSY); /* the caller holds it again */
    steps++;
    CHECK(psthread_mutex_unlock(&shared_mutex) == 0);
    return arg;
}
static void *waits_until_a_moment(void *arg)
{
    CHECK(psthread_mutex_lock(&shared_mutex) == 0);
    CHECK(psthread_cond_timedwait(&cond, &shared_mutex, psthread_now() + 3600000 * MS) == 0);
    CHECK(psthread_mutex_unlock(&shared_mutex) == 0);
    return arg;
}
static void conditions(void **state)
{
    (void)state;
    with(1);
    memset(&cond, 0, sizeof cond);
    memset(&shared_mutex, 0, sizeof shared_mutex);
    steps = 0;
    for (int i = 0; i < 3; i++)
        go(waits_for_signal, NULL);
    let_run();
    assert_int_equal(psthread_cond_destroy(&cond), EBUSY);
    assert_int_equal(psthread_cond_signal(&cond), 0);
    let_run();
    assert_int_equal(steps, 1);
    assert_int_equal(psthread_cond_broadcast(&cond), 0);
    let_run();
    assert_int_equal(steps, 3);
    assert_int_equal(psthread_waitall(), 0);
    assert_int_equal(psthread_mutex_lock(&shared_mutex), 0);
    assert_int_equal(psthread_cond_timedwait(&cond, &shared_mutex, psthread_now() + MS), ETIMEDOUT);
    assert_int_equal(psthread_mutex_unlock(&shared_mutex), 0);
    assert_int_equal(psthread_cond_destroy(&cond), 0);
    psthread_t t = go(waits_until_a_moment, NULL);
    let_run();
    assert_int_equal(psthread_cond_destroy(&cond), EBUSY);
    assert_int_equal(psthread_cond_signal(&cond), 0);
    assert_int_equal(psthread_cond_destroy(&cond), 0);
    assert_int_equal(psthread_join(t, NULL), 0);
    done();
}

static psthread_once_t once_word;
static int once_runs;
static void leaves_at_first(void)
{
    psthread_yield();
    if (once_runs++ == 0)
        psthread_exit(NULL);
}
static void *calls_once(void *arg)
{
    CHECK(psthread_once(&once_word, leaves_at_first) == 0);
    CHECK(once_runs == 2);
    steps++;
    return arg;
}
static void once_is_run_by_another_where_it_was_left(void **state)
{
    (void)state;
    with(1);
    memset(&once_word, 0, sizeof once_word);
    once_runs = steps = 0;
    for (int i = 0; i < 5; i++)
        go(calls_once, NULL);
    assert_int_equal(psthread_waitall(), 0);
    assert_int_equal(once_runs, 2);
    assert_int_equal(steps, 4);
    done();
}

/* --- semaphore, read-write lock --- */

static void semaphores(void **state)
{
    (void)state;
    with(1);
    unsigned value = 7;
    assert_int_equal(psthread_sem_init(&gate, PSTHREAD_SEM_VALUE_MAX + 1u), EINVAL);
    assert_int_equal(psthread_sem_init(&gate, PSTHREAD_SEM_VALUE_MAX), 0);
    assert_int_equal(psthread_sem_post(&gate), EOVERFLOW);
    memset(&gate, 0, sizeof gate); /* as a static initialiser has it */
    assert_int_equal(psthread_sem_trywait(&gate), EAGAIN);
    assert_int_equal(psthread_sem_timedwait(&gate, psthread_now() + MS), ETIMEDOUT);
    steps = 0;
    psthread_t t = go(waits_at_gate, NULL);
    let_run();
    assert_int_equal(psthread_tryjoin(t, NULL), EBUSY); /* it waits while the value is 0 */
    assert_int_equal(psthread_sem_destroy(&gate), EBUSY);
    assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_sem_getvalue(&gate, &value), 0);
    assert_int_equal(value, 1);
    assert_int_equal(psthread_sem_trywait(&gate), 0);
    assert_int_equal(psthread_sem_destroy(&gate), 0);
    done();
}

static psthread_rwlock_t rwlock;
static char order[16];
static void *writes(void *arg)
{
    CHECK(psthread_rwlock_wrlock(&rwlock) == 0);
    order[steps++] = 'w';
    CHECK(psthread_rwlock_unlock(&rwlock) == 0);
    return arg;
}
static void *reads(void *arg)
{
    CHECK(psthread_rwlock_rdlock(&rwlock) == 0);
    order[steps++] = 'r';
    CHECK(psthread_rwlock_unlock(&rwlock) == 0);
    return arg;
}
static void read_write_locks(void **state)
{
    (void)state;
    with(1);
    memset(&rwlock, 0, sizeof rwlock);
    steps = 0;
    assert_int_equal(psthread_rwlock_unlock(&rwlock), EPERM);
    assert_int_equal(psthread_rwlock_rdlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_tryrdlock(&rwlock), 0); /* many readers */
    assert_int_equal(psthread_rwlock_trywrlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_destroy(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_timedwrlock(&rwlock, psthread_now() + MS), ETIMEDOUT);
    go(writes, NULL);
    let_run();
    go(reads, NULL);
    let_run();
    assert_int_equal(steps, 0); /* the writer waits for us, the reader that came behind it for the writer */
    assert_int_equal(psthread_rwlock_tryrdlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_timedrdlock(&rwlock, psthread_now() + MS), ETIMEDOUT);
    assert_int_equal(psthread_rwlock_unlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_unlock(&rwlock), 0);
    assert_int_equal(psthread_waitall(), 0);
    assert_memory_equal(order, "wr", 2);
    assert_int_equal(psthread_rwlock_wrlock(&rwlock), 0); /* or one writer */
    assert_int_equal(psthread_rwlock_trywrlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_tryrdlock(&rwlock), EBUSY);
    assert_int_equal(psthread_rwlock_unlock(&rwlock), 0);
    assert_int_equal(psthread_rwlock_destroy(&rwlock), 0);
    const uint32_t most = (1u << 30) - 1; /* as if so many held it */
    memcpy(&rwlock, &most, sizeof most);
    assert_int_equal(psthread_rwlock_rdlock(&rwlock), EAGAIN);
    done();
}

/* --- keys --- */

static psthread_key_t key;
static void *sets_key(void *arg)
{
    CHECK(psthread_getspecific(key) == NULL);
    CHECK(psthread_setspecific(key, arg) == 0 && psthread_getspecific(key) == arg);
    return NULL;
}
static void keys(void **state)
{
    (void)state;
    with(1);
    psthread_key_t all[PSTHREAD_KEYS_MAX], more;
    unsigned n = 0;
    while (n < PSTHREAD_KEYS_MAX && psthread_key_create(&all[n], NULL) == 0)
        n++;
    assert_int_equal(n, PSTHREAD_KEYS_MAX);
    assert_int_equal(psthread_key_create(&more, NULL), EAGAIN);
    while (n)
        assert_int_equal(psthread_key_delete(all[--n]), 0);
    assert_int_equal(psthread_key_delete(all[0]), EINVAL);
    assert_int_equal(psthread_key_delete(PSTHREAD_KEYS_MAX), EINVAL);
    assert_int_equal(psthread_setspecific(all[0], &more), EINVAL);
    destroyed = 0;
    assert_int_equal(psthread_key_create(&key, destroy), 0);
    assert_int_equal(psthread_join(go(sets_key, &more), NULL), 0);
    assert_int_equal(destroyed, 1);
    assert_int_equal(psthread_join(go(sets_key, NULL), NULL), 0); /* NULL: the destructor is not called */
    assert_int_equal(destroyed, 1);
    assert_int_equal(psthread_key_delete(key), 0);
    done();
}

/* --- monitor --- */

static psthread_monitor_t monitor;
static int inside;
static void *visits_monitor(void *arg)
{
    CHECK(psthread_monitor_enter(&monitor) == 0);
    CHECK(inside++ == 0);
    psthread_yield();
    inside--;
    steps++;
    CHECK(psthread_monitor_wait(&monitor) == 0);
    CHECK(inside++ == 0); /* it has entered again */
    psthread_yield();
    inside--;
    steps++;
    CHECK(psthread_monitor_leave(&monitor) == 0);
    return arg;
}
static void monitors(void **state)
{
    (void)state;
    with(1);
    memset(&monitor, 0, sizeof monitor);
    steps = inside = 0;
    for (int i = 0; i < 3; i++)
        go(visits_monitor, NULL);
    let_run();
    assert_int_equal(steps, 3); /* each has left it to wait inside */
    assert_int_equal(psthread_monitor_destroy(&monitor), EBUSY);
    assert_int_equal(psthread_monitor_enter(&monitor), 0);
    assert_int_equal(psthread_monitor_notify(&monitor), 0);
    let_run();
    assert_int_equal(steps, 3); /* the one that was notified waits to enter */
    assert_int_equal(psthread_monitor_leave(&monitor), 0);
    let_run();
    assert_int_equal(steps, 4);
    assert_int_equal(psthread_monitor_enter(&monitor), 0);
    assert_int_equal(psthread_monitor_notify_all(&monitor), 0);
    assert_int_equal(psthread_monitor_leave(&monitor), 0);
    assert_int_equal(psthread_waitall(), 0);
    assert_int_equal(steps, 6);
    assert_int_equal(psthread_monitor_destroy(&monitor), 0);
    done();
}

/* --- work-queue --- */

static psthread_workqueue_t queue;
static void piece(void *arg)
{
    steps++;
    if (arg)
        CHECK(psthread_workqueue_add(queue, piece, NULL, 0) == 0); /* what that added is waited for too */
}
static void piece_that_waits(void *arg)
{
    CHECK(psthread_workqueue_wait(queue) == EDEADLK);
    if (arg) /* with a stack: it may block */
        CHECK(psthread_sem_wait(arg) == 0);
    steps++;
}
static void piece_that_exits(void *arg)
{
    steps++;
    psthread_exit(arg);
}
static void work_queues(void **state)
{
    (void)state;
    with(1);
    steps = 0;
    assert_int_equal(psthread_sem_init(&gate, 0), 0);
    assert_int_equal(psthread_workqueue_init(&queue), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(psthread_workqueue_add(queue, piece, &queue, i & 1), 0);
    assert_int_equal(psthread_workqueue_add(queue, NULL, NULL, 0), EINVAL);
    assert_int_equal(steps, 0); /* adding does not block */
    assert_int_equal(psthread_workqueue_destroy(queue), EBUSY);
    assert_int_equal(psthread_workqueue_wait(queue), 0);
    assert_int_equal(steps, 8);
    assert_int_equal(psthread_workqueue_add(queue, piece_that_waits, &gate, 1), 0);
    let_run();
    assert_int_equal(steps, 8);
    assert_int_equal(psthread_workqueue_destroy(queue), EBUSY); /* work runs */
    assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_workqueue_add(queue, piece_that_waits, NULL, 0), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(psthread_workqueue_add(queue, piece_that_exits, NULL, i), 0);
    assert_int_equal(psthread_workqueue_wait(queue), 0);
    assert_int_equal(steps, 12);
    assert_int_equal(psthread_workqueue_destroy(queue), 0);
    done();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_clock_is_monotonic),
    cmocka_unit_test(deadlines_that_have_passed),
    cmocka_unit_test(the_first_deadline_starts_the_clocks_thread),
    cmocka_unit_test(barriers),
    cmocka_unit_test(mutexes),
    cmocka_unit_test(conditions),
    cmocka_unit_test(once_is_run_by_another_where_it_was_left),
    cmocka_unit_test(semaphores),
    cmocka_unit_test(read_write_locks),
    cmocka_unit_test(keys),
    cmocka_unit_test(monitors),
    cmocka_unit_test(work_queues),
};
const struct test_part header_objects = TEST_PART(tests);
