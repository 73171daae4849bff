/* Barriers: all wait for all, in every phase; one serial thread; ids checked; safe to destroy at once. */
#include "sync_support.h"

struct phases {
    psthread_barrier_t barrier;
    unsigned n, num;
    bool yields;
    _Atomic unsigned *came, *serial; /* [num] */
};

static void go_through(unsigned id, void *arg)
{
    struct phases *p = arg;
    unsigned seed = id;
    for (unsigned i = 0; i < p->num; i++) {
        ps_add_relaxed(&p->came[i], 1);
        if (p->yields && one_in(&seed, 3))
            psthread_yield();
        int r = psthread_barrier_wait(p->barrier, (id + i) % p->n);
        CHECK(r == 0 || r == PSTHREAD_BARRIER_SERIAL);
        CHECK(ps_load_relaxed(&p->came[i]) == p->n);
        if (r)
            ps_add_relaxed(&p->serial[i], 1);
    }
}

static void run_phases(unsigned n, unsigned num, bool yields)
{
    struct phases p = {.n = n, .num = num, .yields = yields};
    p.came = calloc(num, sizeof(unsigned));
    p.serial = calloc(num, sizeof(unsigned));
    CHECK(p.came && p.serial && psthread_barrier_init(&p.barrier, n) == 0);
    run_crew(n, go_through, &p);
    for (unsigned i = 0; i < num; i++)
        assert_int_equal(ps_load_relaxed(&p.serial[i]), 1);
    assert_int_equal(psthread_barrier_destroy(p.barrier), 0);
    free(p.came);
    free(p.serial);
}

static void test_bad_values(void **state)
{
    (void)state;
    psthread_barrier_t b;
    assert_int_equal(psthread_barrier_init(&b, 0), EINVAL);
    assert_int_equal(psthread_barrier_init(&b, 2), 0);
    assert_int_equal(psthread_barrier_wait(b, 2), EINVAL);
    assert_int_equal(psthread_barrier_destroy(b), 0);
}

static void test_alone(void **state)
{
    (void)state;
    psthread_barrier_t b;
    assert_int_equal(psthread_barrier_init(&b, 1), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(psthread_barrier_wait(b, 0), PSTHREAD_BARRIER_SERIAL);
    assert_int_equal(psthread_barrier_destroy(b), 0);
}

static void test_few(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= 9; n++)
        run_phases(n, 300, n % 2);
}

static void test_many(void **state)
{
    (void)state;
    run_phases(MANY, 5, true);
}

struct waiting {
    psthread_barrier_t barrier;
    _Atomic unsigned ready;
};
static void *wait_as_1(void *arg)
{
    struct waiting *w = arg;
    ps_store_release(&w->ready, 1);
    CHECK(psthread_barrier_wait(w->barrier, 1) == 0);
    return NULL;
}

/* The root takes part as 0, and finds 1 waiting. */
static void test_while_one_waits(void **state)
{
    (void)state;
    struct waiting w = {.ready = 0};
    if (!one_at_a_time())
        skip();
    assert_int_equal(psthread_barrier_init(&w.barrier, 2), 0);
    psthread_t t = start(wait_as_1, &w);
    while (!ps_load_acquire(&w.ready))
        psthread_yield();
    assert_int_equal(psthread_barrier_destroy(w.barrier), EBUSY);
#if PS_CHECKED
    assert_int_equal(psthread_barrier_wait(w.barrier, 1), EINVAL);
#endif
    assert_int_equal(psthread_barrier_wait(w.barrier, 0), PSTHREAD_BARRIER_SERIAL);
    assert_int_equal(psthread_join(t, NULL), 0);
    assert_int_equal(psthread_barrier_destroy(w.barrier), 0);
}

/* The first thread that comes back may destroy the barrier while the others are still leaving it. */
struct leaving {
    psthread_barrier_t barrier;
    _Atomic unsigned first;
};
static void leave(unsigned id, void *arg)
{
    struct leaving *l = arg;
    psthread_barrier_t b = l->barrier;
    psthread_barrier_wait(b, id);
    if (ps_add_relaxed(&l->first, 1) == 0)
        CHECK(psthread_barrier_destroy(b) == 0);
}
static void test_destroy_at_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        unsigned n = 2 + i % 3;
        struct leaving l = {.first = 0};
        assert_int_equal(psthread_barrier_init(&l.barrier, n), 0);
        run_crew(n, leave, &l);
    }
}

/* The root is one of many: it is readied by itself, the others with those of their vps. */
struct with_root {
    psthread_barrier_t barrier;
    unsigned n, phases;
    _Atomic unsigned came;
    bool yields;
};
static void *meet(struct with_root *w, unsigned id)
{
    unsigned seed = id;
    for (unsigned i = 1; i <= w->phases; i++) {
        ps_add_relaxed(&w->came, 1);
        if (w->yields && one_in(&seed, 3))
            psthread_yield();
        CHECK(psthread_barrier_wait(w->barrier, (id + i) % w->n) <= 0);
        CHECK(ps_load_relaxed(&w->came) >= i * w->n);
    }
    return NULL;
}
struct one_of_them {
    struct with_root *all;
    unsigned id;
};
static void *meet_as(void *arg)
{
    struct one_of_them *one = arg;
    return meet(one->all, one->id);
}
static void test_root_among_many(void **state)
{
    (void)state;
    enum { MOST = 33 };
    for (unsigned n = 3; n <= MOST; n += 5) {
        psthread_t t[MOST];
        struct one_of_them one[MOST];
        struct with_root w = {.n = n, .phases = PS_TSAN ? 40 : 200, .yields = n % 2};
        assert_int_equal(psthread_barrier_init(&w.barrier, n), 0);
        for (unsigned i = 1; i < n; i++) {
            one[i] = (struct one_of_them){&w, i};
            t[i] = start(meet_as, &one[i]);
        }
        meet(&w, 0);
        for (unsigned i = 1; i < n; i++)
            assert_int_equal(psthread_join(t[i], NULL), 0);
        assert_int_equal(ps_load_relaxed(&w.came), n * w.phases);
        assert_int_equal(psthread_barrier_destroy(w.barrier), 0);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_while_one_waits),
        cmocka_unit_test(test_destroy_at_once),
        cmocka_unit_test(test_root_among_many),
    };
    return RUN_ON_VPS(tests, "barrier");
}
