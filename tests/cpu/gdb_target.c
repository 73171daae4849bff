/* What gdb_test looks at: a context a few calls deep, that has been left and entered before. */
#include "cpu.h"

#include <stdlib.h>

#define STACK_BYTES (CPU_STACK_MIN + 256 * 1024)

static struct cpu_context main_context, one;

PS_NOINLINE static void gdb_stops_here(void) { __asm__ volatile("" ::: "memory"); }

PS_NOINLINE static void gdb_middle(void)
{
    gdb_stops_here();
    __asm__ volatile("" ::: "memory");
}

static void gdb_entry(void *transfer, void *arg)
{
    (void)transfer;
    for (;;) {
        cpu_switch(arg, &main_context, NULL);
        gdb_middle();
    }
}

int main(void)
{
    if (cpu_context_adopt(&main_context) != 0 ||
        cpu_context_init(&one, malloc(STACK_BYTES), STACK_BYTES, gdb_entry, &one) != 0)
        return 1;
    cpu_switch(&main_context, &one, NULL);
    cpu_switch(&main_context, &one, NULL);
    return 0;
}
