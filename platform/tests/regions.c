// Regions of the statistics; watched.py has what must come.
#include "manycore.h"
#include <stdio.h>

#define LOADS 1000
#define SLOT 1

MC_LOCAL static volatile uint32_t words[16];

struct reading {
    uint32_t instructions, cycles;
};

// The counters just before a region's begin and just after its end, each without another instruction in between.
#define BEGIN(region, r)                                                  \
    __asm__ volatile("csrr %0, instret\n csrr %1, cycle\n csrw 0x7c2, %2" \
                     : "=&r"((r).instructions), "=&r"((r).cycles)         \
                     : "r"((region) << 2 | 1)                             \
                     : "memory")
#define END(region, r)                                                    \
    __asm__ volatile("csrw 0x7c2, %2\n csrr %0, instret\n csrr %1, cycle" \
                     : "=&r"((r).instructions), "=&r"((r).cycles)         \
                     : "r"((region) << 2 | 2)                             \
                     : "memory")

__attribute__((noinline)) static void load(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        (void)words[mc_core()];
}

__attribute__((noinline)) static struct reading measure(void)
{
    struct reading before, after;
    mc_stats_reset(1);
    BEGIN(1, before);
    load(LOADS);
    END(1, after);
    return (struct reading){after.instructions - before.instructions, after.cycles - before.cycles};
}

void mc_main_others(void)
{
    mc_hws_wait(SLOT);
    load(LOADS);
    mc_hws_signal(1, SLOT + mc_core());
    for (;;)
        mc_wfe();
}

int main(void)
{
    measure(); // the second time without misses
    struct reading taken = measure();
    printf("%u %u\n", (unsigned)taken.instructions, (unsigned)taken.cycles);
    for (int i = 0; i < 3; i++) {
        mc_stats_begin(2);
        mc_stats_begin(3); // in region 2
        load(10);
        mc_stats_end(3);
        load(10);
        mc_stats_end(2);
    }
    mc_stats_begin(4); // of what all others do
    mc_hws_signal(0xe, SLOT);
    for (unsigned i = 1; i < 4; i++)
        mc_hws_wait(SLOT + i);
    mc_stats_end(4);
    mc_stats_begin(63); // open at the end, with nothing before
    load(10);
    mc_stats_reset(63);
    load(20);
    return 0;
}
