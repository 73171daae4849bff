/* Which loaded objects have thread-local storage, and where.
 *
 * Does: ask the dynamic linker (dl_iterate_phdr, under its lock; it counts what it loads). Does not: keep anything.
 * Where a segment lies is a private field of the dynamic linker's, published for debuggers (nptl_db). */
#define _GNU_SOURCE
#include "tls_objects.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static int count_objects(struct dl_phdr_info *info, size_t bytes, void *loaded)
{
    (void)bytes;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

unsigned long long uth_tls_objects_loaded(void)
{
    unsigned long long loaded = 0;
    dl_iterate_phdr(count_objects, &loaded);
    return loaded;
}

/* libstdc++ is not in this list: the exceptions that a thread has in flight are in its TLS segment. */
static bool is_of_the_c_library(const char *path)
{
    static const char *const names[] = {"libc.so.", "ld-linux",  "ld64.so",   "libpthread.so.",
                                        "libm.so.", "libdl.so.", "librt.so.", "libresolv.so."};
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t bytes, void *wanted)
{
    bool has_tls = false, is_ours = false;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, here = (uintptr_t)&look_at_object;
        has_tls |= segment->p_type == PT_TLS && segment->p_memsz > 0;
        is_ours |= segment->p_type == PT_LOAD && here >= start && here < start + segment->p_memsz;
    }
    /* Linked into the program itself, the runtime's variables cannot be told from the program's: the program counts. */
    bool is_program = info->dlpi_name == NULL || info->dlpi_name[0] == '\0';
    *(bool *)wanted |= has_tls && (is_program || (!is_ours && !is_of_the_c_library(info->dlpi_name)));
    return 0;
}

bool uth_tls_objects_wanted(void)
{
    bool wanted = false;
    dl_iterate_phdr(look_at_object, &wanted);
    return wanted;
}

#if defined(__GLIBC__)

struct collection {
    struct uth_tls_segment *out;
    unsigned n;
    size_t module_at, offset_at; /* in the dynamic linker's struct link_map */
};

static int collect(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct collection *c = arg;
    const ElfW(Phdr) *tls = NULL;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            tls = &info->dlpi_phdr[i];
    if (tls == NULL || tls->p_memsz == 0 || info->dlpi_tls_modid == 0 || c->n == UTH_TLS_MAX_SEGMENTS)
        return 0;
    for (struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
        size_t module;
        ptrdiff_t offset;
        memcpy(&module, (char *)map + c->module_at, sizeof module);
        memcpy(&offset, (char *)map + c->offset_at, sizeof offset);
        if (map->l_addr != info->dlpi_addr || module != info->dlpi_tls_modid)
            continue;
#if defined(__x86_64__)
        if (offset <= 0)
            return 0; /* 0: none so far; -1: never in the static part */
        offset = -offset;
#else
        if (offset < 0)
            return 0; /* -1 and -2, likewise */
#endif
        c->out[c->n++] = (struct uth_tls_segment){
            info->dlpi_addr, module, offset, (char *)info->dlpi_addr + tls->p_vaddr, tls->p_filesz, tls->p_memsz};
        return 0;
    }
    return 0;
}

unsigned uth_tls_objects_static(struct uth_tls_segment *out)
{
    const uint32_t *module = dlsym(RTLD_DEFAULT, "_thread_db_link_map_l_tls_modid");
    const uint32_t *offset = dlsym(RTLD_DEFAULT, "_thread_db_link_map_l_tls_offset");
    if (module == NULL || offset == NULL)
        return 0;
    struct collection c = {.out = out, .module_at = module[2], .offset_at = offset[2]};
    dl_iterate_phdr(collect, &c);
    return c.n;
}

#else

unsigned uth_tls_objects_static(struct uth_tls_segment *out)
{
    (void)out;
    return 0;
}

#endif
