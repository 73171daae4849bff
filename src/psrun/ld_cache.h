/* The dynamic loader's cache of libraries, /etc/ld.so.cache, in the GNU C library's format (the only one since 2.32).
 *
 * Does not choose between files: if the cache names several files for a library (for newer processors: glibc-hwcaps),
 * the loader must be asked. Every offset is checked against the file. Cost: one mapping; a look-up passes over all
 * names. */
#ifndef PSRUN_LD_CACHE_H
#define PSRUN_LD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ld_cache {
    const char *map;
    size_t size;
    const struct ld_cache_entry *entry;
    uint32_t num;
    size_t end; /* offset where the names end */
};

/* Opens the cache. Returns false if there is none in the known format; then there is nothing to close. */
bool ld_cache_open(struct ld_cache *c);
void ld_cache_close(struct ld_cache *c);

/* Returns the file of the library `name` for psrun's own kind of processor. NULL: there is none, or the loader has a
 * choice. */
const char *ld_cache_find(const struct ld_cache *c, const char *name);

#endif
