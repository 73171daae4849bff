/* The dynamic loader's cache of libraries, /etc/ld.so.cache, as the GNU C library writes it (since 2.32 no other way).
 *
 * Does not choose: where the cache names several files for a library (for newer processors: glibc-hwcaps) the loader
 * must be asked. Every offset is checked against the file. Cost: a mapping; a look-up is a pass over the names. */
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
    size_t end; /* of the names */
};

/* Whether there is a cache, in the format that we know; otherwise there is nothing to close. */
bool ld_cache_open(struct ld_cache *c);
void ld_cache_close(struct ld_cache *c);

/* The file of the library `name` for psrun's own kind of processor. NULL: none, or the loader has a choice. */
const char *ld_cache_find(const struct ld_cache *c, const char *name);

#endif
