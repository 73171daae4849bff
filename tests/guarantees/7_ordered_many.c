/* An ordered loop of thousands of members; all but the first wait already. Passing the turn wakes the member that has
 * it next, not a part of all. So it costs a few times what a region of as many costs, all of whose members wait at a
 * barrier; counted in processor time, which other programs do not lengthen. */
#include "check.h"
#include <sched.h>
#include <time.h>

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void barriers(int members)
{
    int sum = 0;
#pragma omp parallel num_threads(members) reduction(+ : sum)
    {
#pragma omp barrier
        sum++;
#pragma omp barrier
    }
    CHECK(sum == members);
}

static void ordered_loop(int members)
{
    int arrived = 0, now, sum = 0;
#pragma omp parallel num_threads(members) private(now)
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < members; i++) {
#pragma omp atomic
        arrived++;
        if (i == 0)
            do {
                sched_yield();
#pragma omp atomic read
                now = arrived;
            } while (now < members);
#pragma omp ordered
        sum++;
    }
    CHECK(sum == members);
}

/* The least of three runs. */
static double cost(void (*region)(int members), int members)
{
    double least = 1e9;
    for (int run = 0; run < 3; run++) {
        double before = processor_seconds();
        region(members);
        double took = processor_seconds() - before;
        least = took < least ? took : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    int members = argc > 1 ? atoi(argv[1]) : 50;
    omp_set_dynamic(0);
    double waiting = cost(barriers, members), turns = cost(ordered_loop, members);
    printf("%d members: barriers %.3f s, ordered %.3f s\n", members, waiting, turns);
    fflush(stdout);
    CHECK(turns < 8 * waiting + 0.1);
    return 0;
}
