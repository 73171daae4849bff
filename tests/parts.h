/* A cmocka program of several files: each file has a part of the tests, and main runs the parts as one group. */
#ifndef TESTS_PARTS_H
#define TESTS_PARTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct test_part {
    const struct CMUnitTest *tests;
    size_t num;
};
#define TEST_PART(array)                            \
    {                                               \
        (array), sizeof(array) / sizeof((array)[0]) \
    }

static inline int run_parts(const struct test_part *const *parts, size_t num_parts)
{
    struct CMUnitTest all[100];
    size_t num = 0;
    for (size_t i = 0; i < num_parts; i++) {
        if (num + parts[i]->num > sizeof all / sizeof all[0])
            abort();
        memcpy(&all[num], parts[i]->tests, parts[i]->num * sizeof all[0]);
        num += parts[i]->num;
    }
    return _cmocka_run_group_tests("tests", all, num, NULL, NULL);
}
#define RUN_PARTS(parts) run_parts(parts, sizeof(parts) / sizeof((parts)[0]))

#endif
