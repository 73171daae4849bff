// The synchroniser's barrier over all cores, a tree of two levels: clusters gather their cores, cluster 0 gathers the
// clusters.
#include "manycore.h"
#include <stdio.h>

enum { START, ALL };

static void join(void)
{
    uint32_t cores = (2u << (mc_cores() - 1)) - 1;
    if (mc_core() == 0) {
        if (mc_cluster() == 0)
            mc_hws_gather(ALL, cores, (~0ull >> (64 - mc_clusters())) & ~1ull, MC_NOTIFY_ALL);
        else
            mc_hws_gather(ALL, cores, 0, MC_NOTIFY_PARENT(0));
    }
    mc_hws_barrier(ALL);
}

static uint32_t rounds(void)
{
    for (int i = 0; i < 10; i++)
        mc_hws_barrier(ALL);
    uint32_t begin = mc_cycles();
    for (int i = 0; i < 10; i++)
        mc_hws_barrier(ALL);
    return (mc_cycles() - begin) / 10;
}

void mc_main_others(void)
{
    join();
    rounds();
}

int main(void)
{
    join();
    printf("a barrier of %u cores: %lu cycles\n", mc_clusters() * mc_cores(), (unsigned long)rounds());
    return 0;
}
