/* A root, or a thread that is called on its stack, and threads of the queue take turns by yields: all come on, in
 * order, and what belongs to each stays with it. */
#include "psthread.h"
#include "sync_support.h"

#include <errno.h>
#include <fenv.h>

enum { TURNS = 1000, MOST = 8 };

static void with_vps(unsigned n)
{
    /* with one vp, one thread at a time: no spare beside it on a busy machine */
    psthread_config_t config = {.num_vps = n, .max_spares = n == 1 ? PSTHREAD_NO_SPARES : 0};
    CHECK(psthread_init(&config) == 0);
}
static void done(void) { CHECK(psthread_finalize() == 0); }

static int order[MOST * (TURNS + 1)], num_turns;

/* Its turns, with an errno and a rounding mode of its own. */
static void *take_turns(void *arg)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    int id = (int)(uintptr_t)arg, mode = modes[id % 4], before = fegetround();
    psthread_t self = psthread_self();
    fesetround(mode);
    errno = id + 1;
    for (int i = 0; i < TURNS; i++) {
        order[num_turns++] = id; /* one vp */
        psthread_yield();
        CHECK(errno == id + 1);
        CHECK(fegetround() == mode);
        CHECK(psthread_self() == self);
    }
    fesetround(before);
    return arg;
}

static void make(psthread_t *t, unsigned n, void *(*fn)(void *))
{
    for (unsigned i = 0; i < n; i++) {
        CHECK(psthread_create(&t[i], NULL, fn, (void *)(uintptr_t)(i + 1)) == 0);
        CHECK(psthread_enqueue(t[i], 0) == 0);
    }
}

static void join(psthread_t *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        void *result;
        CHECK(psthread_join(t[i], &result) == 0);
        CHECK(result == (void *)(uintptr_t)(i + 1));
    }
}

/* One that is ready on the root's stack comes behind each of the others, and these in their order. */
static void a_root_and_threads_take_turns(void **state)
{
    (void)state;
    for (unsigned n = 1; n < MOST; n++) {
        psthread_t t[MOST];
        with_vps(1);
        num_turns = 0;
        make(t, n, take_turns);
        take_turns((void *)(uintptr_t)0);
        for (int i = 0; i < 2 * TURNS; i++)
            assert_int_equal(order[i], i % 2 == 0 ? 0 : 1 + i / 2 % (int)n);
        join(t, n);
        assert_int_equal(num_turns, (int)(n + 1) * TURNS);
        done();
    }
}

/* The first is called by its joiner, where it has not begun. */
static void a_called_thread_and_threads_take_turns(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= MOST; n++) {
        psthread_t t[MOST];
        with_vps(1);
        num_turns = 0;
        make(t, n, take_turns);
        join(t, n);
        assert_int_equal(num_turns, (int)n * TURNS);
        for (int i = 2; i < 2 * TURNS; i++)
            assert_int_not_equal(order[i], order[i - 1]); /* no thread has two turns in a row, while two want them */
        done();
    }
}

static _Atomic unsigned long sum;
static void *add(void *arg)
{
    for (int i = 0; i < TURNS; i++) {
        ps_add_relaxed(&sum, 1);
        psthread_yield();
    }
    return arg;
}

/* While others take threads out of the queue. */
static void all_come_on_where_there_are_thieves(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        psthread_t t[MOST];
        with_vps(3);
        ps_store_relaxed(&sum, 0);
        make(t, MOST, add);
        add(NULL);
        join(t, MOST);
        assert_int_equal(ps_load_relaxed(&sum), (MOST + 1) * TURNS);
        done();
    }
}

/* A root that only yields does not keep threads from running, nor they it. */
static void *wait_for_root(void *flag)
{
    while (!ps_load_acquire((_Atomic int *)flag))
        psthread_yield();
    return (void *)1;
}
static void threads_that_poll_let_the_root_run(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 2; vps++) {
        psthread_t t;
        _Atomic int flag = 0;
        with_vps(vps);
        CHECK(psthread_create(&t, NULL, wait_for_root, (void *)&flag) == 0);
        CHECK(psthread_enqueue(t, 0) == 0);
        for (int i = 0; i < TURNS; i++)
            psthread_yield();
        ps_store_release(&flag, 1);
        join(&t, 1);
        done();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_and_threads_take_turns),
        cmocka_unit_test(a_called_thread_and_threads_take_turns),
        cmocka_unit_test(all_come_on_where_there_are_thieves),
        cmocka_unit_test(threads_that_poll_let_the_root_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
