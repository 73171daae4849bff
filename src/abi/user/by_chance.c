/* Whether a query comes "by chance": from an object that is not linked to any OpenMP runtime, and refers to the routine
 * by a weak reference only.
 *
 * A library may test whether it runs in an OpenMP program: it declares omp_in_parallel weak, and calls the routine if
 * it has an address. (OpenBLAS with threads of its own does so, and prints a warning.) psrun may preload this library
 * into a program without OpenMP, since the program may load a runtime later. Then such a reference finds this library's
 * routine. The routine answers it as in a program without OpenMP. An object with a strong reference, or one that needs
 * a runtime by name, belongs to an OpenMP program.
 *
 * Callers: the routines that such libraries call; any thread, any stack; no lock is taken (os_object_at). With a glibc
 * older than 2.35 every query gets the answer of an OpenMP program. An object's answer is computed at its first query,
 * and kept in a cell: one word with the object's address and the answer. The cells are read and written relaxed,
 * because a thread that does not find the object in the cell computes the answer itself. An object that is loaded at
 * the address of an unloaded one may get the wrong answer. Cost: one load if nothing was preloaded; otherwise a search
 * for the object and a look into its cell. */
#include "by_chance.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "loaded_object.h"
#include "os.h"
#include "user.h"

bool user_preloaded;

#define CELLS 64

static bool is_runtime(const char *file)
{
    return strncmp(file, "libgomp", 7) == 0 || strncmp(file, "libomp", 6) == 0 || strncmp(file, "libiomp5", 8) == 0;
}

static bool has_weak(const struct link_map *map, const char *name)
{
    struct ps_loaded object = ps_loaded_at(map->l_addr, map->l_ld);
    for (const ElfW(Dyn) *d = object.section; object.strings != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && is_runtime(object.strings + d->d_un.d_val))
            return false;
    uint32_t symbol = ps_loaded_wants(&object, name);
    return symbol != 0 && object.symbols[symbol].st_info >> 4 == STB_WEAK;
}

PS_COLD PS_NOINLINE bool user_by_chance_slow(const void *caller, const char *name)
{
    static _Atomic uintptr_t cells[CELLS];
    const void *mapped;
    const struct link_map *map = os_object_at(caller, &mapped);
    if (map == NULL)
        return false;
    uintptr_t start = (uintptr_t)mapped;
    _Atomic uintptr_t *cell = &cells[(start >> 12) % CELLS];
    uintptr_t known = ps_load_relaxed(cell);
    if ((known & ~(uintptr_t)1) != start) {
        known = start | has_weak(map, name);
        ps_store_relaxed(cell, known);
    }
    return known & 1;
}

static void note_by_chance(const char *list, const char *file)
{
    const char *slash = strrchr(file, '/');
    user_preloaded = list != NULL && strstr(list, slash != NULL ? file : "/libgomp.so.1") != NULL;
}

__attribute__((constructor)) static void see_whether_preloaded(void)
{
    Dl_info self;
    if (dladdr(&user_preloaded, &self) && self.dli_fname != NULL)
        note_by_chance(getenv("LD_PRELOAD"), self.dli_fname);
}
