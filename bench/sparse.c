/* What do regions cost that come after a pause? sparse [--together] [REGIONS [WORK_US [PAUSE_US...]]].
 * REGIONS (60) regions of two members, each of which does WORK_US (1000) of work. Before each region there is a pause
 * of PAUSE_US (200 1000 5000 20000), in which the program sleeps, and then the same with the program computing. Lines,
 * P the pause:
 *   sparse, a member's work            us, as one thread does it
 *   sparse, P us asleep                us, a region
 *   sparse, P us asleep, late          us from a region's start to that of its last member
 *   sparse, P us asleep, burnt         us of the process's processor time, a region with its pause
 *   sparse, P us computing, ...        the same three; what the pause itself computes is taken off
 * A thread that the system has put behind another one on its processor makes a region take up to twice the work. That
 * happens by chance. With --together the kernel threads begin so, before each pause's regions: one region runs with all
 * of them bound to one processor, and then each has its mask again. */
#include "sample.h"

#include <dirent.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REGIONS_MAX = 10000 };

static double took_us[REGIONS_MAX], late_us[REGIONS_MAX];
static volatile unsigned sink;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(unsigned long steps)
{
    unsigned x = 1;
    for (unsigned long i = 0; i < steps; i++) {
        x = x * 1664525 + 1013904223;
        __asm__ volatile("" : "+r"(x));
    }
    sink = x;
}

/* Steps that take so long alone, by the fastest of many tries: other programs may be here. */
static unsigned long steps_for(double us)
{
    enum { TRIAL = 20000 };
    double least = 1;
    for (int i = 0; i < 500; i++) {
        double start = sample_now();
        work(TRIAL);
        double took = sample_now() - start;
        least = took < least ? took : least;
    }
    return (unsigned long)(us * 1e-6 / least * TRIAL);
}

static void region(unsigned long steps, double *took, double *late)
{
    double began[2] = {0, 0}, start = sample_now();
#pragma omp parallel num_threads(2)
    {
        began[omp_get_thread_num()] = sample_now();
        work(steps);
    }
    *took = (sample_now() - start) * 1e6;
    *late = ((began[1] > began[0] ? began[1] : began[0]) - start) * 1e6;
}

static void set_masks(const cpu_set_t *mask)
{
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.')
            sched_setaffinity(atoi(e->d_name), sizeof *mask, mask);
    if (tasks)
        closedir(tasks);
}

/* All kernel threads of the process have run on this processor last, and may go. */
static void bring_together(unsigned long steps)
{
    cpu_set_t all, one;
    double unused;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    set_masks(&one);
    region(steps, &unused, &unused);
    set_masks(&all);
}

static void rest(double us)
{
    struct timespec t = {.tv_sec = (time_t)(us / 1e6), .tv_nsec = (long)(us * 1e3) % 1000000000};
    nanosleep(&t, NULL);
}

static void regions_after_pauses(int regions, unsigned long steps, double pause_us, int computing)
{
    char name[100], part[120];
    unsigned long pause_steps = computing ? steps_for(pause_us) : 0;
    double burnt = cpu_now();
    for (int i = 0; i < regions; i++) {
        if (computing)
            work(pause_steps);
        else
            rest(pause_us);
        region(steps, &took_us[i], &late_us[i]);
    }
    burnt = (cpu_now() - burnt) / regions * 1e6 - (computing ? pause_us : 0);
    snprintf(name, sizeof name, "sparse, %.0f us %s", pause_us, computing ? "computing" : "asleep");
    sample_print(name, "us", took_us, (unsigned)regions);
    snprintf(part, sizeof part, "%s, late", name);
    sample_print(part, "us", late_us, (unsigned)regions);
    snprintf(part, sizeof part, "%s, burnt", name);
    sample_print(part, "us", &burnt, 1);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"200", "1000", "5000", "20000"};
    int together = argc > 1 && !strcmp(argv[1], "--together");
    argc -= together, argv += together;
    int regions = argc > 1 ? atoi(argv[1]) : 60, pauses = argc > 3 ? argc - 3 : 4;
    double work_us = argc > 2 ? atof(argv[2]) : 1000, alone[20], unused;
    char **pause = argc > 3 ? argv + 3 : usual;
    if (regions < 1 || regions > REGIONS_MAX || work_us <= 0) {
        fprintf(stderr, "sparse [--together] [REGIONS from 1 to %d [WORK_US [PAUSE_US...]]]\n", REGIONS_MAX);
        return 2;
    }
    unsigned long steps = steps_for(work_us);
    for (int i = 0; i < 20; i++) {
        double start = sample_now();
        work(steps);
        alone[i] = (sample_now() - start) * 1e6;
    }
    sample_print("sparse, a member's work", "us", alone, 20);
    region(steps, &unused, &unused);
    for (int computing = 0; computing < 2; computing++)
        for (int i = 0; i < pauses; i++) {
            if (together)
                bring_together(steps);
            regions_after_pauses(regions, steps, atof(pause[i]), computing);
        }
    return 0;
}
