/* What psthread.h says, sentence by sentence, as a program sees it: through that header alone. sentences.txt beside
 * this file names for each sentence the test that would fail if it were not so, here or in another file. Mostly on one
 * vp without help: there a thread runs until it waits, so orders can be asserted. */
#define _GNU_SOURCE
#include "psthread.h"
#define CHECK_END() abort() /* cmocka's own checks would jump out of the test, off the thread's stack */
#include "../check.h"

#include "cpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void with(unsigned vps)
{
    psthread_config_t config = {.num_vps = vps, .max_spares = PSTHREAD_NO_SPARES};
    assert_int_equal(psthread_init(&config), 0);
}
static void done(void) { assert_int_equal(psthread_finalize(), 0); }

static psthread_t make(void *(*fn)(void *), void *arg)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    return t;
}
static psthread_t go(void *(*fn)(void *), void *arg)
{
    psthread_t t = make(fn, arg);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    return t;
}
/* The others run until they wait. Each yield of main's runs one of them. */
static void let_run(void)
{
    for (int i = 0; i < 250; i++)
        psthread_yield();
}
static void *nothing(void *arg) { return arg; }
static int steps;
static void *step(void *arg)
{
    steps++;
    return arg;
}

/* --- the header's beginning --- */

static int at_work;
static void *works_alone(void *arg)
{
    for (int round = 0; round < 20; round++) {
        CHECK(at_work++ == 0);
        for (volatile int i = 0; i < 10000; i++)
            continue;
        CHECK(--at_work == 0);
        psthread_yield();
    }
    return arg;
}
static void a_thread_runs_until_it_waits(void **state)
{
    (void)state;
    with(1);
    for (int i = 0; i < 10; i++)
        go(works_alone, NULL);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static unsigned kernel_threads(const char *name)
{
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char path[300], text[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (!f)
            continue;
        if (fgets(text, sizeof text, f)) { /* else it has ended meanwhile */
            text[strcspn(text, "\n")] = '\0';
            n += !name || strcmp(text, name) == 0;
        }
        fclose(f);
    }
    closedir(folder);
    return n;
}

/* The kernel shows a thread for a moment longer than its joiner waits. */
static bool none_is_left(const char *name)
{
    for (int i = 0; kernel_threads(name) != 0; i++)
        if (i == 5000 || usleep(1000) != 0)
            return false;
    return true;
}

static psthread_sem_t gate;
static void *waits_at_gate(void *arg)
{
    steps++;
    CHECK(psthread_sem_wait(&gate) == 0);
    return arg;
}
static void blocked_threads_hold_no_kernel_thread(void **state)
{
    (void)state;
    if (CPU_CARRIES_TLS) /* a port whose contexts are kernel threads */
        skip();
    with(1);
    assert_int_equal(psthread_sem_init(&gate, 0), 0);
    steps = 0;
    unsigned before = kernel_threads(NULL);
    for (int i = 0; i < 100; i++)
        go(waits_at_gate, NULL);
    let_run();
    assert_int_equal(steps, 100);                    /* the vp of one that waits runs the others */
    assert_true(kernel_threads(NULL) < before + 50); /* some spares may have come */
    for (int i = 0; i < 100; i++)
        assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static psthread_mutex_t shared_mutex;
static void *foreign_calls(void *arg)
{
    CHECK(psthread_level() == 0);
    CHECK(psthread_mutex_lock(&shared_mutex) == 0); /* blocks: main holds it */
    CHECK(psthread_mutex_unlock(&shared_mutex) == 0);
    CHECK(psthread_join(go(nothing, arg), &arg) == 0);
    return arg;
}
static void every_kernel_thread_may_call(void **state)
{
    (void)state;
    with(2);
    pthread_t p[3];
    void *result;
    assert_int_equal(psthread_mutex_init(&shared_mutex), 0);
    assert_int_equal(psthread_mutex_lock(&shared_mutex), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&p[i], NULL, foreign_calls, &shared_mutex), 0);
    usleep(2000);
    assert_int_equal(psthread_mutex_unlock(&shared_mutex), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(p[i], &result);
        assert_ptr_equal(result, &shared_mutex);
    }
    done();
}

/* --- starting and stopping --- */

static void defaults_come_from_the_environment(void **state)
{
    (void)state;
    assert_int_equal(setenv("PSTHREADS_NUM_VPS", "3", 1), 0);
    assert_int_equal(psthread_init(NULL), 0);
    assert_int_equal(psthread_num_vps(), 3);
    assert_int_equal(psthread_init(NULL), EBUSY);
    done();
    assert_int_equal(unsetenv("PSTHREADS_NUM_VPS"), 0);
    /* The first other call starts it; the mask and a quota may make it less. */
    assert_in_range(psthread_num_vps(), 1, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(psthread_init(NULL), EBUSY);
    done();
}

static void *finalizes(void *arg)
{
    CHECK(psthread_finalize() == EPERM);
    return arg;
}
static void only_the_starter_may_finalize(void **state)
{
    (void)state;
    assert_int_equal(psthread_finalize(), EPERM); /* it does not run */
    with(2);
    assert_int_equal(psthread_join(go(finalizes, NULL), NULL), 0);
    pthread_t p;
    assert_int_equal(pthread_create(&p, NULL, finalizes, NULL), 0);
    pthread_join(p, NULL);
    done();
    assert_int_equal(psthread_finalize(), EPERM);
}

static psthread_key_t key;
static int destroyed;
static void destroy(void *value)
{
    CHECK(value != NULL);
    destroyed++;
}
static void *leaves(void *arg)
{
    steps = 0;
    CHECK(psthread_setspecific(key, arg) == 0);
    go(step, NULL);
    CHECK(psthread_detach_self() == 0);
    CHECK(steps == 1 && destroyed == 1);      /* it has waited, and the value is gone */
    CHECK(psthread_getspecific(key) == NULL); /* it is a thread of the library again, a new one */
    CHECK(psthread_detach_self() == 0 && destroyed == 1);
    return arg;
}
static void who_leaves_waits_and_runs_destructors(void **state)
{
    (void)state;
    with(1);
    destroyed = 0;
    assert_int_equal(psthread_key_create(&key, destroy), 0);
    pthread_t p;
    assert_int_equal(pthread_create(&p, NULL, leaves, &key), 0);
    pthread_join(p, NULL);
    assert_int_equal(psthread_key_delete(key), 0);
    done();
}

static void *says_its_vp(void *arg)
{
    *(unsigned *)arg = psthread_vp_self();
    return NULL;
}
static void vps_are_numbered(void **state)
{
    (void)state;
    with(3);
    assert_int_equal(psthread_num_vps(), 3);
    assert_int_equal(psthread_vp_self(), 0);
    for (int i = 0; i < 20; i++) {
        unsigned vp = 77;
        psthread_t t = make(says_its_vp, &vp);
        assert_int_equal(psthread_enqueue(t, i % 3), 0);
        assert_int_equal(psthread_join(t, NULL), 0);
        assert_in_range(vp, 0, 2);
    }
    done();
}

/* --- threads --- */

static void creating_is_not_submitting(void **state)
{
    (void)state;
    with(1);
    steps = 0;
    psthread_t other = go(step, NULL), t = make(step, &steps);
    assert_int_equal(steps, 0); /* psthread_create has not blocked: the other one would have run */
    assert_int_equal(psthread_join(other, NULL), 0);
    let_run();
    assert_int_equal(steps, 1);
    assert_int_equal(psthread_tryjoin(t, NULL), EBUSY);
    assert_int_equal(psthread_enqueue(t, 0), 0);
    void *result = NULL;
    assert_int_equal(psthread_join(t, &result), 0);
    assert_ptr_equal(result, &steps);
    assert_int_equal(steps, 2);
    done();
}

static void *joins(void *t)
{
    CHECK(psthread_join(t, NULL) == 0);
    return NULL;
}
static void joins_are_answered(void **state)
{
    (void)state;
    with(1);
    assert_int_equal(psthread_sem_init(&gate, 0), 0);
    assert_int_equal(psthread_join(psthread_self(), NULL), EDEADLK);
    psthread_t t = go(waits_at_gate, NULL);
    let_run();
    assert_int_equal(psthread_tryjoin(t, NULL), EBUSY);
    assert_int_equal(psthread_timedjoin(t, NULL, psthread_now() + MS), ETIMEDOUT);
    psthread_t joiner = go(joins, t); /* after ETIMEDOUT it may be joined still */
    let_run();
    assert_int_equal(psthread_join(t, NULL), EINVAL);
    assert_int_equal(psthread_timedjoin(t, NULL, psthread_now() + MS), EINVAL);
    assert_int_equal(psthread_detach(t), EINVAL);
    assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_join(joiner, NULL), 0);
    /* Ended and joined before, while its descriptor is kept. */
    assert_int_equal(psthread_join(joiner, NULL), ESRCH);
    assert_int_equal(psthread_detach(joiner), ESRCH);
    psthread_t ended = go(nothing, &gate);
    let_run();
    void *result = NULL;
    assert_int_equal(psthread_timedjoin(ended, &result, 0), 0); /* passed: it tries, and need not wait */
    assert_ptr_equal(result, &gate);
    const psthread_attr_t detached = {.flags = PSTHREAD_ATTR_DETACHED};
    assert_int_equal(psthread_create(&t, &detached, waits_at_gate, NULL), 0);
    assert_int_equal(psthread_join(t, NULL), EINVAL);
    assert_int_equal(psthread_enqueue(t, 0), 0);
    psthread_t late = go(waits_at_gate, NULL);
    assert_int_equal(psthread_detach(late), 0);
    assert_int_equal(psthread_join(late, NULL), EINVAL);
    assert_int_equal(psthread_detach(late), EINVAL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static void descriptors_of_the_callers_are_used_again(void **state)
{
    (void)state;
    with(1);
    assert_int_equal(psthread_sem_init(&gate, 0), 0);
    psthread_t t = NULL;
    assert_int_equal(psthread_create_ex(&t, NULL, waits_at_gate, NULL), 0);
    const psthread_t first = t;
    assert_int_equal(psthread_enqueue(t, 0), 0);
    assert_int_equal(psthread_create_ex(&t, NULL, step, NULL), EBUSY);
    assert_int_equal(psthread_free(t), EBUSY);
    assert_int_equal(psthread_sem_post(&gate), 0);
    assert_int_equal(psthread_waitall(), 0); /* it waits for such threads, and the descriptor stays */
    steps = 0;
    assert_int_equal(psthread_create_ex(&t, NULL, step, NULL), 0);
    assert_ptr_equal(t, first);
    assert_int_equal(psthread_join(t, NULL), EINVAL);
    assert_int_equal(psthread_enqueue(t, 0), 0);
    assert_int_equal(psthread_waitall(), 0);
    assert_int_equal(steps, 1);
    assert_int_equal(psthread_free(t), 0);
    assert_int_equal(psthread_free(NULL), EINVAL);
    done();
}

static void places_of_submission(void **state)
{
    (void)state;
    with(2);
    psthread_t t = make(nothing, NULL);
    assert_int_equal(psthread_enqueue(t, 2), EINVAL);
    assert_int_equal(psthread_enqueue(t, -3), EINVAL);
    assert_int_equal(psthread_enqueue_at(t, 0, 2), EINVAL);
    assert_int_equal(psthread_enqueue(t, PSTHREAD_VP_GLOBAL), EINVAL); /* there is none */
    assert_int_equal(psthread_enqueue(t, 1), 0);
    assert_int_equal(psthread_enqueue(t, 1), EINVAL);
    assert_int_equal(psthread_join(t, NULL), 0);
    done();
    psthread_config_t config = {.num_vps = 2, .global_queue = 1};
    assert_int_equal(psthread_init(&config), 0);
    t = make(nothing, &t);
    assert_int_equal(psthread_enqueue(t, PSTHREAD_VP_GLOBAL), 0);
    void *result = NULL;
    assert_int_equal(psthread_join(t, &result), 0);
    assert_ptr_equal(result, &t);
    done();
}

static char order[16];
static void *notes(void *arg)
{
    order[steps++] = *(char *)arg;
    psthread_yield();
    order[steps++] = *(char *)arg;
    return NULL;
}
static void who_yields_goes_to_the_back(void **state)
{
    (void)state;
    with(1);
    steps = 0;
    go(notes, "a");
    go(notes, "b");
    go(notes, "c");
    assert_int_equal(psthread_waitall(), 0);
    assert_memory_equal(order, "abcabc", 6);
    steps = 0;
    go(notes, "d");
    go(notes, "e");
    psthread_yield(); /* on a kernel thread of the program's: after one other */
    assert_memory_equal(order, "d", steps);
    assert_int_equal(steps, 1);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static void *takes_a_step(void *arg)
{
    steps++;
    return arg;
}
static void *polls_for_a_step(void *arg)
{
    while (!*(volatile int *)&steps)
        psthread_yield();
    return arg;
}
/* One vp: threads that poll, however many, let what is in the global queue run, and so does psthread_finalize where a
 * thread was made and not submitted. */
static void polling_lets_the_global_queue_run(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 1, .global_queue = 1, .max_spares = PSTHREAD_NO_SPARES};
    for (int pollers = 0; pollers < 4; pollers++) {
        assert_int_equal(psthread_init(&config), 0);
        steps = 0;
        for (int i = 1; i < pollers; i++)
            go(polls_for_a_step, NULL);
        assert_int_equal(psthread_enqueue(make(takes_a_step, NULL), PSTHREAD_VP_GLOBAL), 0);
        if (pollers == 0)
            make(nothing, NULL);
        else
            polls_for_a_step(NULL);
        done();
        assert_int_equal(steps, 1);
    }
}

static void *names_itself(void *arg)
{
    char name[PSTHREAD_NAME_MAX + 1], *longest = "0123456789012345678901234567890";
    CHECK(psthread_getname(name, sizeof name) == 0 && strcmp(name, "") == 0);
    CHECK(psthread_setname("short") == 0);
    CHECK(psthread_getname(name, 6) == 0 && strcmp(name, "short") == 0);
    CHECK(psthread_getname(name, 5) == ERANGE);
    CHECK(strlen(longest) == PSTHREAD_NAME_MAX && psthread_setname(longest) == 0);
    CHECK(psthread_getname(name, sizeof name) == 0 && strcmp(name, longest) == 0);
    CHECK(psthread_setname("0123456789012345678901234567890X") == ERANGE);
    CHECK(psthread_getname(name, sizeof name) == 0 && strcmp(name, longest) == 0); /* cut */
    return arg;
}
static void *inner_level(void *arg)
{
    CHECK(psthread_level() == 2);
    return arg;
}
static void *outer_level(void *arg)
{
    CHECK(psthread_level() == 1);
    CHECK(psthread_join(go(inner_level, NULL), NULL) == 0);
    return arg;
}
static void names_and_levels(void **state)
{
    (void)state;
    with(1);
    assert_int_equal(psthread_join(go(names_itself, NULL), NULL), 0);
    assert_int_equal(psthread_join(go(names_itself, NULL), NULL), 0); /* the next one on that stack has none either */
    assert_int_equal(psthread_level(), 0);
    assert_int_equal(psthread_join(go(outer_level, NULL), NULL), 0);
    done();
}

static void *ends_foreign(void *arg)
{
    psthread_self();
    psthread_exit(arg);
}
static void a_foreign_threads_exit_is_pthread_exit(void **state)
{
    (void)state;
    with(1);
    pthread_t p;
    void *result = NULL;
    assert_int_equal(pthread_create(&p, NULL, ends_foreign, &gate), 0);
    assert_int_equal(pthread_join(p, &result), 0);
    assert_ptr_equal(result, &gate);
    done();
}

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

/* --- file descriptors --- */

/* One descriptor; what happened is left in *happened. */
static int poll_one(int fd, short events, short *happened, uint64_t deadline_ns)
{
    struct pollfd at = {.fd = fd, .events = events, .revents = -1};
    int ready = psthread_poll(&at, 1, deadline_ns);
    *happened = at.revents;
    return ready;
}

static int pipe_ends[2];
static void *polls(void *arg)
{
    short happened;
    CHECK(poll_one(pipe_ends[0], POLLIN, &happened, PSTHREAD_NEVER) == 1 && happened == POLLIN);
    steps++;
    return arg;
}
static void descriptors_are_waited_for(void **state)
{
    (void)state;
    with(1);
    short happened;
    steps = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    psthread_t t = go(polls, NULL);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(poll_one(pipe_ends[0], POLLIN, &happened, psthread_now() + MS), 0);
    assert_int_equal(happened, 0);
    assert_int_equal(poll_one(pipe_ends[1], POLLOUT, &happened, 0), 1);
    assert_int_equal(happened, POLLOUT);
    assert_int_equal(write(pipe_ends[1], "x", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    char c;
    assert_int_equal(psthread_read(pipe_ends[0], &c, 1), 1);
    assert_int_equal(c, 'x');
    close(pipe_ends[1]);
    assert_int_equal(poll_one(pipe_ends[0], POLLIN, &happened, PSTHREAD_NEVER), 1);
    assert_int_equal(happened & POLLHUP, POLLHUP);
    close(pipe_ends[0]);
    assert_int_equal(poll_one(pipe_ends[0], POLLIN, &happened, PSTHREAD_NEVER), 1);
    assert_int_equal(happened, POLLNVAL);
    assert_int_equal(poll_one(-1, POLLIN, &happened, psthread_now() + MS), 0);
    int file = open("/proc/self/exe", O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(poll_one(file, POLLIN, &happened, 0), 1);
    assert_int_equal(happened, POLLIN);
    assert_int_equal(poll_one(file, POLLPRI, &happened, psthread_now() + MS), 0); /* of which epoll knows nothing */
    close(file);
    errno = 0;
    assert_int_equal(psthread_poll(NULL, 1, PSTHREAD_NEVER), -1);
    assert_int_equal(errno, EFAULT);
    done();
}

enum { PIPES = 3 };
static int pipes[PIPES][2];
static void *polls_several(void *arg)
{
    struct pollfd at[PIPES + 3] = {{.fd = -1, .events = POLLIN}, {.fd = pipes[0][0]}};
    for (int i = 0; i < PIPES; i++)
        at[i + 2] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
    at[PIPES + 2] = (struct pollfd){.fd = pipes[0][0], .events = POLLPRI}; /* for the third time */
    CHECK(psthread_poll(at, PIPES + 3, PSTHREAD_NEVER) == 1);
    for (int i = 0; i < PIPES + 3; i++)
        CHECK(at[i].revents == (i == *(int *)arg + 2 ? POLLIN : 0));
    steps++;
    return NULL;
}
/* One of several wakes a thread, whichever it is; and the deadline does. */
static void several_descriptors_are_waited_for(void **state)
{
    (void)state;
    with(1);
    char c;
    steps = 0;
    for (int i = 0; i < PIPES; i++)
        assert_int_equal(pipe(pipes[i]), 0);
    for (int i = 0; i < PIPES; i++) {
        psthread_t t = go(polls_several, &i);
        let_run();
        assert_int_equal(steps, i);
        assert_int_equal(write(pipes[i][1], "x", 1), 1);
        assert_int_equal(psthread_join(t, NULL), 0);
        assert_int_equal(read(pipes[i][0], &c, 1), 1);
    }
    struct pollfd at[2] = {{.fd = pipes[0][0], .events = POLLIN}, {.fd = pipes[1][0], .events = POLLIN}};
    uint64_t until = psthread_now() + MS;
    assert_int_equal(psthread_poll(at, 2, until), 0);
    assert_true(psthread_now() >= until);
    assert_int_equal(psthread_poll(NULL, 0, psthread_now() + MS), 0);
    close(pipes[1][0]);
    assert_int_equal(psthread_poll(at, 2, PSTHREAD_NEVER), 1);
    assert_true(at[0].revents == 0 && at[1].revents == POLLNVAL);
    close(pipes[1][1]);
    for (int i = 0; i < PIPES; i += 2) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    done();
}

/* Without a descriptor for an epoll set: the thread looks in turns with the others. */
static void polling_needs_no_descriptor(void **state)
{
    (void)state;
    with(1);
    struct rlimit before, none;
    steps = 0;
    for (int i = 0; i < PIPES; i++)
        assert_int_equal(pipe(pipes[i]), 0);
    psthread_sleep(psthread_now() + MS); /* the poller is there */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 16, .rlim_max = before.rlim_max}; /* but poll takes so many */
    int fill[64], n = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (n < 64 && (fill[n] = dup(0)) >= 0)
        n++;
    int last = PIPES - 1;
    psthread_t t = go(polls_several, &last);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(write(pipes[last][1], "x", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (n > 0)
        close(fill[--n]);
    for (int i = 0; i < PIPES; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    done();
}

static void *polls_for_a_while(void *arg)
{
    short happened;
    uint64_t until = psthread_now() + 20 * MS;
    int ready = poll_one(pipe_ends[0], POLLIN, &happened, until);
    CHECK(psthread_now() >= until && (ready == 0 || happened == POLLNVAL));
    return arg;
}
static void a_closed_descriptor_wakes_nobody(void **state)
{
    (void)state;
    with(1);
    assert_int_equal(pipe(pipe_ends), 0);
    psthread_t t = go(polls_for_a_while, NULL);
    let_run();
    close(pipe_ends[0]);
    assert_int_equal(psthread_join(t, NULL), 0);
    close(pipe_ends[1]);
    done();
}

/* A deadline leaves the descriptor with the poller. Its number may become another file's, while a copy keeps the first
 * one alive: what happens to that file does not concern a thread that waits for the other. */
static void reports_for_another_file_wake_nobody(void **state)
{
    (void)state;
    with(1);
    int first[2], second[2], copy;
    char c;
    short happened;
    steps = 0;
    assert_int_equal(pipe(first), 0);
    assert_int_equal(pipe(second), 0);
    assert_int_equal(poll_one(first[0], POLLIN, &happened, psthread_now() + MS), 0);
    assert_true((copy = dup(first[0])) >= 0);
    assert_int_equal(dup2(second[0], first[0]), first[0]);
    pipe_ends[0] = first[0];
    psthread_t t = go(polls, NULL);
    let_run();
    assert_int_equal(write(first[1], "x", 1), 1);
    psthread_sleep(psthread_now() + 10 * MS);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(write(second[1], "y", 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_read(first[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    const int all[] = {first[0], first[1], second[0], second[1], copy};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        close(all[i]);
    done();
}

/* Linux 6.4 and later can say of a pipe's blocking end what it would do at once. */
static bool kernel_reads_at_once(int fd)
{
#if defined(__GLIBC__) && defined(RWF_NOWAIT) && !PS_TSAN
    char c;
    const struct iovec part = {&c, 1};
    return preadv2(fd, &part, 1, -1, RWF_NOWAIT) == 1 || errno == EAGAIN;
#else
    (void)fd;
    return false;
#endif
}

#define MUCH ((size_t)1 << 20) /* more than a pipe or a socket takes */
static char much[MUCH];
static void *writes_much(void *fd)
{
    CHECK(psthread_write(*(int *)fd, much, MUCH) == (ssize_t)MUCH);
    close(*(int *)fd);
    return NULL;
}
/* One vp, and no other kernel thread that could help: the reader runs while the writer waits. */
static void long_writes_hold_no_vp(void **state)
{
    (void)state;
    static char got[70000];
    with(1);
    for (int kind = 0; kind < 2; kind++) {
        int ends[2];
        size_t all = 0;
        assert_int_equal(kind == 0 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        if (!kernel_reads_at_once(ends[0]))
            break;
        psthread_t t = go(writes_much, &ends[1]);
        for (ssize_t n; (n = psthread_read(ends[0], got, sizeof got)) > 0;)
            all += (size_t)n;
        assert_int_equal(all, MUCH);
        assert_int_equal(psthread_join(t, NULL), 0);
        close(ends[0]);
    }
    done();
}

static void calls_that_would_not_wait(void **state)
{
    (void)state;
    with(1);
    int ends[2], fd, more;
    char c = 'c';
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(psthread_read(ends[0], &c, 0), 0); /* though nothing is there */
    assert_int_equal(psthread_write(ends[1], &c, 0), 0);
    errno = 0;
    assert_int_equal(psthread_read(ends[1], &c, 1), -1); /* not open for it */
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_write(ends[0], &c, 1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_accept(ends[0], NULL, NULL), -1);
    assert_int_equal(errno, ENOTSOCK);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    errno = 0;
    assert_int_equal(psthread_accept(ends[0], NULL, NULL), -1); /* it does not listen */
    assert_int_equal(errno, EINVAL);
    close(ends[0]);
    close(ends[1]);
    /* what is nonblocking is written in part, as by write */
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    ssize_t part = psthread_write(ends[1], much, MUCH);
    assert_true(part > 0 && part < (ssize_t)MUCH);
    close(ends[0]);
    close(ends[1]);
    /* all of a file at once, and its end */
    assert_true((fd = open("/proc/self/exe", O_RDONLY)) >= 0);
    assert_int_equal(psthread_read(fd, much, 5000), 5000);
    assert_true((more = (int)lseek(fd, 0, SEEK_END)) > 0);
    assert_int_equal(psthread_read(fd, much, 1), 0);
    close(fd);
    done();
}

static void *sends_much(void *fd)
{
    CHECK(psthread_send(*(int *)fd, much, MUCH, 0) == (ssize_t)MUCH);
    CHECK(psthread_sendto(*(int *)fd, "end", 3, MSG_NOSIGNAL, NULL, 0) == 3);
    steps++;
    return NULL;
}
/* One vp, and no other kernel thread that could help, as above. */
static void sockets_hold_no_vp(void **state)
{
    (void)state;
    static char got[MUCH];
    with(1);
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    errno = 0;
    assert_int_equal(psthread_recv(ends[0], got, 1, MSG_DONTWAIT), -1);
    assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
    steps = 0;
    psthread_t t = go(sends_much, &ends[1]);
    ssize_t part = psthread_recv(ends[0], got, MUCH, 0); /* blocks: nothing has been sent yet */
    assert_true(part > 0 && part < (ssize_t)MUCH);
    assert_int_equal(steps, 0);
    assert_int_equal(psthread_recv(ends[0], got, MUCH - (size_t)part, MSG_WAITALL), MUCH - (size_t)part);
    assert_int_equal(psthread_recv(ends[0], got, 1, MSG_PEEK), 1);
    assert_int_equal(psthread_recv(ends[0], got, 10, 0), 3);
    assert_memory_equal(got, "end", 3);
    assert_int_equal(psthread_join(t, NULL), 0);
    do
        part = psthread_send(ends[1], much, MUCH, MSG_DONTWAIT);
    while (part > 0);
    assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
    close(ends[0]);
    errno = 0;
    assert_int_equal(psthread_send(ends[1], "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    close(ends[1]);
    done();
}

static struct sockaddr_un mailbox = {.sun_family = AF_UNIX};
enum { LETTERS = 100 }; /* more than a local socket keeps */
static void *sends_letters(void *fd)
{
    for (char i = 0; i < LETTERS; i++)
        CHECK(psthread_sendto(*(int *)fd, &i, 1, 0, (struct sockaddr *)&mailbox, sizeof mailbox) == 1);
    return NULL;
}
static void letters_come_with_their_address(void **state)
{
    (void)state;
    with(1);
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    char letter[2] = "";
    int box = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
    snprintf(mailbox.sun_path + 1, sizeof mailbox.sun_path - 1, "psthreads-mail-test-%d", (int)getpid());
    assert_int_equal(bind(box, (struct sockaddr *)&mailbox, sizeof mailbox), 0);
    from = mailbox;
    from.sun_path[1] = 'P';
    assert_int_equal(bind(sender, (struct sockaddr *)&from, sizeof from), 0);
    psthread_t t = go(sends_letters, &sender);
    for (char i = 0; i < LETTERS; i++) {
        struct sockaddr_un seen = {0};
        length = sizeof seen;
        assert_int_equal(psthread_recvfrom(box, letter, 2, i % 2 ? MSG_WAITALL : 0, (struct sockaddr *)&seen, &length),
                         1);
        assert_int_equal(letter[0], i);
        assert_memory_equal(seen.sun_path, from.sun_path, sizeof from.sun_path);
    }
    assert_int_equal(psthread_join(t, NULL), 0);
    close(box);
    close(sender);
    done();
}

static void waits_for_sockets_have_their_limit(void **state)
{
    (void)state;
    with(1);
    int ends[2];
    char c;
    const struct timeval limit = {.tv_usec = 2000};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
    uint64_t since = psthread_now();
    for (int i = 0; i < 2; i++) {
        errno = 0;
        assert_int_equal(i ? psthread_read(ends[0], &c, 1) : psthread_recv(ends[0], &c, 1, 0), -1);
        assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
    }
    assert_true(psthread_now() - since >= 4 * MS);
    ssize_t part = psthread_send(ends[0], much, MUCH, 0);
    assert_true(part > 0 && part < (ssize_t)MUCH);
    close(ends[0]);
    close(ends[1]);
    done();
}

static void *accepts(void *arg)
{
    int fd = psthread_accept(*(int *)arg, NULL, NULL);
    CHECK(fd >= 0);
    close(fd);
    return NULL;
}
/* A local socket whose queue is full tells no thread when it is not. */
static void who_connects_waits_for_room(void **state)
{
    (void)state;
    enum { CLIENTS = 6 };
    with(1);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listens = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), client[CLIENTS];
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "psthreads-full-test-%d", (int)getpid());
    assert_int_equal(bind(listens, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listens, 0), 0);
    for (int i = 0; i < CLIENTS; i++) {
        client[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        go(accepts, &listens);
    }
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(psthread_connect(client[i], (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(psthread_waitall(), 0);
    for (int i = 0; i < CLIENTS; i++)
        close(client[i]);
    close(listens);
    done();
}

static void *connects(void *arg)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    char c = 0;
    CHECK(fd >= 0 && psthread_connect(fd, arg, sizeof(struct sockaddr_un)) == 0);
    CHECK(psthread_read(fd, &c, 1) == 1 && c == 'y'); /* blocks: nothing is there yet */
    steps++;
    close(fd);
    return NULL;
}
static void calls_give_the_systems_results(void **state)
{
    (void)state;
    with(1);
    char c = 'y';
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    errno = 0;
    assert_int_equal(psthread_read(-1, &c, 1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_write(-1, &c, 1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_accept(-1, NULL, NULL), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_recv(-1, &c, 1, 0), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(psthread_send(0, &c, 1, 0), -1);
    assert_int_equal(errno, ENOTSOCK);
    errno = 0;
    assert_int_equal(psthread_connect(-1, (struct sockaddr *)&address, sizeof address), -1);
    assert_int_equal(errno, EBADF);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "psthreads-header-test-%d", (int)getpid());
    int listens = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_true(listens >= 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listens, 1), 0);
    steps = 0;
    psthread_t t = go(connects, &address);
    int fd = psthread_accept4(listens, NULL, NULL, SOCK_CLOEXEC); /* blocks: no thread has connected yet */
    assert_true(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    let_run();
    assert_int_equal(steps, 0);
    assert_int_equal(psthread_write(fd, &c, 1), 1);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_read(fd, &c, 1), 0); /* its end */
    close(fd);
    close(listens);
    done();
}

int main(void)
{
    alarm(100);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_runs_until_it_waits),
        cmocka_unit_test(blocked_threads_hold_no_kernel_thread),
        cmocka_unit_test(every_kernel_thread_may_call),
        cmocka_unit_test(defaults_come_from_the_environment),
        cmocka_unit_test(only_the_starter_may_finalize),
        cmocka_unit_test(who_leaves_waits_and_runs_destructors),
        cmocka_unit_test(vps_are_numbered),
        cmocka_unit_test(creating_is_not_submitting),
        cmocka_unit_test(joins_are_answered),
        cmocka_unit_test(descriptors_of_the_callers_are_used_again),
        cmocka_unit_test(places_of_submission),
        cmocka_unit_test(who_yields_goes_to_the_back),
        cmocka_unit_test(polling_lets_the_global_queue_run),
        cmocka_unit_test(names_and_levels),
        cmocka_unit_test(a_foreign_threads_exit_is_pthread_exit),
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
        cmocka_unit_test(descriptors_are_waited_for),
        cmocka_unit_test(several_descriptors_are_waited_for),
        cmocka_unit_test(polling_needs_no_descriptor),
        cmocka_unit_test(a_closed_descriptor_wakes_nobody),
        cmocka_unit_test(reports_for_another_file_wake_nobody),
        cmocka_unit_test(long_writes_hold_no_vp),
        cmocka_unit_test(calls_that_would_not_wait),
        cmocka_unit_test(sockets_hold_no_vp),
        cmocka_unit_test(letters_come_with_their_address),
        cmocka_unit_test(waits_for_sockets_have_their_limit),
        cmocka_unit_test(who_connects_waits_for_room),
        cmocka_unit_test(calls_give_the_systems_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
