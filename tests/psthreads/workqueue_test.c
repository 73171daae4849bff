/* Work-queues: everything added, and what it adds, has run when wait returns. */
#include "sync_support.h"

struct tree {
    psthread_workqueue_t queue;
    _Atomic unsigned ran;
    int stack;
};
struct node {
    struct tree *tree;
    unsigned depth;
};

static void grow(void *arg)
{
    struct node n = *(struct node *)arg;
    free(arg);
    ps_add_relaxed(&n.tree->ran, 1);
    if (n.tree->stack)
        psthread_yield();
    for (int i = 0; n.depth && i < 2; i++) {
        struct node *child = malloc(sizeof *child);
        CHECK(child);
        *child = (struct node){n.tree, n.depth - 1};
        CHECK(psthread_workqueue_add(n.tree->queue, grow, child, n.tree->stack) == 0);
    }
}

static void run_tree(int stack, unsigned depth)
{
    struct tree t = {.stack = stack};
    struct node *root = malloc(sizeof *root);
    assert_non_null(root);
    *root = (struct node){&t, depth};
    assert_int_equal(psthread_workqueue_init(&t.queue), 0);
    assert_int_equal(psthread_workqueue_add(t.queue, grow, root, stack), 0);
    assert_int_equal(psthread_workqueue_wait(t.queue), 0);
    assert_int_equal(ps_load_relaxed(&t.ran), (2u << depth) - 1);
    assert_int_equal(psthread_workqueue_destroy(t.queue), 0);
    psthread_waitall();
}
static void test_tree(void **state)
{
    (void)state;
    unsigned deepest = MANY > 1000 ? 11 : 6;
    for (unsigned depth = 0; depth <= deepest; depth++)
        run_tree(0, depth);
}
static void test_tree_with_stacks(void **state)
{
    (void)state;
    unsigned deepest = MANY > 1000 ? 10 : 6;
    for (unsigned depth = 0; depth <= deepest; depth++)
        run_tree(1, depth);
}

/* Several threads add to one queue and wait for it, again and again; both kinds of work. */
struct several {
    psthread_workqueue_t queue;
    psthread_mutex_t mutex;
    unsigned long sum;
    _Atomic unsigned ran[8];
};
static void count_with_stack(void *arg)
{
    struct several *s = arg;
    psthread_mutex_lock(&s->mutex);
    psthread_yield();
    s->sum++;
    psthread_mutex_unlock(&s->mutex);
}
static void count(void *arg) { ps_add_relaxed((_Atomic unsigned *)arg, 1); }

static void add_and_wait(unsigned id, void *arg)
{
    struct several *s = arg;
    for (unsigned round = 1; round <= 20; round++) {
        for (int i = 0; i < 5; i++) {
            CHECK(psthread_workqueue_add(s->queue, count, &s->ran[id], 0) == 0);
            CHECK(psthread_workqueue_add(s->queue, count_with_stack, s, 1) == 0);
        }
        CHECK(psthread_workqueue_wait(s->queue) == 0);
        CHECK(ps_load_relaxed(&s->ran[id]) == 5 * round);
    }
}
static void test_several(void **state)
{
    (void)state;
    struct several s = {.sum = 0};
    assert_int_equal(psthread_workqueue_init(&s.queue), 0);
    run_crew(8, add_and_wait, &s);
    assert_int_equal(s.sum, 8 * 20 * 5);
    assert_int_equal(psthread_workqueue_destroy(s.queue), 0);
}

/* Work is left: destroy refuses. Nothing was ever added: wait returns at once. */
static _Atomic unsigned released;
static void until_released(void *arg)
{
    (void)arg;
    while (!ps_load_acquire(&released))
        psthread_yield();
}
static void test_busy(void **state)
{
    (void)state;
    psthread_workqueue_t q;
    ps_store_relaxed(&released, 0);
    assert_int_equal(psthread_workqueue_init(&q), 0);
    assert_int_equal(psthread_workqueue_wait(q), 0);
    assert_int_equal(psthread_workqueue_add(q, until_released, NULL, 1), 0);
    assert_int_equal(psthread_workqueue_destroy(q), EBUSY);
    ps_store_release(&released, 1);
    assert_int_equal(psthread_workqueue_wait(q), 0);
    assert_int_equal(psthread_workqueue_destroy(q), 0);
    psthread_waitall();
}

/* A piece that calls psthread_exit ends, and nothing else does: the queue counts it, and a waiting thread goes on. */
static void exits(void *arg)
{
    ps_add_relaxed((_Atomic unsigned *)arg, 1);
    psthread_exit(arg);
}
static void test_exit(void **state)
{
    (void)state;
    for (int stack = 0; stack < 2; stack++) {
        psthread_workqueue_t q;
        _Atomic unsigned ran = 0;
        assert_int_equal(psthread_workqueue_init(&q), 0);
        for (unsigned round = 1; round <= 10; round++) {
            for (int i = 0; i < 8; i++)
                assert_int_equal(psthread_workqueue_add(q, i % 2 ? exits : count, (void *)&ran, stack), 0);
            assert_int_equal(psthread_workqueue_wait(q), 0);
            assert_int_equal(ps_load_relaxed(&ran), 8 * round);
        }
        assert_int_equal(psthread_workqueue_destroy(q), 0);
        psthread_waitall();
    }
}

/* A piece that waits for its own queue is told so. */
static psthread_workqueue_t own_queue, other_queue;
static _Atomic int answers[2];
static void waits_for_its_own(void *arg)
{
    ps_store_relaxed(&answers[0], psthread_workqueue_wait(own_queue));
    ps_store_relaxed(&answers[1], psthread_workqueue_wait(other_queue));
    (void)arg;
}
static void test_wait_inside(void **state)
{
    (void)state;
    for (int stack = 0; stack < 2; stack++) {
        assert_int_equal(psthread_workqueue_init(&own_queue), 0);
        assert_int_equal(psthread_workqueue_init(&other_queue), 0);
        ps_store_relaxed(&answers[0], -1);
        ps_store_relaxed(&answers[1], -1);
        assert_int_equal(psthread_workqueue_add(own_queue, waits_for_its_own, NULL, stack), 0);
        assert_int_equal(psthread_workqueue_wait(own_queue), 0);
        assert_int_equal(ps_load_relaxed(&answers[0]), EDEADLK);
        assert_int_equal(ps_load_relaxed(&answers[1]), 0);
        assert_int_equal(psthread_workqueue_destroy(own_queue), 0);
        assert_int_equal(psthread_workqueue_destroy(other_queue), 0);
        psthread_waitall();
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),    cmocka_unit_test(test_tree_with_stacks),
        cmocka_unit_test(test_several), cmocka_unit_test(test_busy),
        cmocka_unit_test(test_exit),    cmocka_unit_test(test_wait_inside),
    };
    return RUN_ON_VPS(tests, "work-queue");
}
