/* ordered; num_threads and if; more tasks than a queue holds. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) ((what) ? (void)0 : (printf("line %d: %s\n", __LINE__, #what), exit(1)))

static unsigned work(unsigned n)
{
    volatile unsigned x = 0;
    for (unsigned i = 0; i < n; i++)
        x += i;
    return x;
}

static void in_order(int tasks)
{
    int *seen = calloc((size_t)tasks, sizeof *seen), num = 0;
#pragma omp parallel taskq ordered
    for (int i = 0; i < tasks; i++) {
#pragma omp task
        {
            work((unsigned)(i % 7) * 300);
            if (i % 5 != 3) { /* some have no ordered part */
#pragma omp ordered
                {
                    seen[num++] = i;
                }
            }
            work(100);
        }
    }
    int k = 0;
    for (int i = 0; i < tasks; i++)
        if (i % 5 != 3)
            CHECK(seen[k++] == i);
    CHECK(k == num);
    free(seen);
}

/* An ordered queue in each task of an ordered one. */
static void twice_in_order(void)
{
    int seen[6][8], rows[6], num_rows = 0;
#pragma omp parallel taskq ordered
    for (int i = 0; i < 6; i++) {
#pragma omp task
        {
            int num = 0;
#pragma omp taskq ordered
            for (int j = 0; j < 8; j++) {
#pragma omp task
#pragma omp ordered
                seen[i][num++] = j;
            }
#pragma omp ordered
            rows[num_rows++] = i;
        }
    }
    for (int i = 0; i < 6; i++) {
        CHECK(rows[i] == i);
        for (int j = 0; j < 8; j++)
            CHECK(seen[i][j] == j);
    }
}

static int running, most;

static void one(void)
{
    int now = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST), known = __atomic_load_n(&most, __ATOMIC_SEQ_CST);
    while (known < now && !__atomic_compare_exchange_n(&most, &known, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
    work(2000);
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
}

static void at_most(int threads)
{
    most = 0;
#pragma omp parallel taskq num_threads(threads)
    for (int i = 0; i < 200; i++) {
#pragma omp task
        {
#pragma omp taskq
            for (int j = 0; j < 3; j++) {
#pragma omp task
                one();
            }
        }
    }
    CHECK(running == 0 && most >= 1 && most <= threads);
}

static void alone(int parallel)
{
    int order[20], num = 0;
    most = 0;
#pragma omp parallel taskq if (parallel > 1)
    for (int i = 0; i < 20; i++) {
#pragma omp task
        {
            one();
            order[num++] = i;
        }
    }
    CHECK(num == 20 && most == 1);
    for (int i = 0; i < 20; i++) /* each at once */
        CHECK(parallel > 1 || order[i] == i);
}

static unsigned long many(unsigned long tasks)
{
    unsigned long sum = 0;
#pragma omp parallel taskq
    for (unsigned long i = 0; i < tasks; i++) {
#pragma omp task
        __atomic_add_fetch(&sum, i, __ATOMIC_RELAXED);
    }
    return sum;
}

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp taskq
    {
#pragma omp task captureprivate(n)
        a = fib(n - 1);
        b = fib(n - 2);
    }
    return a + b;
}

int main(void)
{
    long f = 0;
    in_order(40);
    in_order(900);
    twice_in_order();
    at_most(1);
    at_most(2);
    at_most(3);
    alone(1);
    CHECK(many(300000) == 300000UL * 299999 / 2);
#pragma omp parallel taskq
#pragma omp task
    f = fib(18);
    CHECK(f == 2584);
    return 0;
}
