/* Waiting on a word: no wake-up is lost, n wakes n, strangers in the same bucket are left alone. */
#include "address_wait.h"
#include "sync_support.h"

#include <limits.h>

/* A token goes round: each thread waits for its turn on one word, and wakes all. */
struct ring {
    _Atomic uint32_t turn;
    unsigned n, rounds;
};
static void take_turn(unsigned id, void *arg)
{
    struct ring *r = arg;
    for (unsigned i = 0; i < r->rounds; i++) {
        uint32_t seen;
        while ((seen = ps_load_acquire(&r->turn)) % r->n != id)
            ps_wait_on(&r->turn, seen);
        ps_store_release(&r->turn, seen + 1);
        ps_wake_on(&r->turn, UINT_MAX);
    }
}
static void test_ring(void **state)
{
    (void)state;
    const unsigned sizes[] = {2, 3, 8, MANY / 8};
    for (unsigned i = 0; i < 4; i++) {
        struct ring r = {.n = sizes[i], .rounds = sizes[i] < 10 ? 1000 : 3};
        run_crew(r.n, take_turn, &r);
        assert_int_equal(ps_load_relaxed(&r.turn), r.n * r.rounds);
    }
}

/* The smallest lock on a word that wakes one (as omp_lock_t is built): a lost wake-up hangs it. */
struct locked {
    _Atomic uint32_t word; /* 0 free, 1 held, 2 held and perhaps waited for */
    unsigned long sum;
    unsigned rounds;
};
static void add_locked(unsigned id, void *arg)
{
    struct locked *l = arg;
    unsigned seed = id;
    for (unsigned i = 0; i < l->rounds; i++) {
        uint32_t s = 0;
        if (!ps_cas_acquire(&l->word, &s, 1))
            while (ps_xchg_acquire(&l->word, 2) != 0)
                ps_wait_on(&l->word, 2);
        l->sum++;
        if (one_in(&seed, 5))
            psthread_yield();
        if (ps_xchg_release(&l->word, 0) == 2)
            ps_wake_on(&l->word, 1);
    }
}
static void test_lock(void **state)
{
    (void)state;
    const unsigned sizes[] = {2, 4, 16, MANY};
    for (unsigned i = 0; i < 4; i++) {
        struct locked l = {.rounds = sizes[i] >= 20 ? 10 : PS_TSAN ? 100 : 1000};
        run_crew(sizes[i], add_locked, &l);
        assert_int_equal(l.sum, (unsigned long)sizes[i] * l.rounds);
    }
}

/* Many words, many more than there are buckets, each with one waiter that only its own word may wake. */
#define WORDS 600u
struct words {
    _Atomic uint32_t word[WORDS];
    _Atomic unsigned returned;
};
static void wait_for_word(unsigned id, void *arg)
{
    struct words *w = arg;
    if (id == WORDS) { /* wakes all the others */
        for (unsigned i = 0; i < WORDS; i++) {
            unsigned k = i * 7 % WORDS;
            ps_store_relaxed(&w->word[k], 1);
            ps_wake_on(&w->word[k], 1);
            if (i % 16 == 0)
                psthread_yield();
        }
        return;
    }
    while (ps_load_acquire(&w->word[id]) == 0)
        ps_wait_on(&w->word[id], 0);
    ps_add_relaxed(&w->returned, 1);
}
static void test_words(void **state)
{
    (void)state;
    struct words *w = calloc(1, sizeof *w);
    assert_non_null(w);
    run_crew(WORDS + 1, wait_for_word, w);
    assert_int_equal(ps_load_relaxed(&w->returned), WORDS);
    free(w);
}

static void test_returns_at_once(void **state)
{
    (void)state;
    _Atomic uint32_t word = 7;
    ps_wait_on(&word, 6);
    ps_wake_on(&word, 1);
    assert_int_equal(ps_load_relaxed(&word), 7);
}

/* wake(n) lets n go, the longest waiting first: seen on one vp, where the order is sure. */
struct order {
    _Atomic uint32_t word;
    unsigned came, left;
};
static void wake_by_and_by(struct order *o)
{
    while (o->came < 10)
        psthread_yield();
    ps_store_relaxed(&o->word, 1);
    ps_wake_on(&o->word, 0);
    for (unsigned n = 1, expected = 0; expected < 10; n++) {
        ps_wake_on(&o->word, n);
        expected = expected + n < 10 ? expected + n : 10;
        for (int i = 0; i < 30; i++)
            psthread_yield();
        CHECK(o->left == expected);
    }
}
static void come_and_go(unsigned id, void *arg)
{
    struct order *o = arg;
    if (id == 10) {
        wake_by_and_by(o);
        return;
    }
    unsigned mine = o->came++;
    ps_wait_on(&o->word, 0);
    CHECK(o->left++ == mine);
}
static void test_order(void **state)
{
    (void)state;
    struct order o = {.came = 0};
    if (!one_at_a_time())
        skip();
    run_crew(11, come_and_go, &o);
    assert_int_equal(o.left, 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returns_at_once),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_words),
    };
    return RUN_ON_VPS(tests, "address wait");
}
