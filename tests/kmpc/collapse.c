/* Nests of loops collapsed by the runtime: entry points that Intel's compilers and libraries call, called as they
 * do. */
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>

#include "../omp/check.h"

struct bounds {
    int32_t type, iv_type, comparison;
    uint32_t outer;
    uint64_t lb0, lb1, ub0, ub1;
    int64_t step;
    uint64_t trip;
};
enum { LESS_OR_EQUAL, GREATER_OR_EQUAL, NOT_EQUAL, LESS, GREATER, UINT32 = 4, INT32, UINT64, INT64 };

uint64_t __kmpc_process_loop_nest_rectang(void *, int32_t, struct bounds *, int32_t);
void __kmpc_calc_original_ivs_rectang(void *, uint64_t, const struct bounds *, uint64_t *, int32_t);
int32_t __kmpc_global_thread_num(void *);
int32_t __kmpc_for_collapsed_init(void *, int32_t, struct bounds *, struct bounds *, int32_t, int32_t *);

/* for (int i = -3; i < 4; i += 2) for (uint64_t j = 9; j > 1; j -= 3) */
static void rectangle(void)
{
    struct bounds nest[2] = {
        {.type = INT32, .iv_type = INT32, .comparison = LESS, .lb0 = (uint64_t)-3, .ub0 = 4, .step = 2},
        {.type = UINT64, .iv_type = UINT64, .comparison = GREATER, .lb0 = 9, .ub0 = 1, .step = -3}};
    uint64_t all = __kmpc_process_loop_nest_rectang(NULL, 0, nest, 2), number = 0, ivs[2];
    CHECK(all == 4 * 3);
    CHECK(nest[0].comparison == LESS_OR_EQUAL && nest[1].comparison == GREATER_OR_EQUAL);
    for (int i = -3; i < 4; i += 2)
        for (uint64_t j = 9; j > 1; j -= 3) {
            __kmpc_calc_original_ivs_rectang(NULL, number++, nest, ivs, 2);
            CHECK((int)ivs[0] == i && ivs[1] == j);
        }
    CHECK(number == all);
}

#define N 13
/* for (int i = 0; i < N; i++) for (int j = i; j <= 2 * i + 1; j++): each iteration once, shares contiguous. */
static void triangle(void)
{
    static int seen[N][2 * N + 2];
    int lasts = 0;
#pragma omp parallel num_threads(4) reduction(+ : lasts)
    {
        struct bounds nest[2] =
            {{.type = INT32, .iv_type = INT32, .comparison = NOT_EQUAL, .ub0 = N, .step = 1},
             {.type = INT32, .iv_type = INT32, .comparison = LESS_OR_EQUAL, .lb1 = 1, .ub0 = 1, .ub1 = 2, .step = 1}},
                      chunk[2];
        int32_t last = 0;
        if (__kmpc_for_collapsed_init(NULL, __kmpc_global_thread_num(NULL), nest, chunk, 2, &last))
            for (int i = (int)chunk[0].lb0; i <= (int)chunk[0].ub0; i++)
                for (int j = i == (int)chunk[0].lb0 ? (int)chunk[1].lb0 : i;
                     j <= (i == (int)chunk[0].ub0 ? (int)chunk[1].ub0 : 2 * i + 1); j++)
#pragma omp atomic
                    seen[i][j]++;
        lasts += last;
    }
    CHECK(lasts == 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2 * N + 2; j++)
            CHECK(seen[i][j] == (j >= i && j <= 2 * i + 1));
}

/* Bounds that the type's range ends with: `<` what is least in it and `>` what is greatest give no iteration. */
static void nothing_beyond_the_type(void)
{
    static const struct bounds empty[] = {
        {.type = UINT64, .iv_type = UINT64, .comparison = LESS, .step = 1},
        {.type = INT32, .iv_type = INT32, .comparison = LESS, .ub0 = (uint64_t)INT32_MIN, .step = 1},
        {.type = INT64, .iv_type = INT64, .comparison = LESS, .ub0 = (uint64_t)INT64_MIN, .step = 1},
        {.type = UINT32, .iv_type = UINT32, .comparison = GREATER, .ub0 = UINT32_MAX, .step = -1},
        {.type = INT32, .iv_type = INT32, .comparison = GREATER, .ub0 = INT32_MAX, .step = -1}};
    for (unsigned i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct bounds nest = empty[i];
        CHECK(__kmpc_process_loop_nest_rectang(NULL, 0, &nest, 1) == 0);
    }
    struct bounds all = {.type = UINT32, .iv_type = UINT32, .ub0 = UINT32_MAX, .step = 1};
    CHECK(__kmpc_process_loop_nest_rectang(NULL, 0, &all, 1) == UINT64_C(1) << 32);
}

/* for (unsigned i = 0; i < N; i++) for (unsigned j = 0; j < i; j++): row 0 is empty, the first iteration (1, 0). */
static void triangle_without_diagonal(void)
{
    struct bounds nest[2] = {{.type = UINT32, .iv_type = UINT32, .comparison = LESS, .ub0 = N, .step = 1},
                             {.type = UINT32, .iv_type = UINT32, .comparison = LESS, .ub1 = 1, .step = 1}},
                  chunk[2];
    int32_t last = 0;
    CHECK(__kmpc_for_collapsed_init(NULL, __kmpc_global_thread_num(NULL), nest, chunk, 2, &last) == 1 && last == 1);
    CHECK(chunk[0].lb0 == 1 && chunk[1].lb0 == 0 && chunk[0].ub0 == N - 1 && chunk[1].ub0 == N - 2);
}

int main(void)
{
    rectangle();
    triangle();
    if (dlsym(RTLD_DEFAULT, "ort_layer") != NULL) { /* libomp runs such loops */
        nothing_beyond_the_type();
        triangle_without_diagonal();
    }
    return 0;
}
