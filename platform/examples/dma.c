// DMA: each cluster fetches a tile of an image in main memory (rows of the tile lie a whole row of the image apart),
// works on it in its TCDM with
// all cores, and brings it back.
#include "manycore.h"
#include <stdio.h>

#define WIDTH 256
#define SIDE 64
MC_MAIN static uint8_t image[SIDE][WIDTH];
MC_LOCAL static uint8_t tile[SIDE][SIDE];
enum { GO, MOVED, ALL, BACK };

static void cluster_work(void)
{
    unsigned k = mc_cluster() % 4;
    if (mc_core() == 0) {
        mc_hws_gather(ALL, (2u << (mc_cores() - 1)) - 1, 0, MC_NOTIFY_ALL);
        mc_dma_2d(tile, &image[0][k * SIDE], SIDE, SIDE, SIDE, WIDTH, MOVED);
        mc_dma_wait(MOVED);
        mc_hws_signal((2u << (mc_cores() - 1)) - 1, GO);
    }
    mc_hws_wait(GO);
    for (unsigned y = mc_core(); y < SIDE; y += mc_cores())
        for (unsigned x = 0; x < SIDE; x++)
            tile[y][x] = (uint8_t)(255 - tile[y][x]);
    mc_hws_barrier(ALL);
    if (mc_core() == 0) {
        mc_dma_2d(&image[0][k * SIDE], tile, SIDE, SIDE, WIDTH, SIDE, MOVED);
        mc_dma_wait(MOVED);
        mc_hws_clusters(1);
        mc_hws_targets(1);
        mc_hws_send(BACK, k);
    }
}

void mc_main_others(void)
{
    mc_hws_wait(BACK);
    cluster_work();
}

int main(void)
{
    for (unsigned i = 0; i < SIDE * WIDTH; i += 4)
        *(uint32_t *)((uint8_t *)image + i) = i * 0x01010101u;
    mc_hws_multicast((1u << mc_clusters()) - 1, (2u << (mc_cores() - 1)) - 1, BACK);
    mc_hws_wait(BACK);
    uint32_t begin = mc_cycles();
    cluster_work();
    for (unsigned k = 0; k < mc_clusters(); k++)
        mc_hws_receive(BACK);
    uint32_t cycles = mc_cycles() - begin, wrong = 0;
    for (unsigned i = 0; i < SIDE * WIDTH; i += 4)
        wrong += *(uint32_t *)((uint8_t *)image + i) !=
                 (mc_clusters() == 4 ? ~(i * 0x01010101u) : *(uint32_t *)((uint8_t *)image + i));
    printf("%lu words wrong, %lu cycles\n", (unsigned long)wrong, (unsigned long)cycles);
    return wrong != 0;
}
