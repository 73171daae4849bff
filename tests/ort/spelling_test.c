/* How values are written: what counts, and what is said to be wrong. tests/owners compares the answers with those of
 * libgomp and libomp. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "icv.h"
#include "spelling.h"

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        long value;
        bool good;
    } rows[] = {{"3", 3, true},      {" 3\t", 3, true},
                {"0003", 3, true},   {"0", 7, false},
                {"300", 100, false}, {"+3", 7, false},
                {"-3", 7, false},    {"3x", 7, false},
                {"3\n", 3, true},    {"", 7, false},
                {"0x3", 7, false},   {"3 2", 7, false},
                {"many", 7, false},  {"9999999999999999999999", 100, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        long v = 7;
        assert_int_equal(spelling_number(rows[i].text, 1, 100, &v), rows[i].good);
        assert_int_equal(v, rows[i].value);
    }
}

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned n, list[3];
        bool changed;
    } rows[] = {{"4", 1, {4}, false},           {"4,3,", 2, {4, 3}, false}, {"4, ,2", 3, {4, 4, 2}, false},
                {",4", 2, {0, 4}, false},       {",,", 2, {0, 0}, false},   {"0,2", 2, {1, 2}, true},
                {"all", 1, {0}, false},         {" ALL ", 1, {0}, false},   {"allo", 0, {0}, false},
                {" 4 ,\t3 ", 2, {4, 3}, false}, {"4;3", 0, {0}, false},     {"+4", 0, {0}, false},
                {"4,-1", 0, {0}, false},        {"4 3", 0, {0}, false},     {"4k", 0, {0}, false},
                {"4,1001", 0, {0}, false},      {"4\n", 1, {4}, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned list[8];
        bool changed;
        assert_int_equal(spelling_counts(rows[i].text, 1000, list, &changed), rows[i].n);
        for (unsigned k = 0; k < rows[i].n; k++)
            assert_int_equal(list[k], rows[i].list[k]);
        assert_true(rows[i].n == 0 || changed == rows[i].changed);
    }
}

static void schedules(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned sched; /* 0: it cannot be read */
        int chunk;
        bool fault;
    } rows[] = {{"static", ORT_SCHED_STATIC, 0, false},
                {" Dynamic,4", ORT_SCHED_DYNAMIC, 4, false},
                {" dynamic , 4 ", ORT_SCHED_DYNAMIC, 4, false},
                {"static,0", ORT_SCHED_STATIC, 0, false},
                {"guided,0", ORT_SCHED_GUIDED, 1, false},
                {"static,5k", ORT_SCHED_STATIC, 5120, false},
                {"static,5x", ORT_SCHED_STATIC, 5, true},
                {"dynamic,3;static", ORT_SCHED_DYNAMIC, 3, true},
                {"dynamic,99999999999", ORT_SCHED_DYNAMIC, INT_MAX, false},
                {"auto", ORT_SCHED_AUTO, 1, false},
                {"monotonic:dynamic,3", ORT_SCHED_DYNAMIC | ORT_SCHED_MONOTONIC, 3, false},
                {"monotonic : dynamic", ORT_SCHED_DYNAMIC | ORT_SCHED_MONOTONIC, 1, false},
                {"trapezoidal", ORT_SCHED_TRAPEZOIDAL, 1, false},
                {"static_steal,2", ORT_SCHED_DYNAMIC, 2, false},
                {"static ", ORT_SCHED_STATIC, 0, false},
                {"static,", 0, 0, false},
                {"static,+5", 0, 0, false},
                {"static 5", 0, 0, false},
                {"statically", 0, 0, false},
                {"monotonic", 0, 0, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned sched = 0;
        int chunk = 0;
        const char *fault = NULL;
        assert_int_equal(spelling_schedule(rows[i].text, &sched, &chunk, &fault), rows[i].sched != 0);
        assert_int_equal(sched, rows[i].sched);
        assert_int_equal(chunk, rows[i].chunk);
        assert_int_equal(fault != NULL, rows[i].fault);
    }
}

static void policies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned n;
        unsigned char list[3];
        bool fault;
    } rows[] = {{" true", 1, {ORT_BIND_TRUE}, false},
                {"truex", 1, {ORT_BIND_TRUE}, true},
                {"1", 1, {ORT_BIND_TRUE}, false},
                {"false,close", 1, {ORT_BIND_FALSE}, true},
                {"disabled", 1, {ORT_BIND_FALSE}, false},
                {"close , 4", 2, {ORT_BIND_CLOSE, ORT_BIND_SPREAD}, false},
                {"2,master,spread", 3, {ORT_BIND_PRIMARY, ORT_BIND_PRIMARY, ORT_BIND_SPREAD}, false},
                {"close;spread", 1, {ORT_BIND_CLOSE}, true},
                {"close,far", 0, {0}, false},
                {"close,true", 0, {0}, false},
                {"close,", 0, {0}, false},
                {"yes", 0, {0}, false},
                {"7", 0, {0}, false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char list[8];
        const char *fault = NULL;
        assert_int_equal(spelling_policies(rows[i].text, list, &fault), rows[i].n);
        for (unsigned k = 0; k < rows[i].n; k++)
            assert_int_equal(list[k], rows[i].list[k]);
        assert_true(rows[i].n == 0 || (fault != NULL) == rows[i].fault);
    }
    assert_true(spelling_disables(" Disabled,close"));
    assert_false(spelling_disables("false"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(counts), cmocka_unit_test(schedules),
                                       cmocka_unit_test(policies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
