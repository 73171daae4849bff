/* Which loaded objects have thread-local storage or ask the C library for what it keeps for each thread, and where.
 *
 * Does: ask the dynamic linker (os_objects_visit; it counts what it loads). Does not: keep anything, but where some
 * symbols are. Symbols are looked up when the library is loaded and not when they are needed: dlsym waits for the
 * dynamic linker's lock, which a thread holds while constructors of what it opens run; one that runs a region there
 * would wait for our locks, held by who waits for it. Where a segment lies is a private field of the dynamic linker's,
 * published for debuggers (nptl_db). */
#define _GNU_SOURCE
#include "tls_objects.h"

#include "os.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static struct {
    const char *const name;
    void *address;
} symbols[] = {{"_dl_allocate_tls", NULL},
               {"_dl_deallocate_tls", NULL},
               {"_dl_allocate_tls_init", NULL},
               {"__ctype_init", NULL},
               {"__call_tls_dtors", NULL},
               {"__pthread_keys", NULL},
               {"__res_state", NULL},
               {"_thread_db_sizeof_pthread", NULL},
               {"_thread_db_pthread_tid", NULL},
               {"_thread_db_pthread_list", NULL},
               {"_thread_db_pthread_specific", NULL},
               {"_thread_db_link_map_l_tls_modid", NULL},
               {"_thread_db_link_map_l_tls_offset", NULL},
               {"__asan_init", NULL},
               {"__tsan_init", NULL}};
#define NUM_SYMBOLS (sizeof symbols / sizeof symbols[0])
static bool looked_up;

/* Before any region, but where the library is part of a program whose own constructors run regions: those come to it on
 * one thread. */
__attribute__((constructor)) static void look_up(void)
{
    for (unsigned i = 0; i < NUM_SYMBOLS && !looked_up; i++)
        symbols[i].address = dlsym(RTLD_DEFAULT, symbols[i].name);
    looked_up = true;
}

void *uth_tls_symbol(const char *name)
{
    look_up();
    for (unsigned i = 0; i < NUM_SYMBOLS; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return symbols[i].address;
    return NULL;
}

static int count_objects(struct dl_phdr_info *info, size_t bytes, void *loaded)
{
    (void)bytes;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

unsigned long long uth_tls_objects_loaded(void)
{
    unsigned long long loaded = 0;
    os_objects_visit(count_objects, &loaded);
    return loaded;
}

/* The C library's own, and what the topology library brings along: it keeps nothing there from one call to the next
 * that a program would miss. libstdc++ is not in this list: the exceptions that a thread has in flight are in its TLS
 * segment. */
static bool is_indifferent(const char *path)
{
    static const char *const names[] = {"libc.so.",  "ld-linux",  "ld64.so",       "libpthread.so.", "libm.so.",
                                        "libdl.so.", "librt.so.", "libresolv.so.", "libhwloc.so.",   "libudev.so."};
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* What the C library keeps for each thread and gives a program by a call, not by a variable. */
static bool is_of_a_thread(const char *symbol)
{
    static const char *const names[] = {"pthread_self", "pthread_setspecific", "tss_set",
                                        "thrd_current", "uselocale",           "flockfile"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(symbol, names[i]) == 0)
            return true;
    return false;
}

/* Compilers keep the address of errno over calls. That goes wrong where a function with OpenMP constructs in it uses
 * errno, since its thread may come out of a construct on another kernel thread. */
#define ASKS_STATE 1u
#define ASKS_ERRNO 2u
#define ASKS_OPENMP 4u
static unsigned kind_of_symbol(const char *symbol)
{
    if (strcmp(symbol, "__errno_location") == 0)
        return ASKS_ERRNO;
    if (strncmp(symbol, "GOMP_", 5) == 0 || strncmp(symbol, "__kmpc_", 7) == 0)
        return ASKS_OPENMP;
    return is_of_a_thread(symbol) ? ASKS_STATE : 0;
}

struct dynamic {
    const char *strings;
    const ElfW(Sym) * symbols;
    const char *table[2]; /* of relocations: all but those of calls, those of calls */
    size_t bytes[2];
};

/* The dynamic linker adds the object's address to what stands here, but not on every processor. */
static const char *dynamic_place(const struct dl_phdr_info *info, ElfW(Addr) value)
{
    return (const char *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static struct dynamic read_loaded_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    struct dynamic d = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_STRTAB:
            d.strings = dynamic_place(info, entry->d_un.d_ptr);
            break;
        case DT_SYMTAB:
            d.symbols = (const ElfW(Sym) *)(const void *)dynamic_place(info, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            d.table[0] = dynamic_place(info, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            d.bytes[0] = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            d.table[1] = dynamic_place(info, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            d.bytes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return d;
}

/* Whether the object's relocations name one of those calls. (Its symbol table's length is written nowhere.) */
static bool asks_for_thread_state(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    struct dynamic d = read_loaded_dynamic(info, dynamic);
    if (d.strings == NULL || d.symbols == NULL)
        return false;
    unsigned asks = 0;
    for (unsigned t = 0; t < 2; t++) {
        const ElfW(Rela) *rela = (const ElfW(Rela) *)(const void *)d.table[t];
        for (size_t i = 0; rela != NULL && i < d.bytes[t] / sizeof *rela; i++) {
            size_t symbol = sizeof(void *) == 8 ? (size_t)(rela[i].r_info >> 32) : (size_t)(rela[i].r_info >> 8);
            if (symbol != 0 && d.symbols[symbol].st_shndx == SHN_UNDEF)
                asks |= kind_of_symbol(d.strings + d.symbols[symbol].st_name);
        }
    }
    return asks & ASKS_STATE || (asks & ASKS_ERRNO && asks & ASKS_OPENMP);
}

static int look_at_object(struct dl_phdr_info *info, size_t bytes, void *wanted)
{
    bool has_tls = false, is_ours = false;
    const ElfW(Dyn) *dynamic = NULL;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, here = (uintptr_t)&look_at_object;
        has_tls |= segment->p_type == PT_TLS && segment->p_memsz > 0;
        is_ours |= segment->p_type == PT_LOAD && here >= start && here < start + segment->p_memsz;
        if (segment->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)start;
    }
    /* Linked into the program itself, the runtime's variables cannot be told from the program's: the program counts. */
    bool is_program = info->dlpi_name == NULL || info->dlpi_name[0] == '\0';
    if (is_program ? has_tls : !is_ours && !is_indifferent(info->dlpi_name) && has_tls)
        *(bool *)wanted = true;
    else if (!is_ours && dynamic != NULL && (is_program || !is_indifferent(info->dlpi_name)))
        *(bool *)wanted |= asks_for_thread_state(info, dynamic);
    return *(bool *)wanted;
}

struct program {
    uintptr_t address;
    bool has_address, has_tls;
};

static int look_at_program(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct program *p = arg;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        p->has_tls |= segment->p_type == PT_TLS && segment->p_memsz > 0;
        p->has_address |= segment->p_type == PT_LOAD && p->address >= start && p->address < start + segment->p_memsz;
    }
    return 1; /* it comes first */
}

bool uth_tls_objects_of_program(const void *library)
{
    struct program p = {.address = (uintptr_t)library};
    os_objects_visit(look_at_program, &p);
    return p.has_tls && !p.has_address;
}

bool uth_tls_objects_wanted(void)
{
    bool wanted = false;
    os_objects_visit(look_at_object, &wanted);
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
    const uint32_t *module = uth_tls_symbol("_thread_db_link_map_l_tls_modid");
    const uint32_t *offset = uth_tls_symbol("_thread_db_link_map_l_tls_offset");
    if (module == NULL || offset == NULL)
        return 0;
    struct collection c = {.out = out, .module_at = module[2], .offset_at = offset[2]};
    os_objects_visit(collect, &c);
    return c.n;
}

#else

unsigned uth_tls_objects_static(struct uth_tls_segment *out)
{
    (void)out;
    return 0;
}

#endif
