/* How processes divide the processors, from claims that are made by hand. */
#include "share_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct share_room room;
static struct share_claim claims[SHARE_SLOTS];
static unsigned n;

static void begin(void **state)
{
    (void)state;
    n = 0;
    memset(claims, 0, sizeof claims);
}

/* One more process, on processors first .. first+cpus-1. */
static void process(unsigned weight, unsigned wanted, unsigned first, unsigned cpus)
{
    claims[n].weight = weight;
    claims[n].wanted = wanted;
    for (unsigned cpu = first; cpu < first + cpus; cpu++)
        claims[n].cpus[cpu / 64] |= UINT64_C(1) << cpu % 64;
    n++;
}

static void check(unsigned cpus, const unsigned *allowed)
{
    share_divide(&room, claims, n, cpus);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(claims[i].allowed, allowed[i]);
}
#define CHECK(cpus, ...) check(cpus, (const unsigned[]){__VA_ARGS__})

static void equal_parts(void **state)
{
    begin(state);
    process(1, 8, 0, 8);
    CHECK(8, 8);
    process(1, 8, 0, 8);
    CHECK(8, 4, 4);
    process(1, 8, 0, 8);
    CHECK(8, 3, 3, 2);
    process(1, 8, 0, 8);
    CHECK(8, 2, 2, 2, 2);
}

static void each_has_one(void **state)
{
    begin(state);
    for (unsigned i = 0; i < 5; i++)
        process(1, 2, 0, 2);
    CHECK(2, 1, 1, 1, 1, 1);
}

static void weights(void **state)
{
    begin(state);
    process(8, 2, 0, 2);
    process(1, 2, 0, 2);
    CHECK(2, 2, 1);
    begin(state);
    process(3, 16, 0, 16);
    process(1, 16, 0, 16);
    CHECK(16, 12, 4);
    begin(state);
    process(SHARE_WEIGHT_MOST, 64, 0, 64);
    process(1, 64, 0, 64);
    CHECK(64, 64, 1);
}

/* What one does not want goes to the others, by weight. */
static void lending(void **state)
{
    begin(state);
    process(1, 1, 0, 8);
    process(1, 8, 0, 8);
    CHECK(8, 1, 7);
    process(2, 8, 0, 8);
    CHECK(8, 1, 2, 5);
    begin(state);
    process(1, 0, 0, 2);
    process(1, 2, 0, 2);
    CHECK(2, 1, 2);
    begin(state);
    process(9, 3, 0, 16);
    process(1, 5, 0, 16);
    process(1, 16, 0, 16);
    CHECK(16, 3, 5, 8);
}

static void masks(void **state)
{
    begin(state);
    process(1, 8, 0, 4); /* nothing in common */
    process(1, 8, 4, 4);
    CHECK(8, 4, 4);
    begin(state);
    process(1, 8, 0, 4); /* two processors in common */
    process(1, 8, 2, 4);
    CHECK(6, 3, 3);
    begin(state);
    process(1, 8, 0, 8); /* one may use all, the other one processor */
    process(1, 8, 0, 1);
    CHECK(8, 7, 1);
    begin(state);
    process(1, 1024, 0, 1024);
    CHECK(1024, 1024);
}

/* The rules hold for any claims. */
static void any_claims(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned cpus = 1 + (unsigned)rand() % 70, processes = 1 + (unsigned)rand() % 12, dealt = 0, lone = 0;
        begin(state);
        for (unsigned i = 0; i < processes; i++) {
            unsigned first = (unsigned)rand() % cpus;
            process(1 + (unsigned)rand() % SHARE_WEIGHT_MOST, (unsigned)rand() % 80, first,
                    1 + (unsigned)rand() % (cpus - first));
        }
        share_divide(&room, claims, n, cpus);
        for (unsigned i = 0; i < n; i++) {
            unsigned most = 0;
            for (unsigned w = 0; w < SHARE_CPU_WORDS; w++)
                most += (unsigned)__builtin_popcountll(claims[i].cpus[w]);
            assert_in_range(claims[i].allowed, 1, most);
            assert_true(claims[i].allowed <= claims[i].wanted || claims[i].allowed == 1);
            dealt += claims[i].allowed;
            lone += claims[i].allowed == 1;
        }
        assert_true(dealt <= cpus + lone); /* more than there are only by those that cannot have less than one */
        struct share_claim before[12];
        memcpy(before, claims, sizeof before);
        share_divide(&room, claims, n, cpus);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(claims[i].allowed, before[i].allowed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_parts), cmocka_unit_test(each_has_one), cmocka_unit_test(weights),
        cmocka_unit_test(lending),     cmocka_unit_test(masks),        cmocka_unit_test(any_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
