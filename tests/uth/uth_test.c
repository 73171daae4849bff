/* Stacks and their caches, the memory they hold, and contexts on them; for whatever port this is built with. */
#define _GNU_SOURCE
#include "free_slots.h"
#include "os.h"
#include "uth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)CPU_STACK_MIN + 256 * 1024)
#define MANY 300 /* more than a cache keeps */

static struct uth_cache cache, other_cache;
static struct uth root;

static int set_up(void **state)
{
    (void)state;
    uth_init(STACK_BYTES);
    uth_cache_init(&cache);
    uth_cache_init(&other_cache);
    return uth_adopt(&root);
}

static int tear_down(void **state)
{
    (void)state;
    uth_cache_drain(&cache);
    uth_cache_drain(&other_cache);
    uth_release(&root);
    return 0;
}

/* --- running on them --- */

/* What a switch carries, and back: the uth that left. */
static void run(struct uth *u, uintptr_t word)
{
    struct uth *from[] = {&root, (struct uth *)word};
    struct uth *left = uth_switch(&root, u, from, false);
    uth_switched(left, &root);
}

static uintptr_t received, used_bytes;

static uintptr_t use_stack(size_t bytes)
{
    volatile char block[4096];
    memset((char *)block, 1, sizeof block);
    uintptr_t deepest = bytes > sizeof block ? use_stack(bytes - sizeof block) : (uintptr_t)block;
    return deepest + (uintptr_t)block[0] - 1;
}

static void serve(void *transfer, void *arg)
{
    struct uth *self = arg;
    for (;;) {
        struct uth **from = transfer;
        received = (uintptr_t)from[1];
        struct uth *back = from[0];
        uth_switched(back, self);
        if (used_bytes > 0)
            use_stack(used_bytes);
        transfer = uth_switch(self, back, self, false);
    }
}

static void start(struct uth *u) { assert_int_equal(uth_start(u, serve, u), 0); }

static void test_runs(void **state)
{
    (void)state;
    struct uth *u = uth_get(&cache);
    assert_non_null(u);
    assert_true(u->stack_bytes >= STACK_BYTES);
    for (int again = 0; again < 3; again++) {
        start(u);
        for (uintptr_t i = 1; i < 100; i++) {
            run(u, i);
            assert_int_equal(received, i);
            assert_int_equal(ps_load_relaxed(&u->running), 0);
            assert_int_equal(ps_load_relaxed(&root.running), 1);
            while (!uth_saved_soon(u))
                os_yield();
        }
    }
    uth_put(&cache, u);
}

/* --- recycling --- */

static void test_recycles(void **state)
{
    (void)state;
    struct uth *a = uth_get(&cache), *b = uth_get(&cache);
    assert_ptr_not_equal(a, b);
    uth_put(&cache, a);
    uth_put(&cache, b);
    assert_ptr_equal(uth_get(&cache), b); /* the warm one first */
    assert_ptr_equal(uth_get(&cache), a);
    uth_put(&cache, a);
    uth_put(&cache, b);
    assert_int_equal(cache.stacks.n, 2);
}

static void test_sized(void **state)
{
    (void)state;
    struct uth *u = uth_get_sized(1);
    assert_true(u->stack_bytes >= CPU_STACK_MIN);
    start(u);
    run(u, 1);
    uth_put(&cache, u);
    assert_int_equal(cache.stacks.n, 0);
    u = uth_get_sized(8 * STACK_BYTES);
    assert_true(u->stack_bytes >= 8 * STACK_BYTES);
    start(u);
    used_bytes = 6 * STACK_BYTES;
    run(u, 1);
    used_bytes = 0;
    uth_put(&cache, u);
    assert_int_equal(cache.stacks.n, 0);
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (struct uth *const *)a, y = (uintptr_t) * (struct uth *const *)b;
    return (x > y) - (x < y);
}

static void test_shares_what_overflows(void **state)
{
    (void)state;
    static struct uth *u[MANY], *v[MANY];
    for (unsigned i = 0; i < MANY; i++)
        assert_non_null(u[i] = uth_get(&cache));
    for (unsigned i = 0; i < MANY; i++)
        uth_put(&cache, u[i]);
    assert_true(cache.stacks.n < MANY);
    /* Another owner gets some of the very same stacks, and no two owners get one. */
    unsigned same = 0;
    for (unsigned i = 0; i < MANY; i++)
        assert_non_null(v[i] = uth_get(i % 2 ? &cache : &other_cache));
    for (unsigned i = 0; i < MANY; i++)
        for (unsigned j = 0; j < MANY; j++)
            same += v[i] == u[j];
    assert_true(same > cache.stacks.n);
    assert_in_range(same, 2, MANY);
    qsort(v, MANY, sizeof v[0], by_address);
    for (unsigned i = 1; i < MANY; i++)
        assert_ptr_not_equal(v[i], v[i - 1]);
    for (unsigned i = 0; i < MANY; i++)
        uth_put(&other_cache, v[i]);
}

/* --- memory --- */

static size_t resident(const void *stack, size_t bytes)
{
    size_t pages = bytes / os_page_size(), count = 0;
    unsigned char *in = calloc(1, pages);
    if (mincore((void *)(uintptr_t)stack, bytes, in) != 0)
        count = SIZE_MAX; /* not mapped */
    for (size_t i = 0; count != SIZE_MAX && i < pages; i++)
        count += in[i] & 1;
    free(in);
    return count;
}

static void test_memory_goes_back(void **state)
{
    (void)state;
    struct uth *u = uth_get(&cache);
    const void *stack = u->stack;
    size_t bytes = u->stack_bytes;
    assert_in_range(resident(stack, bytes), 1, 2); /* nothing but the descriptor */
    start(u);
    used_bytes = 200 * 1024;
    run(u, 1);
    used_bytes = 0;
    assert_true(resident(stack, bytes) >= 200 * 1024 / os_page_size());
    uth_put(&cache, u);
    assert_true(resident(stack, bytes) >= 200 * 1024 / os_page_size()); /* kept warm ... */
    uth_cache_trim(&cache, 1);
    assert_int_equal(cache.stacks.n, 1);
    uth_cache_trim(&cache, 0); /* ... until the vp has nothing to do */
    assert_int_equal(cache.stacks.n, 0);
    assert_in_range(resident(stack, bytes), 1, 2);
    /* It is on the shared list now, whole: it comes back and works. */
    struct uth *again = uth_get(&other_cache);
    assert_ptr_equal(again, u);
    start(again);
    run(again, 77);
    assert_int_equal(received, 77);
    uth_put(&other_cache, again);
    uth_cache_drain(&other_cache);
    assert_int_equal(resident(stack, bytes), SIZE_MAX);
}

static void test_trim_reaches_shared(void **state)
{
    (void)state;
    static struct uth *u[MANY];
    size_t before = 0, after = 0;
    used_bytes = 32 * 1024;
    for (unsigned i = 0; i < MANY; i++) {
        assert_non_null(u[i] = uth_get(&cache));
        start(u[i]);
        run(u[i], i);
    }
    used_bytes = 0;
    for (unsigned i = 0; i < MANY; i++)
        before += resident(u[i]->stack, u[i]->stack_bytes);
    assert_true(before >= MANY * (32 * 1024 / os_page_size()));
    static struct {
        const void *stack;
        size_t bytes;
    } place[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        place[i].stack = u[i]->stack;
        place[i].bytes = u[i]->stack_bytes;
        uth_put(&cache, u[i]); /* without asking: most are on the shared list, warm */
    }
    uth_cache_trim(&cache, 0);
    for (unsigned i = 0; i < MANY; i++) {
        size_t pages = resident(place[i].stack, place[i].bytes);
        after += pages == SIZE_MAX ? 0 : pages;
    }
    assert_true(after <= 2 * MANY);
}

/* An owner that ends leaves a few for others, with the pages near the top; these go when a vp has nothing to do. */
static void test_ended_owners_leave_some(void **state)
{
    (void)state;
    struct uth *u = uth_get(&cache);
    const void *stack = u->stack;
    size_t bytes = u->stack_bytes;
    start(u);
    used_bytes = 200 * 1024;
    run(u, 1);
    used_bytes = 0;
    uth_put(&cache, u);
    uth_cache_leave(&cache);
    assert_int_equal(cache.stacks.n, 0);
    assert_in_range(resident(stack, bytes), 1, 64 * 1024 / os_page_size() + 1);
    assert_ptr_equal(uth_get(&other_cache), u);
    start(u);
    run(u, 77);
    assert_int_equal(received, 77);
    uth_put(&other_cache, u);
    uth_cache_leave(&other_cache);
    uth_cache_trim(&cache, 0);
    assert_in_range(resident(stack, bytes), 1, 2);
    uth_cache_drain(&cache);
    assert_int_equal(resident(stack, bytes), SIZE_MAX);
}

static void test_ended_owners_leave_few(void **state)
{
    (void)state;
    static struct uth *u[MANY];
    size_t before = uth_mapped();
    for (unsigned i = 0; i < MANY; i++)
        assert_non_null(u[i] = uth_get(&cache));
    for (unsigned i = 0; i < MANY; i++)
        uth_put(&cache, u[i]);
    uth_cache_leave(&cache);
    assert_in_range(uth_mapped(), before + 1, before + 2 * PS_FREE_SLOTS);
    uth_after_fork_in_child(); /* what is there is left alone */
    assert_int_equal(uth_mapped(), before);
    assert_int_equal(cache.stacks.n, 0);
}

/* --- the guard page --- */

static void test_guard(void **state)
{
    (void)state;
    if (PS_ASAN || PS_TSAN)
        skip(); /* they end the process in their own way */
    struct uth *u = uth_get(&cache);
    for (int below = 1; below <= (int)os_page_size(); below += (int)os_page_size() - 1) {
        pid_t child = fork();
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            *((volatile char *)u->stack) = 1; /* usable to the last byte */
            *((volatile char *)u->stack - below) = 1;
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSEGV);
    }
    uth_put(&cache, u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_runs),
        TEST(test_recycles),
        TEST(test_sized),
        TEST(test_shares_what_overflows),
        TEST(test_memory_goes_back),
        TEST(test_trim_reaches_shared),
        TEST(test_ended_owners_leave_some),
        TEST(test_ended_owners_leave_few),
        TEST(test_guard),
    };
    return cmocka_run_group_tests_name("uth on " CPU_PORT_NAME, tests, NULL, NULL);
}
