/* Mutexes and spin locks: exclusion, no lost wake-up, bounded starvation, wrong use, memory freed right after
 * unlock. */
#include "sync_support.h"

struct shared {
    psthread_mutex_t mutex;
    psthread_spin_t spin;
    unsigned rounds;
    unsigned long sum;
    int inside;
};

static void add_under_mutex(unsigned id, void *arg)
{
    struct shared *s = arg;
    unsigned seed = id;
    for (unsigned i = 0; i < s->rounds; i++) {
        if (one_in(&seed, 4) ? psthread_mutex_trylock(&s->mutex) : psthread_mutex_lock(&s->mutex))
            CHECK(psthread_mutex_lock(&s->mutex) == 0);
        CHECK(s->inside++ == 0);
        s->sum++;
        if (one_in(&seed, 5)) /* the holder may be switched away from */
            psthread_yield();
        s->inside--;
        CHECK(psthread_mutex_unlock(&s->mutex) == 0);
        if (one_in(&seed, 7))
            psthread_yield();
    }
}

static void exclusion(unsigned n, unsigned rounds)
{
    struct shared s = {.rounds = rounds};
    run_crew(n, add_under_mutex, &s);
    assert_int_equal(s.sum, (unsigned long)n * rounds);
    assert_int_equal(psthread_mutex_destroy(&s.mutex), 0);
}
static void test_exclusion_few(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 8; n++)
        exclusion(n, 1000);
}
static void test_exclusion_many(void **state)
{
    (void)state;
    exclusion(MANY, 10);
}

static void test_states(void **state)
{
    (void)state;
    psthread_mutex_t m;
    assert_int_equal(psthread_mutex_init(&m), 0);
    assert_int_equal(psthread_mutex_lock(&m), 0);
    assert_int_equal(psthread_mutex_trylock(&m), EBUSY);
    assert_int_equal(psthread_mutex_destroy(&m), EBUSY);
    assert_int_equal(psthread_mutex_unlock(&m), 0);
    assert_int_equal(psthread_mutex_trylock(&m), 0);
    assert_int_equal(psthread_mutex_unlock(&m), 0);
    assert_int_equal(psthread_mutex_destroy(&m), 0);
}

/* What the word itself tells, in any build. */
static void test_unlock_of_free(void **state)
{
    (void)state;
    psthread_mutex_t m = PSTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(psthread_mutex_unlock(&m), EPERM);
        assert_int_equal(psthread_mutex_trylock(&m), 0);
        assert_int_equal(psthread_mutex_unlock(&m), 0);
    }
    assert_int_equal(psthread_mutex_destroy(&m), 0);
}

#if PS_CHECKED
static void *unlock_foreign(void *mutex)
{
    CHECK(psthread_mutex_unlock(mutex) == EPERM);
    return NULL;
}
static void test_wrong_use(void **state)
{
    (void)state;
    psthread_mutex_t m = PSTHREAD_MUTEX_INITIALIZER;
    assert_int_equal(psthread_mutex_unlock(&m), EPERM);
    assert_int_equal(psthread_mutex_lock(&m), 0);
    assert_int_equal(psthread_mutex_lock(&m), EDEADLK);
    assert_int_equal(psthread_join(start(unlock_foreign, &m), NULL), 0);
    assert_int_equal(psthread_mutex_unlock(&m), 0);
    assert_int_equal(psthread_mutex_destroy(&m), 0);
}
#endif

/* One thread takes the lock again right after it gave it up, and gives others their turn only while it holds it.
 * Without a bound on barging the other never gets the lock where there is one vp, and this test does not end. */
struct greed {
    psthread_mutex_t mutex;
    _Atomic unsigned served;
};
static void *be_greedy(void *arg)
{
    struct greed *g = arg;
    while (!ps_load_acquire(&g->served)) {
        CHECK(psthread_mutex_lock(&g->mutex) == 0);
        psthread_yield();
        CHECK(psthread_mutex_unlock(&g->mutex) == 0);
    }
    return NULL;
}
static void *be_served(void *arg)
{
    struct greed *g = arg;
    CHECK(psthread_mutex_lock(&g->mutex) == 0);
    ps_store_release(&g->served, 1);
    CHECK(psthread_mutex_unlock(&g->mutex) == 0);
    return NULL;
}
static void test_starvation(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        struct greed g = {.served = 0};
        psthread_t greedy = start(be_greedy, &g), other = start(be_served, &g);
        assert_int_equal(psthread_join(other, NULL), 0);
        assert_int_equal(psthread_join(greedy, NULL), 0);
    }
}

/* An object that counts its references under its own mutex and is freed by the last to leave, which has just
 * unlocked. */
struct counted {
    psthread_mutex_t mutex;
    unsigned references;
};
static void leave_counted(unsigned id, void *arg)
{
    struct counted *c = arg;
    unsigned seed = id;
    CHECK(psthread_mutex_lock(&c->mutex) == 0);
    if (one_in(&seed, 2))
        psthread_yield();
    bool last = --c->references == 0;
    CHECK(psthread_mutex_unlock(&c->mutex) == 0);
    if (last) {
        CHECK(psthread_mutex_destroy(&c->mutex) == 0);
        memset(c, 0xff, sizeof(*c)); /* what still touched it would be confused */
        free(c);
    }
}
static void test_free_after_unlock(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        struct counted *c = calloc(1, sizeof(*c));
        CHECK(c);
        c->references = 2 + i % 4;
        run_crew(c->references, leave_counted, c);
    }
}

static void add_under_spin(unsigned id, void *arg)
{
    struct shared *s = arg;
    unsigned seed = id;
    for (unsigned i = 0; i < s->rounds; i++) {
        if (one_in(&seed, 4) ? psthread_spin_trylock(&s->spin) : psthread_spin_lock(&s->spin))
            CHECK(psthread_spin_lock(&s->spin) == 0);
        CHECK(s->inside++ == 0);
        s->sum++;
        s->inside--;
        CHECK(psthread_spin_unlock(&s->spin) == 0);
    }
}
static void test_spin(void **state)
{
    (void)state;
    struct shared s = {.rounds = 2000};
    assert_int_equal(psthread_spin_init(&s.spin), 0);
    run_crew(8, add_under_spin, &s);
    assert_int_equal(s.sum, 8 * 2000);
    assert_int_equal(psthread_spin_lock(&s.spin), 0);
    assert_int_equal(psthread_spin_trylock(&s.spin), EBUSY);
    assert_int_equal(psthread_spin_unlock(&s.spin), 0);
}

/* A work descriptor must not wait: one line, then abort. */
static void *lock_held_one(void *mutex)
{
    psthread_mutex_lock(mutex);
    return NULL;
}
static void block_without_stack(void)
{
    static psthread_mutex_t m = PSTHREAD_MUTEX_INITIALIZER;
    const psthread_attr_t attr = {0, PSTHREAD_ATTR_NOSTACK};
    psthread_t t;
    signal(SIGABRT, SIG_DFL);
    psthread_mutex_lock(&m);
    psthread_create(&t, &attr, lock_held_one, &m);
    psthread_enqueue(t, PSTHREAD_VP_ANY);
    psthread_waitall();
}
static void test_no_stack(void **state)
{
    (void)state;
    char err[512];
    int status = in_child(block_without_stack, err, sizeof err);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_memory_equal(err, "psthreads: ", 11);
    assert_non_null(strstr(err, "tried to block"));
    /* One line of ours; an emulator adds one of its own about the signal. */
    assert_non_null(strchr(err, '\n'));
    assert_null(strstr(strchr(err, '\n'), "psthreads: "));
}

/* A thread that polls by a mutex lets the others of its vp run after 64 looks at most: by unlock, and by trylock in
 * vain. */
struct polled {
    psthread_mutex_t mutex;
    _Atomic bool said;
    unsigned looks;
};
static void *says(void *arg)
{
    struct polled *p = arg;
    ps_store_relaxed(&p->said, true);
    return NULL;
}
static void *polls_by_unlock(void *arg)
{
    struct polled *p = arg;
    psthread_t other = start(says, p);
    for (bool said = false; !said; p->looks++) {
        CHECK(psthread_mutex_lock(&p->mutex) == 0);
        said = ps_load_relaxed(&p->said);
        CHECK(psthread_mutex_unlock(&p->mutex) == 0);
    }
    CHECK(psthread_join(other, NULL) == 0);
    return NULL;
}
static void *polls_by_trylock(void *arg)
{
    struct polled *p = arg;
    CHECK(psthread_mutex_lock(&p->mutex) == 0);
    psthread_t other = start(says, p);
    for (; !ps_load_relaxed(&p->said); p->looks++)
        CHECK(psthread_mutex_trylock(&p->mutex) == EBUSY);
    CHECK(psthread_mutex_unlock(&p->mutex) == 0);
    CHECK(psthread_join(other, NULL) == 0);
    return NULL;
}
static void test_polls(void **state)
{
    (void)state;
    void *(*const ways[])(void *) = {polls_by_unlock, polls_by_trylock};
    for (unsigned i = 0; i < 2; i++) {
        struct polled p = {.mutex = PSTHREAD_MUTEX_INITIALIZER};
        CHECK(psthread_join(start(ways[i], &p), NULL) == 0);
        if (one_at_a_time()) /* elsewhere the other may have spoken before the first look */
            assert_true(p.looks <= 65);
    }
}

int main(void)
{
    static const struct CMUnitTest before[] = {cmocka_unit_test(test_no_stack)};
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_unlock_of_free),
#if PS_CHECKED
        cmocka_unit_test(test_wrong_use),
#endif
        cmocka_unit_test(test_exclusion_few),
        cmocka_unit_test(test_exclusion_many),
        cmocka_unit_test(test_starvation),
        cmocka_unit_test(test_spin),
        cmocka_unit_test(test_polls),
        cmocka_unit_test(test_free_after_unlock),
    };
    int failed = cmocka_run_group_tests_name("mutex, library not started", before, NULL, NULL);
    return failed + RUN_ON_VPS(tests, "mutex");
}
