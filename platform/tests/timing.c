// Rules of the cost model, each as a few instructions between two reads of the cycle counter. Default parameters. The
// second run counts, so that the
// code is in the instruction caches. A read of the counter takes 1 cycle, so what is printed is 1 + the cycles of the
// instructions.
// timing.py has the expected numbers; how they come about stands here, with t the cycle of the first instruction.
#include "manycore.h"
#include <stdio.h>

MC_LOCAL static uint32_t word[64] __attribute__((aligned(256)));
MC_L2 static uint32_t in_l2[64];
MC_MAIN static uint32_t in_main[64];
static volatile uint32_t result[64], before;

#define TIMED(code, address)                                                      \
    ({                                                                            \
        uint32_t mc_a, mc_b;                                                      \
        __asm__ volatile(".p2align 4\n csrr %0, cycle\n" code "\n csrr %1, cycle" \
                         : "=&r"(mc_a), "=&r"(mc_b)                               \
                         : "r"(address)                                           \
                         : "t0", "t1", "t2", "ft0", "memory");                    \
        mc_b - mc_a;                                                              \
    })

static uint32_t single(unsigned which, uint32_t *own)
{
    switch (which) {
    case 0:
        return TIMED("addi t0, t0, 1\n addi t0, t0, 1\n addi t0, t0, 1\n addi t0, t0, 1", own); // 4 x 1
    case 1:
        return TIMED("lw t0, 0(%2)\n addi t1, t1, 1", own); // 1 + 1: the bubble is not needed
    case 2:
        return TIMED("lw t0, 0(%2)\n addi t1, t0, 1", own); // 1 + bubble 1 + 1
    case 3:
        return TIMED("flw ft0, 0(%2)\n fadd.s ft0, ft0, ft0", own); // 1 + bubble 1 + 2
    case 4:
        return TIMED("sw t0, 0(%2)\n lw t1, 0(%2)\n nop", own); // 1 + 1 + 1: the next cycle, the bank is free again
    case 5:
        return TIMED("beq zero, zero, 1f\n nop\n1:", own); // 1 + 2 taken
    case 6:
        return TIMED("bne zero, zero, 1f\n1:", own); // 1
    case 7:
        return TIMED("j 1f\n nop\n1:", own); // 1 + 1
    case 8:
        return TIMED("mul t0, t1, t2", own); // 1
    case 9:
        return TIMED("mulhu t0, t1, t2", own); // 5
    case 10:
        return TIMED("divu t0, t1, t2", own); // 35
    case 11:
        return TIMED("fmul.s ft0, ft0, ft0", own); // 2
    case 12:
        return TIMED("fdiv.s ft0, ft0, ft0", own); // 12
    // an atomic operation keeps its bank 2 cycles: the second one finds it taken once
    case 13:
        return TIMED("amoadd.w t0, t1, (%2)\n amoadd.w t2, t1, (%2)", own); // 1 + (1 + 1)
    // t: into the port; t+8 router; a link of 2: t+10 the other router; 1 flit out: t+11 at the bank; answer: t+12
    // port, t+20, t+22, t+23 here; next t+24
    case 14:
        return TIMED("lw t0, 0(%2)", (uint32_t *)mc_global(word, 1)); // 24
    case 15:
        return TIMED("lw t0, 0(%2)", (uint32_t *)mc_global(word, 3)); // a hop more each way: 28
    case 16:
        return TIMED("sw t0, 0(%2)", (uint32_t *)mc_global(word, 1)); // stores wait for their answer: 24
    // node 0, no hop: t+8 router, t+9 L2, 4 later the answer: t+13 port, t+21, t+22; next t+23
    case 17:
        return TIMED("lw t0, 0(%2)", in_l2); // 23
    case 18:
        return TIMED("lw t0, 0(%2)", in_main); // the same with 60 for 4: 79
    // a cold line: t+2 the jump is over and the line is missed; +9 L2, +4 and a second beat: +14 port, +22, 3 flits:
    // +25; goes on at +26
    case 19:
        return TIMED("la t0, 1f\n jr t0\n .p2align 12\n1:", own); // 2 (la) + 2 (jr) + 26; the first run only
    // the store is taken in t, the transfer begins in t+4, its burst in t+5: t+13 router, t+14 L2, 8 beats: t+25 port,
    // t+33, 9 flits: t+42; beats of
    // 8 bytes in t+42 to t+49; signal: goes on 3 cycles after that, t+52
    default:
        MC_DMA(0) = (uint32_t)(uintptr_t)in_l2;
        MC_DMA(4) = (uint32_t)(uintptr_t)own;
        MC_DMA(8) = 64;
        MC_DMA(12) = 1;
        return TIMED("sw zero, 24(%2)\n li t0, 0x082000c0\n lw t1, 0(t0)",
                     (uint32_t *)(uintptr_t)(MC_OWN + 0x300000u)); // 52, slot 0
    }
}
#define SINGLES 21

// What `n` cores of cluster 0 do at the same time, each at its `address`; all start in the same cycle, released by the
// synchroniser.
static uint32_t together(int store, uint32_t *address)
{
    if (store)
        return TIMED("sw zero, 0(%2)", address);
    return TIMED("lw t0, 0(%2)", address);
}

enum { SAME_BANK, SAME_WORD, SAME_WORD_STORES, SIXTEEN, REMOTE_TWO, ALONE, CONTENDED };

static void contended(unsigned what)
{
    unsigned me = mc_core();
    uint32_t *a = word;
    switch (what) {
    case SAME_BANK:
        a += me * 32;
        break; // two cores: words 0 and 32, bank 0
    case SIXTEEN:
        break;
    case REMOTE_TWO:
        a = (uint32_t *)mc_global(&word[me], 1);
        break;
    default:
        break;
    }
    unsigned cores = what == SIXTEEN ? 16 : 2;
    for (int run = 0; run < 2; run++) {
        mc_hws_barrier(1);
        if (me < cores)
            result[me] = together(what == SAME_WORD_STORES || what == SIXTEEN, a);
    }
    mc_hws_barrier(1);
    if (me == 0) {
        printf("contended %u:", what);
        for (unsigned i = 0; i < cores; i++)
            printf(" %lu", (unsigned long)result[i]);
        printf("\n");
    }
    mc_hws_barrier(1);
}

// Wake-up: cycles from core 0's store to the instruction after each sleeper's wait, + 1 for the read of the counter
// before the store.
static void wake_up(unsigned count)
{
    unsigned me = mc_core(), k = mc_cluster();
    for (int run = 0; run < 2; run++) {
        mc_hws_barrier(2); // all 64
        if (mc_id() == 0) {
            uint32_t *to = (uint32_t *)(uintptr_t)(MC_OWN + 0x200000u + (count == 64 ? 0x04c : 0x00c)), t; // slot 3
            mc_hws_clusters(15);
            for (volatile int i = 0; i < 300; i++) {
            }
            uint32_t mask = count == 1 ? 2 : 0xfffe;
            __asm__ volatile(".p2align 4\n csrr %0, cycle\n sw %1, 0(%2)" : "=&r"(t) : "r"(mask), "r"(to) : "memory");
            before = t;
        } else if ((k == 0 && (count > 1 || me == 1) && me != 0) || (count == 64 && me != 0)) {
            uint32_t *from = (uint32_t *)(uintptr_t)(MC_OWN + 0x2000ccu), t;
            __asm__ volatile(".p2align 4\n lw %0, 0(%1)\n csrr %0, cycle" : "=&r"(t) : "r"(from) : "memory");
            result[mc_id()] = t;
        }
    }
    mc_hws_barrier(2);
    if (mc_id() == 0) {
        printf("wake %u:", count);
        for (unsigned i = 1; i < (count == 1 ? 2 : count); i++)
            if (i % 16)
                printf(" %lu", (unsigned long)(result[i] - before));
        printf("\n");
    }
    mc_hws_barrier(2);
}

static void all(void)
{
    if (mc_core() == 0) {
        mc_hws_gather(1, 0xffff, 0, MC_NOTIFY_ALL);
        if (mc_cluster() == 0)
            mc_hws_gather(2, 0xffff, 14, MC_NOTIFY_ALL);
        else
            mc_hws_gather(2, 0xffff, 0, MC_NOTIFY_PARENT(0));
    }
    mc_hws_barrier(2);
    if (mc_cluster() == 0) {
        for (unsigned what = SAME_BANK; what <= REMOTE_TWO; what++)
            contended(what);
    }
    mc_hws_barrier(2);
    wake_up(1);
    wake_up(16);
    wake_up(64);
}

void mc_main_others(void)
{
    mc_hws_wait(4);
    all();
    mc_hws_barrier(2);
}

int main(void)
{
    for (unsigned i = 0; i < SINGLES; i++) {
        uint32_t first = single(i, (uint32_t *)mc_global(word, 0)), second = single(i, (uint32_t *)mc_global(word, 0));
        printf("single %u: %lu\n", i, (unsigned long)(i == 19 ? first : second));
    }
    mc_hws_multicast(15, 0xffff, 4);
    all();
    mc_hws_barrier(2);
    return 0;
}
