/* Objects come into the process and go only where the program asks for it: collectors of garbage, unwinders and
 * profilers look at them meanwhile. Regions of several kinds, some of which leave processors without work for a while,
 * and places. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <link.h>

#define ROUNDS 20

static int of_first(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    *(struct dl_phdr_info *)arg = *info;
    return 1;
}

static void region(int n)
{
#pragma omp parallel num_threads(n)
    {
        if (omp_get_thread_num() == 0)
            waits_compute_us(2000); /* others look for work */
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 10; i++)
#pragma omp task
            waits_compute_us(10);
    }
}

static void flat(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        region(2 + round % 7);
        usleep(1000);
    }
}

static void nested(void)
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel num_threads(3)
        region(3);
}

static void places(void)
{
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel num_threads(4) proc_bind(spread)
        CHECK(omp_get_num_places() > 0);
}

static const struct kind_of kinds[] = {{"flat", flat}, {"nested", nested}, {"places", places}};

static void run(int i)
{
    struct dl_phdr_info before, after;
    dl_iterate_phdr(of_first, &before);
    kinds[i].run();
    dl_iterate_phdr(of_first, &after);
    CHECK(before.dlpi_adds == after.dlpi_adds);
    CHECK(before.dlpi_subs == after.dlpi_subs);
}
static const char *name(int i) { return kinds[i].name; }

int main(int argc, char **argv)
{
    in_a_process_each(sizeof kinds / sizeof *kinds, name, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
