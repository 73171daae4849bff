/* Which loaded objects have thread-local storage, or ask the C library for what it keeps for each thread.
 *
 * Does: ask the dynamic linker (os_objects_visit), which also counts the objects that it loads. Does not: keep what it
 * learns, except the addresses of symbols and of watched words.
 *
 * Symbols are looked up when the library is loaded, not when they are needed, because dlsym waits for the dynamic
 * linker's lock. A thread holds that lock while the constructors of an object that it opens run. Such a constructor may
 * run a region, and wait for a lock of ours. If that lock's owner were waiting in dlsym, both would wait for ever. The
 * place of a segment is a private field of the dynamic linker, published for debuggers (nptl_db).
 *
 * Asking what is loaded takes two locks, and each thread that begins asks. The dynamic linker's count of loaded objects
 * (dlpi_adds) is one word of its variable _rtld_global, but which word is private. So every word of that variable that
 * has the count's value is watched: the count is one of them. As long as all of them keep that value, nothing has been
 * loaded. When one of them has changed, the dynamic linker is asked. Watched words that then differ from the count are
 * not the count, and are watched no longer. If no word is left, or too many have the value at first, every look asks
 * the dynamic linker. */
#define _GNU_SOURCE
#include "tls_objects.h"

#include "atomic.h"
#include "loaded_object.h"
#include "os.h"
#include "tls.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static struct os_symbol symbols[] = {{"_dl_allocate_tls", NULL},
                                     {"_dl_deallocate_tls", NULL},
                                     {"_dl_allocate_tls_init", NULL},
                                     {"__ctype_init", NULL},
                                     {"__call_tls_dtors", NULL},
                                     {"__libc_thread_freeres", NULL},
                                     {"__pthread_keys", NULL},
                                     {"__res_state", NULL},
                                     {"_rtld_global", NULL},
                                     {"__rseq_offset", NULL},
                                     {"__rseq_size", NULL},
                                     {"_thread_db_sizeof_pthread", NULL},
                                     {"_thread_db_pthread_tid", NULL},
                                     {"_thread_db_pthread_list", NULL},
                                     {"_thread_db_pthread_specific", NULL},
                                     {"_thread_db_link_map_l_tls_modid", NULL},
                                     {"_thread_db_link_map_l_tls_offset", NULL},
                                     {"__asan_init", NULL},
                                     {"__tsan_init", NULL},
                                     {"__lsan_init", NULL},
                                     {"fetestexcept", NULL},
                                     {"fegetexceptflag", NULL},
                                     {"__ieee_exceptions_MOD_ieee_get_flag", NULL},
                                     {"__ieee_exceptions_MOD_ieee_get_status", NULL}};
#define NUM_SYMBOLS (sizeof symbols / sizeof symbols[0])
static bool looked_up;
static size_t global_bytes; /* size of _rtld_global; 0: not known */

/* Returns the size of the variable at `address` by the symbol table of its object; 0: not known. */
static size_t bytes_of_symbol(const void *address)
{
#if defined(__GLIBC__)
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (address != NULL && dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
        info.dli_saddr == address)
        return symbol->st_size;
#else
    (void)address;
#endif
    return 0;
}

/* Runs before any region, with one exception: if the library is linked into a program, the program's own constructors
 * may run regions first. Then uth_tls_symbol calls it, on the only thread that there is. */
__attribute__((constructor)) static void look_up(void)
{
    for (unsigned i = 0; i < NUM_SYMBOLS && !looked_up; i++)
        symbols[i].address = dlsym(RTLD_DEFAULT, symbols[i].name);
    if (!looked_up && dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread") == NULL)
        os_file_symbols("libpthread.so.0", symbols, NUM_SYMBOLS);
    if (!looked_up)
        global_bytes = bytes_of_symbol(dlsym(RTLD_DEFAULT, "_rtld_global"));
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

typedef uth_tls_count counter;
struct uth_tls_watch uth_tls_watch;

bool uth_tls_objects_watched(void)
{
    return ps_load_relaxed(&uth_tls_watch.num) != 0 || !ps_load_relaxed(&uth_tls_watch.begun);
}

bool uth_tls_objects_same(unsigned long long loaded) { return uth_tls_watched_are(loaded); }

/* Begins the watch: notes the words that have the value `loaded`. If an object is loaded during the search, the count
 * may be missed. So the count is read again, and the words are used only if it has not changed. */
static void watch_first(unsigned long long loaded)
{
    const counter *words = uth_tls_symbol("_rtld_global");
    unsigned num = 0;
    for (size_t i = 0; words != NULL && (uintptr_t)words % sizeof *words == 0 && i < global_bytes / sizeof *words;
         i++) {
        if (ps_load_relaxed(&words[i]) != loaded)
            continue;
        if (num == UTH_TLS_WATCHED_MOST) {
            ps_store_relaxed(&uth_tls_watch.begun, true);
            return;
        }
        ps_store_relaxed(&uth_tls_watch.word[num++], &words[i]);
    }
    bool still = uth_tls_objects_loaded() == loaded;
    ps_store_relaxed(&uth_tls_watch.begun, still);
    ps_store_release(&uth_tls_watch.num, still ? num : 0);
}

/* Drops the words that differ from the count `loaded`. Other kernel threads read the list at the same time, so it does
 * not shrink: a word that stays takes the place of each word that is dropped. If none stays, the list becomes empty. */
static void watch_fewer(unsigned long long loaded)
{
    unsigned num = ps_load_relaxed(&uth_tls_watch.num);
    bool stays[UTH_TLS_WATCHED_MOST];
    const counter *kept = NULL;
    for (unsigned i = 0; i < num; i++) {
        const counter *word = ps_load_relaxed(&uth_tls_watch.word[i]);
        stays[i] = ps_load_relaxed(word) == loaded;
        kept = stays[i] ? word : kept;
    }
    if (uth_tls_objects_loaded() != loaded)
        return;
    if (kept == NULL)
        ps_store_release(&uth_tls_watch.num, 0);
    for (unsigned i = 0; kept != NULL && i < num; i++)
        if (!stays[i])
            ps_store_relaxed(&uth_tls_watch.word[i], kept);
}

void uth_tls_objects_watch(unsigned long long loaded)
{
    if (ps_load_relaxed(&uth_tls_watch.begun))
        watch_fewer(loaded);
    else if (loaded != 0)
        watch_first(loaded);
}

/* Returns true if the object is part of the C library, by its file's name, which is part of the C library's ABI.
 * Thread-local variables of the C library do not count as the program's. The answer matters only where blocks cannot be
 * made: there a program with thread-local variables gets regions of one member (uth_tls_missing). */
static bool is_of_c_library(const char *path)
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

/* Returns true if the symbol is one of the functions that use what the C library keeps for each thread. */
static bool is_of_a_thread(const char *symbol)
{
    static const char *const names[] = {"pthread_self", "pthread_setspecific", "tss_set",
                                        "thrd_current", "uselocale",           "flockfile"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(symbol, names[i]) == 0)
            return true;
    return false;
}

/* ASKS_...: what an object uses, as its symbols show: state that the C library keeps for a thread, errno, OpenMP
 * constructs. The use of errno counts only together with OpenMP constructs, because compilers keep the address of errno
 * across calls. A thread may leave an OpenMP construct on another kernel thread than it entered it on, and then the
 * kept address is wrong. */
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

/* Returns the ASKS_ bits of the symbols that the object takes from others. Searches the object's relocations, which
 * name each of them: not every object states the length of its symbol table. */
static unsigned asks_for(const struct ps_loaded *o)
{
    unsigned asks = 0;
    if (o->strings == NULL || o->symbols == NULL)
        return 0;
    for (unsigned t = 0; t < 2; t++) {
        const ElfW(Rela) *rela = o->relocations[t];
        for (size_t i = 0; rela != NULL && i < o->num_relocations[t]; i++) {
            uint32_t symbol = ps_loaded_symbol(&rela[i]);
            if (symbol != 0 && o->symbols[symbol].st_shndx == SHN_UNDEF)
                asks |= kind_of_symbol(o->strings + o->symbols[symbol].st_name);
        }
    }
    return asks;
}

static bool asks_for_thread_state(const struct dl_phdr_info *info)
{
    struct ps_loaded object = ps_loaded_of(info);
    unsigned asks = asks_for(&object);
    return asks & ASKS_STATE || (asks & ASKS_ERRNO && asks & ASKS_OPENMP);
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
    /* A program is examined even if the runtime is linked into it, because the runtime's variables cannot be told from
     * the program's. */
    bool is_program = info->dlpi_name == NULL || info->dlpi_name[0] == '\0';
    if (is_program ? has_tls : !is_ours && !is_of_c_library(info->dlpi_name) && has_tls)
        *(bool *)wanted = true;
    else if (!is_ours && (is_program || !is_of_c_library(info->dlpi_name)))
        *(bool *)wanted |= asks_for_thread_state(info);
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
    return 1; /* the visit begins with the program */
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

/* Returns true if the object uses a function that reads status flags. Such a function is one of the C library's, or one
 * of gfortran's library, which reads the flags by an instruction. With object NULL: whether the process has such a
 * function. */
static bool reads_flags(const struct ps_loaded *object)
{
    static const char *const names[] = {"fetestexcept", "fegetexceptflag", "__ieee_exceptions_MOD_ieee_get_flag",
                                        "__ieee_exceptions_MOD_ieee_get_status"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (object != NULL ? ps_loaded_wants(object, names[i]) != 0 : uth_tls_symbol(names[i]) != NULL)
            return true;
    return false;
}

struct flags {
    struct ps_loaded program; /* the first object of the visit */
    bool read;
};

static int look_for_flags(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct flags *f = arg;
    struct ps_loaded object = ps_loaded_of(info);
    bool is_program = f->program.section == NULL;
    (void)bytes;
    if (is_program)
        f->program = object;
    f->read = (is_program || (object.name != NULL && ps_loaded_needs(&f->program, object.name)) ||
               asks_for(&object) & ASKS_OPENMP) &&
              reads_flags(&object);
    return f->read;
}

bool uth_tls_objects_read_flags(bool linked)
{
    struct flags f = {.read = false};
    if (linked)
        return reads_flags(NULL);
    os_objects_visit(look_for_flags, &f);
    return f.read;
}

#if defined(__GLIBC__)

struct collection {
    struct uth_tls_segment *out;
    unsigned n;
    char *room;
    size_t bytes;                /* bytes left at `room` */
    size_t module_at, offset_at; /* offsets in the dynamic linker's struct link_map */
};

/* Copies the image to the room, and returns the copy. Returns the object's own image where there is nothing to copy, or
 * no room. The object stays mapped meanwhile: the dynamic linker unmaps no object that a visit still finds. */
static const void *copy_image(struct collection *c, const struct dl_phdr_info *info, const ElfW(Phdr) * tls)
{
    const void *image = (char *)info->dlpi_addr + tls->p_vaddr;
    if (tls->p_filesz == 0)
        return image;
    if (tls->p_filesz > c->bytes) {
        c->bytes = 0;
        return image;
    }
    void *copy = memcpy(c->room, image, tls->p_filesz);
    c->room += tls->p_filesz;
    c->bytes -= tls->p_filesz;
    return copy;
}

/* Computes *from_tp, the segment's offset from every thread pointer, from `offset`, the value that the dynamic linker
 * keeps for the object. False: the segment is not in the static part. */
static bool is_static(ptrdiff_t offset, ptrdiff_t *from_tp)
{
#if defined(__x86_64__)
    *from_tp = -offset;
    return offset > 0; /* 0: no place so far; -1: never a place in the static part */
#elif defined(__aarch64__)
    *from_tp = offset; /* two words of the C library are at offset 0, so no segment is */
    return offset > 0;
#else
    *from_tp = offset;
    return offset >= 0; /* -1: no place so far; -2: never a place in the static part */
#endif
}

/* Adds the segment *found of the object `info` to the collection, if it is in the static part. `map` is a candidate for
 * the dynamic linker's record of that object. False: it is another object's record, and nothing was added. */
static bool collect_of(struct collection *c, const struct dl_phdr_info *info, const struct link_map *map,
                       struct uth_tls_segment *found, const ElfW(Phdr) * tls)
{
    size_t module;
    ptrdiff_t offset;
    memcpy(&module, (const char *)map + c->module_at, sizeof module);
    memcpy(&offset, (const char *)map + c->offset_at, sizeof offset);
    if (map->l_addr != info->dlpi_addr || module != info->dlpi_tls_modid)
        return false;
    if (is_static(offset, &found->from_tp)) {
        found->image = copy_image(c, info, tls);
        c->out[c->n++] = *found;
    }
    return true;
}

/* Finds the object's TLS segment: *out is its program header, and *found what the collection keeps. False: the object
 * has none, or an empty one. */
static bool look_at_segments(const struct dl_phdr_info *info, struct uth_tls_segment *found, const ElfW(Phdr) * *out)
{
    const ElfW(Phdr) *tls = NULL;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_TLS)
            tls = segment;
        if (segment->p_type != PT_LOAD)
            continue;
        low = start < low ? start : low;
        high = start + segment->p_memsz > high ? start + segment->p_memsz : high;
    }
    if (tls != NULL)
        *found = (struct uth_tls_segment){.object = info->dlpi_addr,
                                          .module = info->dlpi_tls_modid,
                                          .image_bytes = tls->p_filesz,
                                          .bytes = tls->p_memsz,
                                          .low = low,
                                          .high = high};
    *out = tls;
    return tls != NULL && tls->p_memsz != 0;
}

static int collect(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct collection *c = arg;
    struct uth_tls_segment found;
    const ElfW(Phdr) * tls;
    (void)bytes;
    if (!look_at_segments(info, &found, &tls) || info->dlpi_tls_modid == 0 || c->n == UTH_TLS_MAX_SEGMENTS)
        return 0;
    for (struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next)
        if (collect_of(c, info, map, &found, tls))
            return 0;
    return 0;
}

unsigned uth_tls_objects_static(struct uth_tls_segment *out, char *room, size_t bytes)
{
    const uint32_t *module = uth_tls_symbol("_thread_db_link_map_l_tls_modid");
    const uint32_t *offset = uth_tls_symbol("_thread_db_link_map_l_tls_offset");
    if (module == NULL || offset == NULL)
        return 0;
    struct collection c = {.out = out, .room = room, .bytes = bytes, .module_at = module[2], .offset_at = offset[2]};
    os_objects_visit(collect, &c);
    return c.n;
}

#else

unsigned uth_tls_objects_static(struct uth_tls_segment *out, char *room, size_t bytes)
{
    (void)out;
    (void)room;
    (void)bytes;
    return 0;
}

#endif
