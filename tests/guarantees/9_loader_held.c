/* The dynamic linker's locks may be held while their owner waits: a callback of dl_iterate_phdr waits for a member that
 * has not come to its turn, others load libraries meanwhile and wait for that callback inside dlopen. A kernel thread
 * cannot be started then. The member that all of them wait for goes on all the same: threads that were there before the
 * region need nobody to be started. 9_loader_held LIBRARY LIBRARY LIBRARY LIBRARY */
#define _GNU_SOURCE
#include "kinds.h"
#include "slow_library.h"
#include "waits.h"
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#define LOADERS 4
#define MEMBERS (LOADERS + 2)

static char **path;
static omp_lock_t last, callback, turn[LOADERS];

void library_begins(int *constructed) { *constructed = 1; }
void library_ends(int *constructed) { *constructed = 0; }

static void hand_on(omp_lock_t *lock)
{
    omp_set_lock(lock);
    omp_unset_lock(lock);
}

/* Lets the first loader go, and waits for the last member, which lets everybody else go first. */
static int wait_inside(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)info, (void)bytes, (void)arg;
    omp_unset_lock(&callback);
    hand_on(&last);
    return 1;
}

/* Each thread waits for the callback, lets the last member come one step further, and goes into the loader at once. */
static void load(int i, bool slow)
{
    hand_on(&callback);
    if (slow)
        waits_compute_us(500);
    omp_unset_lock(&turn[i]);
    void *library = dlopen(path[i], RTLD_NOW | RTLD_LOCAL);
    CHECK(library && dlclose(library) == 0);
}

static void region(int loaders, int first, bool slow)
{
#pragma omp parallel num_threads(loaders + 2)
    {
        int id = (omp_get_thread_num() + first) % (loaders + 2);
        if (id == 0)
            omp_set_lock(&callback);
        else if (id <= loaders)
            omp_set_lock(&turn[id - 1]);
        else
            omp_set_lock(&last);
#pragma omp barrier
        if (id == 0)
            CHECK(dl_iterate_phdr(wait_inside, NULL) == 1);
        else if (id <= loaders)
            load(id - 1, slow);
        else
            for (int i = 0; i < loaders; i++)
                hand_on(&turn[i]);
        if (id == loaders + 1)
            omp_unset_lock(&last);
        wait_in_a_barrier();
    }
}

static void regions(int loaders, bool slow)
{
    omp_init_lock(&last);
    omp_init_lock(&callback);
    for (int i = 0; i < loaders; i++)
        omp_init_lock(&turn[i]);
    for (int round = 0; round < 6; round++)
        region(loaders, round % (loaders + 2), slow);
}

static void one_loader(void) { regions(1, false); }
static void one_slow_loader(void) { regions(1, true); }
static void two_loaders(void) { regions(2, false); }
static void loaders_in_the_first_region(void) { regions(LOADERS, false); }

/* What has happened before makes a difference to which threads are there. */
static void after_other_regions(void)
{
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(MEMBERS)
        wait_in_all_ways();
    }
    regions(LOADERS, true);
}

static void in_an_inner_region(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        regions(2, true);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"one_loader", one_loader},
                                           {"one_slow_loader", one_slow_loader},
                                           {"two_loaders", two_loaders},
                                           {"loaders_in_the_first_region", loaders_in_the_first_region},
                                           {"after_other_regions", after_other_regions},
                                           {"in_an_inner_region", in_an_inner_region}};
    CHECK(argc > LOADERS);
    path = argv + 1;
    RUN_KINDS(kinds, argc > LOADERS + 1 ? argv[LOADERS + 1] : NULL);
    return 0;
}
