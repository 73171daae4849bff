/* final: descendants of a final task are included; omp_in_final. mergeable and untied are accepted beside it. */
#include "check.h"

static int recurse(int depth, int final_from, int me_above)
{
    CHECK(!!omp_in_final() == (depth >= final_from));
    if (depth > final_from)
        CHECK(omp_get_thread_num() == me_above);
    if (depth == 8)
        return 1;
    int a = 0, b = 0, me = omp_get_thread_num();
#pragma omp task shared(a) final(depth + 1 >= final_from) mergeable
    a = recurse(depth + 1, final_from, me);
    if (depth >= final_from)
        CHECK(a == 1 << (7 - depth));
#pragma omp task shared(b) final(depth + 1 >= final_from) untied
    b = recurse(depth + 1, final_from, me);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    for (int final_from = 1; final_from < 8; final_from++) {
#pragma omp parallel
#pragma omp single
        CHECK(recurse(0, final_from, 0) == 256);
    }
    return 0;
}
