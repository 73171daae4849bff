/* A child forked outside of every region, after its parent has run tasks, runs tasks in regions of its own.
 * libgomp 12 hangs in the child: its threads are gone. */
#include <sys/wait.h>

#include "check.h"

static long fib(int n)
{
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void region(void)
{
    long result = 0;
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; i++) {
#pragma omp task depend(inout : x) shared(x)
            x++;
        }
        result = fib(15);
#pragma omp taskwait
        CHECK(x == 100);
    }
    CHECK(result == 610);
}

int main(void)
{
    for (int round = 0; round < 5; round++) {
        region();
        pid_t child = fork();
        if (child == 0) {
            region();
            region();
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return 0;
}
