/* What does the watchdog cost? Its share of the process's CPU time, in %, while threads are busy and others are
 * ready all the time, and how often the process at rest is woken. watchdog [SECONDS a part]
 *   watchdog, flat    regions of as many threads as there are processors, back to back
 *   watchdog, nested  regions of four threads, each with regions of four and a barrier inside
 *   wakes              of all kernel threads but the first, in a second at rest
 * The watchdog is the kernel thread that names itself so; a runtime without one has 0. */
#include "sample.h"

#include <dirent.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One number of a file of kernel thread tid: behind `label`, or the file's first. */
static double number_of(const char *tid, const char *file, const char *label)
{
    char path[300], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", tid, file);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    size_t got = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[got] = '\0';
    const char *at = label ? strstr(text, label) : text;
    return at ? strtod(at + (label ? strlen(label) : 0), NULL) : 0;
}

static int is_named(const char *tid, const char *wanted)
{
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    if (!fgets(name, sizeof name, f))
        name[0] = '\0';
    fclose(f);
    name[strcspn(name, "\n")] = '\0';
    return !strcmp(name, wanted);
}

/* Of the watchdog: CPU seconds; of all other kernel threads than the first: how often they were switched to. */
static double look(double *wakes)
{
    double watchdog = 0;
    DIR *tasks = opendir("/proc/self/task");
    *wakes = 0;
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;) {
        if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
            continue;
        *wakes += number_of(e->d_name, "status", "\nvoluntary_ctxt_switches:") +
                  number_of(e->d_name, "status", "nonvoluntary_ctxt_switches:");
        if (is_named(e->d_name, "psthreads-watch"))
            watchdog += number_of(e->d_name, "schedstat", NULL) * 1e-9;
    }
    if (tasks)
        closedir(tasks);
    return watchdog;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void flat(void)
{
#pragma omp parallel
    __asm__ volatile("" ::: "memory");
}

static void nested(void)
{
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp barrier
        }
    }
}

static double share_during(void (*work)(void), double seconds)
{
    double wakes, watchdog = look(&wakes), cpu = cpu_seconds(), end = sample_now() + seconds;
    while (sample_now() < end)
        for (int i = 0; i < 20; i++)
            work();
    watchdog = look(&wakes) - watchdog;
    return 100 * watchdog / (cpu_seconds() - cpu);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2, before, after, share;
    struct timespec a_second = {1, 0};
    omp_set_max_active_levels(2);
    nested(); /* the kernel threads are there */
    share = share_during(flat, seconds);
    sample_print("watchdog, flat", "%", &share, 1);
    share = share_during(nested, seconds);
    sample_print("watchdog, nested", "%", &share, 1);
    nanosleep(&a_second, NULL); /* it goes to rest */
    look(&before);
    nanosleep(&a_second, NULL);
    look(&after);
    after -= before;
    sample_print("wakes", "in 1 s", &after, 1);
    return 0;
}
