/* taskloop with many tasks whose variables are written. Each task begins with its own copy of what is firstprivate, as
 * it was at the construct. What the last iteration leaves is what lastprivate gives back. What the tasks share is
 * shared. */
#include "check.h"

#include <string.h>

enum { N = 1000, WORDS = 40, LARGE = 600 };
static int hit[N];

static void all_hit(void)
{
    for (int i = 0; i < N; i++) {
        CHECK(hit[i] == 1);
        hit[i] = 0;
    }
}

/* A value, an array, and one that is too large for a copy on a stack. */
static void firstprivates(int grain)
{
    int value = 7, words[WORDS];
    struct {
        long of[LARGE];
    } large;
    for (int i = 0; i < WORDS; i++)
        words[i] = i;
    for (int i = 0; i < LARGE; i++)
        large.of[i] = -i;
#pragma omp taskloop grainsize(grain) firstprivate(value, words)
    for (int i = 0; i < N; i++) {
        /* a task has between `grain` and twice as many iterations */
        CHECK(value >= 7 && value < 7 + 2 * grain);
        CHECK(words[i % WORDS] % WORDS == i % WORDS);
        CHECK(words[WORDS - 1] == WORDS - 1 + WORDS * (value - 7));
        value++;
        for (int w = 0; w < WORDS; w++)
            words[w] += WORDS;
#pragma omp atomic
        hit[i]++;
    }
    CHECK(value == 7 && words[WORDS - 1] == WORDS - 1);
    all_hit();
#pragma omp taskloop grainsize(grain) firstprivate(large)
    for (int i = 0; i < N; i++) {
        CHECK(large.of[LARGE - 1] == 1 - LARGE && large.of[0] > -2 * grain);
        large.of[0]--;
#pragma omp atomic
        hit[i]++;
    }
    CHECK(large.of[0] == 0);
    all_hit();
}

static void lastprivates(int grain)
{
    int last = -1, both = 3, words[WORDS] = {0};
    long sum = 0;
#pragma omp taskloop grainsize(grain) lastprivate(last, words) firstprivate(both) lastprivate(both) shared(sum)
    for (int index = 0; index < 3 * N; index += 3) {
        CHECK(both >= 3 && both < 3 + 2 * grain);
        both++;
        last = index;
        words[1] = 2 * index;
#pragma omp atomic
        sum += index;
#pragma omp atomic
        hit[index / 3]++;
    }
    CHECK(last == 3 * (N - 1) && words[1] == 2 * last && sum == 3L * N * (N - 1) / 2);
    CHECK(both > 3 && both <= 3 + 2 * grain);
    all_hit();
#pragma omp taskloop num_tasks(N / grain) lastprivate(last)
    for (int i = N - 1; i >= 0; i--) {
        last = i;
#pragma omp atomic
        hit[i]++;
    }
    CHECK(last == 0);
    all_hit();
}

/* The construct does not wait for them: what they have of the stack is theirs. */
static void without_group(int grain)
{
    int value = 7;
#pragma omp taskgroup
    {
#pragma omp taskloop nogroup grainsize(grain) firstprivate(value)
        for (int i = 0; i < N; i++) {
            CHECK(value >= 7 && value < 7 + 2 * grain);
            value++;
#pragma omp atomic
            hit[i]++;
        }
        value = -1;
    }
    all_hit();
}

/* A task's copies serve its children, too, which it waits for. */
static void children(int grain)
{
    int value = 7;
#pragma omp taskloop grainsize(grain) firstprivate(value)
    for (int i = 0; i < N; i++) {
        int seen = -1;
#pragma omp task shared(value, seen)
        {
            seen = value;
            value++;
        }
#pragma omp taskwait
        CHECK(seen >= 7 && seen < 7 + 2 * grain && value == seen + 1);
#pragma omp atomic
        hit[i]++;
    }
    all_hit();
}

static void undeferred(int grain)
{
    int value = 7;
#pragma omp taskloop grainsize(grain) firstprivate(value) if (0)
    for (int i = 0; i < N; i++) {
        CHECK(value >= 7 && value < 7 + 2 * grain);
        value++;
#pragma omp atomic
        hit[i]++;
    }
#pragma omp taskloop grainsize(grain) firstprivate(value) final(1) untied
    for (int i = 0; i < N; i++) {
        CHECK(omp_in_final() && value >= 7 && value < 7 + 2 * grain);
        value++;
#pragma omp atomic
        hit[i]++;
    }
    for (int i = 0; i < N; i++)
        hit[i]--;
    all_hit();
}

static void all(int grain)
{
    firstprivates(grain);
    lastprivates(grain);
    without_group(grain);
    children(grain);
    undeferred(grain);
}

int main(void)
{
    for (int grain = 1; grain < 20; grain = 3 * grain + 1) {
#pragma omp parallel
#pragma omp master
        all(grain);
        all(grain);
    }
    return 0;
}
