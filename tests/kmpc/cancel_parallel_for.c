/* cancel for in a combined parallel for, whose loop has no closing barrier: the loops of later regions have their own
 * iterations, each once, and there are always slots for them. Not for GCC, which does not compile that as it is
 * meant. */
#include <stdatomic.h>

#include "../omp/check.h"
#include "../omp/need_env.h"

#define LONG 4000
static atomic_uchar begun[LONG];

#define REGION(name, clause)                           \
    static void name(int threads, int stop)            \
    {                                                  \
        _Pragma(clause) for (int i = 0; i < LONG; i++) \
        {                                              \
            CHECK(begun[i]++ == 0);                    \
            if (i == stop) {                           \
                _Pragma("omp cancel for")              \
            }                                          \
            if (i % 16 == 0) {                         \
                _Pragma("omp cancellation point for")  \
            }                                          \
        }                                              \
        for (int i = 0; i < LONG; i++)                 \
            begun[i] = 0;                              \
    }
REGION(dynamic, "omp parallel for num_threads(threads) schedule(dynamic, 1)")
REGION(dynamic_3, "omp parallel for num_threads(threads) schedule(dynamic, 3)")
REGION(guided, "omp parallel for num_threads(threads) schedule(guided)")
REGION(fixed, "omp parallel for num_threads(threads)")

static void whole(int threads)
{
    static atomic_uchar hits[200];
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < 200; i++) {
        CHECK(i >= 0 && i < 200);
        hits[i]++;
    }
    for (int i = 0; i < 200; i++) {
        CHECK(hits[i] == 1);
        hits[i] = 0;
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    need_env(argv, "OMP_CANCELLATION", "true");
    for (int round = 0; round < 40; round++)
        for (int threads = 1; threads <= 5; threads += 2) {
            int stop = (round + 1) * 97 % LONG;
            dynamic(threads, stop);
            whole(threads);
            dynamic_3(threads, stop);
            guided(threads, stop);
            whole(threads);
            fixed(threads, stop);
        }
    return 0;
}
