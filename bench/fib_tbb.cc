// fib_task.c's recursion on oneTBB, a task a call: a peer that is no OpenMP. fib_tbb [N]
#include <tbb/global_control.h>
#include <tbb/task_group.h>

extern "C" {
#include "sample.h"
}

#include <cstdio>
#include <cstdlib>
#include <thread>

static unsigned long fib(unsigned n)
{
    if (n < 2)
        return n;
    unsigned long a, b;
    tbb::task_group group;
    group.run([&] { a = fib(n - 1); });
    b = fib(n - 2);
    group.wait();
    return a + b;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 25;
    double ns[5], tasks = -1;
    unsigned long x = 1, y = 0; // fib(n + 1) - 1 calls with n > 1
    for (unsigned i = 0; i < n; i++) {
        unsigned long z = x + y;
        y = x, x = z;
    }
    tasks += (double)x;
    for (double &value : ns) {
        double start = sample_now();
        unsigned long result = fib(n);
        value = (sample_now() - start) / tasks * 1e9;
        if (result != y) {
            fprintf(stderr, "fib_tbb: fib(%u) = %lu, wanted %lu\n", n, result, y);
            return 1;
        }
    }
    sample_print("fib, a task", "ns", ns, 5);
    return 0;
}
