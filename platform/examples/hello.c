// Every core writes its line, one after the other: a word goes from core to core, and a core that waits for it sleeps.
#include "manycore.h"
#include <stdio.h>

#define TURN 0

static void next(unsigned id)
{
    mc_hws_clusters(1ull << (id / mc_cores()));
    mc_hws_targets(1u << (id % mc_cores()));
    mc_hws_send(TURN, id);
}

void mc_main_others(void)
{
    unsigned all = mc_clusters() * mc_cores();
    mc_hws_receive(TURN);
    printf("core %u of cluster %u\n", mc_core(), mc_cluster());
    next((mc_id() + 1) % all);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("argument %d: %s\n", i, argv[i]);
    printf("core 0 of cluster 0\n");
    if (mc_clusters() * mc_cores() > 1) {
        next(1);
        mc_hws_receive(TURN);
    }
    return 3;
}
