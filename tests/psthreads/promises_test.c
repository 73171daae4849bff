/* What psthread.h says of starting, stopping, making, joining and ending threads, sentence by sentence, where the other
 * tests do not. */
#include "promises_support.h"

#include "fault.h"
#include "idle.h"
#include "scheduler.h"

#include <sys/mman.h>

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
    enum { ROUNDS = PS_TSAN ? 50 : 400, N = 500 };
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

static const struct CMUnitTest tests[] = {
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
};

int main(void)
{
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static const struct test_part first = TEST_PART(tests);
    const struct test_part *const parts[] = {&first, &promises_joining, &promises_ends};
    return RUN_PARTS(parts);
}
