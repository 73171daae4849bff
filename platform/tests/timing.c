// Rules of the cost model, each as a few instructions between two reads of the cycle counter. Default parameters. The
// second run counts, so that the
// code is in the instruction caches. A read of the counter takes 1 cycle, so what is printed is 1 + the cycles of the
// instructions.
// timing.py has the expected numbers; how they come about stands here, with t the cycle of the first instruction.
#include "manycore.h"
#include <stdio.h>

MC_LOCAL static uint32_t word[64] __attribute__((aligned(256)));
MC_LOCAL static uint32_t wide[16 * 32] __attribute__((aligned(256)));
MC_L2 static uint32_t in_l2[64];
MC_MAIN static uint32_t in_main[64];
static volatile uint32_t result[64], start[64], before;

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
    // The store is taken in t, the transfer begins in t+4, its burst in t+5. Then t+13 router, t+14 L2, 8 beats: t+25
    // port, t+33, 9 flits: t+42. Beats of 8 bytes in t+42 to t+49. Signal: the core goes on 3 cycles after that, t+52.
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
    if (store == 2)
        return TIMED("amoadd.w t0, zero, (%2)", address);
    if (store)
        return TIMED("sw zero, 0(%2)", address);
    return TIMED("lw t0, 0(%2)", address);
}

enum {
    SAME_BANK,
    SAME_WORD,
    SAME_WORD_STORES,
    SIXTEEN,
    REMOTE_TWO,
    SIXTEEN_WORD,
    SIXTEEN_LOADS,
    FAR_TWO,
    ATOMIC_TWO,
    CASES
};

static void contended(unsigned what)
{
    unsigned me = mc_core();
    uint32_t *a = word;
    switch (what) {
    case SAME_BANK:
        a += me * 32;
        break; // two cores: words 0 and 32, bank 0
    case REMOTE_TWO:
        a = (uint32_t *)mc_global(&word[me], 1);
        break;
    case SIXTEEN_LOADS:
        a = wide + me * 32;
        break; // 16 words of bank 0
    case FAR_TWO:
        a = (uint32_t *)mc_global(word, 3);
        break; // one word of one bank, two hops away
    default:
        break;
    }
    unsigned cores = what == SIXTEEN || what == SIXTEEN_WORD || what == SIXTEEN_LOADS ? 16 : 2;
    int store = what == ATOMIC_TWO ? 2 : what == SAME_WORD_STORES || what == SIXTEEN;
    for (int run = 0; run < 2; run++) {
        mc_hws_barrier(1);
        if (me < cores)
            result[me] = together(store, a);
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

// Two that meet in a cycle, to the cycle: both sleep for slot 5 and are woken by one store (`s` is the cycle of the
// read of the counter that follows). What else: `code`, then the second read.
#define WOKEN(code, address, target)                                                                   \
    ({                                                                                                 \
        uint32_t mc_a;                                                                                 \
        register uint32_t mc_b __asm__("a0");                                                          \
        __asm__ volatile(".p2align 4\n lw t0, 0(%2)\n csrr %0, cycle\n" code                           \
                         : "=&r"(mc_a), "=&r"(mc_b)                                                    \
                         : "r"((uint32_t *)(uintptr_t)(MC_OWN + 0x2000d4u)), "r"(address), "r"(target) \
                         : "t0", "t1", "t2", "ra", "memory");                                          \
        start[mc_id()] = mc_a;                                                                         \
        mc_b - mc_a;                                                                                   \
    })

// Two pieces of code at one line of the instruction cache: that which did not run last is not there.
__asm__(
    ".text\n .p2align 12\n timing_cold_a: csrr a0, cycle\n ret\n .p2align 12\n timing_cold_b: csrr a0, cycle\n ret\n");
extern const char timing_cold_a[], timing_cold_b[];

enum { REFILL_DATA, DMA_CORE, PORT_CORE, MEETINGS };

static uint32_t meeting(unsigned what, unsigned second, int run)
{
    uint32_t *own = (uint32_t *)mc_global(word, mc_cluster());
    const char *cold = run ? timing_cold_b : timing_cold_a;
    switch (what * 2 + second) {
    // A line of code first, a word of data one cycle behind it, both from L2, over no hop. The miss is in s+3 (1 for
    // the read, 2 for the jump) and takes 26 as it does alone: s+3 port, s+11 router, s+12 L2. Two beats keep L2 up to
    // s+14. The answer leaves at s+17 and keeps L2's port to s+20. So s+29.
    case REFILL_DATA * 2:
        return WOKEN("jalr ra, 0(%4)", own, cold); // 29
    // The load in s+4: s+12 router, s+13 L2, which is taken up to s+14. Its answer at s+18; the port is taken up to
    // s+20. Then s+28 router; the line's 3 flits keep the port out up to s+28. s+29 here, next s+30: 26 instead of 23.
    case REFILL_DATA * 2 + 1:
        return WOKEN("nop\n nop\n nop\n lw t1, 0(%3)\n csrr %1, cycle", in_l2, cold); // 4 + 26
    // DMA (as single 20): started in s+1, its first beat takes banks 0 and 1 in s+43, the next cycle 2 and 3. A core
    // stores to bank 0 in s+43: after 1 + 35 + 7 cycles. The cycle's hash decides. Messages: the store comes a
    // cycle later. Cores: all beats do.
    case DMA_CORE * 2:
        MC_DMA(0) = (uint32_t)(uintptr_t)in_l2;
        MC_DMA(4) = (uint32_t)(uintptr_t)own;
        MC_DMA(8) = 64;
        MC_DMA(12) = 1;
        return WOKEN("sw zero, 24(%3)\n lw t1, 0(%4)\n csrr %1, cycle", (uint32_t *)(uintptr_t)(MC_OWN + 0x300000u),
                     (uint32_t *)(uintptr_t)(MC_OWN + 0x2000c0u)); // 1 + 52, and 1 if cores come first
    case DMA_CORE * 2 + 1:
        return WOKEN("divu t1, t1, t2\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n sw zero, 128(%3)\n csrr %1, cycle",
                     own, cold); // 43 + 1, and 1 if messages come first
    // A load from cluster 1 is at its bank in cluster 0 in s+12. Its core is woken 7 cycles after those of cluster 0
    // (10 for 3). So that is s+19 there, when a core of cluster 0 stores to that bank.
    case PORT_CORE * 2:
        return WOKEN("lw t1, 0(%3)\n csrr %1, cycle", (uint32_t *)mc_global(word, 0), cold); // 1 + 24, or 25
    default:
        return WOKEN(
            "nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
            "nop\n sw zero, 128(%3)\n csrr %1, cycle",
            own, cold); // 19 + 1, or 2
    }
}

#define RUNS 6
static uint32_t seen[RUNS][3];

static void meet(unsigned what)
{
    unsigned one = what == PORT_CORE ? 16 : 0, me = mc_id();
    for (int run = 0; run < RUNS; run++) {
        mc_hws_barrier(2);
        if (me == 2) {
            mc_hws_clusters(15);
            for (volatile int i = 0; i < 300 + run; i++) {
            }
            MC_HWS(0x054) = 3; // slot 5, cores 0 and 1 of all clusters
        } else if (me == one || me == 1) {
            result[me] = meeting(what, me == 1, run & 1);
        } else if (mc_core() < 2) {
            mc_hws_wait(5);
        }
        mc_hws_barrier(2);
        if (me == 0) { // printed later: that would fetch other code
            seen[run][0] = start[1];
            seen[run][1] = result[one];
            seen[run][2] = result[1];
        }
    }
    for (int run = 1; me == 0 && run < RUNS; run++)
        printf("meet %u.%d: %lu %lu %lu\n", what, run, (unsigned long)seen[run][0], (unsigned long)seen[run][1],
               (unsigned long)seen[run][2]);
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
        for (unsigned what = SAME_BANK; what < CASES; what++)
            contended(what);
    }
    mc_hws_barrier(2);
    wake_up(1);
    wake_up(16);
    wake_up(64);
    for (unsigned what = 0; what < MEETINGS; what++)
        meet(what);
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
