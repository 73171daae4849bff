/* A program without a race, with each way in which OpenMP orders threads: nested regions, barriers, critical, locks,
 * ordered, doacross, tasks with taskwait, taskgroup, dependences and detach, copyprivate, reductions, tasks that end in
 * a barrier, barriers of a cancellable region. A sanitizer must have
 * nothing to say, on any number of virtual processors. "slow": threads hold their processor for long now and then.
 * Prints "done". */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 64
static bool slow;
static long plain[N], counted, in_critical, locked, in_order, chain[N];

static void fail(const char *what)
{
    printf("wrong: %s\n", what);
    exit(1);
}

__attribute__((noinline)) static void deep(int depth, char *sum)
{
    char frame[512]; /* stacks are used again by others: to different depths */
    memset(frame, depth, sizeof frame);
    if (depth > 0)
        deep(depth - 1, sum);
    *sum = (char)(*sum + frame[depth]);
}

static void locks(omp_lock_t *lock, omp_nest_lock_t *nest)
{
#pragma omp critical(named)
    in_critical++;
    omp_set_lock(lock);
    locked++;
    omp_unset_lock(lock);
    while (!omp_test_lock(lock)) {
#pragma omp taskyield
    }
    locked++;
    omp_unset_lock(lock);
    omp_set_nest_lock(nest);
    omp_set_nest_lock(nest);
    counted++;
    omp_unset_nest_lock(nest);
    omp_unset_nest_lock(nest);
}

static void loops(void)
{
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        in_order += i;
    }
#pragma omp for ordered(1)
    for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
        chain[i] = chain[i - 1] + 1;
#pragma omp ordered depend(source)
    }
}

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

/* A task whose predecessor is over, as a rule, when it comes; and one that comes after a table's entries have been
 * dropped. */
static void late_tasks(void)
{
    long of[40] = {0}, from = 0, to = 0;
    int done = 0;
    for (int i = 0; i < 20; i++) {
        __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
#pragma omp task depend(out : from) shared(from, done)
        {
            from++;
            __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
        }
        while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
#pragma omp taskyield
        }
        usleep(200);
        for (double end = omp_get_wtime() + 0.03; slow && omp_get_thread_num() == i % 4 && omp_get_wtime() < end;)
            ;
        for (int k = 0; i % 4 == 3 && k < 40; k++) {
#pragma omp task depend(out : of[k]) shared(of)
            of[k]++;
        }
#pragma omp task depend(in : from) depend(out : to) shared(from, to)
        to = from;
    }
#pragma omp taskwait
    if (to != 20 || of[39] != 5)
        fail("late dependences");
}

static void tasks(void)
{
    long first = 0, second = 0, all = 0, parts[8] = {0};
    omp_event_handle_t event;
#pragma omp task depend(out : first) shared(first)
    first = 1;
#pragma omp task depend(in : first) depend(out : second) shared(first, second)
    second = first + 1;
#pragma omp task depend(in : second) shared(second, all)
    all = second + 1;
#pragma omp taskwait
    if (all != 3)
        fail("dependences");
#pragma omp taskgroup
    {
        for (int i = 0; i < 8; i++) {
#pragma omp task firstprivate(i) shared(parts)
            {
                char sum = 0;
                deep(i, &sum);
#pragma omp task shared(parts)
                parts[i] = i;
            }
        }
    }
    for (int i = 0; i < 8; i++)
        if (parts[i] != i)
            fail("taskgroup");
#pragma omp task detach(event) shared(parts)
    parts[0] = 7;
#pragma omp task firstprivate(event) shared(parts)
    {
        parts[1] = 8;
        omp_fulfill_event(event);
    }
#pragma omp taskwait
    if (parts[0] + parts[1] != 15)
        fail("detach");
    if (fibonacci(9) != 34)
        fail("fibonacci");
}

/* Barriers of a region that may be cancelled: with OMP_CANCELLATION=true the compiled code asks behind each. */
static void cancellable(int round)
{
    static int found;
    int n = 4, wanted = 1 << 20;
#pragma omp parallel num_threads(n)
    {
        int me = omp_get_thread_num(), next = (me + 1) % n;
        plain[me] = round;
#pragma omp cancel parallel if (round == wanted)
#pragma omp barrier
        if (plain[next] != round)
            fail("cancellable barrier");
#pragma omp barrier
#pragma omp task firstprivate(me)
        plain[me] += 100;
#pragma omp barrier
        if (plain[next] != round + 100)
            fail("tasks before a cancellable barrier");
#pragma omp barrier
        if (me == round % n) {
            found = me;
#pragma omp cancel parallel
        }
#pragma omp barrier
    }
    if (found != round % n)
        fail("cancelled region");
}

int main(int argc, char **argv)
{
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    long sum = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    omp_set_max_active_levels(2);
    for (int round = 0; round < 5; round++) {
        cancellable(round);
#pragma omp parallel num_threads(4) reduction(+ : sum)
        {
            int outer = omp_get_thread_num();
            char depth = 0;
            deep(outer * 5, &depth);
#pragma omp parallel num_threads(4) reduction(+ : sum)
            {
                int me = outer * 4 + omp_get_thread_num(), next = outer * 4 + (me + 1) % 4;
                char *block = malloc(100);
                memset(block, me, 100);
                deep(me, block);
                free(block);
                plain[me] = round;
#pragma omp barrier
                if (plain[next] != round)
                    fail("barrier");
                sum += 1;
                locks(&lock, &nest);
#pragma omp barrier
#pragma omp single nowait
                for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i)
                    plain[outer * 4 + i] += 100;
                }
#pragma omp barrier
                if (plain[next] != round + 100)
                    fail("tasks before a barrier");
            }
        }
        if (plain[5] != round + 100)
            fail("end of the region");
        in_order = 0;
#pragma omp parallel num_threads(4)
        {
            long seen = 0;
#pragma omp single copyprivate(seen)
            seen = plain[3] + round;
            if (seen != 100 + 2 * round)
                fail("copyprivate");
            loops();
#pragma omp single
            tasks();
            late_tasks();
        }
    }
    if (sum != 80 || locked != 160 || counted != 80 || in_critical != 80 || in_order != N * (N - 1) / 2 ||
        chain[N - 1] != N - 1)
        fail("sums");
    puts("done");
    return 0;
}
