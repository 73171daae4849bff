/* The visiting order: figure 3 of psthreads-2009, sizes that do not divide evenly, real and random hierarchies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os.h"
#include "steal.h"
#include "synthetic.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void assert_order(const uint16_t *got, unsigned n, const uint16_t *expected, size_t expected_n)
{
    assert_int_equal(n, expected_n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(got[i], expected[i]);
}
#define ASSERT_ORDER(got, n, ...) \
    assert_order(got, n, (const uint16_t[]){__VA_ARGS__}, COUNT(((const uint16_t[]){__VA_ARGS__})))

/* Everybody but oneself exactly once. */
static void assert_complete(const uint16_t *got, unsigned n, unsigned my_id, unsigned num_vps)
{
    static bool seen[PS_STEAL_MAX_VPS];
    memset(seen, 0, num_vps * sizeof *seen);
    assert_int_equal(n, num_vps - 1);
    for (unsigned i = 0; i < n; i++) {
        assert_true(got[i] < num_vps && got[i] != my_id);
        assert_false(seen[got[i]]);
        seen[got[i]] = true;
    }
}

/* Figure 2 as printed, for N vps in groups of equal sizes: the queues that it would look into when all are empty. */
static unsigned figure_2(unsigned my_id, unsigned n, const unsigned group_size[], unsigned num_levels, uint16_t *out)
{
    bool visited[64] = {false};
    unsigned used = 0;
    visited[my_id] = true;
    assert_true(n <= COUNT(visited));
    for (unsigned level = 0; level < num_levels; level++) {
        unsigned size = group_size[level], base = my_id / size * size;
        unsigned vp = level == 0 ? my_id : (my_id + group_size[level - 1]) % size + base;
        for (unsigned visits = 0; visits < size; visits++) {
            if (!visited[vp]) {
                visited[vp] = true;
                out[used++] = (uint16_t)vp;
            }
            vp = (vp + 1) % size + base;
        }
    }
    return used;
}

/* Groups of 3, 6 and 12, vp 4. The order worked out by hand from figure 2:
 *   level 0, group 3 4 5 from 4:           (4) 5 3
 *   level 1, group 0..5  from (4+3)%6 = 1: 1 2 (3 4 5) 0
 *   level 2, group 0..11 from (4+6)%12=10: 10 11 (0..5) 6 7 8 9 */
static void figure_3(void **state)
{
    (void)state;
    uint16_t order[12];
    unsigned n = ps_steal_order(4, 12, (const unsigned[]){3, 6, 12}, 3, order, NULL);
    ASSERT_ORDER(order, n, 5, 3, 1, 2, 0, 10, 11, 6, 7, 8, 9);
}

static void even_sizes_are_figure_2(void **state)
{
    (void)state;
    static const unsigned sizes[][4] = {{3, 6, 12, 0},  {2, 4, 8, 32}, {1, 2, 12, 60},
                                        {5, 20, 40, 0}, {64, 0, 0, 0}, {1, 7, 49, 0}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        unsigned levels = 0;
        while (levels < 4 && sizes[s][levels] != 0)
            levels++;
        unsigned vps = sizes[s][levels - 1];
        for (unsigned me = 0; me < vps; me++) {
            uint16_t printed[64], ours[64];
            unsigned n = figure_2(me, vps, sizes[s], levels, printed);
            assert_int_equal(n, vps - 1);
            assert_order(ours, ps_steal_order(me, vps, sizes[s], levels, ours, NULL), printed, n);
        }
    }
}

static void one_vp_has_no_victims(void **state)
{
    (void)state;
    uint16_t order[1] = {77};
    assert_int_equal(ps_steal_order(0, 1, NULL, 0, order, NULL), 0);
    assert_int_equal(ps_steal_order(0, 1, (const unsigned[]){1, 4}, 2, order, NULL), 0);
    assert_int_equal(order[0], 77);
}

static void levels_that_do_not_reach_everybody(void **state)
{
    (void)state;
    uint16_t order[8];
    unsigned n = ps_steal_order(2, 6, NULL, 0, order, NULL); /* no groups: cyclically from the next */
    ASSERT_ORDER(order, n, 3, 4, 5, 0, 1);
    n = ps_steal_order(2, 6, (const unsigned[]){0, 2}, 2, order, NULL); /* an empty level is passed over */
    ASSERT_ORDER(order, n, 3, 4, 5, 0, 1);
    n = ps_steal_order(3, 6, (const unsigned[]){2}, 1, order, NULL);
    ASSERT_ORDER(order, n, 2, 5, 0, 1, 4);
}

/* Ten vps in groups of 4 and 8: the last groups are what is left. By hand:
 *   vp 1: 0..3 from 1: 2 3 0 | 0..7 from 1+4: 5 6 7 4 | 0..9 from 1+8: 9 8
 *   vp 8: 8 9 from 8: 9      | 8 9 again               | 0..9 from (8+2)%10 = 0: 0 1 2 3 4 5 6 7
 *   vp 9: 8 9 from 9: 8      |                         | from (9+2)%10 = 1: 1 2 3 4 5 6 7 0 */
static void sizes_that_leave_a_rest(void **state)
{
    (void)state;
    uint16_t order[10];
    static const unsigned sizes[] = {4, 8};
    unsigned n = ps_steal_order(1, 10, sizes, 2, order, NULL);
    ASSERT_ORDER(order, n, 2, 3, 0, 5, 6, 7, 4, 9, 8);
    n = ps_steal_order(8, 10, sizes, 2, order, NULL);
    ASSERT_ORDER(order, n, 9, 0, 1, 2, 3, 4, 5, 6, 7);
    n = ps_steal_order(9, 10, sizes, 2, order, NULL);
    ASSERT_ORDER(order, n, 8, 1, 2, 3, 4, 5, 6, 7, 0);
}

/* A machine of one processor for each vp; group[level][vp] is the number of its group. */
static unsigned by_groups(unsigned me, unsigned vps, uint16_t *const group[], unsigned levels, uint16_t order[])
{
    struct os_topology t = {.n = vps, .num_levels = levels + 1};
    for (unsigned i = 0; i < levels; i++)
        t.level[i].group_of = group[i];
    return ps_steal_order_topology(me, vps, &t, order, NULL);
}

/* Groups {0 1 2} {3} {4 5}, then {0 1 2 3} {4 5}. By hand:
 *   vp 3: alone | 0..3 from place 3+1 = 0: 0 1 2 | 0..5 from place (3+4)%6 = 1: 4 5
 *   vp 1: 2 0   | 0..3 from place (1+3)%4 = 0: 3 | from place (1+4)%6 = 5: 5 4 */
static void groups_of_different_sizes(void **state)
{
    (void)state;
    uint16_t order[6];
    static uint16_t fine[] = {0, 0, 0, 1, 2, 2}, coarse[] = {0, 0, 0, 0, 1, 1}, *const groups[] = {fine, coarse};
    unsigned n = by_groups(3, 6, groups, 2, order);
    ASSERT_ORDER(order, n, 0, 1, 2, 4, 5);
    n = by_groups(1, 6, groups, 2, order);
    ASSERT_ORDER(order, n, 2, 0, 3, 5, 4);
}

/* 2 packages x 4 nodes x 8 cores x 2: the same as equal groups of 2, 16 and 64. */
static void big_machine(void **state)
{
    (void)state;
    struct os_topology t;
    static const unsigned sizes[] = {2, 16, 64, 128};
    assert_int_equal(os_topology_synthetic(&t, "package:2 numa:4 core:8 pu:2"), 0);
    for (unsigned me = 0; me < 128; me++) {
        uint16_t by_machine[128], by_size[128];
        unsigned n = ps_steal_order_topology(me, 128, &t, by_machine, NULL);
        assert_complete(by_machine, n, me, 128);
        assert_order(by_machine, n, by_size, ps_steal_order(me, 128, sizes, 4, by_size, NULL));
        assert_int_equal(by_machine[0], me ^ 1);
        for (unsigned i = 0; i < n; i++) { /* never further away before nearer */
            unsigned distance = i < 1 ? 2 : i < 15 ? 16 : i < 63 ? 64 : 128;
            assert_int_equal(by_machine[i] / distance, me / distance);
        }
    }
    os_topology_free(&t);
}

/* More vps than processors, and fewer. */
static void vps_and_processors_differ(void **state)
{
    (void)state;
    struct os_topology t;
    uint16_t order[64];
    assert_int_equal(os_topology_synthetic(&t, "package:2 core:2 pu:1"), 0);
    unsigned n = ps_steal_order_topology(1, 8, &t, order, NULL); /* 1 and 5 share; 0 4 1 5 a package */
    assert_complete(order, n, 1, 8);
    assert_int_equal(order[0], 5);
    for (int i = 1; i < 3; i++)
        assert_true(order[i] == 0 || order[i] == 4);
    n = ps_steal_order_topology(2, 3, &t, order, NULL); /* 0 1 | 2 */
    assert_complete(order, n, 2, 3);
    os_topology_free(&t);
}

/* How far away each place of the order is. Figure 3's vp 4: 5 3 | 1 2 0 | 10 11 6 7 8 9. */
static void levels_end_where_groups_do(void **state)
{
    (void)state;
    uint16_t order[128], ends[PS_STEAL_LEVELS];
    ps_steal_order(4, 12, (const unsigned[]){3, 6, 12}, 3, order, ends);
    ASSERT_ORDER(ends, COUNT(ends), 2, 5, 11, 11, 11, 11, 11, 11, 11);
    ps_steal_order(3, 6, (const unsigned[]){0, 2}, 2, order, ends); /* 2 | 5 0 1 4: the rest is the machine's */
    ASSERT_ORDER(ends, COUNT(ends), 0, 1, 1, 1, 1, 1, 1, 1, 5);
    ps_steal_order(0, 1, NULL, 0, order, ends);
    ASSERT_ORDER(ends, COUNT(ends), 0, 0, 0, 0, 0, 0, 0, 0, 0);
    struct os_topology t;
    assert_int_equal(os_topology_synthetic(&t, "package:2 numa:4 core:8 pu:2"), 0);
    ps_steal_order_topology(5, 128, &t, order, ends); /* the own processor has one vp */
    ASSERT_ORDER(ends, COUNT(ends), 0, 1, 15, 63, 63, 63, 63, 63, 127);
    os_topology_free(&t);
    assert_int_equal(os_topology_synthetic(&t, "package:2 core:2 pu:1"), 0);
    ps_steal_order_topology(1, 8, &t, order, ends);
    assert_int_equal(ends[0], 1); /* vp 5, on the same processor */
    assert_int_equal(ends[1], 3); /* the package */
    assert_int_equal(ends[PS_STEAL_LEVELS - 1], 7);
    os_topology_free(&t);
}

/* Random chains of groups, contiguous or not: complete, and nearest first. */
static void random_hierarchies(void **state)
{
    (void)state;
    static uint16_t group[4][300], order[300];
    uint16_t *const groups[4] = {group[0], group[1], group[2], group[3]};
    srand(20091);
    for (int round = 0; round < 300; round++) {
        unsigned vps = 1 + (unsigned)rand() % 300, levels = (unsigned)rand() % 5;
        for (unsigned l = 0; l < levels; l++)
            for (unsigned vp = 0; vp < vps; vp++) {
                unsigned before = l == 0 ? vp : group[l - 1][vp];
                unsigned merged = 1 + vps / (2 + 3 * l);
                group[l][vp] = (uint16_t)(round % 2 ? before % merged : before * merged / vps);
            }
        unsigned me = (unsigned)rand() % vps, n = by_groups(me, vps, groups, levels, order);
        assert_complete(order, n, me, vps);
        for (unsigned l = 0; l < levels; l++) {
            bool outside = false;
            for (unsigned i = 0; i < n; i++) {
                bool here = group[l][order[i]] == group[l][me];
                assert_false(here && outside);
                outside = !here;
            }
        }
        unsigned sizes[4];
        for (unsigned l = 0; l < 4; l++)
            sizes[l] = (unsigned)rand() % 40;
        n = ps_steal_order(me, vps, sizes, 4, order, NULL); /* not even nested */
        assert_complete(order, n, me, vps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_3),
        cmocka_unit_test(even_sizes_are_figure_2),
        cmocka_unit_test(one_vp_has_no_victims),
        cmocka_unit_test(levels_that_do_not_reach_everybody),
        cmocka_unit_test(sizes_that_leave_a_rest),
        cmocka_unit_test(groups_of_different_sizes),
        cmocka_unit_test(big_machine),
        cmocka_unit_test(vps_and_processors_differ),
        cmocka_unit_test(levels_end_where_groups_do),
        cmocka_unit_test(random_hierarchies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
