// What every core does by the seed in argv[1]: argv[2] actions, drawn from everything that cores share, and with an
// argv[3] from regions of the statistics as well. Locks, rings of words, barriers and DMA are used so that nothing
// hangs. The data races between plain accesses are wanted: both kernels must agree on which core comes first.
#include "manycore.h"
#include <stdio.h>
#include <stdlib.h>

#define BARRIER 1
#define RING 2
#define START 3
#define DMA_SLOT 4
#define END 5
#define CLUSTER 6

MC_LOCAL static volatile uint32_t words[256];
MC_LOCAL static uint32_t block[256];
MC_LOCAL static volatile uint32_t lock, guarded;
MC_L2 static volatile uint32_t l2_words[256];
MC_MAIN static volatile uint32_t main_words[256];
MC_MAIN static uint32_t main_block[64][256];
MC_MAIN static volatile uint32_t total;

static uint32_t cores_mask(void) { return (2u << (mc_cores() - 1)) - 1; }
static uint64_t others_mask(void) { return (mc_clusters() == 64 ? ~0ull : (1ull << mc_clusters()) - 1) & ~1ull; }

static void set_up_barrier(void)
{
    if (mc_core() == 0) {
        if (mc_cluster() == 0)
            mc_hws_gather(BARRIER, cores_mask(), others_mask(), MC_NOTIFY_ALL);
        else
            mc_hws_gather(BARRIER, cores_mask(), 0, MC_NOTIFY_PARENT(0));
        mc_hws_gather(CLUSTER, cores_mask(), 0, MC_NOTIFY_ALL);
    }
}

// `marks`: each core begins and ends a region of the statistics now and then.
static uint32_t work(uint32_t seed, unsigned actions, unsigned marks)
{
    uint32_t r = seed * 2654435761u + mc_id() * 40503u + 1, sum = 0;
    uint32_t common = seed; // the same for all: which cores meet
    float f = 1.5f;
    int open = 0;
    unsigned me = mc_cluster(), n = mc_clusters();
    for (unsigned i = 0; i < actions; i++) {
        r ^= r << 13;
        r ^= r >> 17;
        r ^= r << 5;
        common = common * 1103515245u + 12345;
        volatile uint32_t *away = (volatile uint32_t *)mc_global((void *)&words[r % 256], (r >> 8) % n);
        switch (common >> 16 & 63) {
        case 0:
            mc_hws_barrier(BARRIER);
            continue;
        case 1:
            mc_hws_barrier(CLUSTER);
            continue;
        case 2: { // a word around the cluster
            unsigned next = (mc_core() + 1) % mc_cores();
            mc_hws_clusters(0);
            mc_hws_targets(1u << next);
            mc_hws_send(RING, r);
            sum += mc_hws_receive(RING);
            continue;
        }
        case 3:
            if (mc_core() == common >> 24 % mc_cores() || mc_core() == 0) {
                uint32_t bytes = ((r >> 4) % 64 + 1) * 4;
                if (r & 1)
                    mc_dma(mc_global(block, me), main_block[me], bytes, DMA_SLOT);
                else if (r & 2)
                    mc_dma_2d(main_block[me], mc_global(block, me), 16, 4, 64, 32, DMA_SLOT);
                else
                    mc_dma(mc_global(block, (r >> 10) % n), mc_global((void *)words, me), bytes, DMA_SLOT);
                sum += r;
                mc_dma_wait(DMA_SLOT);
            }
            continue;
        default:
            break;
        }
        switch (r >> 20 & 15) {
        case 0:
            sum += words[r % 256];
            break;
        case 1:
            words[r % 256] = sum;
            break;
        case 2:
            sum += *away;
            break;
        case 3:
            *away = sum;
            break;
        case 4:
            sum += l2_words[r % 256];
            break;
        case 5:
            l2_words[r % 256] = sum;
            break;
        case 6:
            sum ^= main_words[r % 256];
            break;
        case 7:
            sum += __atomic_fetch_add(&words[r % 8], 3, __ATOMIC_SEQ_CST);
            break;
        case 8:
            sum += __atomic_fetch_xor(away, sum, __ATOMIC_SEQ_CST);
            break;
        case 9:
            __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
            break;
        case 10: {
            volatile uint32_t *l = (volatile uint32_t *)mc_global((void *)&lock, r & 0x40000000 ? me : 0);
            volatile uint32_t *g = (volatile uint32_t *)mc_global((void *)&guarded, r & 0x40000000 ? me : 0);
            mc_lock(l);
            *g = *g + 1;
            mc_unlock(l);
            break;
        }
        case 11:
            sum += sum / ((r & 255) + 1) + (uint32_t)((uint64_t)sum * r >> 32);
            break;
        case 12:
            for (uint32_t k = r & 31; k; k--)
                f = f * 0.75f + (float)(int32_t)k / 3.0f;
            break;
        case 13: {
            uint32_t old = words[0];
            sum += __atomic_compare_exchange_n(&words[0], &old, sum, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
            break;
        }
        case 14:
            sum += mc_cycles() ^ mc_instructions();
            if (!marks || mc_id() > 63)
                break;
            if (r & 16)
                mc_stats_reset(mc_id());
            else if ((open = !open))
                mc_stats_begin(mc_id());
            else
                mc_stats_end(mc_id());
            break;
        default:
            for (uint32_t k = 0; k < (r & 63); k++)
                sum += words[(k * 32 + mc_core()) % 256];
        }
    }
    mc_hws_barrier(BARRIER);
    return sum + (uint32_t)(int32_t)f;
}

static uint32_t of_all(void) { return mc_hws_receive(START); }

void mc_main_others(void)
{
    set_up_barrier();
    uint32_t seed = of_all(), actions = of_all(), marks = of_all();
    __atomic_fetch_add(&total, work(seed, actions, marks), __ATOMIC_SEQ_CST);
    mc_hws_barrier(BARRIER);
    for (;;)
        mc_wfe();
}

int main(int argc, char **argv)
{
    uint32_t seed = argc > 1 ? (uint32_t)atoi(argv[1]) : 1, actions = argc > 2 ? (uint32_t)atoi(argv[2]) : 100;
    set_up_barrier();
    mc_hws_clusters(others_mask() | 1);
    mc_hws_targets(cores_mask());
    mc_hws_send(START, seed);
    mc_hws_send(START, actions);
    mc_hws_send(START, argc > 3);
    for (int i = 0; i < 3; i++)
        of_all(); // its own copies
    uint32_t sum = work(seed, actions, argc > 3);
    __atomic_fetch_add(&total, sum, __ATOMIC_SEQ_CST);
    mc_hws_barrier(BARRIER);
    printf("%lu\n", (unsigned long)total);
    return 0;
}
