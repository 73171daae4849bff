/* The symbols of a loaded object, read from its memory. The caller ensures that the object stays loaded (by the dynamic
 * linker's lock, or because a list keeps it loaded). */
#ifndef PS_POOLS_OBJECT_H
#define PS_POOLS_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct object {
    ElfW(Addr) base;
    const char *path;
    const ElfW(Phdr) * segments;
    unsigned num_segments;
    ElfW(Sym) * symbols; /* [0] is no symbol; the memory is usually read-only */
    size_t num_symbols;
    const char *names;
    size_t names_bytes;
    const ElfW(Rela) * relocations[2]; /* [0]: those of calls (DT_JMPREL); [1]: all others */
    size_t num_relocations[2];
};

/* Fills in *o from what dl_iterate_phdr reports. Returns false if the object has no symbols. */
bool object_read(struct object *o, const struct dl_phdr_info *info);

/* Returns whether the name of some symbol, defined or not, contains `part`. */
bool object_mentions(const struct object *o, const char *part);
/* Returns the next symbol after `last` (NULL: the first) that the object defines and whose name contains `part`; NULL
 * if there is no more. */
ElfW(Sym) * object_symbol(const struct object *o, const char *part, const ElfW(Sym) * last);
static inline const char *object_name(const struct object *o, const ElfW(Sym) * s) { return o->names + s->st_name; }
static inline void *object_address(const struct object *o, const ElfW(Sym) * s)
{
    return (void *)(o->base + s->st_value); /* NOLINT(performance-no-int-to-ptr) */
}
/* Returns the address of what the object defines under exactly this name; NULL: nothing. */
void *object_find(const struct object *o, const char *name);

/* From now on the dynamic linker and dlsym find fn for this symbol. Callers that were bound to the symbol before keep
 * the old function. Returns false if the memory cannot be written. */
bool object_replace(const struct object *o, ElfW(Sym) * s, void *fn);

/* From now on the object's own calls of `name`, which another object defines, call fn. Returns false if the object
 * makes no such call, or the memory cannot be written. */
bool object_rebind(const struct object *o, const char *name, void *fn);

#endif
