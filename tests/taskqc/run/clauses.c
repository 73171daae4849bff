/* private, firstprivate, lastprivate, captureprivate, reduction: on queues and on tasks. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) ((what) ? (void)0 : (printf("line %d: %s\n", __LINE__, #what), exit(1)))
enum { N = 50 };

static void reductions(void)
{
    int sum = 100, difference = 7, bits = 8, all = -1, odd = 0, least = 25, most = 25, every = 1, some = 0;
    double product = 2;
    unsigned char narrow = 3;
#pragma omp parallel taskq reduction(+ : sum, narrow) reduction(- : difference) reduction(* : product) reduction(| : bits) \
    reduction(& : all) reduction(^ : odd) reduction(min : least) reduction(max : most) reduction(&& : every) reduction(|| : some)
    {
        sum += 1000; /* the queue's own part */
        for (int i = 0; i < N; i++) {
#pragma omp task
            {
                sum += i;
                difference -= i;
                product *= i == 3 || i == 4 ? 2 : 1;
                bits |= 1 << (i % 3);
                all &= i == 5 ? ~4 : ~0;
                odd ^= 1;
                least = i + 10 < least ? i + 10 : least;
                most = i > most ? i : most;
                every = every && i < N;
                some = some || i == 30;
                narrow++;
            }
        }
    }
    CHECK(sum == 1100 + N * (N - 1) / 2);
    CHECK(difference == 7 - N * (N - 1) / 2);
    CHECK(product == 8 && bits == 15 && all == ~4 && odd == N % 2);
    CHECK(least == 10 && most == N - 1 && every == 1 && some == 1 && narrow == 3 + N);
}

static long tree(int depth)
{
    long leaves = 0;
    if (depth == 0)
        return 1;
#pragma intel omp taskq reduction(+ : leaves)
    for (int i = 0; i < 3; i++) {
#pragma intel omp task captureprivate(depth)
        leaves += tree(depth - 1);
    }
    return leaves;
}

struct item {
    int key, values[3];
};

static void privates(void)
{
    int last = -1, first = 40, scratch = 1, row[3] = {1, 2, 3}, out[N], last_row[2] = {0, 0};
    struct item item = {9, {1, 2, 3}};
    float untouched = 2.5f;
#pragma omp parallel taskq private(scratch) firstprivate(first, row, item) lastprivate(last, last_row)
    for (scratch = 0; scratch < N; scratch++) {
        last = 3 * scratch; /* as the tasks see it, and change it */
        last_row[1] = scratch;
        item.key = scratch;
        row[0]++;
#pragma omp task private(untouched)
        {
            untouched = (float)scratch;
            out[scratch] = scratch + first + row[0] + item.key + item.values[2] + (int)untouched;
            last += 1;
            last_row[0] = last;
        }
        first++;
    }
    CHECK(last == 3 * (N - 1) + 1 && last_row[0] == last && last_row[1] == N - 1);
    CHECK(scratch == 1 && first == 40 && row[0] == 1 && item.key == 9 && untouched == 2.5f);
    for (int i = 0; i < N; i++)
        CHECK(out[i] == i + 40 + i + 2 + i + i + 3 + i);
}

/* A clause of a task's goes before what the queue says. */
static void own_clauses(void)
{
    int shared_again = 0, copied = 1, done[4] = {0};
#pragma omp parallel taskq private(copied)
    for (int i = 0; i < 4; i++) {
        int counter = 10 * i;
        copied = i;
#pragma omp task captureprivate(copied, shared_again) shared(counter)
        {
            shared_again = 99;
            done[i] = copied;
            if (i < 0)
                counter++;
        }
    }
    CHECK(shared_again == 0);
    for (int i = 0; i < 4; i++)
        CHECK(done[i] == i);
}

/* The tasks of a queue without one end with what is around it. */
static void without_waiting(void)
{
    int done[40] = {0}, ended = 0;
#pragma omp parallel taskq
    {
#pragma omp taskq nowait
        for (int i = 0; i < 20; i++) {
#pragma omp task
            done[i]++;
        }
#pragma omp task
        {
#pragma omp taskq nowait
            for (int i = 20; i < 40; i++) {
#pragma omp task
                done[i]++;
            }
#pragma omp atomic
            ended++;
        }
    }
    CHECK(ended == 1);
    for (int i = 0; i < 40; i++)
        CHECK(done[i] == 1);
}

int main(void)
{
    long leaves = 0;
    reductions();
    privates();
    own_clauses();
    without_waiting();
#pragma intel_omp_parallel_taskq
    {
#pragma intel_omp_task
        leaves = tree(6);
    }
    CHECK(leaves == 729);
    CHECK(tree(3) == 27); /* outside of any region */
    return 0;
}
