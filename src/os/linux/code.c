/* Whose code an address is: the runtime's, the program's, or that of a library which the runtime itself calls.
 *
 * In a library's code a thread may hold a lock, or something else, that the runtime needs for its next step. If the
 * thread were left there, the runtime would wait for it. So these objects are libraries, whatever their names are:
 *   bound       The dynamic linker has bound a reference to a function there, by which the runtime calls it. It has
 *               written so into the runtime's own object. The C library is bound. So is what stands before it: a
 *               preloaded malloc (jemalloc, tcmalloc) or another preloaded function, a sanitizer's. Weak references do
 *               not count: by them the runtime asks for objects that need not be there.
 *   copies      Objects that have the name (DT_SONAME) of a bound one: a C library in another folder or in a namespace
 *               of its own (dlmopen). They share the one dynamic linker, and take its locks.
 *   unwinders   An object that offers _Unwind_RaiseException. The dynamic linker calls an unwinder back with a lock in
 *               hand. The C library loads one when it needs it, and a program may bring its own, of any version.
 * The main program is none, even if it has a malloc of its own: its code would never give way. Its functions to which
 * the runtime is bound are known (code_replaced), and unwinding tells whether a thread is in one.
 *
 * Limits:
 *   - A shared object of the program's that replaces a function of the C library is a library as a whole. A thread that
 *     computes in its other functions is left in system calls only.
 *   - Where one object has both the runtime and code of the program's in it (libpsthreads.a), their references are not
 *     told apart: more objects count as libraries. In a static binary all is the runtime's, and no thread is left.
 *   - An allocator that was opened with RTLD_LOCAL is the program's: no reference of the runtime's is bound to it.
 *
 * glibc says without a lock which object an address belongs to (_dl_find_object). It is asked anew each time, for a
 * lock's holder could wait for what an interrupt is to bring about. What is bound is read at each code_look, for a
 * reference may be bound as late as at its first use. Bound objects stay loaded as long as the runtime's.
 * Elsewhere a list of executable segments is read anew when objects have been loaded. Two lists are used in turn. A
 * handler that is late by two loads may read a list that is being written; it then refuses, or takes the address for
 * code that has been unloaded meanwhile. */
#include "code.h"

#include <dlfcn.h>
#include <string.h>

#include "atomic.h"
#include "loaded_object.h"
#include "os.h"

#define BOUND_MOST 32
#define SYMBOL_SHIFT (sizeof(ElfW(Addr)) == 8 ? 32 : 8) /* where a relocation has its symbol */

/* Names of the objects that are bound; NULL behind the last. Written at a look; entries stay. */
static _Atomic(const char *) bound[BOUND_MOST];

/* An object's own name, or where it was loaded from. */
static const char *object_name(const struct ps_loaded *object, const char *path)
{
    return object->name ? object->name : path;
}

static bool is_bound(const char *name)
{
    const char *known;
    for (unsigned i = 0; i < BOUND_MOST && (known = ps_load_acquire(&bound[i])); i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}

static void note_bound(const char *name)
{
    for (unsigned i = 0; i < BOUND_MOST && !is_bound(name); i++) {
        const char *none = NULL;
        ps_cas_acq_rel(&bound[i], &none, name);
    }
}

static bool counts_as_library(const struct ps_loaded *object, const char *path)
{
    return is_bound(object_name(object, path)) || ps_loaded_offers(object, "_Unwind_RaiseException") != 0;
}

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

/* Calls see for each function that the runtime's object refers to. The address may be one in this object where the
 * reference has not been used yet. */
static void see_references(void (*see)(uintptr_t function, const char *name, void *arg), void *arg)
{
    uintptr_t base = __ehdr_start.e_type == ET_EXEC ? 0 : (uintptr_t)&__ehdr_start;
    struct ps_loaded own = ps_loaded_at(base, _DYNAMIC);
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < own.num_relocations[kind]; i++) {
            const ElfW(Rela) *r = &own.relocations[kind][i];
            const ElfW(Sym) *symbol = &own.symbols[r->r_info >> SYMBOL_SHIFT];
            unsigned type = ELF64_ST_TYPE(symbol->st_info);
            if (symbol != own.symbols && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
                (type == STT_FUNC || type == STT_NOTYPE))
                see(*(const uintptr_t *)(base + r->r_offset), own.strings + symbol->st_name, arg);
        }
}

#if defined(__GLIBC__)
static bool has(const struct dl_find_object *object, uintptr_t address)
{
    return address >= (uintptr_t)object->dlfo_map_start && address < (uintptr_t)object->dlfo_map_end;
}

/* The same: functions of the main program that are bound. */
static _Atomic(const ElfW(Sym) *) replaced[BOUND_MOST];

static void note_replaced(const ElfW(Sym) * function)
{
    for (unsigned i = 0; i < BOUND_MOST; i++) {
        const ElfW(Sym) *none = NULL;
        if (ps_cas_acq_rel(&replaced[i], &none, function) || none == function)
            return;
    }
}

bool code_replaced(uintptr_t address)
{
    const ElfW(Sym) * function;
    for (unsigned i = 0; i < BOUND_MOST && (function = ps_load_acquire(&replaced[i])); i++)
        if (address - _r_debug.r_map->l_addr - function->st_value < function->st_size)
            return true;
    return false;
}

/* arg: the object of the reference before. Most are bound to the C library. */
static void see_bound(uintptr_t function, const char *name, void *arg)
{
    struct dl_find_object *at = arg;
    if (has(at, function) ? at->dlfo_link_map != _r_debug.r_map : _dl_find_object((void *)function, at) != 0)
        return;
    if (has(at, (uintptr_t)&code_at))
        return;
    const struct link_map *map = at->dlfo_link_map;
    struct ps_loaded object = ps_loaded_at(map->l_addr, map->l_ld);
    if (map == _r_debug.r_map)
        note_replaced(&object.symbols[ps_loaded_offers(&object, name)]); /* the first symbol has no bytes */
    else
        note_bound(object_name(&object, map->l_name));
}

void code_look(void)
{
    struct dl_find_object none = {0};
    see_references(see_bound, &none);
}

enum code code_at(uintptr_t address)
{
    struct dl_find_object at;
    if (_dl_find_object((void *)address, &at) != 0)
        return CODE_NONE;
    const struct link_map *map = at.dlfo_link_map;
    if (has(&at, (uintptr_t)&code_at))
        return CODE_RUNTIME;
    if (map->l_addr == _r_debug.r_ldbase)
        return CODE_LOADER;
    if (!ps_load_acquire(&bound[0]))
        code_look();
    struct ps_loaded object = ps_loaded_at(map->l_addr, map->l_ld);
    return map != _r_debug.r_map && counts_as_library(&object, map->l_name) ? CODE_LIBRARY : CODE_PROGRAM;
}
#else
#define MAX_RANGES 1024

struct range {
    uintptr_t start, end;
    enum code of;
};
struct ranges {
    unsigned n;
    struct range range[MAX_RANGES];
};

static struct ranges lists[2];
static _Atomic(const struct ranges *) current; /* written by code_look, read in handlers */
static unsigned long long objects_seen;        /* code_look's own */

static bool has(const struct dl_phdr_info *info, uintptr_t address)
{
    bool found = false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        found |= info->dlpi_phdr[i].p_type == PT_LOAD && address - start < info->dlpi_phdr[i].p_memsz;
    }
    return found;
}

struct bound_to {
    const struct dl_phdr_info *object;
    bool is;
};
bool code_replaced(uintptr_t address) { return (void)address, false; } /* unwinding does not lead there */

static void see_bound(uintptr_t function, const char *name, void *arg)
{
    struct bound_to *to = arg;
    (void)name;
    to->is |= has(to->object, function);
}
static int note_if_bound(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct bound_to to = {info, false};
    struct ps_loaded object = ps_loaded_of(info);
    (void)bytes, (void)arg;
    see_references(see_bound, &to);
    if (to.is && !has(info, (uintptr_t)&code_at))
        note_bound(object_name(&object, info->dlpi_name));
    return 0;
}

/* The first object is the main program. */
static int add_code_ranges(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct ranges *list = arg;
    struct ps_loaded object = ps_loaded_of(info);
    enum code of = has(info, (uintptr_t)&code_at)                               ? CODE_RUNTIME
                   : list->n > 0 && counts_as_library(&object, info->dlpi_name) ? CODE_LIBRARY
                                                                                : CODE_PROGRAM;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum && list->n < MAX_RANGES; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
            list->range[list->n++] = (struct range){start, start + segment->p_memsz, of};
    }
    return 0;
}

static int count_loaded(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    *(unsigned long long *)arg = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

void code_look(void)
{
    unsigned long long loaded = 0;
    const struct ranges *now = ps_load_relaxed(&current);
    if (!os_objects_visit(count_loaded, &loaded) || (now && loaded == objects_seen))
        return;
    struct ranges *next = now == &lists[0] ? &lists[1] : &lists[0];
    next->n = 0;
    os_objects_visit(note_if_bound, NULL);
    os_objects_visit(add_code_ranges, next);
    objects_seen = loaded;
    ps_store_release(&current, next);
}

enum code code_at(uintptr_t address)
{
    const struct ranges *list = ps_load_acquire(&current);
    for (unsigned i = 0; list && i < list->n; i++)
        if (address >= list->range[i].start && address < list->range[i].end)
            return list->range[i].of;
    return CODE_NONE;
}
#endif

bool os_program_code(uintptr_t address) { return code_at(address) == CODE_PROGRAM; }
