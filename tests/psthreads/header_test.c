/* What psthread.h says, sentence by sentence, as a program sees it: through that header alone. sentences.txt beside
 * this file names for each sentence the test that would fail if it were not so, here or in another file. Mostly on one
 * vp without help: there a thread runs until it waits, so orders can be asserted. */
#define _GNU_SOURCE
#include "header_support.h"

#include "cpu.h"

#include <pthread.h>
#include <time.h>

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

static const struct CMUnitTest tests[] = {
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
};

int main(void)
{
    alarm(100);
    static const struct test_part first = TEST_PART(tests);
    const struct test_part *const parts[] = {&first, &header_objects, &header_io};
    return RUN_PARTS(parts);
}
