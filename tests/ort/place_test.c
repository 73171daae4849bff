/* Places: texts, machines from strings, and the assignment of members - tables, and properties over all small sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "icv.h"
#include "os.h"
#include "place.h"
#include "synthetic.h"

/* "0,1;2;" */
static void show(const struct ort_places *list, char *text)
{
    *text = '\0';
    for (unsigned p = 0; p < list->n; p++) {
        for (unsigned i = list->first[p]; i < list->first[p + 1]; i++)
            text += sprintf(text, "%u%s", ort_place_cpu(list, i), i + 1 < list->first[p + 1] ? "," : "");
        text += sprintf(text, ";");
    }
}

static void assert_list(const char *text, const char *wanted)
{
    enum place_kind kind;
    unsigned count;
    struct ort_places list;
    char got[4096];
    assert_null(place_parse(text, &kind, &count, &list));
    assert_int_equal(kind, PLACE_LIST);
    show(&list, got);
    assert_string_equal(got, wanted);
    place_free(&list);
}

static void lists_are_read(void **state)
{
    (void)state;
    assert_list("{0,1},{2,3}", "0,1;2,3;");
    assert_list("{0:4},{4:4},{8:4},{12:4}", "0,1,2,3;4,5,6,7;8,9,10,11;12,13,14,15;");
    assert_list("{0:4}:4:4", "0,1,2,3;4,5,6,7;8,9,10,11;12,13,14,15;");
    assert_list(" 3 , { 5 : 2 : 3 } : 2 ", "3;5,8;6,9;");
    assert_list("{7:3:-2}", "3,5,7;");
    assert_list("{6,7}:4:-2,!{2,3}", "6,7;4,5;0,1;");
    assert_list("{0:4,!2}", "0,1,3;");
    assert_list("{!2,0:4}", "0,1,3;");
    assert_list("{1},{1},!{1}", "1;"); /* one of them */
    assert_list("4095", "4095;");
    assert_list("5:3:2", "5;7;9;");
}

static void names_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum place_kind kind;
        unsigned count;
    } names[] = {{"threads", PLACE_THREADS, 0},           {" CORES (3)", PLACE_CORES, 3},
                 {"ll_caches( 2 ) ", PLACE_LL_CACHES, 2}, {"numa_domains", PLACE_NUMA_DOMAINS, 0},
                 {"threads()", PLACE_THREADS, 0},         {"Sockets(65536)", PLACE_SOCKETS, 65536}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        enum place_kind kind;
        unsigned count;
        struct ort_places list;
        assert_null(place_parse(names[i].text, &kind, &count, &list));
        assert_int_equal(kind, names[i].kind);
        assert_int_equal(count, names[i].count);
        assert_int_equal(list.n, 0);
    }
}

static void faults_are_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      ",",
                                      "{",
                                      "{}",
                                      "{0",
                                      "{0}}",
                                      "{0}{1}",
                                      "{0},",
                                      "{0:-1}",
                                      "{-1}",
                                      "{0}:2:",
                                      "{0:2:-1}",
                                      "{0,!1}",
                                      "!{0}",
                                      "{0},!{1}",
                                      "!{0}:2",
                                      "{0}:2:-1",
                                      "4096",
                                      "{4095:2}",
                                      "{0}:99999",
                                      "threads(",
                                      "threads(1",
                                      "threads(1)x",
                                      "thread",
                                      "cores,threads",
                                      "{0!1}",
                                      "99999999999999999999",
                                      "{0:1:2:3}",
                                      "{0};{1}",
                                      "0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        enum place_kind kind;
        unsigned count;
        struct ort_places list;
        if (place_parse(bad[i], &kind, &count, &list) == NULL)
            fail_msg("\"%s\" was read", bad[i]);
        assert_int_equal(list.n, 0);
    }
}

static void gomp_lists(void **state)
{
    (void)state;
    static const char *const good[][2] = {{"0 3 1-2 4-15:2", "0;3;1;2;4;6;8;10;12;14;"},
                                          {"7", "7;"},
                                          {" 1 ,2, 3-4 ", "1;2;3;4;"},
                                          {"{0,1} 2-1:-1", "0,1;2;1;"}};
    static const char *const bad[] = {"x", "1-", "3-1", "1-4:0", "1:2", "-1", "1 2 x", "{0"};
    struct ort_places list;
    char got[256];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *p = good[i][0];
        assert_null(place_parse_proclist(&p, '\0', &list));
        show(&list, got);
        assert_string_equal(got, good[i][1]);
        place_free(&list);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *p = bad[i];
        if (place_parse_proclist(&p, '\0', &list) == NULL)
            fail_msg("\"%s\" was read", bad[i]);
    }
}

static void assert_machine(const char *machine, enum place_kind kind, unsigned count, const char *wanted)
{
    struct os_topology t;
    struct ort_places list;
    char got[4096];
    assert_int_equal(os_topology_synthetic(&t, machine), 0);
    assert_true(place_from_topology(&list, &t, kind, count));
    show(&list, got);
    assert_string_equal(got, wanted);
    place_free(&list);
    os_topology_free(&t);
}

static void names_on_machines(void **state)
{
    (void)state;
    const char *big = "package:2 l3:2 core:2 pu:2";
    assert_machine(big, PLACE_THREADS, 3, "0;1;2;");
    assert_machine(big, PLACE_CORES, 0, "0,1;2,3;4,5;6,7;8,9;10,11;12,13;14,15;");
    assert_machine(big, PLACE_LL_CACHES, 0, "0,1,2,3;4,5,6,7;8,9,10,11;12,13,14,15;");
    assert_machine(big, PLACE_LL_CACHES, 1, "0,1,2,3;");
    assert_machine(big, PLACE_SOCKETS, 0, "0,1,2,3,4,5,6,7;8,9,10,11,12,13,14,15;");
    assert_machine(big, PLACE_SOCKETS, 9, "0,1,2,3,4,5,6,7;8,9,10,11,12,13,14,15;");
    /* kinds that make no level of their own: what they coincide with */
    assert_machine("package:1 l3:2 core:2 pu:1", PLACE_SOCKETS, 0, "0,1,2,3;");
    assert_machine("package:1 l3:2 core:2 pu:1", PLACE_CORES, 0, "0;1;2;3;");
    assert_machine("package:2 l3:1 core:2 pu:1", PLACE_LL_CACHES, 0, "0,1;2,3;");
    assert_machine("package:2 l3:1 core:2 pu:1", PLACE_SOCKETS, 0, "0,1;2,3;");
    assert_machine("package:2 core:1 pu:1", PLACE_SOCKETS, 0, "0;1;");
    assert_machine("package:1 core:2 pu:1", PLACE_NUMA_DOMAINS, 0, "0,1;");
    assert_machine("package:2 numa:2 core:2 pu:1", PLACE_NUMA_DOMAINS, 0, "0,1;2,3;4,5;6,7;");
}

/* Four clusters of four, as a board tells it: without arrays. */
static void names_on_a_board(void **state)
{
    (void)state;
    struct os_topology t = {.n = 16, .num_levels = 2};
    t.level[0].num_groups = 4;
    t.level[1].num_groups = 1;
    t.sharing_level[OS_SHARING_SMT] = OS_LEVEL_ALONE;
    t.sharing_level[OS_SHARING_PACKAGE] = 1;
    static const struct {
        enum place_kind kind;
        unsigned count;
        const char *wanted;
    } cases[] = {{PLACE_NUMA_DOMAINS, 0, "0,1,2,3;4,5,6,7;8,9,10,11;12,13,14,15;"},
                 {PLACE_NUMA_DOMAINS, 2, "0,1,2,3;4,5,6,7;"},
                 {PLACE_THREADS, 3, "0;1;2;"},
                 {PLACE_CORES, 99, "0;1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;"},
                 {PLACE_SOCKETS, 0, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15;"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ort_places list;
        char got[256];
        assert_true(place_from_topology(&list, &t, cases[i].kind, cases[i].count));
        show(&list, got);
        assert_string_equal(got, cases[i].wanted);
        place_free(&list);
    }
}

static const struct ort_place whole8 = {.place = 0, .first = 0, .n = 8};

static void assert_places(struct ort_place parent, enum ort_bind bind, unsigned size, const unsigned *places)
{
    for (unsigned id = 0; id < size; id++)
        assert_int_equal(ort_place_of_member(&parent, bind, size, id).place, places[id]);
}

/* What libgomp gives on the same places, and the examples of the specification. */
static void tables(void **state)
{
    (void)state;
    struct ort_place five = {.place = 0, .first = 0, .n = 5}, two = {.place = 0, .first = 0, .n = 2},
                     seven = {.place = 0, .first = 0, .n = 7};
    assert_places(whole8, ORT_BIND_PRIMARY, 4, (unsigned[]){0, 0, 0, 0});
    assert_places(whole8, ORT_BIND_CLOSE, 4, (unsigned[]){0, 1, 2, 3});
    assert_places(whole8, ORT_BIND_SPREAD, 4, (unsigned[]){0, 2, 4, 6});
    assert_places(seven, ORT_BIND_SPREAD, 4, (unsigned[]){0, 2, 4, 6});
    assert_places(five, ORT_BIND_SPREAD, 4, (unsigned[]){0, 2, 3, 4});
    assert_places(five, ORT_BIND_CLOSE, 6, (unsigned[]){0, 1, 2, 3, 4, 0});
    assert_places(two, ORT_BIND_CLOSE, 5, (unsigned[]){0, 0, 1, 1, 0});
    assert_places(two, ORT_BIND_SPREAD, 5, (unsigned[]){0, 0, 1, 1, 0});
    struct ort_place inner = {.place = 5, .first = 4, .n = 3};
    assert_places(inner, ORT_BIND_CLOSE, 3, (unsigned[]){5, 6, 4});
    assert_places(inner, ORT_BIND_TRUE, 7, (unsigned[]){5, 5, 6, 6, 4, 4, 5});
    assert_places(inner, ORT_BIND_FALSE, 2, (unsigned[]){5, 5});
    struct ort_place own = ort_place_of_member(&whole8, ORT_BIND_SPREAD, 3, 1);
    assert_int_equal(own.first, 3); /* 8 places in 3 parts: 3, 3, 2 */
    assert_int_equal(own.n, 3);
    own = ort_place_of_member(&whole8, ORT_BIND_SPREAD, 3, 2);
    assert_int_equal(own.first, 6);
    assert_int_equal(own.n, 2);
}

/* One case: every place within the partition, balanced, and spread's partitions a division of the parent's. */
static void assert_sound(struct ort_place parent, enum ort_bind bind, unsigned size)
{
    unsigned load[16] = {0}, covered[16] = {0}, least = size / parent.n, most = (size + parent.n - 1) / parent.n;
    for (unsigned id = 0; id < size; id++) {
        struct ort_place own = ort_place_of_member(&parent, bind, size, id);
        assert_true(own.n >= 1 && own.first >= parent.first && own.first + own.n <= parent.first + parent.n);
        assert_true(own.place >= own.first && own.place < own.first + own.n);
        load[own.place]++;
        for (unsigned p = own.first; p < own.first + own.n; p++)
            covered[p]++;
        if (id == 0)
            assert_int_equal(own.place, parent.place);
        if (bind == ORT_BIND_CLOSE || size == 1)
            assert_true(own.first == parent.first && own.n == parent.n);
        else
            assert_true(size <= parent.n ? own.n == parent.n / size || own.n == parent.n / size + 1 : own.n == 1);
    }
    for (unsigned p = parent.first; p < parent.first + parent.n; p++) {
        assert_true(load[p] >= least && load[p] <= most);
        if (bind == ORT_BIND_SPREAD && size <= parent.n)
            assert_int_equal(covered[p], 1);
    }
}

static void properties(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 12; n++)
        for (unsigned first = 0; first <= 3; first += 3)
            for (unsigned place = first; place < first + n; place++)
                for (unsigned size = 1; size <= 30; size++) {
                    struct ort_place parent = {.place = place, .first = first, .n = n};
                    assert_sound(parent, ORT_BIND_CLOSE, size);
                    assert_sound(parent, ORT_BIND_SPREAD, size);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read), cmocka_unit_test(names_are_read),    cmocka_unit_test(faults_are_named),
        cmocka_unit_test(gomp_lists),     cmocka_unit_test(names_on_machines), cmocka_unit_test(tables),
        cmocka_unit_test(properties),     cmocka_unit_test(names_on_a_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
