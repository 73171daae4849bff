// What stands between crt0 and main: the other clusters' copies of .local, constructors, the way of the other cores,
// the heap.
#include "manycore.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

extern char __local_start[], __local_copied[], __heap_start[];
extern void (*__init_array_start[])(void), (*__init_array_end[])(void);
int main(int argc, char **argv);

// Slot 15 of the synchroniser is the board's until mc_main_others() runs.
#define BOOT_SLOT 15

// What the cores but the first do: nothing, unless the program has a function of this name.
__attribute__((weak)) void mc_main_others(void) {}

void mc_boot(int argc, char **argv)
{
    if (mc_core() == 0) {
        if (mc_cluster() == 0) {
            uint32_t local = (uint32_t)((uintptr_t)__local_copied - (uintptr_t)__local_start);
            for (unsigned k = 1; k < mc_clusters() && local; k++) {
                mc_dma(mc_tcdm(k), __local_start, local, BOOT_SLOT);
                mc_dma_wait(BOOT_SLOT);
            }
            for (void (**f)(void) = __init_array_start; f < __init_array_end; f++)
                (*f)();
            uint64_t all = mc_clusters() == 64 ? ~0ull : (1ull << mc_clusters()) - 1;
            mc_hws_multicast(all, (2u << (mc_cores() - 1)) - 1, BOOT_SLOT);
            mc_hws_wait(BOOT_SLOT);
            exit(main(argc, argv));
        }
    }
    mc_hws_wait(BOOT_SLOT);
    mc_main_others();
}

// The heap: main memory above the program, up to the 64 KB of the arguments. Not thread-safe, as malloc itself is not
// here.
void *sbrk(ptrdiff_t bytes)
{
    static char *end;
    char *limit = (char *)(0x80000000u + mc_memory_size() - 65536);
    if (!end)
        end = __heap_start;
    if (bytes > limit - end || end + bytes < __heap_start) {
        errno = ENOMEM;
        return (void *)-1;
    }
    end += bytes;
    return end - bytes;
}
