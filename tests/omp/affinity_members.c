/* Which place each member has, and which partition it divides among its own regions: primary, close and spread,
 * nested. */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"
#include "respawn.h"

static int places;

static void partition(int *first, int *n)
{
    int nums[CPU_SETSIZE];
    *n = omp_get_partition_num_places();
    omp_get_partition_place_nums(nums);
    *first = nums[0];
    for (int i = 0; i < *n; i++)
        CHECK(nums[i] == nums[0] + i);
}

/* As many threads as places: each has its own. */
static void one_each(void)
{
#pragma omp parallel num_threads(places) proc_bind(close)
    {
        int first, n;
        partition(&first, &n);
        CHECK(omp_get_place_num() == omp_get_thread_num() && first == 0 && n == places);
#pragma omp parallel num_threads(2) proc_bind(primary)
        CHECK(omp_get_place_num() == omp_get_ancestor_thread_num(1));
#pragma omp parallel num_threads(places) proc_bind(close)
        CHECK(omp_get_place_num() == (omp_get_ancestor_thread_num(1) + omp_get_thread_num()) % places);
    }
#pragma omp parallel num_threads(places) proc_bind(spread)
    {
        int first, n;
        partition(&first, &n);
        CHECK(omp_get_place_num() == omp_get_thread_num() && first == omp_get_place_num() && n == 1);
#pragma omp parallel num_threads(3) proc_bind(spread)
        CHECK(omp_get_place_num() == omp_get_ancestor_thread_num(1)); /* stays in its parent's partition */
    }
}

/* More threads than places: no place has two more than another. */
static void crowded(void)
{
    int threads = 2 * places + 1, spread[CPU_SETSIZE] = {0}, close[CPU_SETSIZE] = {0};
#pragma omp parallel num_threads(threads) proc_bind(spread)
#pragma omp atomic
    spread[omp_get_place_num()]++;
#pragma omp parallel num_threads(threads) proc_bind(close)
#pragma omp atomic
    close[omp_get_place_num()]++;
    for (int p = 0; p < places; p++)
        CHECK((spread[p] == 2 || spread[p] == 3) && (close[p] == 2 || close[p] == 3));
}

static int respawned(const char *mode)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(4);
    places = omp_get_num_places();
    CHECK(places >= 1);
    if (mode[0] == 'l') { /* OMP_PROC_BIND=spread,close */
        CHECK(omp_get_proc_bind() == omp_proc_bind_spread);
#pragma omp parallel num_threads(2)
        {
            CHECK(omp_get_proc_bind() == omp_proc_bind_close);
#pragma omp parallel num_threads(2)
            CHECK(omp_get_proc_bind() == omp_proc_bind_close);
        }
        return 0;
    }
    CHECK(omp_get_proc_bind() == omp_proc_bind_true);
    one_each();
    crowded();
#pragma omp parallel num_threads(places)
    CHECK(omp_get_place_num() == omp_get_thread_num()); /* true: as close */
    return 0;
}

int main(int argc, char **argv)
{
    char text[4096];
    if (argc > 1)
        return respawned(argv[1]);
    int status = respawn(text, sizeof text, "true", "OMP_PROC_BIND=true", "OMP_PLACES=threads", NULL);
    fprintf(stderr, "%s", text);
    CHECK(status == 0);
    status = respawn(text, sizeof text, "list", "OMP_PROC_BIND=spread,close", NULL);
    fprintf(stderr, "%s", text);
    CHECK(status == 0);
    return 0;
}
