/* Teams: every member runs once, at any size and depth; barriers between members; assistance; roots side by side. */
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "scheduler.h"
#include "sync_support.h"
#include "team.h"
#include "team_support.h"
#include "vp.h"

#include <pthread.h>

struct member {
    PS_LINE_ALIGNED struct ps_member m;
    long runs;
    uint32_t seen; /* phases */
};
struct team {
    struct ps_team t;
    struct member *members;
    unsigned n;
    unsigned barriers, inner_n, inner_depth, reps;
    _Atomic long total, assisted;
    _Atomic uint32_t free;      /* bits: members that may help */
    _Atomic uint32_t called;    /* bits: members that the parent ran in its join */
    _Atomic uint32_t *phase_of; /* [n] */
};

static void body(struct ps_member *m);
static void assist(struct ps_member *m) { ps_add_relaxed(&((struct team *)(void *)m->team)->assisted, 1); }
static bool idle(struct ps_member *m)
{
    uint32_t bit = 1u << m->id;
    CHECK(!(ps_or_acq_rel(&((struct team *)(void *)m->team)->free, bit) & bit)); /* it was not free yet */
    return false;
}
static const struct ps_team_ops ops = {body, assist, idle, NULL, NULL};

static struct team *team_new(unsigned n)
{
    struct team *t = aligned_alloc(PS_CACHE_LINE, (sizeof *t + 63) / 64 * 64);
    memset(t, 0, sizeof *t);
    t->n = n;
    t->members = aligned_alloc(PS_CACHE_LINE, n * sizeof *t->members);
    memset(t->members, 0, n * sizeof *t->members);
    t->phase_of = calloc(n, sizeof *t->phase_of);
    ps_team_init(&t->t, &ops, t->members, sizeof(struct member), n);
    return t;
}
static void team_free(struct team *t)
{
    free(t->phase_of);
    free(t->members);
    free(t);
}
static void region(struct team *t, unsigned n, bool outermost)
{
    for (unsigned i = 0; i < n; i++)
        ps_store_relaxed(&t->phase_of[i], 0);
    ps_team_fork(&t->t, n, outermost);
    body(&t->members[0].m);
    ps_team_join(&t->t);
}

static void body(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    unsigned id = m->id, n = t->t.n;
    CHECK(ps_current() == &m->thread && m->thread.local == m);
    ((struct member *)(void *)m)->runs++;
    ps_add_relaxed(&t->total, 1);
    for (unsigned b = 0; b < t->barriers; b++) {
        ps_store_relaxed(&t->phase_of[id], ps_load_relaxed(&t->phase_of[id]) + 1);
        team_barrier(&t->t, id);
        for (unsigned i = 0; i < n; i++)
            CHECK(ps_load_relaxed(&t->phase_of[i]) >= ps_load_relaxed(&t->phase_of[id]));
        team_barrier(&t->t, id);
    }
    if (t->inner_depth) {
        struct team *inner = team_new(t->inner_n);
        inner->barriers = t->barriers;
        inner->inner_n = t->inner_n;
        inner->inner_depth = t->inner_depth - 1;
        inner->reps = t->reps;
        for (unsigned i = 0; i < t->reps; i++)
            region(inner, t->inner_n, false);
        CHECK(ps_load_relaxed(&inner->total) == (long)t->reps * t->inner_n);
        team_free(inner);
    }
    CHECK(ps_current() == &m->thread);
}

#if PS_TSAN || PS_ASAN
#define REPS 60u
#else
#define REPS 2000u
#endif

static void flat_regions_of_any_size(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps++) {
        psthread_config_t config = {.num_vps = vps, .max_spares = PSTHREAD_NO_SPARES};
        CHECK(psthread_init(&config) == 0);
        struct team *t = team_new(33);
        long want[33] = {0};
        for (unsigned rep = 0; rep < REPS; rep++) {
            unsigned n = 2 + rep % 32;
            region(t, n, rep % 5 != 0);
            for (unsigned i = 0; i < n; i++)
                want[i]++;
        }
        for (unsigned i = 0; i < 33; i++)
            assert_int_equal(t->members[i].runs, want[i]);
        team_free(t);
        CHECK(psthread_finalize() == 0);
    }
}

static void barriers_hold_everybody(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps++) {
        psthread_config_t config = {.num_vps = vps, .max_spares = PSTHREAD_NO_SPARES};
        CHECK(psthread_init(&config) == 0);
        static const unsigned sizes[] = {2, 3, 4, 7, 40};
        for (unsigned s = 0; s < 5; s++) {
            struct team *t = team_new(sizes[s]);
            t->barriers = REPS / sizes[s];
            region(t, sizes[s], true);
            region(t, sizes[s], false);
            team_free(t);
        }
        CHECK(psthread_finalize() == 0);
    }
}

static void nested_with_barriers(void **state)
{
    (void)state;
    for (unsigned vps = 1; vps <= 4; vps++) {
        psthread_config_t config = {.num_vps = vps, .max_spares = PSTHREAD_NO_SPARES};
        CHECK(psthread_init(&config) == 0);
        for (unsigned barriers = 0; barriers < 3; barriers += 2) {
            struct team *t = team_new(3);
            t->barriers = barriers;
            t->inner_n = 3;
            t->inner_depth = 3;
            t->reps = 3;
            for (unsigned rep = 0; rep < (REPS > 100 ? 20 : 2); rep++)
                region(t, 3, true);
            team_free(t);
        }
        assert_true(ps_load_relaxed(&ps_rt.num_kernel_threads) <= vps - 1);
        CHECK(psthread_finalize() == 0);
    }
}

static void *root_main(void *arg)
{
    ps_self(); /* a root before it forks */
    struct team *t = team_new(5);
    t->barriers = 2;
    t->inner_n = 2;
    t->inner_depth = 1;
    t->reps = 2;
    for (unsigned rep = 0; rep < REPS / 10; rep++)
        region(t, 2 + rep % 4, true);
    team_free(t);
    return arg;
}

static void roots_side_by_side(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 3, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    for (int round = 0; round < 3; round++) {
        pthread_t p[5];
        for (int i = 0; i < 5; i++)
            assert_int_equal(pthread_create(&p[i], NULL, root_main, NULL), 0);
        root_main(NULL);
        for (int i = 0; i < 5; i++)
            pthread_join(p[i], NULL);
    }
    assert_true(ps_load_relaxed(&ps_rt.num_kernel_threads) <= 2);
    CHECK(psthread_finalize() == 0);
}

/* A free member, 0 the parent in its join, becomes a helper. False: none is free. */
static bool help(struct team *t)
{
    uint32_t free = ps_load_acquire(&t->free);
    while (free != 0 && !ps_cas_acq_rel(&t->free, &free, free & (free - 1)))
        continue;
    if (free == 0)
        return false;
    ps_team_help(&t->t, (unsigned)__builtin_ctz(free));
    return true;
}

/* Members of a region that is interrupted become free, whenever they return: each exactly once, and again behind each
 * time that they helped. The join waits for them. */
static void body_that_asks(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    unsigned id = m->id, asker = t->reps % t->n, times = 0;
    if (m->thread.flags & PS_T_CALLED)
        ps_or_acq_rel(&t->called, 1u << id);
    if (id != asker)
        return;
    for (unsigned i = 0; i < t->reps % 3; i++)
        ps_yield(); /* some have returned by then, or none */
    ps_team_notify(&t->t);
    while (times < 2 * t->n) { /* each of the others is free sooner or later, so all must help twice on an average */
        if (help(t))
            times++;
        else if (!ps_yield())
            os_yield();
    }
    ps_add_relaxed(&t->total, times);
}

static void the_free_are_lent(void **state)
{
    (void)state;
    static const struct ps_team_ops asks = {body_that_asks, assist, idle, NULL, NULL};
    for (unsigned vps = 1; vps <= 4; vps++) {
        psthread_config_t config = {.num_vps = vps, .max_spares = PSTHREAD_NO_SPARES};
        CHECK(psthread_init(&config) == 0);
        struct team *t = team_new(7);
        t->t.ops = &asks;
        for (t->reps = 0; t->reps < REPS / 4; t->reps++) {
            ps_store_relaxed(&t->free, 0);
            ps_store_relaxed(&t->called, 1); /* nor is the parent free where it has not waited */
            ps_team_fork(&t->t, 7, t->reps % 5 != 0);
            body_that_asks(&t->members[0].m);
            ps_team_join(&t->t);
            /* a member that the parent has run as the region's last is not */
            assert_int_equal(ps_load_relaxed(&t->free) | ps_load_relaxed(&t->called), 0x7f);
        }
        assert_true(ps_load_relaxed(&t->assisted) >= ps_load_relaxed(&t->total));
        team_free(t);
        CHECK(psthread_finalize() == 0);
    }
}

/* A member that asks others to help while they have left or wait gets help, and the join waits for the helpers. */
static void assistance_comes(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    struct team *t = team_new(2);
    long assisted = 0;
    for (int rep = 0; rep < 200 && !assisted; rep++) {
        ps_team_fork(&t->t, 2, true);
        body(&t->members[0].m);
        ps_team_notify(&t->t);
        for (int i = 0; i < 2000 && !ps_load_relaxed(&t->assisted); i++) {
            help(t);
            os_yield();
        }
        ps_team_join(&t->t);
        assisted = ps_load_relaxed(&t->assisted);
        ps_store_relaxed(&t->free, 0);
    }
    assert_true(assisted > 0);
    team_free(t);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_regions_of_any_size), cmocka_unit_test(barriers_hold_everybody),
        cmocka_unit_test(nested_with_barriers),     cmocka_unit_test(roots_side_by_side),
        cmocka_unit_test(the_free_are_lent),        cmocka_unit_test(assistance_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
