/* Reductions on parallel, with user-defined operators, in nested regions. */
#include "check.h"

struct pair {
    int least, most;
};
#pragma omp declare reduction(span                                                                           \
                              : struct pair                                                                  \
                              : omp_out.least = omp_in.least < omp_out.least ? omp_in.least : omp_out.least, \
                                omp_out.most = omp_in.most > omp_out.most ? omp_in.most : omp_out.most)      \
    initializer(omp_priv = {1 << 30, -(1 << 30)})

int main(void)
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < 50; round++) {
        struct pair p = {1 << 30, -(1 << 30)};
        long sum = 0;
#pragma omp parallel for reduction(span : p) reduction(+ : sum) schedule(dynamic, 3)
        for (int i = 0; i < 100; i++) {
            int v = i * 17 % 101 - 50;
            sum += v;
            if (v < p.least)
                p.least = v;
            if (v > p.most)
                p.most = v;
        }
        long expected = 0;
        int least = 1000, most = -1000;
        for (int i = 0; i < 100; i++) {
            int v = i * 17 % 101 - 50;
            expected += v;
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
        CHECK(p.least == least && p.most == most && sum == expected);
        int outer = 0;
#pragma omp parallel num_threads(3) reduction(+ : outer)
        {
            int inner = 0;
#pragma omp parallel num_threads(4) reduction(+ : inner)
            inner += omp_get_thread_num();
            outer += inner;
        }
        CHECK(outer == 18);
    }
    return 0;
}
