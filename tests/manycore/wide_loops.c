/* Loops of more iterations than 32 bits count, and loops whose claims pass 2^32: each iteration is handed out once. The
 * chunks are taken by the compiler's entry points, since no program could run as many iterations. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../omp/check.h"

typedef unsigned long long ull;
bool GOMP_loop_ull_dynamic_start(bool up, ull start, ull end, ull incr, ull chunk, ull *lo, ull *hi);
bool GOMP_loop_ull_dynamic_next(ull *lo, ull *hi);
bool GOMP_loop_ull_guided_start(bool up, ull start, ull end, ull incr, ull chunk, ull *lo, ull *hi);
bool GOMP_loop_ull_guided_next(ull *lo, ull *hi);
bool GOMP_loop_ull_ordered_static_start(bool up, ull start, ull end, ull incr, ull chunk, ull *lo, ull *hi);
bool GOMP_loop_ull_ordered_static_next(ull *lo, ull *hi);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void GOMP_loop_end(void);

typedef bool start_function(bool up, ull start, ull end, ull incr, ull chunk, ull *lo, ull *hi);
typedef bool next_function(ull *lo, ull *hi);

#define MOST 4096
static ull begins[MOST], ends[MOST];
static int chunks;

static int by_begin(const void *a, const void *b)
{
    const ull *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Takes all chunks of [from, to) by 8 members; in order: in the order of the ordered regions. */
static void take(start_function *start, next_function *next, ull from, ull to, ull chunk, bool in_order)
{
    chunks = 0;
#pragma omp parallel num_threads(8)
    {
        ull lo, hi;
        if (start(true, from, to, 1, chunk, &lo, &hi))
            do {
                if (in_order)
                    GOMP_ordered_start();
#pragma omp critical
                {
                    CHECK(chunks < MOST);
                    begins[chunks] = lo;
                    ends[chunks++] = hi;
                }
                if (in_order)
                    GOMP_ordered_end();
            } while (next(&lo, &hi));
        GOMP_loop_end();
    }
    if (!in_order) {
        qsort(begins, (size_t)chunks, sizeof *begins, by_begin);
        qsort(ends, (size_t)chunks, sizeof *ends, by_begin);
    }
    CHECK(chunks > 1 && begins[0] == from && ends[chunks - 1] == to);
    for (int i = 1; i < chunks; i++)
        CHECK(begins[i] == ends[i - 1] && begins[i] < ends[i]);
}

int main(void)
{
    const ull some = 1ull << 32;
    take(GOMP_loop_ull_dynamic_start, GOMP_loop_ull_dynamic_next, 7, 100 * some + 3, some - 1, false);
    take(GOMP_loop_ull_dynamic_start, GOMP_loop_ull_dynamic_next, some, 2 * some - 1, some / 3, false);
    take(GOMP_loop_ull_dynamic_start, GOMP_loop_ull_dynamic_next, some - 5, some + 5, 1, false);
    take(GOMP_loop_ull_guided_start, GOMP_loop_ull_guided_next, 7, 100 * some + 3, some / 4, false);
    take(GOMP_loop_ull_guided_start, GOMP_loop_ull_guided_next, 0, some - 1, 1u << 20, false);
    take(GOMP_loop_ull_ordered_static_start, GOMP_loop_ull_ordered_static_next, 0, 8 * some, 0, true);
    take(GOMP_loop_ull_ordered_static_start, GOMP_loop_ull_ordered_static_next, 0, 32 * some, some, true);
    return 0;
}
