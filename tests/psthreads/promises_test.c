/* What psthread.h says of starting, stopping, making, joining and ending threads, sentence by sentence, where the other
 * tests do not. */
#include "fault.h"
#include "idle.h"
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "scheduler.h"
#include "sync_support.h"
#include "uth.h"
#include "vp.h"
#include "vp_tls.h"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static void with_vps(unsigned n)
{
    psthread_config_t config = {.num_vps = n};
    CHECK(psthread_init(&config) == 0);
}
static void done(void) { CHECK(psthread_finalize() == 0); }

static psthread_t make(void *(*fn)(void *), void *arg)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    return t;
}
static psthread_t submit(void *(*fn)(void *), void *arg, int where)
{
    psthread_t t = make(fn, arg);
    CHECK(psthread_enqueue(t, where) == 0);
    return t;
}
static void *nothing(void *arg) { return arg; }
static _Atomic unsigned counter;
static void *count(void *arg)
{
    ps_add_relaxed(&counter, 1);
    return arg;
}

/* --- starting --- */

static void senseless_values_are_refused(void **state)
{
    (void)state;
    unsigned twos[] = {2, 100}, good[] = {2, 4};
    const psthread_config_t bad[] = {
        {.stack_size = (size_t)-1},
        {.stack_size = (size_t)1 << 40},
        {.stack_size = 1},
        {.stack_size = PSTHREAD_STACK_MIN - 1},
        {.num_vps = 4, .num_levels = 1},
        {.num_vps = 4, .num_levels = 9, .group_size = good},
        {.num_vps = 4, .num_levels = 2, .group_size = twos},
        {.num_vps = 1u << 30},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(psthread_init(&bad[i]), EINVAL);
    psthread_config_t config = {.num_vps = 4, .stack_size = PSTHREAD_STACK_MIN, .num_levels = 2, .group_size = good};
    assert_int_equal(psthread_init(&config), 0);
    assert_int_equal(psthread_join(submit(nothing, NULL, 0), NULL), 0);
    const psthread_attr_t wrong[] = {{.stack_size = 1}, {.stack_size = (size_t)1 << 40}, {.flags = 0x80}};
    psthread_t t;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(psthread_create(&t, &wrong[i], nothing, NULL), EINVAL);
    assert_int_equal(psthread_create(&t, NULL, NULL, NULL), EINVAL);
    done();
}

/* psthreads-2009 figure 3's order holds before any vp has been idle. */
static void given_groups_hold_from_the_first_steal(void **state)
{
    (void)state;
    unsigned groups[] = {3, 6, 12};
    psthread_config_t config = {.num_vps = 12, .num_levels = 3, .group_size = groups};
    assert_int_equal(psthread_init(&config), 0);
    static const uint16_t of_vp_4[] = {5, 3, 1, 2, 0, 10, 11, 6, 7, 8, 9};
    const uint16_t *order = ps_load_acquire(&ps_vp_at(4)->thief.victims);
    assert_non_null(order);
    uint16_t seen[12] = {0};
    for (unsigned i = 0; i < 11; i++)
        seen[order[i]]++;
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(seen[i], i != 4);
    assert_int_equal(order[0], of_vp_4[0]); /* its own group of three first, then the six, then the twelve */
    assert_true(order[1] == 3);
    for (unsigned i = 2; i < 5; i++)
        assert_true(order[i] < 3);
    done();
}

static void each_start_has_its_stack_size(void **state)
{
    (void)state;
    for (size_t bytes = (size_t)1 << 20; bytes >= (size_t)64 << 10; bytes /= 2) {
        psthread_config_t config = {.num_vps = 2, .stack_size = bytes};
        assert_int_equal(psthread_init(&config), 0);
        assert_int_equal(psthread_join(submit(nothing, NULL, 1), NULL), 0);
        if (uth_mapped()) /* what a fork has left behind keeps its size */
            assert_in_range(uth_default_stack_bytes(), bytes, bytes + bytes / 4);
        done();
    }
}

static void stack_sizes_come_from_the_environment(void **state)
{
    (void)state;
    for (size_t kib = 256; kib >= 64; kib /= 4) {
        if (kib != 256) /* what it is where nothing is said */
            assert_int_equal(setenv("PSTHREADS_STACKSIZE", "64", 1), 0);
        assert_int_equal(psthread_init(NULL), 0);
        assert_int_equal(psthread_join(submit(nothing, NULL, 0), NULL), 0);
        psthread_yield();
        if (uth_mapped())
            assert_in_range(uth_default_stack_bytes(), kib * 1024, kib * 1024 * 5 / 4);
        done();
    }
    assert_int_equal(unsetenv("PSTHREADS_STACKSIZE"), 0);
}

static void a_start_that_fails_leaves_nothing(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 3};
    for (int i = 0; i < 20; i++) {
        fault_arm(FAULT_MAP, 2, FAULT_ALL_FOLLOWING);
        assert_int_equal(psthread_init(&config), ENOMEM);
        assert_true(fault_failures(FAULT_MAP) > 0);
        fault_disarm_all();
        assert_int_equal(psthread_finalize(), EPERM); /* it does not run */
        for (unsigned id = 0; id < 3; id++)
            assert_null(ps_vp_at(id));
    }
    assert_int_equal(psthread_init(&config), 0);
    assert_int_equal(psthread_join(submit(nothing, NULL, 2), NULL), 0);
    done();
}

static void spares_are_there_unless_refused(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 1};
    assert_int_equal(psthread_init(&config), 0);
    assert_int_equal(ps_rt.max_spares, 2000);
    done();
    config.max_spares = PSTHREAD_NO_SPARES;
    assert_int_equal(psthread_init(&config), 0);
    assert_int_equal(ps_rt.max_spares, 0);
    done();
}

/* --- making and giving back --- */

static void finalize_waits_for_the_enqueued_only(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        ps_store_relaxed(&counter, 0);
        make(count, NULL);
        submit(count, NULL, 0);
        make(count, NULL);
        done();
        assert_int_equal(ps_load_relaxed(&counter), 1);
    }
}

static void what_is_not_submitted_can_be_discarded(void **state)
{
    (void)state;
    with_vps(1);
    for (int i = 0; i < 1000; i++) {
        psthread_t t = make(count, NULL);
        assert_int_equal(psthread_discard(t), 0);
        assert_ptr_equal(make(count, NULL), t); /* the descriptor is used again */
        assert_int_equal(psthread_discard(t), 0);
    }
    psthread_t t = submit(nothing, NULL, 0);
    assert_int_equal(psthread_discard(t), EBUSY);
    psthread_t reused = NULL;
    assert_int_equal(psthread_create_ex(&reused, NULL, nothing, NULL), 0);
    assert_int_equal(psthread_discard(reused), EINVAL);
    assert_int_equal(psthread_free(reused), 0);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static void making_says_where_there_is_no_memory(void **state)
{
    (void)state;
    with_vps(1);
    psthread_t t;
    int err = 0;
    fault_arm(FAULT_MAP, 0, FAULT_ALL_FOLLOWING);
    for (int i = 0; i < 100000 && !err; i++)
        err = psthread_create(&t, NULL, nothing, NULL);
    assert_int_equal(err, ENOMEM);
    assert_int_equal(psthread_spawn(&t, NULL, nothing, NULL), ENOMEM);
    t = NULL;
    assert_int_equal(psthread_create_ex(&t, NULL, nothing, NULL), ENOMEM);
    fault_disarm_all();
    assert_int_equal(psthread_join(submit(nothing, NULL, 0), NULL), 0);
    done();
}

/* With vps whose kernel threads cannot be started, so that what is dealt to them stays where it is. */
static void outer_threads_are_dealt_cyclically(void **state)
{
    (void)state;
    with_vps(3);
    bool taken[3];
    for (unsigned id = 1; id < 3; id++)
        taken[id] = idle_take_unstarted(ps_vp_at(id));
    assert_true(taken[1] && taken[2]);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 3; i++)
            submit(nothing, NULL, PSTHREAD_VP_ANY);
        for (unsigned id = 0; id < 3; id++)
            assert_int_equal(ps_load_relaxed(&ps_vp_at(id)->queue.count), round);
    }
    for (unsigned id = 1; id < 3; id++)
        idle_give_unstarted(ps_vp_at(id));
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static void *discards(void *arg)
{
    CHECK(psthread_discard(arg) == 0);
    return NULL;
}

/* Somebody else than the maker gives it back, while the maker waits for it. */
static void another_thread_may_discard(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        for (int i = 0; i < 100; i++) {
            psthread_t t = make(count, NULL);
            submit(discards, t, 0);
            assert_int_equal(psthread_waitall(), 0);
        }
        done();
    }
}

/* As if nearly 2^32 threads had been made and had ended: the next look after children comes before the last of them. */
static void counters_do_not_wrap(void **state)
{
    (void)state;
    with_vps(1);
    struct psthread *self = ps_self();
    self->created = UINT32_MAX - 5;
    self->sweep_in = 3;
    ps_store_relaxed(&self->children, -(int64_t)(UINT32_MAX - 5));
    for (int i = 0; i < 20; i++)
        assert_int_equal(psthread_join(submit(nothing, NULL, 0), NULL), 0);
    assert_int_equal(psthread_waitall(), 0);
    done();
}

static void *count_in(void *arg)
{
    ps_add_relaxed((_Atomic unsigned *)arg, 1);
    return NULL;
}
/* Each creation adds up the children that have ended, while others end: psthread_waitall returns behind the last. */
static void counters_add_up(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        struct psthread *self = ps_self();
        for (unsigned round = 0; round < 50; round++) {
            _Atomic unsigned ran = 0;
            for (unsigned i = 0; i < 40; i++) {
                self->sweep_in = 0;
                psthread_t t = submit(count_in, &ran, (int)(i % vps));
                if (i % 4 == 0)
                    assert_int_equal(psthread_join(t, NULL), 0);
                else if (i % 4 == 1)
                    psthread_yield();
            }
            assert_int_equal(psthread_waitall(), 0);
            assert_int_equal(ran, 40);
            assert_int_equal(self->created, 0);
            assert_int_equal(ps_load_relaxed(&self->children), 0);
        }
        done();
    }
}

/* Children that have ended stand in their parent's list until it is looked through, those that no thread has joined for
 * certain: whichever way they were pushed there, beside others that end meanwhile. */
static void zombies_are_not_lost(void **state)
{
    enum { AT_ONCE = 24, STEPS = PS_TSAN ? 1000 : 20000 };
    static psthread_t kept[AT_ONCE];
    unsigned seed = 1;
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        struct psthread *self = ps_self();
        unsigned num = 0, found = 0;
        for (unsigned step = 0; step < STEPS; step++) {
            seed = seed * 1103515245u + 12345u;
            unsigned what = seed >> 16;
            if (num < AT_ONCE && what % 8 < 5) {
                psthread_t *t = &kept[num++];
                if (what % 8 < 2)
                    *t = submit(nothing, NULL, (int)(what / 8 % vps));
                else
                    assert_int_equal(psthread_spawn(t, NULL, nothing, NULL), 0);
            } else if (num > 0) {
                unsigned i = what % 3 ? num - 1 : what / 3 % num;
                assert_int_equal(psthread_join(kept[i], NULL), 0);
                kept[i] = kept[--num];
            }
            if (step % 100)
                continue;
            while ((int64_t)self->created + ps_load_acquire(&self->children) != 0)
                psthread_yield();
            found = 0;
            for (struct psthread *z = ps_load_acquire(&self->zombies); z; z = z->next_zombie) {
                uintptr_t join = ps_load_relaxed(&z->join);
                assert_true(join == PS_JOIN_ENDED || join == PS_JOIN_JOINED);
                found += join == PS_JOIN_ENDED;
            }
            assert_int_equal(found, num);
        }
        assert_int_equal(psthread_waitall(), 0);
        assert_null(ps_load_relaxed(&self->zombies));
        done();
    }
}

/* More children alive at once than can be counted. */
static void too_many_children(void **state)
{
    (void)state;
    psthread_t t = NULL;
    with_vps(1);
    struct psthread *self = ps_self();
    self->created = UINT32_MAX / 2 + 7;
    self->sweep_in = 0;
    assert_int_equal(psthread_create(&t, NULL, nothing, NULL), ENOMEM);
    self->sweep_in = 0;
    assert_int_equal(psthread_create_ex(&t, NULL, nothing, NULL), ENOMEM);
    assert_null(t);
    self->created = 0;
    assert_int_equal(psthread_join(submit(nothing, NULL, 0), NULL), 0);
    done();
}

static void *level_below(void *arg)
{
    *(unsigned *)arg = psthread_level();
    return NULL;
}
static void levels_do_not_wrap(void **state)
{
    (void)state;
    with_vps(1);
    unsigned level = 0;
    ps_self()->level = 65535;
    assert_int_equal(psthread_join(submit(level_below, &level, 0), NULL), 0);
    assert_int_equal(level, 65536);
    ps_self()->level = 0;
    done();
}

/* --- recycling --- */

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &pages, &resident) == 2);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* One vp makes, the other one's threads end: descriptors come back to the maker. */
static void detached_threads_are_recycled(void **state)
{
    (void)state;
    with_vps(2);
    const psthread_attr_t detached = {.flags = PSTHREAD_ATTR_DETACHED};
    enum { ROUNDS = 400, N = 500 };
    long before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            psthread_t t;
            CHECK(psthread_create(&t, &detached, nothing, NULL) == 0);
            CHECK(psthread_enqueue(t, 1) == 0);
        }
        while (!ps_queue_seems_empty(&ps_vp_at(1)->queue)) /* so that this vp runs few of them itself */
            usleep(100);
        if (round == 40)
            before = resident_kib();
    }
    psthread_waitall();
#if !PS_ASAN && !PS_TSAN
    assert_in_range(resident_kib() - before + 4096, 0, 4096 + 4096); /* 200,000 descriptors are 23 MB */
#else
    (void)before;
#endif
    done();
}

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

static int status_of(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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

/* --- the end of main --- */

static _Atomic unsigned *shared; /* seen by the parent process too */
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
    if (PS_TSAN) /* a forked child may have no second thread there */
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
    if (PS_TSAN) /* a forked child may have no second thread there */
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

int main(void)
{
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senseless_values_are_refused),
        cmocka_unit_test(given_groups_hold_from_the_first_steal),
        cmocka_unit_test(each_start_has_its_stack_size),
        cmocka_unit_test(stack_sizes_come_from_the_environment),
        cmocka_unit_test(a_start_that_fails_leaves_nothing),
        cmocka_unit_test(making_says_where_there_is_no_memory),
        cmocka_unit_test(outer_threads_are_dealt_cyclically),
        cmocka_unit_test(spares_are_there_unless_refused),
        cmocka_unit_test(finalize_waits_for_the_enqueued_only),
        cmocka_unit_test(what_is_not_submitted_can_be_discarded),
        cmocka_unit_test(another_thread_may_discard),
        cmocka_unit_test(counters_do_not_wrap),
        cmocka_unit_test(counters_add_up),
        cmocka_unit_test(zombies_are_not_lost),
        cmocka_unit_test(too_many_children),
        cmocka_unit_test(levels_do_not_wrap),
        cmocka_unit_test(detached_threads_are_recycled),
        cmocka_unit_test(orphans_are_kept_until_joined),
        cmocka_unit_test(an_unbegun_thread_is_run_by_its_joiner),
        cmocka_unit_test(a_foreign_thread_can_leave),
        cmocka_unit_test(spawned_threads_are_threads),
        cmocka_unit_test(a_spawned_thread_may_run_at_once),
        cmocka_unit_test(spawn_refuses_what_create_refuses),
        cmocka_unit_test(another_may_join_a_spawned_thread),
        cmocka_unit_test(a_child_of_a_spawned_thread_ends_with_it),
        cmocka_unit_test(joined_threads_are_threads_wherever_they_run),
        cmocka_unit_test(a_child_goes_on_alone),
        cmocka_unit_test(a_child_of_a_psthread_ends_with_it),
        cmocka_unit_test(a_child_of_a_foreign_thread_may_stop_the_library),
        cmocka_unit_test(main_may_end_first),
        cmocka_unit_test(who_was_not_enqueued_does_not_keep_main),
        cmocka_unit_test(destructors_may_exit),
        cmocka_unit_test(who_polls_gives_way),
        cmocka_unit_test(many_may_have_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
