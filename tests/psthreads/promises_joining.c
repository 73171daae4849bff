/* The part of the promises test (promises_test.c) that joins and spawns, with foreign kernel threads as well. */
#include "promises_support.h"

/* --- joining --- */

enum { CHILDREN = 40 };
struct brood {
    psthread_t child[CHILDREN];
    bool early; /* they end before their parent does */
};
static void *number(void *arg) { return arg; }
static void *number_later(void *arg)
{
    for (int i = 0; i < 10; i++)
        psthread_yield();
    return arg;
}
static void *leaves_children(void *arg)
{
    struct brood *b = arg;
    for (uintptr_t i = 0; i < CHILDREN; i++)
        b->child[i] = submit(b->early ? number : number_later, (void *)(i + 1), PSTHREAD_VP_ANY);
    for (int i = 0; b->early && i < 3; i++)
        psthread_yield();
    return NULL;
}

/* "Kept until it is joined", also where its parent has ended. */
static void orphans_are_kept_until_joined(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++)
        for (int early = 0; early < 2; early++) {
            with_vps(vps);
            for (int round = 0; round < 20; round++) {
                struct brood b = {.early = early};
                assert_int_equal(psthread_join(submit(leaves_children, &b, 0), NULL), 0);
                for (int i = 0; i < 20; i++)
                    psthread_yield();
                for (int i = 0; i < 50; i++) /* strangers, which would take descriptors that were given back */
                    submit(nothing, NULL, 0);
                for (uintptr_t i = 0; i < CHILDREN; i++) {
                    void *result = NULL;
                    if (i % 4 == 3) {
                        assert_int_equal(psthread_detach(b.child[i]), 0);
                        continue;
                    }
                    assert_int_equal(psthread_join(b.child[i], &result), 0);
                    assert_ptr_equal(result, (void *)(i + 1));
                }
                psthread_waitall();
            }
            done();
        }
}

/* A thread that no vp has taken is run by its joiner; it is a thread all the same. */
static psthread_key_t own_key;
static _Atomic unsigned own_destroyed;
static void destroys(void *value)
{
    CHECK(value == (void *)psthread_self());
    ps_add_relaxed(&own_destroyed, 1);
}
static psthread_mutex_t called_mutex = PSTHREAD_MUTEX_INITIALIZER;
static void *is_somebody(void *arg)
{
    unsigned how = (unsigned)(uintptr_t)arg;
    psthread_t self = psthread_self();
    char name[PSTHREAD_NAME_MAX + 1] = "x";
    CHECK(psthread_level() >= 1 && psthread_getname(name, sizeof name) == 0 && !name[0]);
    CHECK(psthread_getspecific(own_key) == NULL && psthread_setspecific(own_key, self) == 0);
    if (how & 1)
        psthread_yield();
    if (how & 2) {
        psthread_mutex_lock(&called_mutex);
        psthread_yield();
        psthread_mutex_unlock(&called_mutex);
    }
    if (how & 4)
        CHECK(psthread_setname("called") == 0);
    if (how >= 64) { /* children of its own, joined or left */
        psthread_t child = submit(is_somebody, (void *)(uintptr_t)(how % 64), PSTHREAD_VP_ANY);
        if (how & 8)
            CHECK(psthread_join(child, NULL) == 0);
    }
    CHECK(psthread_self() == self && psthread_getspecific(own_key) == self);
    if (how & 16)
        psthread_exit(arg);
    return arg;
}
static void *joins_many(void *arg)
{
    psthread_t t[64];
    for (int round = 0; round < 10; round++) {
        for (uintptr_t i = 0; i < 64; i++)
            t[i] = submit(is_somebody, (void *)(i + (i % 3 ? 64 : 0)), PSTHREAD_VP_ANY);
        for (uintptr_t k = 0; k < 64; k++) {
            uintptr_t i = round % 2 ? k : 63 - k;
            void *result = NULL;
            CHECK(psthread_join(t[i], &result) == 0 && result == (void *)(i + (i % 3 ? 64 : 0)));
        }
        CHECK(psthread_waitall() == 0);
    }
    return arg;
}
static void joined_threads_are_threads_wherever_they_run(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        with_vps(vps);
        CHECK(psthread_key_create(&own_key, destroys) == 0);
        ps_store_relaxed(&own_destroyed, 0);
        joins_many(NULL); /* a root */
        psthread_t t[3];
        for (int i = 0; i < 3; i++)
            t[i] = submit(joins_many, NULL, PSTHREAD_VP_ANY);
        for (int i = 0; i < 3; i++)
            CHECK(psthread_join(t[i], NULL) == 0);
        done();
        assert_int_equal(ps_load_relaxed(&own_destroyed), 4 * 10 * (64 + 42));
        with_vps(1);
        CHECK(psthread_key_delete(own_key) == 0);
        done();
    }
}

static void *where_am_i(void *arg) { return (void *)(arg ? (uintptr_t)__builtin_frame_address(0) : 0); }
static void an_unbegun_thread_is_run_by_its_joiner(void **state)
{
    (void)state;
    with_vps(1);
    if (!ps_tls_on() && uth_sanitizers == 0) { /* there each has a stack of its own */
        void *at = NULL;
        assert_int_equal(psthread_join(submit(where_am_i, &at, 0), &at), 0);
        uintptr_t here = (uintptr_t)__builtin_frame_address(0);
        assert_in_range(here - (uintptr_t)at, 1, 16384); /* the same stack */
    }
    done();
}

/* --- spawning --- */

static void *spawns_fib(void *arg)
{
    uintptr_t n = (uintptr_t)arg;
    psthread_t t;
    void *a, *b;
    if (n < 2)
        return arg;
    CHECK(psthread_spawn(&t, NULL, spawns_fib, (void *)(n - 1)) == 0);
    b = spawns_fib((void *)(n - 2));
    CHECK(psthread_join(t, &a) == 0);
    return (void *)((uintptr_t)a + (uintptr_t)b);
}
enum { SPAWN_ROUNDS = PS_TSAN ? 2 : 10 };
static void *spawns_many(void *arg)
{
    psthread_t t[64];
    for (int round = 0; round < SPAWN_ROUNDS; round++) {
        for (uintptr_t i = 0; i < 64; i++)
            CHECK(psthread_spawn(&t[i], NULL, is_somebody, (void *)(i + (i % 3 ? 64 : 0))) == 0);
        for (uintptr_t k = 0; k < 64; k++) { /* some are joined, in either order; some detached; some left to waitall */
            uintptr_t i = round % 2 ? k : 63 - k;
            void *result = NULL;
            if (i % 7 == 5)
                CHECK(psthread_detach(t[i]) == 0);
            else if (i % 7 != 6)
                CHECK(psthread_join(t[i], &result) == 0 && result == (void *)(i + (i % 3 ? 64 : 0)));
        }
        CHECK(psthread_waitall() == 0);
    }
    return arg;
}
static void spawned_threads_are_threads(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps *= 2) {
        with_vps(vps);
        CHECK(psthread_key_create(&own_key, destroys) == 0);
        ps_store_relaxed(&own_destroyed, 0);
        assert_ptr_equal(spawns_fib((void *)(PS_TSAN ? 10 : 20)), (void *)(PS_TSAN ? 55 : 6765));
        spawns_many(NULL); /* a root */
        psthread_t t[3];
        for (int i = 0; i < 3; i++)
            t[i] = submit(spawns_many, NULL, PSTHREAD_VP_ANY);
        for (int i = 0; i < 3; i++)
            CHECK(psthread_join(t[i], NULL) == 0);
        done();
        assert_int_equal(ps_load_relaxed(&own_destroyed), 4 * SPAWN_ROUNDS * (64 + 42));
        with_vps(1);
        CHECK(psthread_key_delete(own_key) == 0);
        done();
    }
}

/* Where no other thread would take it: with one vp at once, on the caller's stack, and its descriptor is the next
 * one's. */
static void a_spawned_thread_may_run_at_once(void **state)
{
    (void)state;
    with_vps(1);
    if (uth_sanitizers == 0) { /* there each has a stack of its own */
        psthread_t t, u;
        void *at = NULL;
        ps_store_relaxed(&counter, 0);
        assert_int_equal(psthread_spawn(&t, NULL, count, NULL), 0);
        assert_int_equal(ps_load_relaxed(&counter), 1);
        assert_int_equal(psthread_join(t, NULL), 0);
        assert_int_equal(psthread_spawn(&u, NULL, where_am_i, &at), 0);
        assert_ptr_equal(u, t);
        assert_int_equal(psthread_tryjoin(u, &at), 0);
        uintptr_t here = (uintptr_t)__builtin_frame_address(0);
        assert_in_range(here - (uintptr_t)at, 1, 16384); /* the same stack */
    }
    done();
}

static void spawn_refuses_what_create_refuses(void **state)
{
    (void)state;
    with_vps(1);
    psthread_t t;
    const psthread_attr_t flags = {.flags = 0x80}, small = {.stack_size = 1};
    assert_int_equal(psthread_spawn(&t, &flags, nothing, NULL), EINVAL);
    assert_int_equal(psthread_spawn(&t, &small, nothing, NULL), EINVAL);
    assert_int_equal(psthread_spawn(&t, NULL, NULL, NULL), EINVAL);
    assert_int_equal(psthread_spawn(NULL, NULL, nothing, NULL), EINVAL);
    const psthread_attr_t detached = {.flags = PSTHREAD_ATTR_DETACHED}, large = {.stack_size = 1 << 20},
                          bare = {.flags = PSTHREAD_ATTR_NOSTACK};
    ps_store_relaxed(&counter, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(psthread_spawn(&t, &detached, count, NULL), 0);
        assert_int_equal(psthread_spawn(&t, &large, count, NULL), 0);
        assert_int_equal(psthread_spawn(&t, &bare, count, NULL), 0);
        assert_int_equal(psthread_join(t, NULL), 0);
    }
    assert_int_equal(psthread_waitall(), 0);
    assert_int_equal(ps_load_relaxed(&counter), 300);
    done();
}

/* While it runs on its maker's stack others may learn of it, and join it or be told that somebody does. */
static _Atomic(psthread_t) published;
static _Atomic unsigned joined_by_others;
static void *publishes_itself(void *arg)
{
    ps_store_release(&published, psthread_self());
    for (int i = 0; i < 5; i++)
        psthread_yield();
    return arg;
}
static void *joins_published(void *arg)
{
    psthread_t t;
    while (!(t = ps_xchg_acq_rel(&published, NULL)))
        psthread_yield();
    void *result = NULL;
    if (psthread_join(t, &result) == 0) {
        CHECK(result == arg);
        ps_add_relaxed(&joined_by_others, 1);
    }
    return NULL;
}
static void another_may_join_a_spawned_thread(void **state)
{
    (void)state;
    const unsigned times = PS_TSAN ? 20 : 200;
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        ps_store_relaxed(&joined_by_others, 0);
        for (unsigned i = 0; i < times; i++) {
            psthread_t joiner = submit(joins_published, &published, PSTHREAD_VP_ANY), t;
            assert_int_equal(psthread_spawn(&t, NULL, publishes_itself, &published), 0);
            assert_int_equal(psthread_join(joiner, NULL), 0);
        }
        assert_int_equal(psthread_waitall(), 0);
        assert_int_equal(ps_load_relaxed(&joined_by_others), times);
        done();
    }
}

static void *spawn_forks(void *arg)
{
    pid_t child = fork();
    if (child == 0)
        return arg; /* its maker is not there: the process ends with status 0 */
    *(int *)arg = status_of(child);
    return NULL;
}

static void a_child_of_a_spawned_thread_ends_with_it(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    with_vps(1);
    psthread_t t;
    int status = -1;
    assert_int_equal(psthread_spawn(&t, NULL, spawn_forks, &status), 0);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(status, 0);
    done();
}

/* --- foreign kernel threads --- */

static _Atomic uint32_t stage;
static void *calls_and_stays(void *arg)
{
    submit(count, NULL, PSTHREAD_VP_ANY);
    CHECK(psthread_detach_self() == 0);
    CHECK(psthread_detach_self() == 0); /* it is out already */
    if (arg) {
        submit(count, NULL, PSTHREAD_VP_ANY);
        psthread_waitall();
    }
    ps_store_release(&stage, 1);
    while (ps_load_acquire(&stage) == 1)
        usleep(500);
    if (arg)
        CHECK(psthread_detach_self() == 0);
    ps_store_release(&stage, 3);
    while (ps_load_acquire(&stage) == 3)
        usleep(500);
    return NULL;
}
static void *tries_to_detach(void *arg)
{
    CHECK(psthread_detach_self() == EPERM);
    return arg;
}
static void a_foreign_thread_can_leave(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        with_vps(2);
        ps_store_relaxed(&counter, 0);
        ps_store_relaxed(&stage, 0);
        pthread_t p;
        assert_int_equal(psthread_detach_self(), EPERM); /* it called psthread_init */
        assert_int_equal(psthread_join(submit(tries_to_detach, NULL, 0), NULL), 0);
        assert_int_equal(pthread_create(&p, NULL, calls_and_stays, back ? &p : NULL), 0);
        while (ps_load_acquire(&stage) != 1)
            usleep(500);
        assert_int_equal(ps_load_relaxed(&counter), 1 + back); /* it has waited for what it made */
        if (back)
            assert_int_equal(psthread_finalize(), EBUSY);
        ps_store_release(&stage, 2);
        while (ps_load_acquire(&stage) != 3)
            usleep(500);
        assert_int_equal(psthread_join(submit(nothing, NULL, 1), NULL), 0); /* after EBUSY the library goes on */
        done();
        ps_store_release(&stage, 4);
        pthread_join(p, NULL);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(orphans_are_kept_until_joined),
    cmocka_unit_test(an_unbegun_thread_is_run_by_its_joiner),
    cmocka_unit_test(a_foreign_thread_can_leave),
    cmocka_unit_test(spawned_threads_are_threads),
    cmocka_unit_test(a_spawned_thread_may_run_at_once),
    cmocka_unit_test(spawn_refuses_what_create_refuses),
    cmocka_unit_test(another_may_join_a_spawned_thread),
    cmocka_unit_test(a_child_of_a_spawned_thread_ends_with_it),
    cmocka_unit_test(joined_threads_are_threads_wherever_they_run),
};
const struct test_part promises_joining = TEST_PART(tests);
