/* What does a task cost that runs at once? ns a task, by the data that it gets; the median of SAMPLES batches. at_once
 * [SAMPLES]
 *   if0       if(0)
 *   included  below a final task
 *   deep      a recursion of included tasks, each with two children and a taskwait (what floorplan and nqueens do
 *          below their cut-off)
 * The data is what firstprivate copies: none, or a structure of 16, 512, 4096 bytes, which GCC copies by a function of
 * the program's. Two threads, of which one makes all tasks. The sum that the tasks leave behind is checked. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 4000, SAMPLES_MAX = 1000, DEPTH = 11 };

static unsigned long sum;

#define KIND(bytes)                                                     \
    struct data_##bytes {                                               \
        unsigned long word[(bytes) / sizeof(unsigned long)];            \
    };                                                                  \
    static void if0_##bytes(unsigned long n)                            \
    {                                                                   \
        struct data_##bytes d = {{1}};                                  \
        for (unsigned long i = 0; i < n; i++) {                         \
            _Pragma("omp task if(0) firstprivate(d)") sum += d.word[0]; \
            __asm__ volatile("" ::: "memory");                          \
        }                                                               \
    }                                                                   \
    static void included_##bytes(unsigned long n)                       \
    {                                                                   \
        struct data_##bytes d = {{1}};                                  \
        for (unsigned long i = 0; i < n; i++) {                         \
            _Pragma("omp task firstprivate(d)") sum += d.word[0];       \
            __asm__ volatile("" ::: "memory");                          \
        }                                                               \
    }
KIND(16)
KIND(512)
KIND(4096)

static void if0(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
#pragma omp task if (0)
        sum++;
        __asm__ volatile("" ::: "memory");
    }
}

static void included(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
#pragma omp task
        sum++;
        __asm__ volatile("" ::: "memory");
    }
}

static void tree(int depth)
{
    sum++;
    if (depth == 0)
        return;
#pragma omp task firstprivate(depth)
    tree(depth - 1);
#pragma omp task firstprivate(depth)
    tree(depth - 1);
#pragma omp taskwait
}
static void deep(unsigned long n)
{
    (void)n;
    sum = 0;
    tree(DEPTH);
    sum -= 1;
}

static const struct {
    const char *name;
    void (*run)(unsigned long n);
    int final;
    unsigned long tasks; /* of a batch */
} kinds[] = {{"if0", if0, 0, TASKS},
             {"if0_16", if0_16, 0, TASKS},
             {"if0_512", if0_512, 0, TASKS},
             {"if0_4096", if0_4096, 0, TASKS},
             {"included", included, 1, TASKS},
             {"included_16", included_16, 1, TASKS},
             {"included_512", included_512, 1, TASKS},
             {"included_4096", included_4096, 1, TASKS},
             {"deep", deep, 1, (2 << DEPTH) - 2}};

int main(int argc, char **argv)
{
    int samples = argc > 1 ? atoi(argv[1]) : 50, wrong = 0;
    if (samples < 1 || samples > SAMPLES_MAX)
        return 2;
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        static double took[SAMPLES_MAX];
#pragma omp parallel num_threads(2)
#pragma omp master
#pragma omp task final(kinds[k].final) if (0)
        for (int i = 0; i < samples; i++) {
            sum = 0;
            double start = sample_now();
            kinds[k].run(kinds[k].tasks);
            took[i] = (sample_now() - start) * 1e9 / (double)kinds[k].tasks;
            wrong |= sum != kinds[k].tasks;
        }
        sample_print(kinds[k].name, "ns", took, (unsigned)samples);
    }
    if (wrong)
        fputs("a sum is wrong\n", stderr);
    return wrong;
}
