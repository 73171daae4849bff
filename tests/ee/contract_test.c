/* What ee.h promises, asked of the implementation that this program is linked with. No timed check: an implementation
 * that does not keep a promise fails an assertion or hangs. Members check with PS_CHECK: cmocka's assertions belong to
 * the main thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "ee.h"

#define MEMBERS 24

struct crew;

struct hand {
    struct ee_member member;
    struct crew *crew;
    unsigned id;
    _Atomic unsigned ran;
    struct crew *inner;
};

struct crew {
    struct ee_team team;
    unsigned n;
    void (*job)(struct hand *);
    void (*help)(struct hand *);
    _Atomic uint32_t helpers; /* bits: helpers, whose identity was given to us */
    bool notifies;
    _Atomic unsigned counter;
    _Atomic uint32_t word;
    _Atomic unsigned stage[MEMBERS];
    struct hand hands[MEMBERS];
};

static void body(struct ee_member *m)
{
    struct hand *h = (struct hand *)m;
    PS_CHECK(ee_local() == m, "a member does not begin as itself");
    ps_add_relaxed(&h->ran, 1);
    h->crew->job(h);
    PS_CHECK(ee_local() == m, "a member is no longer itself");
}

static void assist(struct ee_member *m)
{
    struct hand *h = (struct hand *)m;
    if (h->crew->help != NULL)
        h->crew->help(h);
}

/* As the core: the member is a helper, then a look for work. */
static bool idle(struct ee_member *m)
{
    struct hand *h = (struct hand *)m;
    struct crew *c = h->crew;
    uint32_t bit = 1u << h->id;
    PS_CHECK(c->notifies, "member %u is a helper in a region without tasks", h->id);
    PS_CHECK((ps_or_seq(&c->helpers, bit) & bit) == 0, "member %u was a helper already", h->id);
    return ps_load_seq(&c->counter) != 0 && (ps_and_seq(&c->helpers, ~bit) & bit) != 0;
}

static void call_helper(struct crew *c)
{
    uint32_t free = ps_load_seq(&c->helpers);
    while (free != 0 && !ps_cas_seq(&c->helpers, &free, free & (free - 1)))
        continue;
    if (free != 0)
        ee_team_help(&c->team, (unsigned)__builtin_ctz(free));
}

static const struct ee_team_ops ops = {.body = body, .assist = assist, .idle = idle};

static struct crew *crew_new(void)
{
    void *p;
    PS_CHECK(posix_memalign(&p, PS_CACHE_LINE, sizeof(struct crew)) == 0, "no memory");
    struct crew *c = memset(p, 0, sizeof(struct crew));
    for (unsigned i = 0; i < MEMBERS; i++) {
        c->hands[i].crew = c;
        c->hands[i].id = i;
    }
    ee_team_init(&c->team, &ops, &c->hands[0].member, sizeof(struct hand), MEMBERS);
    return c;
}

static void crew_free(struct crew *c)
{
    ee_team_fini(&c->team);
    free(c);
}

/* A whole region, as the core opens it. */
static void region(struct crew *c, unsigned n, void (*job)(struct hand *), bool outermost)
{
    void *before = ee_local();
    unsigned ran[MEMBERS];
    for (unsigned i = 0; i < MEMBERS; i++)
        ran[i] = ps_load_relaxed(&c->hands[i].ran);
    c->job = job;
    c->n = n;
    ps_store_relaxed(&c->helpers, 0);
    PS_CHECK(ee_team_reserve(&c->team, n) == n, "fewer than %u members", n);
    ee_team_fork(&c->team, n, outermost);
    body(&c->hands[0].member);
    ee_team_join(&c->team);
    PS_CHECK(ee_local() == before, "the parent is another after the join");
    for (unsigned i = 0; i < MEMBERS; i++)
        PS_CHECK(ps_load_relaxed(&c->hands[i].ran) == ran[i] + (i < n), "member %u ran %u times", i,
                 ps_load_relaxed(&c->hands[i].ran) - ran[i]);
}

static char root_local;

static int setup(void **state)
{
    (void)state;
    static const struct ee_config config = {.spin_count = UINT64_MAX};
    ee_init(&config);
    ee_init(&config);
    if (ee_local() == NULL)
        ee_set_local(&root_local);
    return 0;
}

/* --- teams --- */

static void count(struct hand *h) { ps_add_relaxed(&h->crew->counter, 1); }

static void test_members_run_once(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    unsigned expected = 0;
    for (unsigned round = 0; round < 300; round++) {
        unsigned n = 2 + round % (MEMBERS - 1);
        region(c, n, count, true);
        expected += n;
        assert_int_equal(ps_load_relaxed(&c->counter), expected);
    }
    crew_free(c);
}

static void inner_region(struct hand *h)
{
    if (h->inner == NULL)
        h->inner = crew_new();
    for (unsigned round = 0; round < 10; round++)
        region(h->inner, 2 + (h->id + round) % 3, count, false);
}

static void test_nested(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    for (unsigned round = 0; round < 10; round++)
        region(c, 5, inner_region, true);
    for (unsigned i = 0; i < 5; i++)
        crew_free(c->hands[i].inner);
    crew_free(c);
}

/* Arrives and waits, by one way or the other; does `meanwhile`, if any, as often as it is called away. */
static void pass(struct hand *h, uint32_t phase, bool counted, void (*meanwhile)(struct hand *h))
{
    struct crew *c = h->crew;
    enum ee_await met = ee_barrier_meet(&c->team, h->id, phase, counted);
    if (met == EE_LAST)
        ee_barrier_release(&c->team);
    while (met == EE_NOTIFIED) {
        if (meanwhile)
            meanwhile(h);
        met = ee_barrier_await(&c->team, h->id, phase);
    }
}

/* The whole barrier, in a region that is not notified. */
static void whole_barrier(struct hand *h) { pass(h, ee_barrier_phase(&h->crew->team), false, NULL); }

/* The parent waits for the others by the barrier alone: they must run without its join. */
static void meet(struct hand *h)
{
    struct crew *c = h->crew;
    for (unsigned round = 1; round <= 100; round++) {
        ps_store_relaxed(&c->stage[h->id], round);
        whole_barrier(h);
        for (unsigned i = 0; i < c->n; i++)
            PS_CHECK(ps_load_relaxed(&c->stage[i]) == round, "member %u is at %u, not %u", i,
                     ps_load_relaxed(&c->stage[i]), round);
        whole_barrier(h);
    }
}

static void test_barrier(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    for (unsigned n = 2; n <= MEMBERS; n += 5)
        region(c, n, meet, true);
    crew_free(c);
}

/* The same in the steps that the core takes, of which each member has the choice. */
static void meet_in_steps(struct hand *h)
{
    struct crew *c = h->crew;
    for (unsigned round = 1; round <= 50; round++) {
        uint32_t phase = ee_barrier_phase(&c->team);
        ps_store_relaxed(&c->stage[h->id], round);
        pass(h, phase, round % 3 == 0, NULL);
        for (unsigned i = 0; i < c->n; i++)
            PS_CHECK(ps_load_relaxed(&c->stage[i]) >= round, "member %u is behind", i);
        whole_barrier(h);
    }
}

static void test_barrier_in_steps(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    for (unsigned n = 2; n <= MEMBERS; n += 7)
        region(c, n, meet_in_steps, true);
    crew_free(c);
}

/* Work appears while others are in their bodies, have ended or wait in the join: all that no thread in a body does is
 * done by helpers that are called, or find it where they become helpers. */
static void work_off(struct hand *h)
{
    unsigned left = ps_load_relaxed(&h->crew->counter);
    while (left > 0)
        if (ps_cas_relaxed(&h->crew->counter, &left, left - 1))
            left--;
}

static void produce(struct hand *h)
{
    struct crew *c = h->crew;
    if (h->id == ps_load_relaxed(&c->word)) {
        for (unsigned i = 0; i < 200; i++) {
            ps_add_seq(&c->counter, 1);
            if (i == 0)
                ee_team_notify(&c->team);
            call_helper(c);
        }
        while (ps_load_seq(&c->counter) != 0) /* no thread is asked any more */
            ee_yield();
    }
}

static void test_assist(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    c->help = work_off;
    c->notifies = true;
    for (unsigned round = 0; round < 100; round++) {
        ps_store_relaxed(&c->word, round % 7);
        region(c, 7, produce, round % 3 != 0);
        assert_int_equal(ps_load_relaxed(&c->counter), 0);
    }
    crew_free(c);
}

static void work_off_and_yield(struct hand *h)
{
    work_off(h);
    ee_yield();
}

/* A member that waits in the barrier comes back and does the work, for which member 0 only waits; one that comes later
 * does not wait. */
static void notified(struct hand *h)
{
    struct crew *c = h->crew;
    uint32_t phase = ee_barrier_phase(&c->team);
    if (h->id == 0) {
        for (unsigned i = 0; i < c->n; i++)
            ee_yield(); /* some may come meanwhile */
        ps_add_seq(&c->counter, 100);
        ee_team_notify(&c->team);
        while (ps_load_relaxed(&c->counter) != 0)
            ee_yield();
    }
    pass(h, phase, c->n % 2 == 1, work_off_and_yield);
}

static void test_notify(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    c->notifies = true;
    for (unsigned round = 0; round < 100; round++)
        region(c, 2 + round % 6, notified, true);
    crew_free(c);
}

/* --- waiting on a word --- */

/* A baton goes round: each waits for its number. */
static void pass_baton(struct hand *h)
{
    struct crew *c = h->crew;
    for (uint32_t mine = h->id; mine < c->n * 200; mine += c->n) {
        for (uint32_t seen; (seen = ps_load_acquire(&c->word)) != mine;)
            ee_wait(&c->word, seen);
        ps_store_release(&c->word, mine + 1);
        ee_wake(&c->word, UINT_MAX);
    }
}

static void test_wait(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    for (unsigned n = 2; n <= 9; n += 7) {
        ps_store_relaxed(&c->word, 0);
        region(c, n, pass_baton, true);
        assert_int_equal(ps_load_relaxed(&c->word), n * 200);
    }
    crew_free(c);
}

/* One wake for each token: no thread may sleep beside a token for ever. */
static void take_tokens(struct hand *h)
{
    struct crew *c = h->crew;
    for (unsigned i = 0; i < 300; i++) {
        if (h->id % 2 == 0) {
            ps_add_seq(&c->word, 1);
            ee_wake(&c->word, 1);
            continue;
        }
        for (;;) {
            uint32_t seen = ps_load_relaxed(&c->word);
            if (seen == 0)
                ee_wait(&c->word, 0);
            else if (ps_cas_acq_rel(&c->word, &seen, seen - 1))
                break;
        }
    }
}

static void test_tokens(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    for (unsigned n = 2; n <= 12; n += 2) {
        region(c, n, take_tokens, true);
        assert_int_equal(ps_load_relaxed(&c->word), 0);
    }
    crew_free(c);
}

/* --- roots, fork --- */

static void *root(void *arg)
{
    char local;
    (void)arg;
    PS_CHECK(ee_local() == NULL, "a fresh kernel thread has something of another's");
    ee_set_local(&local);
    struct crew *c = crew_new();
    for (unsigned round = 0; round < 50; round++) {
        region(c, 3, meet, true);
        PS_CHECK(ee_local() == &local, "a root is no longer itself");
    }
    crew_free(c);
    ee_set_local(NULL);
    return NULL;
}

static void test_roots(void **state)
{
    (void)state;
    pthread_t t[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, root, NULL), 0);
    root_local = 1;
    struct crew *c = crew_new();
    for (unsigned round = 0; round < 20; round++)
        region(c, 4, meet, true);
    crew_free(c);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

static void test_fork(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    region(c, 6, meet, true);
    for (unsigned round = 0; round < 3; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            ee_after_fork_in_child();
            PS_CHECK(ee_local() == &root_local, "the child's entity has another local pointer");
            struct crew *own = crew_new();
            region(own, 6, meet, true);
            _exit(0);
        }
        region(c, 6, meet, true);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    crew_free(c);
}

static void test_quiesce(void **state)
{
    (void)state;
    struct crew *c = crew_new();
    for (unsigned round = 0; round < 5; round++) {
        region(c, 6, meet, true);
        ee_quiesce();
    }
    crew_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_members_run_once, setup),
        cmocka_unit_test_setup(test_nested, setup),
        cmocka_unit_test_setup(test_barrier, setup),
        cmocka_unit_test_setup(test_barrier_in_steps, setup),
        cmocka_unit_test_setup(test_assist, setup),
        cmocka_unit_test_setup(test_notify, setup),
        cmocka_unit_test_setup(test_wait, setup),
        cmocka_unit_test_setup(test_tokens, setup),
        cmocka_unit_test_setup(test_roots, setup),
        cmocka_unit_test_setup(test_quiesce, setup),
        cmocka_unit_test_setup(test_fork, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
