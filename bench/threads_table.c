/* What do threads cost that are made and joined, switched and kept waiting, beside other libraries of user-level
 * threads?  threads_table LIBRARY WORKERS ROW [REPETITIONS]
 * LIBRARY: as threads_peers.h says. ROW: thousand, one, fib, yield, barrier. One sample a process; threads_table.py
 * runs the libraries in turns. With REPETITIONS nothing is timed: that many and no more (threads, yields, phases), for
 * a counter of instructions. Twin: the same under each library. */
#include "sample.h"
#include "threads_peers.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct threads *lib;
static unsigned num_workers;

static void fail(const char *what)
{
    fprintf(stderr, "threads_table: %s\n", what);
    exit(1);
}

static void *mark(void *arg)
{
    ++*(unsigned char *)arg;
    return NULL;
}

/* Each row does about n of its things, and returns how many it did. */

/* A thousand threads made, then joined in that order. */
static unsigned long thousand(unsigned long n)
{
    enum { AT_ONCE = 1000 };
    static unsigned char ran[AT_ONCE];
    static void *thread[AT_ONCE];
    unsigned long done = 0;
    unsigned char round = 0;
    memset(ran, 0, sizeof ran);
    for (; done < n; done += AT_ONCE) {
        for (unsigned i = 0; i < AT_ONCE; i++)
            thread[i] = lib->create(mark, &ran[i]);
        for (unsigned i = 0; i < AT_ONCE; i++)
            lib->join(thread[i]);
        round++;
        for (unsigned i = 0; i < AT_ONCE; i++)
            if (ran[i] != round)
                fail("a thread has not run once");
    }
    return done;
}

/* One made, and joined. */
static unsigned long one(unsigned long n)
{
    unsigned char ran = 0;
    for (unsigned long i = 0; i < n; i++)
        lib->join(lib->create(mark, &ran));
    if (ran != (unsigned char)n)
        fail("a thread has not run once");
    return n;
}

struct fib {
    unsigned long n, result;
};
static void *fib(void *arg)
{
    struct fib *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return NULL;
    }
    struct fib a = {.n = f->n - 1}, b = {.n = f->n - 2};
    void *thread = lib->create(fib, &a);
    fib(&b);
    lib->join(thread);
    f->result = a.result + b.result;
    return NULL;
}
/* The recursion, a thread for one of the two calls. */
static unsigned long fib_of(unsigned long n)
{
    unsigned long of = 1, x = 1, y = 1; /* fib(of), fib(of + 1): fib(of + 1) - 1 threads are made */
    while (y - 1 < n) {
        unsigned long z = x + y;
        x = y, y = z, of++;
    }
    struct fib f = {.n = of};
    fib(&f);
    if (f.result != x)
        fail("fib is wrong");
    return y - 1;
}

static unsigned long turns;
static void *yields(void *arg)
{
    for (unsigned long i = 0; i < turns; i++)
        lib->yield();
    return arg;
}
/* Two threads a worker, which yield: the time of one yield, on each worker. */
static unsigned long yield(unsigned long n)
{
    unsigned num = 2 * num_workers;
    void **thread = calloc(num, sizeof *thread);
    if (!thread)
        fail("no memory");
    turns = n / num + 1;
    for (unsigned i = 0; i < num; i++)
        thread[i] = lib->create(yields, NULL);
    for (unsigned i = 0; i < num; i++)
        lib->join(thread[i]);
    free(thread);
    return turns * num / num_workers;
}

enum { MEMBERS = 64 };
static void *barrier;
static unsigned long phases;
static volatile unsigned long at[MEMBERS];
static void *meets(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    for (unsigned long i = 0; i < phases; i++) {
        at[id] = i;
        lib->barrier_wait(barrier, id);
        if (i > 0 && at[(id + 1) % MEMBERS] + 1 < i)
            fail("a barrier let one go that had to wait");
    }
    return NULL;
}
/* 64 threads, one barrier: a phase of it. */
static unsigned long barrier_of_64(unsigned long n)
{
    void *thread[MEMBERS];
    phases = n;
    barrier = lib->barrier_make(MEMBERS);
    for (uintptr_t i = 0; i < MEMBERS; i++)
        thread[i] = lib->create(meets, (void *)i); // NOLINT(performance-no-int-to-ptr)
    for (unsigned i = 0; i < MEMBERS; i++)
        lib->join(thread[i]);
    lib->barrier_free(barrier);
    return n;
}

static const struct row {
    const char *name, *title;
    unsigned long (*run)(unsigned long n);
    unsigned long at_first;
} rows[] = {{"thousand", "1000 made, then joined", thousand, 10000},
            {"one", "one made and joined", one, 10000},
            {"fib", "fib, a thread a call", fib_of, 10000},
            {"yield", "yield", yield, 10000},
            {"barrier", "barrier of 64", barrier_of_64, 100}};

/* Seconds that the process's threads have used outside of the kernel. */
static double user_time(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    enum { USED_NS = 100 * 1000 * 1000 };
    const struct row *row = NULL;
    for (unsigned i = 0; argc > 3 && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(argv[3], rows[i].name) == 0)
            row = &rows[i];
    num_workers = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
    if (!row || num_workers == 0) {
        fputs("threads_table LIBRARY WORKERS thousand|one|fib|yield|barrier [REPETITIONS]\n", stderr);
        return 2;
    }
    lib = threads_open(argv[1]);
    if (!lib)
        return 2;
    lib->start(num_workers);
    if (argc > 4) {
        row->run(strtoul(argv[4], NULL, 10));
        return 0;
    }
    /* Once to have everything in memory, then as often as fills the time. */
    row->run(row->at_first);
    double before = sample_now();
    unsigned long did = row->run(row->at_first);
    double each = (sample_now() - before) / (double)did * 1e9;
    unsigned long wanted = (unsigned long)(USED_NS / (each > 1 ? each : 1)) + 1;
    double used = user_time();
    before = sample_now();
    did = row->run(wanted < row->at_first ? row->at_first : wanted);
    each = (sample_now() - before) / (double)did * 1e9;
    sample_print(row->title, "ns", &each, 1);
    used = (user_time() - used) / (double)did * 1e9;
    sample_print("processor time", "ns", &used, 1);
    fflush(stdout);
    _Exit(0); /* how each library ends is not asked */
}
