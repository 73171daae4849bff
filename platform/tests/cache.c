// Lines of code that belong to one set of the instruction cache (icache.size = 4096), called in turn, and before each
// the first one once more. Which of them are there at the next round says how many ways there are, and which line goes.
// Prints the cycles of the last of three rounds with each number of lines, and 1 for the read of the counter.
#include "manycore.h"
#include <stdio.h>
#include <stdlib.h>

// The lines stand 4096 bytes apart, so they share a set whatever the number of ways. The loop's own lines are of other
// sets, for up to 16 ways. A line that is there costs 2 x (jalr 1 + 1, ret 1 + 1), add 1, addi 1, bnez 1 + 2 (at last
// 1).
__asm__(".text\n .p2align 12\n"
        "lines: .rept 17\n ret\n .p2align 12\n .endr\n"
        " .skip 32\n"
        "walk: mv t5, ra\n li t3, 3\n li t2, 4096\n"
        "1: la t0, lines\n mv t4, t0\n mv t1, a0\n csrr a1, cycle\n"
        "2: jalr ra, 0(t4)\n jalr ra, 0(t0)\n add t0, t0, t2\n addi t1, t1, -1\n bnez t1, 2b\n"
        " csrr a2, cycle\n addi t3, t3, -1\n bnez t3, 1b\n"
        " sub a0, a2, a1\n jr t5\n");
extern unsigned walk(unsigned lines);

void mc_main_others(void) {}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("lines %s: %u\n", argv[i], walk((unsigned)atoi(argv[i])));
    return 0;
}
