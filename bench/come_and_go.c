/* What does a thread cost that comes, opens one region, and goes? Servers do so that have a thread for each request.
 * come_and_go [MEMBERS [THREADS [SAMPLES]]]
 * A sample is THREADS kernel threads of the program's, so many at once as a row says. Each opens one region of MEMBERS
 * members that compute for a few microseconds, and ends. Printed is the time of such a thread, in us, and the processor
 * time that it takes.
 *   alone      the initial thread opens no region
 *   beside     it has opened one, so there is another thread with regions all the time
 *   resident   the process's memory in the end, in KB
 * Check: the members are counted. */
#include "sample.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES_MAX = 1000, AT_ONCE_MAX = 8 };

static int members = 4;
static unsigned long threads = 100, samples = 9, ran, wanted;
static double wall[SAMPLES_MAX], used[SAMPLES_MAX];

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void a_little_work(void)
{
    for (volatile int i = 0; i < 2000; i++)
        continue;
}

static void *request(void *arg)
{
#pragma omp parallel num_threads(members)
    {
        a_little_work();
        __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

static void come_and_go(unsigned at_once)
{
    pthread_t thread[AT_ONCE_MAX];
    for (unsigned long i = 0; i < threads; i += at_once) {
        for (unsigned k = 0; k < at_once; k++)
            if (pthread_create(&thread[k], NULL, request, NULL) != 0) {
                fprintf(stderr, "come_and_go: there is no kernel thread\n");
                exit(1);
            }
        for (unsigned k = 0; k < at_once; k++)
            pthread_join(thread[k], NULL);
        wanted += at_once * (unsigned)members;
    }
}

static void measure(const char *with, unsigned at_once)
{
    char name[64];
    unsigned long rounded = (threads + at_once - 1) / at_once * at_once;
    come_and_go(at_once);
    for (unsigned long i = 0; i < samples; i++) {
        double cpu = cpu_seconds(), start = sample_now();
        come_and_go(at_once);
        wall[i] = (sample_now() - start) * 1e6 / (double)rounded;
        used[i] = (cpu_seconds() - cpu) * 1e6 / (double)rounded;
    }
    snprintf(name, sizeof name, "come and go, %s, %u at once", with, at_once);
    sample_print(name, "us", wall, (unsigned)samples);
    snprintf(name, sizeof name, "come and go, %s, %u at once, cpu", with, at_once);
    sample_print(name, "us", used, (unsigned)samples);
}

int main(int argc, char **argv)
{
    members = argc > 1 ? atoi(argv[1]) : members;
    threads = argc > 2 ? strtoul(argv[2], NULL, 10) : threads;
    samples = argc > 3 ? strtoul(argv[3], NULL, 10) : samples;
    if (members < 1 || threads < 1 || samples < 1 || samples > SAMPLES_MAX) {
        fprintf(stderr, "come_and_go [MEMBERS [THREADS [SAMPLES from 1 to %d]]]\n", SAMPLES_MAX);
        return 2;
    }
    for (unsigned at_once = 1; at_once <= AT_ONCE_MAX; at_once *= 4)
        measure("alone", at_once);
    request(NULL);
    wanted += (unsigned)members;
    for (unsigned at_once = 1; at_once <= AT_ONCE_MAX; at_once *= 4)
        measure("beside", at_once);
    double kb = (double)sample_resident_bytes() / 1024;
    sample_print("come and go, resident", "KB", &kb, 1);
    if (ran != wanted) {
        fprintf(stderr, "come_and_go: %lu members ran, wanted %lu\n", ran, wanted);
        return 1;
    }
    return 0;
}
