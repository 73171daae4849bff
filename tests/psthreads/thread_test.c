/* Threads: making, submitting, waiting, joining, levels, queues' ends, stacks made late, wrong use. */
#include "psthread.h"
#include "sync_support.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static void with_vps(unsigned n)
{
    psthread_config_t config = {.num_vps = n, .global_queue = 1};
    if (n == 1) /* the order on one vp: on a busy machine a spare would take some */
        config.max_spares = PSTHREAD_NO_SPARES;
    CHECK(psthread_init(&config) == 0);
}
static void done(void) { CHECK(psthread_finalize() == 0); }

static _Atomic long counter;
static void *count(void *arg)
{
    ps_add_relaxed(&counter, 1);
    return arg;
}

/* psthreads-2009 figure 4, as printed. */
static void figure4_runs_as_printed(void **state)
{
    (void)state;
    enum { N = 500 };
    with_vps(2);
    ps_store_relaxed(&counter, 0);
    int i;
    psthread_t t[N], first[N];
    psthread_attr_t attr = PSTHREAD_ATTR_DEFAULT;
    for (i = 0; i < N; i++) {
        t[i] = NULL;
        psthread_create_ex(&t[i], &attr, count, NULL);
        psthread_enqueue(t[i], 0);
    }
    psthread_waitall();
    assert_int_equal(ps_load_relaxed(&counter), N);
    memcpy(first, t, sizeof t);
    for (i = 0; i < N; i++) {
        psthread_create_ex(&t[i], &attr, count, NULL);
        psthread_enqueue(t[i], 0);
    }
    psthread_waitall();
    assert_int_equal(ps_load_relaxed(&counter), 2 * N);
    assert_memory_equal(first, t, sizeof t); /* direct reuse: the same descriptors */
    for (i = 0; i < N; i++)
        assert_int_equal(psthread_free(t[i]), 0);
    done();
}

static void join_gives_the_result_once(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        with_vps(vps);
        enum { N = 300 };
        psthread_t t[N];
        for (long i = 0; i < N; i++) {
            assert_int_equal(psthread_create(&t[i], NULL, count, (void *)i), 0);
            assert_int_equal(psthread_enqueue(t[i], (int)((unsigned)i % vps)), 0);
            assert_int_equal(psthread_enqueue(t[i], 0), EINVAL); /* submitted already, whatever it does now */
        }
        for (long i = 0; i < N; i++) {
            void *result = NULL;
            assert_int_equal(psthread_join(t[i], &result), 0);
            assert_ptr_equal(result, (void *)i);
        }
        assert_int_equal(psthread_join(psthread_self(), NULL), EDEADLK);
        done();
    }
}

static void joining_twice_is_answered(void **state)
{
    (void)state;
    with_vps(1);
    psthread_t t;
    assert_int_equal(psthread_create(&t, NULL, count, NULL), 0);
    psthread_enqueue(t, 0);
    psthread_yield(); /* one vp: it has run and waits to be joined */
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_join(t, NULL), ESRCH);
    psthread_attr_t detached = {.flags = PSTHREAD_ATTR_DETACHED};
    assert_int_equal(psthread_create(&t, &detached, count, NULL), 0);
    assert_int_equal(psthread_join(t, NULL), EINVAL);
    psthread_enqueue(t, 0);
    assert_int_equal(psthread_waitall(), 0);
    psthread_attr_t unknown = {.flags = 0x80};
    assert_int_equal(psthread_create(&t, &unknown, count, NULL), EINVAL);
    assert_int_equal(psthread_enqueue(NULL, 0), EINVAL);
    done();
}

/* Joined zombies of a parent that never calls waitall are recycled: memory stays bounded. */
static void recycled(bool detached)
{
    with_vps(1);
    psthread_t t, highest = NULL, lowest = (psthread_t)UINTPTR_MAX;
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(psthread_create(&t, NULL, count, NULL), 0);
        psthread_enqueue(t, 0);
        psthread_yield();
        assert_int_equal(detached ? psthread_detach(t) : psthread_join(t, NULL), 0);
        highest = t > highest ? t : highest;
        lowest = t < lowest ? t : lowest;
    }
    assert_true((char *)highest - (char *)lowest < 20000 * 40);
    done();
}
static void joined_threads_are_recycled(void **state)
{
    (void)state;
    recycled(false);
}
static void threads_detached_late_are_recycled(void **state)
{
    (void)state;
    recycled(true);
}

static char order[16];
static unsigned ordered;
static void *note(void *arg)
{
    order[ordered++] = (char)(intptr_t)arg;
    return NULL;
}
static void submit(char name, int where, int end)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, note, (void *)(intptr_t)name) == 0);
    CHECK((end < 0 ? psthread_enqueue(t, where) : psthread_enqueue_at(t, where, end)) == 0);
}

static void *inner_order(void *arg)
{
    /* Inner level: to the front by default, so the last made runs first. */
    submit('a', PSTHREAD_VP_ANY, -1);
    submit('b', PSTHREAD_VP_ANY, -1);
    submit('c', PSTHREAD_VP_ANY, PSTHREAD_BACK);
    submit('d', PSTHREAD_VP_GLOBAL, PSTHREAD_BACK);
    psthread_waitall();
    return arg;
}

static void ends_of_queues(void **state)
{
    (void)state;
    with_vps(1);
    ordered = 0;
    submit('1', 0, -1); /* outer level: to the back by default */
    submit('2', 0, -1);
    submit('3', 0, PSTHREAD_FRONT);
    psthread_waitall();
    assert_memory_equal(order, "312", 3);
    ordered = 0;
    psthread_t t;
    psthread_create(&t, NULL, inner_order, NULL);
    psthread_enqueue(t, 0);
    psthread_waitall();
    assert_memory_equal(order, "bacd", 4);
    psthread_create(&t, NULL, note, NULL);
    assert_int_equal(psthread_enqueue(t, 1), EINVAL);
    assert_int_equal(psthread_enqueue(t, -7), EINVAL);
    assert_int_equal(psthread_enqueue(t, 0), 0);
    psthread_waitall();
    done();
}

static void *tree(void *arg)
{
    intptr_t depth = (intptr_t)arg;
    ps_add_relaxed(&counter, 1);
    unsigned level = psthread_level();
    if (depth > 0) {
        psthread_t t[2];
        for (int i = 0; i < 2; i++) {
            CHECK(psthread_create(&t[i], NULL, tree, (void *)(depth - 1)) == 0);
            CHECK(psthread_enqueue(t[i], PSTHREAD_VP_ANY) == 0);
        }
        if (depth % 3 == 0)
            CHECK(psthread_join(t[1], NULL) == 0);
        if (depth % 2)
            psthread_waitall(); /* else: they outlive their parent */
    }
    CHECK(psthread_level() == level);
    return NULL;
}

static void trees_with_orphans(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps++) {
        with_vps(vps);
        ps_store_relaxed(&counter, 0);
        for (int rep = 0; rep < 5; rep++)
            CHECK(psthread_level() == 0);
        for (int rep = 0; rep < 5; rep++) {
            psthread_t t;
            psthread_create(&t, NULL, tree, (void *)9);
            psthread_enqueue(t, PSTHREAD_VP_ANY);
        }
        done(); /* waits for the orphans too */
        assert_int_equal(ps_load_relaxed(&counter), 5 * 1023);
    }
}

static void *yielder(void *arg)
{
    long *progress = arg;
    for (int i = 0; i < 1000; i++) {
        ++*progress;
        psthread_yield();
    }
    return NULL;
}

static void yield_lets_others_run(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 3; vps++) {
        with_vps(vps);
        long progress[8] = {0};
        for (int i = 0; i < 8; i++) {
            psthread_t t;
            psthread_create(&t, NULL, yielder, &progress[i]);
            psthread_enqueue(t, PSTHREAD_VP_ANY);
        }
        psthread_waitall();
        for (int i = 0; i < 8; i++)
            assert_int_equal(progress[i], 1000);
        done();
    }
}

static void *deep(void *arg)
{
    volatile char room[400 * 1024];
    for (size_t i = 0; i < sizeof room; i += 4096)
        room[i] = 1;
    return (void *)((uintptr_t)arg + (uintptr_t)room[0]);
}
static void *ends_early(void *arg) { psthread_exit((void *)((uintptr_t)arg + 5)); }

static void sized_stacks_and_exit(void **state)
{
    (void)state;
    with_vps(2);
    psthread_attr_t big = {.stack_size = 1 << 20};
    for (int i = 0; i < 50; i++) {
        psthread_t t, u;
        void *result;
        assert_int_equal(psthread_create(&t, &big, deep, NULL), 0);
        psthread_enqueue(t, i % 2);
        assert_int_equal(psthread_create(&u, NULL, ends_early, (void *)2), 0);
        psthread_enqueue(u, i % 2);
        assert_int_equal(psthread_join(t, &result), 0);
        assert_ptr_equal(result, (void *)1);
        assert_int_equal(psthread_join(u, &result), 0);
        assert_ptr_equal(result, (void *)7);
    }
    done();
}

static void *blocks(void *arg)
{
    psthread_barrier_wait(*(psthread_barrier_t *)arg, 0);
    return NULL;
}

/* In a child of its own: the wrong use ends the process. */
static void nostack_thread_may_not_block(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        dup2(fds[1], 2);
        with_vps(1);
        psthread_barrier_t b;
        psthread_barrier_init(&b, 2);
        psthread_attr_t attr = {.flags = PSTHREAD_ATTR_NOSTACK};
        psthread_t t;
        psthread_create(&t, &attr, blocks, &b);
        psthread_enqueue(t, 0);
        psthread_waitall();
        _exit(0);
    }
    close(fds[1]);
    char line[300] = {0};
    ssize_t got = read(fds[0], line, sizeof line - 1);
    assert_true(got > 0);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(line, "PSTHREAD_ATTR_NOSTACK"));
    close(fds[0]);
}

/* Ready threads own no stack: memory is the descriptors'. */
static void ready_threads_own_no_stack(void **state)
{
    (void)state;
    enum { N = PS_TSAN ? 5000 : 100000 };
    with_vps(1);
    ps_store_relaxed(&counter, 0);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < N; i++) {
        psthread_t t;
        CHECK(psthread_create(&t, NULL, count, NULL) == 0);
        CHECK(psthread_enqueue(t, 0) == 0);
    }
    getrusage(RUSAGE_SELF, &after);
#if !PS_ASAN && !PS_TSAN
    /* 0: the process had as much at another time */
    assert_in_range((after.ru_maxrss - before.ru_maxrss) * 1024L / N, 0, 127);
#endif
    psthread_waitall();
    assert_int_equal(ps_load_relaxed(&counter), N);
    done();
}

static void *foreign(void *arg)
{
    long want = (long)(intptr_t)arg;
    _Atomic long sum = 0;
    (void)sum;
    for (int rep = 0; rep < 20; rep++) {
        psthread_t t[16];
        long got = 0;
        for (long i = 0; i < 16; i++) {
            CHECK(psthread_create(&t[i], NULL, count, (void *)(want + i)) == 0);
            CHECK(psthread_enqueue(t[i], PSTHREAD_VP_ANY) == 0);
        }
        for (long i = 0; i < 16; i++) {
            void *result;
            CHECK(psthread_join(t[i], &result) == 0);
            got += (long)(intptr_t)result;
        }
        CHECK(got == 16 * want + 120);
    }
    return NULL;
}

/* Kernel threads that come and go use the library at once; their vps are recycled. */
static void foreign_threads(void **state)
{
    (void)state;
    with_vps(2);
    for (int round = 0; round < 30; round++) {
        pthread_t p[4];
        for (long i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&p[i], NULL, foreign, (void *)(i * 1000)), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(p[i], NULL);
    }
    done();
}

static void *yields(void *arg)
{
    for (int i = 0; i < 20; i++)
        psthread_yield();
    return arg;
}
static void *leaves_children(void *arg)
{
    for (int i = 0; i < 4; i++) {
        psthread_t child;
        CHECK(psthread_create(&child, NULL, yields, NULL) == 0);
        CHECK(psthread_enqueue(child, i) == 0);
    }
    return arg;
}

/* A descriptor of the user's waits for its children when its function has returned, and may do so on another vp than it
 * ended on. */
static void reused_descriptors_wait_for_children(void **state)
{
    (void)state;
    with_vps(4);
    psthread_t t[32] = {NULL};
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 32; i++) {
            assert_int_equal(psthread_create_ex(&t[i], NULL, leaves_children, NULL), 0);
            assert_int_equal(psthread_enqueue(t[i], i % 4), 0);
        }
        psthread_waitall();
    }
    for (int i = 0; i < 32; i++)
        assert_int_equal(psthread_free(t[i]), 0);
    done();
}

/* A vp in the middle has run something and the ones before it never did: they stay unstarted while the library
 * stops. */
static void far_vps_stop(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        with_vps(4);
        psthread_t t;
        assert_int_equal(psthread_create(&t, NULL, count, NULL), 0);
        assert_int_equal(psthread_enqueue(t, 3), 0);
        psthread_waitall();
        usleep(round % 2 ? 3000 : 0); /* parked, or still searching */
        done();
    }
}

static void configuration_is_checked(void **state)
{
    (void)state;
    unsigned shrinking[2] = {4, 2}, zero[1] = {0}, good[2] = {2, 4};
    psthread_config_t bad = {.num_vps = 4, .num_levels = 2, .group_size = shrinking};
    assert_int_equal(psthread_init(&bad), EINVAL);
    bad.num_levels = 1, bad.group_size = zero;
    assert_int_equal(psthread_init(&bad), EINVAL);
    psthread_config_t fine = {.num_vps = 4, .num_levels = 2, .group_size = good};
    assert_int_equal(psthread_init(&fine), 0);
    assert_int_equal(psthread_init(&fine), EBUSY);
    assert_int_equal(psthread_num_vps(), 4);
    done();
    assert_int_equal(psthread_finalize(), EPERM);
}

int main(void)
{
    alarm(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure4_runs_as_printed),
        cmocka_unit_test(join_gives_the_result_once),
        cmocka_unit_test(joining_twice_is_answered),
        cmocka_unit_test(joined_threads_are_recycled),
        cmocka_unit_test(threads_detached_late_are_recycled),
        cmocka_unit_test(ends_of_queues),
        cmocka_unit_test(trees_with_orphans),
        cmocka_unit_test(yield_lets_others_run),
        cmocka_unit_test(sized_stacks_and_exit),
        cmocka_unit_test(nostack_thread_may_not_block),
        cmocka_unit_test(ready_threads_own_no_stack),
        cmocka_unit_test(foreign_threads),
        cmocka_unit_test(reused_descriptors_wait_for_children),
        cmocka_unit_test(far_vps_stop),
        cmocka_unit_test(configuration_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
