/* GCC's nested functions, called through their address: that is a piece of code in the frame of the function around, so
 * members' stacks must be fit for code where the program's are. In implicit and explicit tasks and in nested teams. */
#include "../check.h"

#include <omp.h>

__attribute__((noipa)) static long apply(long (*f)(long), long x) { return f(x); }

__attribute__((noipa)) static long add(long mine, long x)
{
    long plus(long y) { return y + mine; }
    return apply(plus, x);
}

__attribute__((noipa)) static long add_after_barrier(long mine, long x)
{
    long plus(long y) { return y + mine; }
#pragma omp barrier
    return apply(plus, x);
}

int main(void)
{
    long teams = 0, tasks = 0, inner = 0;
#pragma omp parallel num_threads(8) reduction(+ : teams)
    teams += add_after_barrier(omp_get_thread_num(), 100);
    CHECK(teams == 828);
#pragma omp parallel num_threads(4)
#pragma omp single
    for (long i = 0; i < 100; i++)
#pragma omp task shared(tasks)
    {
        long sum = add(i, 1);
#pragma omp taskyield
        sum += add(i, 2);
#pragma omp atomic
        tasks += sum;
    }
    CHECK(tasks == 2 * 4950 + 300);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : inner)
    {
#pragma omp parallel num_threads(3) reduction(+ : inner)
        inner += add_after_barrier(omp_get_thread_num(), 10);
    }
    CHECK(inner == 3 * 33);
    return 0;
}
