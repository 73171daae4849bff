/* What does a region cost after its members have asked for, or set, what the kernel keeps for a thread?
 * asks KIND [MEMBERS [SAMPLES]]
 * Each member but the first does so once, in one region. KIND is nothing; number (gettid), name, processors or nice:
 * the member asks for it; set-name or set-processors: it sets that; clock: its processor time; stack: the bounds of its
 * stack. Then regions without a body: us for each, the median of SAMPLES runs of at least 2 ms. Twin: the same program
 * before the members have done so. Check: the number that a member was told is its own in the last region as well. */
#include "sample.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS_MAX = 1000, SAMPLES_MAX = 1000, RUNS_ALIKE = 50 };

static char text[32];
static cpu_set_t all;
static pid_t number_of[MEMBERS_MAX];

static void nothing(void) {}
static void number(void)
{
    int id = omp_get_thread_num();
    if (number_of[id] != 0 && number_of[id] != gettid()) {
        fprintf(stderr, "asks: member %d has another number than before\n", id);
        exit(1);
    }
    number_of[id] = gettid();
}
static void name(void)
{
    char own[32];
    pthread_getname_np(pthread_self(), own, sizeof own);
}
static void processors(void)
{
    cpu_set_t own;
    sched_getaffinity(0, sizeof own, &own);
}
static void nice_value(void) { getpriority(PRIO_PROCESS, 0); }
static void set_name(void) { pthread_setname_np(pthread_self(), text); }
static void set_processors(void) { sched_setaffinity(0, sizeof all, &all); }
static void own_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}
static void stack(void)
{
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr) == 0)
        pthread_attr_destroy(&attr);
}

static const struct {
    const char *name;
    void (*ask)(void);
} kinds[] = {{"nothing", nothing}, {"number", number},     {"name", name},       {"processors", processors},
             {"nice", nice_value}, {"set-name", set_name}, {"clock", own_clock}, {"set-processors", set_processors},
             {"stack", stack}};

static void each(int members, void (*ask)(void))
{
#pragma omp parallel num_threads(members)
    if (omp_get_thread_num() != 0)
        ask();
}

static double us_of_region(int members)
{
    unsigned long regions = 0;
    double start = sample_now(), now;
    do {
        for (int i = 0; i < RUNS_ALIKE; i++) {
#pragma omp parallel num_threads(members)
            __asm__ volatile("");
        }
        regions += RUNS_ALIKE;
        now = sample_now();
    } while (now - start < 2e-3);
    return (now - start) / (double)regions * 1e6;
}

int main(int argc, char **argv)
{
    void (*ask)(void) = NULL;
    for (unsigned i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(argv[1], kinds[i].name))
            ask = kinds[i].ask;
    int members = argc > 2 ? atoi(argv[2]) : 2;
    unsigned samples = argc > 3 ? (unsigned)atoi(argv[3]) : 31;
    if (!ask || members < 2 || members > MEMBERS_MAX || samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "asks KIND [MEMBERS from 2 to %d [SAMPLES from 1 to %d]]\n", MEMBERS_MAX, SAMPLES_MAX);
        return 2;
    }
    double before[SAMPLES_MAX], after[SAMPLES_MAX];
    strcpy(text, "asks-member");
    sched_getaffinity(0, sizeof all, &all);
    for (unsigned i = 0; i < samples; i++)
        before[i] = us_of_region(members);
    each(members, ask);
    us_of_region(members);
    for (unsigned i = 0; i < samples; i++)
        after[i] = us_of_region(members);
    if (ask == number)
        each(members, ask);
    sample_print("region, after", "us", after, samples);
    sample_print("region, before", "us", before, samples);
    return 0;
}
