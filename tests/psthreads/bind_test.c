/* Which vps are at home in which places: on a machine with more places than this one, with fewer and more vps than
 * processors, with places that overlap; and members that stay in theirs (team.h by itself). */
#include "bind.h"
#include "current.h"
#include "os.h"
#include "runtime.h"
#include "team.h"
#include "team_support.h"

#include "psthread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* "0 1 / 2 3" -> places; the text ends a place at '/'. */
static struct ps_places *make(unsigned num_vps, const char *text)
{
    static unsigned cpu[64], first[64];
    unsigned n = 0, used = 0;
    first[0] = 0;
    for (char *p = (char *)text; *p; p++)
        if (*p >= '0' && *p <= '9')
            cpu[used++] = (unsigned)strtoul(p, &p, 10), p--;
        else if (*p == '/')
            first[++n] = used;
    first[++n] = used;
    struct ps_places *all = ps_places_make(num_vps, n, first, cpu);
    assert_non_null(all);
    return all;
}

static void homes_are(struct ps_places *all, unsigned place, unsigned n, ...)
{
    va_list list;
    assert_int_equal(all->place[place].num_homes, n);
    va_start(list, n);
    for (unsigned i = 0; i < n; i++) {
        unsigned vp = va_arg(list, unsigned), found = 0;
        assert_int_equal(all->place[place].homes[i], vp);
        for (unsigned k = all->first[vp]; k < all->first[vp + 1]; k++)
            found += all->at[k] == place;
        assert_int_equal(found, 1);
    }
    va_end(list);
}

static void a_vp_for_each_processor(void **state)
{
    (void)state;
    struct ps_places *all = make(4, "0 1 / 2 3");
    homes_are(all, 0, 2, 0, 2); /* first ones of each place, then second ones */
    homes_are(all, 1, 2, 1, 3);
    ps_places_free(all);
}

static void fewer_vps_than_places(void **state)
{
    (void)state;
    struct ps_places *all = make(2, "0 1 / 2 3 / 4 5");
    homes_are(all, 0, 1, 0);
    homes_are(all, 1, 1, 1);
    homes_are(all, 2, 0);
    ps_places_free(all);
}

static void more_vps_than_processors(void **state)
{
    (void)state;
    struct ps_places *all = make(5, "7 / 3");
    homes_are(all, 0, 3, 0, 2, 4);
    homes_are(all, 1, 2, 1, 3);
    ps_places_free(all);
}

static void places_overlap(void **state)
{
    (void)state;
    struct ps_places *all = make(3, "0 1 / 1 2 / 0 1 2");
    homes_are(all, 0, 2, 0, 1); /* vp 0 has processor 0, vp 1 has 1, vp 2 has 2 */
    homes_are(all, 1, 2, 1, 2);
    homes_are(all, 2, 3, 0, 1, 2);
    ps_places_free(all);
}

static void a_place_with_uneven_neighbours(void **state)
{
    (void)state;
    struct ps_places *all = make(6, "0 1 2 3 / 4 / 5");
    homes_are(all, 0, 4, 0, 3, 4, 5);
    homes_are(all, 1, 1, 1);
    homes_are(all, 2, 1, 2);
    ps_places_free(all);
}

/* --- a team whose members alternate between two places --- */

enum { MEMBERS = 6, REGIONS = 50 };
static struct {
    struct ps_team team;
    struct ps_member member[MEMBERS];
} t __attribute__((aligned(PS_CACHE_LINE)));
static unsigned cpus[2];
static _Atomic unsigned strays, ran;

static void body(struct ps_member *m)
{
    unsigned id = m->id;
    for (int i = 0; i < 3; i++) {
        if ((unsigned)os_current_cpu() != cpus[id % 2])
            ps_add_relaxed(&strays, 1);
        team_barrier(&t.team, id);
        psthread_yield();
    }
    ps_add_relaxed(&ran, 1);
}
static void assist(struct ps_member *m) { (void)m; }
static const struct ps_team_ops ops = {.body = body, .assist = assist};

static void members_stay(void **state)
{
    (void)state;
    struct os_cpuset before, after;
    assert_int_equal(os_affinity_get(&before), 0);
    for (unsigned c = 0, n = 0; c < OS_MAX_CPUS && n < 2; c++)
        if (os_cpuset_has(&before, c))
            cpus[n] = cpus[1] = c, n++;
    const unsigned first[] = {0, 1, 2};
    ps_start();
    assert_true(ps_bind_places(2, first, cpus));
    ps_vp_attach();
    ps_team_init(&t.team, &ops, t.member, sizeof *t.member, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        ps_member_bind(&t.member[i], i % 2);
    ps_team_bind(&t.team, PS_NO_PLACE, true);
    for (int i = 0; i < REGIONS; i++) {
        ps_team_fork(&t.team, MEMBERS, true);
        body(&t.member[0]);
        ps_team_join(&t.team);
    }
    ps_team_fini(&t.team);
    assert_int_equal(ps_load_relaxed(&ran), MEMBERS * REGIONS);
    assert_int_equal(ps_load_relaxed(&strays), 0);
    assert_int_equal(os_affinity_get(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
}

static void no_table(void **state)
{
    (void)state;
    ps_places_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_table),
        cmocka_unit_test(a_vp_for_each_processor),
        cmocka_unit_test(fewer_vps_than_places),
        cmocka_unit_test(more_vps_than_processors),
        cmocka_unit_test(places_overlap),
        cmocka_unit_test(a_place_with_uneven_neighbours),
        cmocka_unit_test(members_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
