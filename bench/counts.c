/* Constructs repeated a given number of times, for counting their instructions. counts NAME REPETITIONS
 * Run twice with different numbers under callgrind, the difference is the repetitions' alone (counts.py). With one
 * virtual processor nothing that is collected depends on time (counted.h), so the figures are the same on each run. */
#include "counted.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void nothing(void) { __asm__ volatile("" ::: "memory"); }

static void flat_region(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
#pragma omp parallel num_threads(2)
        nothing();
    }
}

/* An inner region of four, opened by one member of an outer one. */
static void nested_region(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i++) {
#pragma omp parallel num_threads(4)
        nothing();
    }
}

static void barrier(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp barrier
    }
}

static void barrier_of_8(unsigned long n)
{
#pragma omp parallel num_threads(8)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp barrier
    }
}

/* Two teams of four that share the virtual processor. */
static void nested_barrier(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(4)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp barrier
    }
}

static void single(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp single nowait
        nothing();
    }
}

static void dynamic_chunk(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp for schedule(dynamic, 1)
    for (unsigned long i = 0; i < n; i++)
        nothing();
}

/* Its start and end, with one iteration. */
static void dynamic_loop(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp for schedule(dynamic, 1) nowait
        for (int k = 0; k < 2; k++)
            nothing();
    }
}

/* A whole loop: 64 iterations for two members, in seven chunks. */
static void guided_loop(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp for schedule(guided, 1) nowait
        for (int k = 0; k < 64; k++)
            nothing();
    }
}

static void task(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i += 8) {
        for (int k = 0; k < 8; k++) {
#pragma omp task
            nothing();
        }
#pragma omp taskwait
    }
}

/* Undeferred, as below a cut-off. */
static void included_task(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i++) {
#pragma omp task if (n == 0)
        nothing();
    }
}

/* The same below a final task. */
static void final_task(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
#pragma omp task final(1) if (0)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp task
        nothing();
    }
}

/* Undeferred, with data that GCC copies by a function. */
static void copied_task(unsigned long n)
{
    struct {
        void *word[2];
    } data = {{NULL}};
#pragma omp parallel num_threads(2) firstprivate(data)
#pragma omp master
    for (unsigned long i = 0; i < n; i++) {
#pragma omp task if (n == 0) firstprivate(data)
        __asm__ volatile("" ::"m"(data) : "memory");
    }
}

static void taskwait(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i++) {
#pragma omp taskwait
    }
}

/* An iteration of a loop that is one taskloop, a task each. */
static void taskloop(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
#pragma omp taskloop grainsize(1)
    for (unsigned long i = 0; i < n; i++)
        nothing();
}

static void depend_task(unsigned long n)
{
    static int a, b;
    a = b = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i += 8) {
        for (int k = 0; k < 8; k++) {
#pragma omp task depend(in : a) depend(inout : b)
            nothing();
        }
#pragma omp taskwait
    }
}

static void critical(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp critical
        nothing();
    }
}

/* Of a loop with two iterations. */
static void reduction(unsigned long n)
{
    long a = 0, b = 0;
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp for reduction(+ : a, b) schedule(static) nowait
        for (int k = 0; k < 2; k++) {
            a += k;
            b += 2;
        }
    }
}

/* Of an ordered loop: an iteration. One member has them all, so that none waits. */
static void ordered(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp for ordered schedule(static, n)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp ordered
        nothing();
    }
}

/* An iteration of a doacross nest, which waits for the one before it. Again one member has them all. */
static void doacross(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp for ordered(1) schedule(static, n)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
        nothing();
#pragma omp ordered depend(source)
    }
}

/* In a team of one. */
static void doacross_alone(unsigned long n)
{
#pragma omp parallel num_threads(1)
#pragma omp for ordered(1) schedule(static, n)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
        nothing();
#pragma omp ordered depend(source)
    }
}

/* Under a lock, since no processor has such an operation. */
static void atomic_lock(unsigned long n)
{
    static long double x;
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i++) {
#ifdef __clang__ /* which calls libatomic; other compilers of LLVM's entry points call this */
        void __kmpc_atomic_float10_add(void *at, int gtid, long double *x, long double y);
        __kmpc_atomic_float10_add(NULL, 0, &x, 1);
#else
#pragma omp atomic
        x += 1;
#endif
    }
}

static void taskgroup(unsigned long n)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    for (unsigned long i = 0; i < n; i++) {
#pragma omp taskgroup
        nothing();
    }
}

static void sections(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp sections nowait
        {
#pragma omp section
            nothing();
#pragma omp section
            nothing();
        }
    }
}

#ifdef __clang__
/* What GCC does in place. */
static void masked(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp masked
        nothing();
    }
}

static void static_loop(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp for schedule(static) nowait
        for (int k = 0; k < 2; k++)
            nothing();
    }
}

static void flush(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp flush
    }
}

static void global_number(unsigned long n)
{
    int __kmpc_global_thread_num(void *at);
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++)
        __kmpc_global_thread_num(NULL);
}

/* What code without native thread-local storage calls. */
static void threadprivate(unsigned long n)
{
    int __kmpc_global_thread_num(void *at);
    void *__kmpc_threadprivate_cached(void *at, int gtid, void *x, size_t bytes, void ***cache);
    static int x;
    static void **cache;
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0, me = __kmpc_global_thread_num(NULL); i < n; i++)
        __kmpc_threadprivate_cached(NULL, (int)me, &x, sizeof x, &cache);
}
#endif

static omp_lock_t a_lock;

static void lock(unsigned long n)
{
    omp_init_lock(&a_lock);
    for (unsigned long i = 0; i < n; i++) {
        omp_set_lock(&a_lock);
        omp_unset_lock(&a_lock);
    }
}

static void nest_lock(unsigned long n)
{
    static omp_nest_lock_t nest;
    omp_init_nest_lock(&nest);
    for (unsigned long i = 0; i < n; i++) {
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
}

static void named_critical(unsigned long n)
{
#pragma omp parallel num_threads(2)
    for (unsigned long i = 0; i < n; i++) {
#pragma omp critical(a_name)
        nothing();
    }
}

static const struct {
    const char *name;
    void (*run)(unsigned long n);
} kinds[] = {{"flat_region", flat_region},
             {"nested_region", nested_region},
             {"barrier", barrier},
             {"barrier_of_8", barrier_of_8},
             {"nested_barrier", nested_barrier},
             {"single", single},
             {"dynamic_chunk", dynamic_chunk},
             {"dynamic_loop", dynamic_loop},
             {"guided_loop", guided_loop},
             {"task", task},
             {"included_task", included_task},
             {"final_task", final_task},
             {"copied_task", copied_task},
             {"taskwait", taskwait},
             {"taskloop", taskloop},
             {"depend_task", depend_task},
             {"critical", critical},
             {"named_critical", named_critical},
             {"reduction", reduction},
             {"lock", lock},
             {"nest_lock", nest_lock},
             {"ordered", ordered},
             {"doacross", doacross},
             {"doacross_alone", doacross_alone},
             {"atomic_lock", atomic_lock},
             {"taskgroup", taskgroup},
#ifdef __clang__
             {"masked", masked},
             {"static_loop", static_loop},
             {"flush", flush},
             {"global_number", global_number},
             {"threadprivate", threadprivate},
#endif
             {"sections", sections}};

int main(int argc, char **argv)
{
    unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    omp_set_max_active_levels(2);
    for (unsigned i = 0; argc > 1 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) {
            COUNTED_BEGIN;
            kinds[i].run(n);
            COUNTED_END;
            return 0;
        }
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        puts(kinds[i].name);
    return argc > 1 ? 2 : 0;
}
