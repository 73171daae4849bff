// Stores that a core does not wait for (noc.posted = 2), as timing.c has the other rules: 1 + the cycles of the
// instructions behind t, on cluster 0's first core. A store to cluster 1 alone has its answer in t+23 (timing.c, single
// 16), so that what waits for it goes on in t+24.
#include "manycore.h"
#include <stdio.h>

MC_LOCAL static uint32_t word[64] __attribute__((aligned(256)));

#define TIMED(code)                                                                       \
    ({                                                                                    \
        uint32_t mc_a, mc_b;                                                              \
        __asm__ volatile(".p2align 4\n fence\n csrr %0, cycle\n" code "\n csrr %1, cycle" \
                         : "=&r"(mc_a), "=&r"(mc_b)                                       \
                         : "r"(own), "r"(one), "r"(three)                                 \
                         : "t0", "memory");                                               \
        mc_b - mc_a;                                                                      \
    })

static uint32_t posted(unsigned which)
{
    uint32_t *own = mc_global(word, 0), *one = mc_global(word, 1), *three = mc_global(word, 3);
    switch (which) {
    case 0:
        return TIMED("sw zero, 0(%3)"); // 1
    case 1:
        return TIMED("sw zero, 0(%3)\n lw t0, 0(%2)"); // a load of the own TCDM goes on: 1 + 1
    case 2:
        return TIMED("sw zero, 0(%3)\n fence"); // 24 + 1
    case 3:
        return TIMED("sw zero, 0(%3)\n sw zero, 0(%2)"); // so does a store to elsewhere, as the next one
    case 4:
        return TIMED("sw zero, 0(%3)\n sw zero, 0(%4)");
    case 5:
        return TIMED("sw zero, 0(%3)\n sw zero, 4(%3)\n fence"); // one behind the other: 25 + 1
    case 6:
        return TIMED("sw zero, 0(%3)\n sw zero, 4(%3)\n sw zero, 8(%3)"); // the third waits for the first: 24 + 1
    case 7:
        return TIMED("sw zero, 0(%3)\n lw t0, 0(%3)"); // 24 + 24
    default:
        return TIMED("sw zero, 0(%3)\n amoadd.w t0, zero, (%2)"); // 24 + 1
    }
}

void mc_main_others(void) {}

int main(void)
{
    for (unsigned i = 0; i < 9; i++) {
        posted(i); // fills the instruction cache
        printf("posted %u: %lu\n", i, (unsigned long)posted(i));
    }
    return 0;
}
