// What a program must not do, one a number in argv[1]; programs.py has the line that must come.
#include "manycore.h"
#include <stdio.h>
#include <stdlib.h>

MC_LOCAL static uint32_t block[64];
static const uint32_t constant[4] = {1, 2, 3, 4};

__attribute__((noinline)) static int deep(int n)
{
    volatile char room[512];
    room[0] = (char)n;
    return n ? deep(n - 1) + room[0] : 0;
}

int main(int argc, char **argv)
{
    int which = argc > 1 ? atoi(argv[1]) : 0;
    volatile uint32_t *p = block;
    switch (which) {
    case 0:
        return (int)*(volatile uint32_t *)0x00000010;
    case 1:
        *(volatile uint32_t *)0x7ffffff0 = 1;
        break;
    case 2:
        __asm__ volatile("lh t0, 1(%0)" ::"r"(block) : "t0");
        break;
    case 3:
        __asm__ volatile(".word 0xffffffff");
        break;
    case 4:
        return deep(100);
    case 5:
        mc_dma((char *)mc_tcdm(0) + mc_tcdm_size() - 32, (void *)0x80000000, 64, 0);
        break;
    case 6:
        mc_hws_signal(0x10000, 0);
        break;
    case 7:
        mc_hws_wait(9);
        break;
    case 8:
        ((void (*)(void))0x30000000)();
        break;
    case 9:
        *(volatile uint32_t *)(uintptr_t)main = 0;
        break;
    case 10:
        mc_hws_targets(2);
        for (int i = 0; i < 5; i++)
            mc_hws_send(5, 1);
        while (*p == 0) {
        }
        break;
    case 11:
        __asm__ volatile("ebreak");
        break;
    case 12:
        __asm__ volatile("ecall");
        break;
    case 13:
        mc_dma((void *)0x80001000, (void *)0x80000000, 64, 0);
        break;
    case 14:
        mc_hws_gather(3, 3, 0, MC_NOTIFY_ALL);
        mc_hws_arrive(3);
        mc_hws_arrive(3);
        break;
    case 15:
        __asm__ volatile("csrw frm, 5\n fadd.s ft0, ft0, ft0");
        break;
    case 16: // a constant: no addition
        __asm__ volatile(".p2align 4\n nop\n li sp, 16\n li t0, 1\n nop");
        break;
    case 17: // a shift
        __asm__ volatile("li t0, 1\n .p2align 4\n nop\n slli sp, t0, 4\n nop");
        break;
    case 18:
        mc_stats_begin(7);
        mc_stats_begin(7);
        break;
    case 19:
        mc_stats_end(5);
        break;
    case 20:
        mc_stats_begin(64);
        break;
    default:
        return (int)constant[which & 3];
    }
    return 0;
}
