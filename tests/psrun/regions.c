/* Regions, nested ones, tasks, members that wait for one another by hand and by the C library, and a forked child. Says
 * whether all of it was right; reads no file. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int fib(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static int region_is_right(void)
{
    int came = 0, inner = 0, sum = 0, value = 0, n = omp_get_max_threads();
    atomic_int spins = 0;
#pragma omp parallel reduction(+ : came, inner, sum)
    {
        came = 1;
        atomic_fetch_add(&spins, 1);
        while (atomic_load(&spins) < omp_get_num_threads())
            continue;
        usleep(1000);
#pragma omp barrier
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp single
        value = fib(12);
    }
    return came == n && inner == 2 * n && sum == 4950 && value == 144;
}

int main(void)
{
    omp_set_max_active_levels(2);
    int right = 1, status = -1;
    for (int i = 0; i < 20; i++)
        right &= region_is_right();
    pid_t child = fork();
    if (child == 0)
        _exit(region_is_right() ? 0 : 1);
    right &= waitpid(child, &status, 0) == child && status == 0;
    puts(right ? "regions: right" : "regions: wrong");
    return !right;
}
