/* Reads the loader's cache: see ld_cache.h. */
#include "ld_cache.h"
#include "os.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The flags of an entry for this ABI's loader (glibc: FLAG_ELF_LIBC6, and one for the ABI). */
#if defined __x86_64__ && defined __LP64__
#define OUR_FLAGS 0x0303
#elif defined __aarch64__ && defined __LP64__
#define OUR_FLAGS 0x0a03
#elif defined __riscv && defined __riscv_float_abi_double && defined __LP64__
#define OUR_FLAGS 0x1003
#else
#define OUR_FLAGS (-1) /* no entry has these flags: so the loader is asked */
#endif

/* The format, as in glibc's sysdeps/generic/dl-cache.h. Offsets of names count from the file's beginning. */
struct ld_cache_header {
    char magic[20];
    uint32_t num, names_size;
    uint32_t flags, extension, unused[3];
};

struct ld_cache_entry {
    int32_t flags;
    uint32_t name, file;
    uint32_t os_version;
    uint64_t hwcap; /* not 0: only for some processors */
};

bool ld_cache_open(struct ld_cache *c)
{
    const struct ld_cache_header *h;
    struct stat st;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t size = os_fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    void *map = size > sizeof *h ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return false;
    h = map;
    size_t names = sizeof *h + (size_t)h->num * sizeof(struct ld_cache_entry);
    *c = (struct ld_cache){map, size, (const void *)(h + 1), h->num, names + h->names_size};
    if (memcmp(h->magic, "glibc-ld.so.cache1.1", sizeof h->magic) == 0 && c->end <= size && c->map[c->end - 1] == '\0')
        return true;
    ld_cache_close(c);
    return false;
}

void ld_cache_close(struct ld_cache *c) { munmap((void *)c->map, c->size); }

const char *ld_cache_find(const struct ld_cache *c, const char *name)
{
    const char *found = NULL;
    for (const struct ld_cache_entry *e = c->entry; e < c->entry + c->num; e++) {
        if (e->flags != OUR_FLAGS || e->name >= c->end || e->file >= c->end || strcmp(c->map + e->name, name) != 0)
            continue;
        if (found || e->hwcap)
            return NULL;
        found = c->map + e->file;
    }
    return found;
}
