/* Entry points that compilers before GCC 4.9 call, and those that today's call rarely: by hand. */
#include "check.h"

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_static_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(void (*)(void *), void *, unsigned, long, long, long);
void GOMP_parallel_loop_static(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_guided(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
_Bool GOMP_loop_static_start(long, long, long, long, long *, long *);
_Bool GOMP_loop_static_next(long *, long *);
_Bool GOMP_loop_dynamic_next(long *, long *);
_Bool GOMP_loop_guided_next(long *, long *);
_Bool GOMP_loop_runtime_next(long *, long *);
_Bool GOMP_loop_ull_static_start(_Bool, unsigned long long, unsigned long long, unsigned long long, unsigned long long,
                                 unsigned long long *, unsigned long long *);
_Bool GOMP_loop_ull_static_next(unsigned long long *, unsigned long long *);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

static int hits[100];
static int count;

static void region(void *data)
{
    CHECK(data == &count);
    GOMP_atomic_start();
    count++;
    GOMP_atomic_end();
}

#define LOOP_BODY(name)                           \
    static void loop_##name(void *data)           \
    {                                             \
        (void)data;                               \
        long lo, hi;                              \
        while (GOMP_loop_##name##_next(&lo, &hi)) \
            for (long i = lo; i < hi; i += 3)     \
                hits[i]++;                        \
        GOMP_loop_end_nowait();                   \
    }
LOOP_BODY(static)
LOOP_BODY(dynamic)
LOOP_BODY(guided)
LOOP_BODY(runtime)

static void sections(void *data)
{
    (void)data;
    for (unsigned s; (s = GOMP_sections_next()) != 0;)
        hits[s]++;
    GOMP_sections_end_nowait();
}

static void orphans(void *data)
{
    (void)data;
    long lo, hi;
    if (GOMP_loop_static_start(99, 0, -3, 2, &lo, &hi))
        do
            for (long i = lo; i > hi; i -= 3)
                hits[i]++;
        while (GOMP_loop_static_next(&lo, &hi));
    GOMP_loop_end();
    unsigned long long ulo, uhi;
    if (GOMP_loop_ull_static_start(1, 1, 90, 3, 0, &ulo, &uhi))
        do
            for (unsigned long long i = ulo; i < uhi; i += 3)
                hits[i]++;
        while (GOMP_loop_ull_static_next(&ulo, &uhi));
    GOMP_loop_end_nowait();
}

static void expect_loop(void)
{
    for (int i = 0; i < 100; i++)
        CHECK(hits[i] == (i >= 1 && i < 98 && (i - 1) % 3 == 0));
    memset(hits, 0, sizeof hits);
}

int main(void)
{
    GOMP_parallel_start(region, &count, 4);
    region(&count);
    GOMP_parallel_end();
    CHECK(count == 4);
    for (int round = 0; round < 10; round++) {
        GOMP_parallel_loop_static_start(loop_static, NULL, 3, 1, 98, 3, round);
        loop_static(NULL);
        GOMP_parallel_end();
        expect_loop();
        GOMP_parallel_loop_dynamic_start(loop_dynamic, NULL, 3, 1, 98, 3, 1 + round);
        loop_dynamic(NULL);
        GOMP_parallel_end();
        expect_loop();
        GOMP_parallel_loop_guided_start(loop_guided, NULL, 3, 1, 98, 3, 1 + round);
        loop_guided(NULL);
        GOMP_parallel_end();
        expect_loop();
        GOMP_parallel_loop_runtime_start(loop_runtime, NULL, 3, 1, 98, 3);
        loop_runtime(NULL);
        GOMP_parallel_end();
        expect_loop();
        GOMP_parallel_loop_static(loop_static, NULL, 4, 1, 98, 3, 0, 0);
        expect_loop();
        GOMP_parallel_loop_guided(loop_guided, NULL, 4, 1, 98, 3, 2, 0);
        expect_loop();
        GOMP_parallel_sections_start(sections, NULL, 3, 5);
        sections(NULL);
        GOMP_parallel_end();
        for (int i = 0; i < 100; i++)
            CHECK(hits[i] == (i >= 1 && i <= 5));
        memset(hits, 0, sizeof hits);
    }
#pragma omp parallel num_threads(3)
    orphans(NULL);
    for (int i = 0; i < 100; i++)
        CHECK(hits[i] == (i >= 1 && i % 3 == 0) + (i >= 1 && i < 90 && (i - 1) % 3 == 0));
    return 0;
}
