/* The fixed thread pool: one thread for each of 64 cores, places that are clusters, teams that stay in theirs, teams
 * that are smaller where the pool is used up, threads that come back to it. */
#include "check.h"

#include <manycore.h>

static int id_of[64], inner[4], cluster_of[4], strangers, shrunk;

int main(void)
{
    CHECK(omp_get_num_procs() == 64 && omp_get_max_threads() == 64 && omp_get_num_places() == 4);
    for (int p = 0; p < 4; p++)
        CHECK(omp_get_place_num_procs(p) == 16);
    uint32_t before = mc_cycles();
    double then = omp_get_wtime();
    for (int round = 0; round < 3; round++) {
        memset(id_of, 0, sizeof id_of);
#pragma omp parallel
        {
            CHECK(omp_get_num_threads() == 64);
#pragma omp atomic
            id_of[mc_id()] += 1 + omp_get_thread_num();
        }
        int sum = 0;
        for (int i = 0; i < 64; i++) {
            CHECK(id_of[i] > 0); /* each core has one */
            sum += id_of[i];
        }
        CHECK(sum == 64 * 65 / 2);

        /* a master in each cluster, and its team around it */
        memset(inner, 0, sizeof inner);
#pragma omp parallel num_threads(4) proc_bind(spread)
        {
            int o = omp_get_thread_num();
            cluster_of[o] = (int)mc_cluster();
            CHECK(omp_get_place_num() == (int)mc_cluster());
#pragma omp parallel num_threads(16) proc_bind(close)
            {
                CHECK(omp_get_num_threads() == 16 && omp_get_level() == 2);
#pragma omp atomic
                inner[o]++;
                if ((int)mc_cluster() != cluster_of[o])
#pragma omp atomic
                    strangers++;
#pragma omp barrier
            }
        }
        for (int o = 0; o < 4; o++) {
            CHECK(inner[o] == 16);
            for (int p = 0; p < o; p++)
                CHECK(cluster_of[o] != cluster_of[p]);
        }
        CHECK(strangers == 0);

        /* more than there are: the team is smaller; within it, none are left */
#pragma omp parallel num_threads(100)
        {
            CHECK(omp_get_num_threads() == 64);
#pragma omp parallel num_threads(4)
            {
                CHECK(omp_get_num_threads() == 1);
#pragma omp atomic
                shrunk++;
            }
        }
        CHECK(shrunk == 64 * (round + 1));

        /* three levels, until the pool is empty */
        int leaves = 0;
#pragma omp parallel num_threads(2) reduction(+ : leaves)
#pragma omp parallel num_threads(4) reduction(+ : leaves)
#pragma omp parallel num_threads(8) reduction(+ : leaves)
        leaves++;
        CHECK(leaves >= 8 && leaves <= 64);
    }
    CHECK(mc_cycles() > before && omp_get_wtime() > then);
    return 0;
}
