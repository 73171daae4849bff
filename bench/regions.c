/* See regions.h. */
#include "regions.h"

#include "sample.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double later_seconds = 1;

static struct {
    unsigned roots, outer, members;
    unsigned long regions;
    regions_team *open;
} all;
static struct root {
    pthread_t thread; /* of all but the first */
    double first, later_start, later_end;
    unsigned long later; /* regions */
    double *took;        /* of these, ms */
} root[REGIONS_TEAMS_MAX];
static pthread_barrier_t between; /* first regions and later ones, of several roots */
static double cpu_start;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the number of teams at the same time, or 0. */
static unsigned read_shape(const char *text, unsigned *roots, unsigned *outer, unsigned *members)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10), m = n;
    *roots = 1, *outer = 0;
    if (*end == 'x' || *end == 'r') {
        *(*end == 'x' ? outer : roots) = (unsigned)n;
        m = strtoul(end + 1, &end, 10);
    } else {
        n = 1;
    }
    *members = (unsigned)m;
    return *end == '\0' && n >= 1 && n <= REGIONS_TEAMS_MAX && m >= 1 && m <= REGIONS_MEMBERS_MAX ? (unsigned)n : 0;
}

unsigned regions_shape(const char *shape, unsigned *members)
{
    unsigned roots, outer;
    return read_shape(shape, &roots, &outer, members);
}

static double region(unsigned number)
{
    double start = sample_now();
    if (all.outer == 0) {
        all.open(number, all.members);
    } else {
#pragma omp parallel num_threads(all.outer)
        {
            if ((unsigned)omp_get_num_threads() != all.outer) {
                fprintf(stderr, "an outer team of %d, wanted %u\n", omp_get_num_threads(), all.outer);
                exit(1);
            }
            all.open((unsigned)omp_get_thread_num(), all.members);
        }
    }
    return (sample_now() - start) * 1e3;
}

static void *run_root(void *arg)
{
    struct root *r = arg;
    unsigned number = (unsigned)(r - root);
    r->first = region(number);
    if (all.roots > 1)
        pthread_barrier_wait(&between);
    if (number == 0)
        cpu_start = cpu_now();
    r->later_start = sample_now();
    do {
        r->took[r->later++] = region(number);
        r->later_end = sample_now();
    } while (r->later + 1 < all.regions && r->later_end - r->later_start < later_seconds);
    return NULL;
}

static int run_roots(void)
{
    pthread_barrier_init(&between, NULL, all.roots);
    for (unsigned i = 1; i < all.roots; i++)
        if (pthread_create(&root[i].thread, NULL, run_root, &root[i]) != 0) {
            fprintf(stderr, "there is no kernel thread\n");
            return 1;
        }
    run_root(&root[0]);
    for (unsigned i = 1; i < all.roots; i++)
        pthread_join(root[i].thread, NULL);
    return 0;
}

static void print_line(const char *name, const char *shape, double cpu)
{
    double first = 0, mean = 0, start = root[0].later_start, end = 0;
    unsigned later = 0;
    for (unsigned i = 0; i < all.roots; i++) {
        struct root *r = &root[i];
        first = r->first > first ? r->first : first;
        start = r->later_start < start ? r->later_start : start;
        end = r->later_end > end ? r->later_end : end;
        mean += (r->later_end - r->later_start) * 1e3 / (double)r->later / all.roots;
        memmove(root[0].took + later, r->took, r->later * sizeof *r->took);
        later += (unsigned)r->later;
    }
    struct sample_summary s = sample_summarize(root[0].took, later);
    printf("{\"bench\": \"%s\", \"shape\": \"%s\", \"unit\": \"ms\", \"regions\": %u, \"first\": %.4f, "
           "\"median\": %.4f, \"mean\": %.4f, \"total\": %.4f, \"cpu\": %.4f}\n",
           name, shape, later / all.roots + 1, first, s.median, mean, (end - start) * 1e3,
           cpu * 1e3 / later * all.roots);
}

int regions_measure(const char *name, const char *shape, const char *number, regions_team *open)
{
    all.regions = strtoul(number, NULL, 10);
    all.open = open;
    if (!read_shape(shape, &all.roots, &all.outer, &all.members) || all.regions < 2 || all.regions > REGIONS_MAX) {
        fprintf(stderr, "%s: %s regions of %s: from 2 to %d of MEMBERS, OUTERxMEMBERS or ROOTSrMEMBERS\n", name, number,
                shape, REGIONS_MAX);
        return 2;
    }
    double *took = malloc(all.roots * all.regions * sizeof *took);
    if (!took)
        return 1;
    for (unsigned i = 0; i < all.roots; i++)
        root[i].took = took + i * all.regions;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    if (run_roots())
        return 1;
    print_line(name, shape, cpu_now() - cpu_start);
    free(took);
    return 0;
}
