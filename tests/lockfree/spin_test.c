/* The spin lock: exclusion, also where the holder is preempted, and visibility of what was written under it. */
#include "test.h"

#include "meeting.h"
#include "spin.h"

#define THREADS 4
#define ROUNDS 60000

static struct ps_spin lock;
static unsigned long plain; /* guarded by lock */
static unsigned inside;     /* guarded by lock */

static void alone(void **state)
{
    (void)state;
    struct ps_spin l;
    ps_spin_init(&l);
    assert_false(ps_spin_is_held(&l));
    ps_spin_lock(&l);
    assert_true(ps_spin_is_held(&l));
    assert_false(ps_spin_try_lock(&l));
    ps_spin_unlock(&l);
    assert_true(ps_spin_try_lock(&l));
    assert_false(ps_spin_try_lock(&l));
    ps_spin_unlock(&l);
    assert_false(ps_spin_is_held(&l));
}

struct worker {
    unsigned intruders; /* found inside together with me */
    bool tries;
    bool dawdles; /* gives the processor away while it holds the lock */
    unsigned rounds;
};

static _Atomic uint32_t started;

static void *work(void *arg)
{
    struct worker *w = arg;
    ps_add_relaxed(&started, 1);
    while (ps_load_relaxed(&started) != THREADS) /* all at once */
        os_yield();
    uint64_t until_ns = os_now_ns() + MEETINGS_NS;
    for (unsigned i = 0; i < ROUNDS && (i % 64 != 0 || os_now_ns() < until_ns); i++) {
        if (w->tries) {
            while (!ps_spin_try_lock(&lock))
                os_yield();
        } else {
            ps_spin_lock(&lock);
        }
        w->intruders += inside++ != 0;
        plain++;
        if (w->dawdles && i % 64 == 0)
            os_yield();
        w->intruders += --inside != 0;
        ps_spin_unlock(&lock);
        w->rounds++;
    }
    return NULL;
}

static void work_together(struct worker *w)
{
    os_thread t[THREADS];
    plain = 0;
    ps_store_relaxed(&started, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(os_thread_start(&t[i], work, &w[i], 0, true), 0);
    for (int i = 0; i < THREADS; i++)
        os_thread_join(t[i]);
    unsigned long rounds = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(w[i].intruders, 0);
        rounds += w[i].rounds;
    }
    assert_int_equal(plain, rounds);
}

static void one_at_a_time(void **state)
{
    (void)state;
    struct worker w[THREADS] = {{.tries = true}, {.tries = true}, {.dawdles = true}};
    work_together(w);
}

/* Two at once for a free lock, again and again: never do both get it. */
static PS_LINE_ALIGNED struct ps_spin prize;
static PS_LINE_ALIGNED _Atomic unsigned begun, ended;
static bool other_won; /* handed over by ended */

static void *meet(void *arg)
{
    (void)arg;
    for (unsigned i = 1; wait_for(&begun, i); i++) {
        other_won = ps_spin_try_lock(&prize);
        ps_store_release(&ended, i);
    }
    return NULL;
}

static void never_two_winners(void **state)
{
    (void)state;
    os_thread t;
    unsigned both = 0, neither = 0;
    assert_int_equal(os_thread_start(&t, meet, NULL, 0, true), 0);
    uint64_t until_ns = os_now_ns() + MEETINGS_NS;
    for (unsigned i = 1; i <= MEETINGS && os_now_ns() < until_ns; i++) {
        ps_store_release(&begun, i);
        for (volatile unsigned delay = 0; delay < i % 128; delay++)
            ;
        bool won = ps_spin_try_lock(&prize);
        wait_for(&ended, i);
        both += won && other_won;
        neither += !won && !other_won;
        ps_spin_unlock(&prize);
    }
    ps_store_release(&begun, NO_MORE);
    os_thread_join(t);
    assert_int_equal(both, 0);
    assert_int_equal(neither, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(never_two_winners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
