/* A place in the program whose members spin for one another keeps how many spares it needed: the watchdog starts them
 * for its first region, and seldom for the later ones, which begin with them. */
#include "needs.h"
#include "runtime.h"
#include "sync_support.h"
#include "team.h"
#include "vp.h"
#include "watchdog.h"

#include <stdalign.h>

#define N 3
#define REGIONS 40u

static _Atomic unsigned arrived;

static void body(struct ps_member *m)
{
    (void)m;
    ps_add_seq(&arrived, 1);
    while (ps_load_acquire(&arrived) < N) /* the runtime does not see it */
        cpu_pause();
}
static void assist(struct ps_member *m) { (void)m; }
static bool idle(struct ps_member *m)
{
    (void)m;
    return false;
}
static const struct ps_team_ops ops = {body, assist, idle, NULL, NULL};

static void region(struct ps_team *team)
{
    ps_store_relaxed(&arrived, 0);
    ps_team_fork(team, N, true);
    body(NULL);
    ps_team_join(team);
}

static void later_regions_begin_with_spares(void **state)
{
    (void)state;
    if (PS_TSAN) /* too slow to tell */
        skip();
    static struct ps_team team;
    alignas(PS_CACHE_LINE) static struct ps_member members[N];
    psthread_config_t config = {.num_vps = 1, .max_spares = 10};
    CHECK(psthread_init(&config) == 0);
    ps_team_init(&team, &ops, members, sizeof members[0], N);
    region(&team);
    uint32_t first = ps_load_relaxed(&ps_watchdog.spares_ever);
    assert_true(first > 0);
    for (unsigned i = 0; i < REGIONS; i++)
        region(&team);
    assert_true(ps_load_relaxed(&ps_watchdog.spares_ever) - first < REGIONS / 2); /* else two for each of them */
    ps_team_fini(&team);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(later_regions_begin_with_spares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
