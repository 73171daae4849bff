/* taskloop with many more tasks than threads: each iteration once, whatever the tasks leave behind; every thread may
 * have a part; what waits for them waits for all. */
#include "check.h"
#include "work.h"

enum { MOST = 3000 };
static int hit[MOST], left[MOST];

static void all_hit(int *what, int n, int times)
{
    for (int i = 0; i < n; i++) {
        CHECK(what[i] == times);
        what[i] = 0;
    }
}

/* Tasks of all lengths, numbers and steps. */
static void counts(void)
{
    static const int numbers[] = {1, 7, 63, 64, 65, 1000, MOST};
    for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        int n = numbers[k];
        for (int grain = 1; grain < 40; grain = grain * 2 + 1) {
#pragma omp taskloop grainsize(grain)
            for (int i = 0; i < n; i++)
#pragma omp atomic
                hit[i]++;
            all_hit(hit, n, 1);
#pragma omp taskloop num_tasks(n / grain + 1)
            for (int i = n - 1; i >= 0; i--)
#pragma omp atomic
                hit[i]++;
            all_hit(hit, n, 1);
#pragma omp taskloop grainsize(grain) if (grain > 1) final(grain > 3)
            for (long long i = 0; i < 3LL * n; i += 3)
#pragma omp atomic
                hit[i / 3]++;
            all_hit(hit, n, 1);
        }
    }
}

/* Unsigned bounds near the end of the type. */
static void huge(void)
{
    unsigned long long first = ~0ULL - 2 * 500, last = ~0ULL - 1;
#pragma omp taskloop grainsize(3)
    for (unsigned long long i = first; i < last; i += 2)
#pragma omp atomic
        hit[(i - first) / 2]++;
    all_hit(hit, 500, 1);
}

/* Tasks that leave children behind: the construct's group waits for those, too; a taskwait within waits for the task's
 * own. */
static void children(void)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < MOST; i++) {
        if (i % 3 == 0) {
#pragma omp task firstprivate(i) shared(left)
            {
                work(20);
#pragma omp atomic
                left[i]++;
            }
        } else if (i % 3 == 1) {
#pragma omp task firstprivate(i) shared(left)
#pragma omp atomic
            left[i]++;
#pragma omp taskwait
            CHECK(left[i] == 1);
        } else {
            int mine = 0;
#pragma omp taskgroup
            {
#pragma omp task shared(mine)
                mine = 1;
            }
            left[i] = mine;
        }
#pragma omp atomic
        hit[i]++;
    }
    all_hit(hit, MOST, 1);
    all_hit(left, MOST, 1);
}

/* Without a group: a taskwait waits for the loop's tasks, a barrier for their children as well. */
static void without_group(void)
{
#pragma omp taskloop grainsize(1) nogroup
    for (int i = 0; i < MOST; i++) {
#pragma omp task firstprivate(i) shared(left)
        {
            work(10);
#pragma omp atomic
            left[i]++;
        }
#pragma omp atomic
        hit[i]++;
    }
#pragma omp taskwait
    all_hit(hit, MOST, 1);
}

/* Private copies, and one that is the last iteration's. */
static void data(void)
{
    int sum = 0, last = -1, given = 17, seen = 0;
#pragma omp taskloop grainsize(2) firstprivate(given) lastprivate(last) reduction(+ : sum) shared(seen)
    for (int i = 0; i < 1001; i++) {
        sum += i;
        last = i;
        if (given != 17) {
#pragma omp atomic
            seen++;
        }
    }
    CHECK(sum == 1001 * 1000 / 2 && last == 1000 && given == 17 && seen == 0);
}

/* A task changes what its children would inherit: not for the next one. */
static void settings(void)
{
    int wrong = 0;
#pragma omp taskloop grainsize(1) shared(wrong)
    for (int i = 0; i < 300; i++) {
        omp_sched_t kind;
        int chunk;
        omp_get_schedule(&kind, &chunk);
        if (chunk == 4711) {
#pragma omp atomic
            wrong++;
        }
        if (i % 7 == 0)
            omp_set_schedule(omp_sched_dynamic, 4711);
    }
    CHECK(wrong == 0);
}

/* In a loop in a loop, and by all members at once. */
static void nested(void)
{
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 100; i++) {
#pragma omp taskloop grainsize(1)
        for (int k = 0; k < 30; k++)
#pragma omp atomic
            hit[30 * i + k]++;
    }
    all_hit(hit, 3000, 1);
}

int main(void)
{
    int n = 1;
    for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel
#pragma omp single
        {
            n = omp_get_num_threads();
            counts();
            huge();
            children();
            data();
            settings();
            nested();
        }
#pragma omp parallel
        {
#pragma omp single
            without_group();
        }
        all_hit(left, MOST, 1);
#pragma omp parallel
        {
#pragma omp taskloop grainsize(1)
            for (int i = 0; i < MOST; i++)
#pragma omp atomic
                hit[i]++;
        }
        all_hit(hit, MOST, n);
    }
    counts(); /* outside of every region */
    return 0;
}
