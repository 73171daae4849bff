/* Whether a query comes from an object that is not linked to any OpenMP runtime, and refers to the routine by a weak
 * reference only.
 *
 * A library may look whether it runs in an OpenMP program: it declares omp_in_parallel weak, and calls it where it has
 * an address (an OpenBLAS on threads of its own does, and warns). Where this library was preloaded (psrun, for programs
 * that may load a renamed copy later) it resolves such references, which nothing else in the process would do. Objects
 * with such a reference get the answers of a program without OpenMP. A strong reference, or one of an object that needs
 * a runtime by name, is an OpenMP program's.
 *
 * Callers: routines that libraries ask so; any thread, any stack; no lock is taken (os_object_at). Where glibc is older
 * than 2.35 every query gets a program's answer. The answer for an object is kept under its first address:
 * cell = address | answer, one word, relaxed, since a thread that finds none computes the same. An object that takes
 * the place of another that was unloaded may get its answer. Cost: one load where nothing was preloaded; else a look-up
 * of the object and one of the cell. */
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
