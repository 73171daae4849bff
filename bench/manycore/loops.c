// The five programs of speed.py, one by its name: -DLOOP=matmul, colour, corners, chase or barrier. Every core works on
// its own cluster's TCDM. argv[1]: how often. Each prints a sum that depends on all that it computed.
// With -DALONE=N, N times, by one core of any RISC-V machine: for simulators that know no clusters.
#include <stdio.h>
#include <stdlib.h>
#ifdef ALONE
#include <stdint.h>
#define MC_LOCAL
static volatile unsigned none; // read anew each time, as the platform's words are: no round may be left out
static unsigned mc_core(void) { return none; }
static unsigned mc_cores(void) { return 1 + none; }
static void mc_hws_barrier(unsigned slot) { (void)slot; }
#else
#include "manycore.h"
#endif

#define N 32
#define PIXELS 4096
#define SLOT 1

// One cluster's data; the same variable is in every TCDM.
MC_LOCAL static float a[N][N], b[N][N], c[N][N];
MC_LOCAL static uint8_t rgb[PIXELS * 3], hue[PIXELS];
MC_LOCAL static uint32_t links[PIXELS];

static void cluster_barrier(void) { mc_hws_barrier(SLOT); }

static void prepare(void)
{
    unsigned me = mc_core(), step = mc_cores();
    for (unsigned i = me; i < N * N; i += step) {
        (&a[0][0])[i] = (float)(i % 7) - 3;
        (&b[0][0])[i] = (float)(i % 5) - 2;
    }
    for (unsigned i = me; i < PIXELS; i += step) {
        rgb[3 * i] = (uint8_t)(i * 7);
        rgb[3 * i + 1] = (uint8_t)(i * 13);
        rgb[3 * i + 2] = (uint8_t)(i * 29);
        hue[i] = (uint8_t)(i * 31 ^ i >> 3);
        links[i] = (i * 1237 + 411) % PIXELS;
    }
    cluster_barrier();
}

__attribute__((noinline)) static uint32_t matmul(void)
{
    for (unsigned i = mc_core(); i < N; i += mc_cores())
        for (unsigned j = 0; j < N; j++) {
            float s = 0;
            for (unsigned k = 0; k < N; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
    return (uint32_t)(int32_t)c[mc_core()][3];
}

// RGB to hue, saturation, value in integers, as colour tracking does for every pixel.
__attribute__((noinline)) static uint32_t colour(void)
{
    uint32_t sum = 0;
    for (unsigned i = mc_core(); i < PIXELS; i += mc_cores()) {
        int r = rgb[3 * i], g = rgb[3 * i + 1], bl = rgb[3 * i + 2], most = r > g ? r : g, least = r < g ? r : g, h;
        most = most > bl ? most : bl;
        least = least < bl ? least : bl;
        int d = most - least;
        if (d == 0)
            h = 0;
        else if (most == r)
            h = 43 * (g - bl) / d;
        else if (most == g)
            h = 85 + 43 * (bl - r) / d;
        else
            h = 171 + 43 * (r - g) / d;
        sum += (uint32_t)(h + (most ? 255 * d / most : 0));
    }
    return sum;
}

// A segment test like FAST's: many compares and branches on neighbours.
__attribute__((noinline)) static uint32_t corners(void)
{
    MC_LOCAL static int ring[16] = {-192, -191, -126, -61, 3, 67, 130, 193, 192, 191, 126, 61, -3, -67, -130, -193};
    uint32_t found = 0;
    for (unsigned y = 3 + mc_core(); y < 61; y += mc_cores())
        for (unsigned x = 3; x < 61; x++) {
            const uint8_t *p = &hue[y * 64 + x];
            int low = *p - 40, high = *p + 40, run = 0, longest = 0;
            for (int k = 0; k < 16; k++) {
                int v = p[ring[k]];
                run = v < low || v > high ? run + 1 : 0;
                longest = run > longest ? run : longest;
            }
            found += longest >= 9;
        }
    return found;
}

__attribute__((noinline)) static uint32_t chase(void)
{
    uint32_t at = mc_core() * 17;
    for (int i = 0; i < 4000; i++)
        at = links[at];
    return at;
}

// A short piece of work between barriers of all cores of the cluster.
__attribute__((noinline)) static uint32_t barrier(void)
{
    uint32_t s = mc_core();
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 20; k++)
            s = s * 5 + (uint32_t)k;
        cluster_barrier();
    }
    return s;
}

#ifdef ALONE
int main(void)
{
    prepare();
    uint32_t sum = 0;
    for (int i = 0; i < ALONE; i++)
        sum = sum * 3 + LOOP();
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
#else
static volatile uint32_t sums[1024];
static volatile int rounds;

static void work(void)
{
    prepare();
    uint32_t sum = 0;
    for (int i = 0; i < rounds; i++)
        sum = sum * 3 + LOOP();
    sums[mc_id()] = sum;
    cluster_barrier();
    if (mc_core() == 0 && mc_cluster() != 0)
        mc_hws_multicast(1, 1, 3);
}

void mc_main_others(void)
{
    uint32_t n = mc_hws_receive(2);
    if (mc_core() == 0) {
        mc_hws_gather(SLOT, (2u << (mc_cores() - 1)) - 1, 0, MC_NOTIFY_ALL);
        mc_hws_arrive(SLOT);
        mc_hws_wait(SLOT);
    } else {
        cluster_barrier();
    }
    rounds = (int)n;
    work();
}

int main(int argc, char **argv)
{
    unsigned all = mc_clusters() * mc_cores();
    rounds = argc > 1 ? atoi(argv[1]) : 10;
    mc_hws_gather(SLOT, (2u << (mc_cores() - 1)) - 1, 0, MC_NOTIFY_ALL);
    mc_hws_clusters(mc_clusters() == 64 ? ~0ull : (1ull << mc_clusters()) - 1);
    mc_hws_targets((2u << (mc_cores() - 1)) - 1);
    mc_hws_send(2, (uint32_t)rounds);
    mc_hws_receive(2);
    mc_hws_clusters(0);
    cluster_barrier();
    work();
    (void)all;
    // the other clusters are at their end when every sum is there: read what may still be missing
    uint32_t sum = 0;
    for (unsigned i = 0; i < mc_cores(); i++)
        sum += sums[i];
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
#endif
