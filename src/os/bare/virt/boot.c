/* What runs between start.S and main on QEMU's `virt` machine: reads harts and memory from the device tree and
 * arguments by semihosting, calls constructors, releases the other harts. Also the line with which a program ends after
 * a fault. */
#include <semihost.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic.h"
#include "board.h"

unsigned virt_harts = 1;
uintptr_t virt_memory_end = VIRT_MEMORY + 0x01000000; /* taken if there is no device tree */
uint32_t virt_trap_busy;
_Alignas(16) char virt_trap_stack[4096];

extern char __stacks[], __stack_slot[];
extern void (*__init_array_start[])(void), (*__init_array_end[])(void);
int main(int argc, char **argv);
void mc_main_others(void);
void virt_boot(const void *tree);
void virt_others(void);
void virt_fault(unsigned cause, uintptr_t pc, uintptr_t address);

/* --- the device tree: Devicetree Specification 0.4, section 5 --- */

enum { TREE_MAGIC = 0xd00dfeed, TREE_NODE = 1, TREE_END_NODE = 2, TREE_PROPERTY = 3, TREE_NOTHING = 4 };

static uint32_t big_endian_word(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Counts the nodes cpu@*, and reads the end of memory@*, whose addresses and sizes have two words. */
static void read_tree(const unsigned char *tree)
{
    if (tree == NULL || big_endian_word(tree) != TREE_MAGIC)
        return;
    const unsigned char *p = tree + big_endian_word(tree + 8), *names = tree + big_endian_word(tree + 12);
    unsigned harts = 0;
    bool in_memory = false;
    for (;;) {
        uint32_t token = big_endian_word(p);
        p += 4;
        if (token == TREE_NODE) {
            const char *name = (const char *)p;
            harts += strncmp(name, "cpu@", 4) == 0;
            in_memory = strncmp(name, "memory@", 7) == 0;
            p += (strlen(name) + 4) & ~(size_t)3;
        } else if (token == TREE_PROPERTY) {
            uint32_t bytes = big_endian_word(p);
            if (in_memory && bytes >= 16 && strcmp((const char *)names + big_endian_word(p + 4), "reg") == 0)
                virt_memory_end = big_endian_word(p + 12) + big_endian_word(p + 20);
            p += 8 + ((bytes + 3) & ~3u);
        } else if (token != TREE_END_NODE && token != TREE_NOTHING)
            break;
    }
    virt_harts = harts < 1 ? 1 : harts < BOARD_CORES_MAX ? harts : BOARD_CORES_MAX;
}

/* --- the way to main --- */

static char line[4096], *arguments[256];

/* Splits the command line at its blanks; returns the number of arguments. */
static int read_arguments(void)
{
    int n = 0;
    if (sys_semihost_get_cmdline(line, sizeof line) != 0)
        line[0] = 0;
    for (char *rest = line, *one; n < 255 && (one = strtok_r(rest, " ", &rest)) != NULL;)
        arguments[n++] = one;
    return n;
}

static _Atomic uint32_t released;
static volatile uint32_t *signal_of(unsigned hart)
{
    return (volatile uint32_t *)(uintptr_t)VIRT_CLINT + hart; // NOLINT(performance-no-int-to-ptr)
}

void virt_boot(const void *tree)
{
    read_tree(tree);
    int argc = read_arguments();
    for (void (**f)(void) = __init_array_start; f < __init_array_end; f++)
        (*f)();
    ps_store_seq(&released, 1);
    for (unsigned hart = 1; hart < virt_harts; hart++)
        *signal_of(hart) = 1;
    exit(main(argc, arguments));
}

/* The other harts sleep here until hart 0 releases them. Interrupts stay disabled: a pending one only ends the
 * sleep. */
void virt_others(void)
{
    __asm__ volatile("csrw mie, %0" ::"r"(1u << 3)); /* enables software interrupts as a reason to wake */
    while (ps_load_acquire(&released) == 0)
        __asm__ volatile("wfi" ::: "memory");
    __asm__ volatile("csrw mie, zero");
    *signal_of(board_core()) = 0;
    mc_main_others();
}

/* --- faults --- */

void virt_fault(unsigned cause, uintptr_t pc, uintptr_t address)
{
    static const char *const causes[] = {"misaligned jump",  "jump to where nothing is", "illegal instruction",
                                         "breakpoint",       "misaligned load",          "load from where nothing is",
                                         "misaligned store", "store to where nothing is"};
    uintptr_t slot = (uintptr_t)__stack_slot, guard = (uintptr_t)__stacks + board_core() * slot;
    const char *what = address - guard < 4096                     ? "access below the stack's limit"
                       : cause < sizeof causes / sizeof causes[0] ? causes[cause]
                                                                  : "trap";
    fprintf(stderr, "virt: hart %u, pc 0x%08lx: %s (address 0x%08lx, cause %u)\n", board_core(), (unsigned long)pc,
            what, (unsigned long)address, cause);
    _exit(70);
}
