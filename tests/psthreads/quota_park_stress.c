/* Vps above the limit are offline, what stood with them is run by others, and they come back; also while the limit
 * changes as fast as it can. */
#include "os.h"
#include "psthread.h"
#include "quota_park.h"
#include "runtime.h"
#include "scheduler.h"
#include "sync_support.h"
#include "team.h"
#include "team_support.h"
#include "vp.h"

#include <pthread.h>

#if PS_TSAN || PS_ASAN
#define ROUNDS 20
#else
#define ROUNDS 1000
#endif
#define VPS 4u

/* With spares there is a watchdog, which now and then finds another limit. */
static void with_vps(unsigned spares)
{
    psthread_config_t config = {.num_vps = VPS, .max_spares = spares};
    CHECK(psthread_init(&config) == 0);
}

static void submit(void *(*fn)(void *), void *arg, int vp)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    CHECK(psthread_enqueue(t, vp) == 0);
}

/* Ends only where n of them run at once: each holds a vp. */
static _Atomic unsigned arrived;
static void *meets(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;
    ps_add_seq(&arrived, 1);
    while (ps_load_acquire(&arrived) < n)
        os_yield();
    return NULL;
}
static void all_vps_run(void)
{
    ps_store_seq(&arrived, 0);
    for (unsigned i = 0; i < VPS; i++)
        submit(meets, (void *)(uintptr_t)VPS, (int)i);
    psthread_waitall();
}

static unsigned count_offline(unsigned limit)
{
    unsigned n = 0;
    for (unsigned id = limit; id < VPS; id++) {
        uint32_t state = ps_load_acquire(&ps_vp_at(id)->offline);
        n += state == PS_OFFLINE || state == PS_OFFLINE_UNSTARTED;
    }
    return n;
}

/* A look asks again the vps that it missed, and so does this. */
static void narrow(unsigned limit)
{
    do {
        quota_park_allow(limit);
        if (!ps_yield())
            os_yield();
    } while (count_offline(limit) < VPS - limit);
}

static _Atomic unsigned ran, wrong;
static unsigned limit_now;
static void *notes(void *arg)
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned vp = psthread_vp_self(); /* a spare's number is VPS or more */
        if (vp >= limit_now && vp < VPS)
            ps_add_relaxed(&wrong, 1);
        psthread_yield();
    }
    ps_add_relaxed(&ran, 1);
    return arg;
}

static void others_take_what_stands_with_them(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) { /* all workers have kernel threads; none has */
        with_vps(PSTHREAD_NO_SPARES);
        if (first == 0)
            all_vps_run();
        for (limit_now = VPS - 1; limit_now >= 1; limit_now--) {
            narrow(limit_now);
            while (first == 0 && quota_park_count() != VPS - limit_now)
                os_yield(); /* a vp that goes offline gives away what stands with it, and then sleeps */
            ps_store_relaxed(&ran, 0);
            ps_store_relaxed(&wrong, 0);
            for (unsigned i = 0; i < 40; i++)
                submit(notes, NULL, i % 2 ? (int)(VPS - 1) : PSTHREAD_VP_ANY);
            psthread_waitall();
            assert_int_equal(ps_load_relaxed(&ran), 40);
            assert_int_equal(ps_load_relaxed(&wrong), 0);
        }
        quota_park_allow(VPS);
        all_vps_run();
        assert_int_equal(quota_park_count(), 0);
        CHECK(psthread_finalize() == 0);
    }
}

/* --- teams while the limit changes --- */

struct member {
    PS_LINE_ALIGNED struct ps_member m;
};
struct team {
    struct ps_team t;
    struct member members[6];
    unsigned n, depth;
    _Atomic unsigned runs;
};
static void body(struct ps_member *m);
static void assist(struct ps_member *m) { (void)m; }
static const struct ps_team_ops ops = {.body = body, .assist = assist};

static void region(unsigned n, unsigned depth, bool outermost)
{
    struct team *t = aligned_alloc(PS_CACHE_LINE, sizeof *t);
    memset(t, 0, sizeof *t);
    t->n = n;
    t->depth = depth;
    ps_team_init(&t->t, &ops, t->members, sizeof t->members[0], n);
    ps_team_fork(&t->t, n, outermost);
    body(&t->members[0].m);
    ps_team_join(&t->t);
    CHECK(ps_load_relaxed(&t->runs) == n);
    ps_team_fini(&t->t);
    free(t);
}

static void *yields(void *arg)
{
    for (int i = 0; i < 5; i++)
        psthread_yield();
    return arg;
}

static void body(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    ps_add_relaxed(&t->runs, 1);
    for (int i = 0; i < 3; i++)
        team_barrier(&t->t, m->id);
    if (t->depth) {
        region(3, t->depth - 1, false);
        submit(yields, NULL, PSTHREAD_VP_ANY);
        psthread_waitall();
    }
    team_barrier(&t->t, m->id);
}

static _Atomic bool over;
static void *changes_it(void *arg)
{
    unsigned seed = 1;
    while (!ps_load_acquire(&over)) {
        seed = seed * 1103515245 + 12345;
        quota_park_allow(1 + (seed >> 16) % VPS);
        os_park(&(_Atomic uint32_t){0}, 0, (int64_t)(seed >> 8) % 200000);
    }
    return arg;
}

static void teams_while_it_changes(void **state)
{
    (void)state;
    with_vps(1000);
    pthread_t changer;
    ps_store_seq(&over, false);
    CHECK(pthread_create(&changer, NULL, changes_it, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        region(2 + (unsigned)i % 5, 2, true);
    ps_store_seq(&over, true);
    pthread_join(changer, NULL);
    quota_park_allow(VPS);
    all_vps_run();
    CHECK(psthread_finalize() == 0);
}

/* The library stops and starts again, and a child is forked, while vps are offline. */
static void stops_while_they_rest(void **state)
{
    (void)state;
    with_vps(1000);
    all_vps_run();
    narrow(1);
    ps_quiesce();
    assert_int_equal(quota_park_count(), 0);
    region(4, 1, true);
    narrow(1);
    pid_t child = PS_TSAN ? 0 : fork();
    if (!child && !PS_TSAN) {
        ps_after_fork_in_child();
        region(4, 1, true);
        quota_park_allow(VPS);
        all_vps_run();
        _exit(0);
    }
    int status = 0;
    CHECK(!child || waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    quota_park_allow(VPS);
    all_vps_run();
    narrow(2);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_take_what_stands_with_them),
        cmocka_unit_test(teams_while_it_changes),
        cmocka_unit_test(stops_while_they_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
