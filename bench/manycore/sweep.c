// Local against remote data (manycore-nested-2016, table 1): the cores of cluster 0 work on data in their own TCDM,
// then on the same in cluster 3's.
// Two mixes: every other instruction or so is a load (colour tracking's kind), one of twelve is (Strassen's kind).
#include "manycore.h"
#include <stdio.h>

enum { GO, ALL };
MC_LOCAL static uint32_t data[1024];

__attribute__((noinline)) static uint32_t dense(const uint32_t *p)
{
    uint32_t s = 0;
    for (unsigned i = mc_core(); i < 1024 - 8; i += 16)
        s += p[i] + p[i + 1] + p[i + 2] + p[i + 3] + p[i + 4] + p[i + 5] + p[i + 6] + p[i + 7];
    return s;
}

__attribute__((noinline)) static uint32_t sparse(const uint32_t *p)
{
    uint32_t s = 1;
    for (unsigned i = mc_core(); i < 1024; i += 16) {
        uint32_t v = p[i];
        for (int k = 0; k < 6; k++)
            s = s * 5 + (v ^ s >> 3);
    }
    return s;
}

static volatile uint32_t sink;

static void work(void)
{
    const uint32_t *near = mc_global(data, 0), *far = mc_global(data, mc_clusters() - 1);
    for (int what = 0; what < 4; what++)
        for (int warm = 0; warm < 2; warm++) {
            mc_hws_barrier(ALL);
            uint32_t begin = mc_cycles();
            sink = (what & 2 ? sparse : dense)(what & 1 ? far : near);
            mc_hws_barrier(ALL);
            if (warm && mc_core() == 0)
                printf("%lu%c", (unsigned long)(mc_cycles() - begin), what == 3 ? '\n' : ' ');
        }
}

void mc_main_others(void)
{
    if (mc_cluster() == 0) {
        mc_hws_wait(GO);
        work();
    }
}

int main(void)
{
    mc_hws_gather(ALL, (2u << (mc_cores() - 1)) - 1, 0, MC_NOTIFY_ALL);
    mc_hws_signal((2u << (mc_cores() - 1)) - 2, GO);
    work();
    return 0;
}
