/* A loaded object's symbols, read where the dynamic linker has them. The caller sees to it that the object stays
 * loaded (the dynamic linker's lock, or a list that it is taken from). */
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
    ElfW(Sym) * symbols; /* the first is none; in memory that is as a rule not writable */
    size_t num_symbols;
    const char *names;
    size_t names_bytes;
    const ElfW(Rela) * relocations[2]; /* those of functions, and all others */
    size_t num_relocations[2];
};

/* As dl_iterate_phdr tells of it. False: it has no symbols. */
bool object_read(struct object *o, const struct dl_phdr_info *info);

/* Some symbol's name, defined or not, has `part` in it. */
bool object_mentions(const struct object *o, const char *part);
/* Returns the next symbol after `last` (NULL: the first) that the object defines and whose name has `part` in it; NULL:
 * no more. */
ElfW(Sym) * object_symbol(const struct object *o, const char *part, const ElfW(Sym) * last);
static inline const char *object_name(const struct object *o, const ElfW(Sym) * s) { return o->names + s->st_name; }
static inline void *object_address(const struct object *o, const ElfW(Sym) * s)
{
    return (void *)(o->base + s->st_value); /* NOLINT(performance-no-int-to-ptr) */
}
/* What the object defines by exactly this name; NULL: nothing. */
void *object_find(const struct object *o, const char *name);

/* Makes the dynamic linker and dlsym find fn for this symbol from now on. What was bound to it before stays. False: the
 * memory cannot be written. */
bool object_replace(const struct object *o, ElfW(Sym) * s, void *fn);

/* Makes the object's own calls of `name`, which another object defines, go to fn from now on. False: it has none, or
 * the memory cannot be written. */
bool object_rebind(const struct object *o, const char *name, void *fn);

#endif
