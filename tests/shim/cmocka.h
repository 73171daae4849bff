/* As much of cmocka's interface as the tests of base, cpu, os and uth use, in one header: for targets that have no
 * cmocka package (cross builds, tools/check-ports). Same names, same meaning: an assertion that fails ends its test,
 * not the run.
 *
 * Values are compared as unsigned 64-bit numbers, as cmocka does. State and fixtures: set-up and tear-down of a test; a
 * failing one fails the test. No mocks, no memory checks, no output formats. */
#ifndef PS_SHIM_CMOCKA_H
#define PS_SHIM_CMOCKA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uintmax_t LargestIntegralType;
typedef int shim_fixture(void **state);

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    shim_fixture *setup, *teardown;
    void *initial_state;
};

#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
    {                                                       \
#f, f, setup, teardown, NULL                        \
    }
#define cmocka_unit_test(f) cmocka_unit_test_setup_teardown(f, NULL, NULL)
#define cmocka_unit_test_setup(f, setup) cmocka_unit_test_setup_teardown(f, setup, NULL)
#define cmocka_unit_test_teardown(f, teardown) cmocka_unit_test_setup_teardown(f, NULL, teardown)

enum { SHIM_PASSED, SHIM_FAILED, SHIM_SKIPPED };

struct shim {
    jmp_buf leave; /* longjmp's value: how the test ended */
};
__attribute__((weak)) struct shim shim_run;

__attribute__((noreturn)) static inline void shim_end(int how, const char *what, const char *file, int line)
{
    if (how == SHIM_FAILED)
        fprintf(stderr, "[  ERROR   ] --- %s\n[   LINE   ] --- %s:%d: error: Failure!\n", what, file, line);
    longjmp(shim_run.leave, how);
}

#define shim_require(cond, what) ((cond) ? (void)0 : shim_end(SHIM_FAILED, what, __FILE__, __LINE__))
/* Two values with their text; the format is fixed, the message says both. */
static inline void shim_compare(int holds, uintmax_t a, const char *relation, uintmax_t b, const char *file, int line)
{
    char text[160];
    if (holds)
        return;
    snprintf(text, sizeof text, "does not hold: %#jx %s %#jx", a, relation, b);
    shim_end(SHIM_FAILED, text, file, line);
}

#define skip() shim_end(SHIM_SKIPPED, "", __FILE__, __LINE__)
#define fail() shim_end(SHIM_FAILED, "fail()", __FILE__, __LINE__)
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), fprintf(stderr, "\n"), fail())
#define print_message printf
#define print_error(...) fprintf(stderr, __VA_ARGS__)

#define shim_int(a) ((uintmax_t)(a))
#define shim_ptr(a) ((uintmax_t)(uintptr_t)(a))
#define assert_true(c) shim_require(c, #c)
#define assert_false(c) shim_require(!(c), "!(" #c ")")
#define assert_non_null(p) shim_require((p) != NULL, #p " != NULL")
#define assert_null(p) shim_require((p) == NULL, #p " == NULL")
#define shim_two(conv, a, op, b)                                                 \
    do {                                                                         \
        uintmax_t shim_a = conv(a), shim_b = conv(b);                            \
        shim_compare(shim_a op shim_b, shim_a, #op, shim_b, __FILE__, __LINE__); \
    } while (0)
#define assert_int_equal(a, b) shim_two(shim_int, a, ==, b)
#define assert_int_not_equal(a, b) shim_two(shim_int, a, !=, b)
#define assert_ptr_equal(a, b) shim_two(shim_ptr, a, ==, b)
#define assert_ptr_not_equal(a, b) shim_two(shim_ptr, a, !=, b)
#define assert_in_range(v, low, high)                                                         \
    do {                                                                                      \
        uintmax_t shim_v = shim_int(v), shim_low = shim_int(low), shim_high = shim_int(high); \
        shim_compare(shim_v >= shim_low, shim_v, ">=", shim_low, __FILE__, __LINE__);         \
        shim_compare(shim_v <= shim_high, shim_v, "<=", shim_high, __FILE__, __LINE__);       \
    } while (0)
#define assert_string_equal(a, b) \
    (strcmp(a, b) == 0 ? (void)0  \
                       : (fprintf(stderr, "\"%s\" != \"%s\"\n", a, b), shim_end(SHIM_FAILED, #a, __FILE__, __LINE__)))
#define assert_string_not_equal(a, b) shim_require(strcmp(a, b) != 0, #a " is not the string " #b)
#define assert_memory_equal(a, b, n) shim_require(memcmp(a, b, n) == 0, #a " is in memory as " #b)

static inline int shim_one(const struct CMUnitTest *t)
{
    void *state = t->initial_state;
    volatile int how = SHIM_PASSED;
    printf("[ RUN      ] %s\n", t->name);
    fflush(stdout);
    if (t->setup != NULL && t->setup(&state) != 0) {
        how = SHIM_FAILED;
    } else {
        int left = setjmp(shim_run.leave);
        if (left == 0)
            t->test(&state);
        else
            how = left;
        if (t->teardown != NULL && t->teardown(&state) != 0)
            how = SHIM_FAILED;
    }
    printf("[ %8s ] %s\n", how == SHIM_PASSED ? "OK" : how == SHIM_SKIPPED ? "SKIPPED" : "FAILED", t->name);
    fflush(stdout);
    return how == SHIM_FAILED;
}

static inline int shim_all(const char *group, const struct CMUnitTest *tests, size_t n, shim_fixture *setup,
                           shim_fixture *teardown)
{
    int failed = 0;
    void *state = NULL;
    if (setup != NULL && setup(&state) != 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        failed += shim_one(&tests[i]);
    if (teardown != NULL && teardown(&state) != 0)
        failed++;
    printf("[==========] %s: %zu test(s), %d failed.\n", group, n, failed);
    return failed;
}

/* What the macros above it call in cmocka itself; the scheduler's tests call it by name. */
#define _cmocka_run_group_tests(name, tests, n, setup, teardown) shim_all(name, tests, n, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    shim_all(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#ifdef __cplusplus
}
#endif
#endif
