/* The dynamic section of a loaded object: which libraries it needs, which names it offers, and which names it takes
 * from other objects.
 *
 * The functions read memory that the dynamic linker has mapped, so the object must stay loaded meanwhile. Callers are
 * inside dl_iterate_phdr, or were called by code of the object. */
#ifndef PS_LOADED_OBJECT_H
#define PS_LOADED_OBJECT_H

#include <link.h>

#include "compiler.h"

struct ps_loaded {
    const ElfW(Dyn) * section; /* NULL: the object has none; then all other fields are NULL or 0 */
    const char *strings;
    const char *name; /* DT_SONAME; NULL: the object has none */
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * relocations[2]; /* [0]: DT_RELA; [1]: those of calls, DT_JMPREL */
    size_t num_relocations[2];
    /* The hash table; NULL: there is none. Symbols that the object takes from others have numbers below hash[1], with
     * an exception: see ps_loaded_wanted_end. */
    const uint32_t *hash;
    bool has_gnu_hash;
};

/* Reads the dynamic section of the object at `base`. In most objects the dynamic linker has turned the section's
 * offsets into addresses; where the section is read-only, it has not. */
static inline struct ps_loaded ps_loaded_at(ElfW(Addr) base, const ElfW(Dyn) * section)
{
    struct ps_loaded o = {.section = section};
    const uint32_t *old_hash = NULL;
    const ElfW(Dyn) *name = NULL;
    bool is_rela = true;
    for (const ElfW(Dyn) *d = section; d != NULL && d->d_tag != DT_NULL; d++) {
        ElfW(Addr) value = d->d_un.d_ptr;
        const void *at = (const void *)(value < base ? base + value : value); // NOLINT(performance-no-int-to-ptr)
        if (d->d_tag == DT_STRTAB)
            o.strings = at;
        else if (d->d_tag == DT_SYMTAB)
            o.symbols = at;
        else if (d->d_tag == DT_RELA)
            o.relocations[0] = at;
        else if (d->d_tag == DT_JMPREL)
            o.relocations[1] = at;
        else if (d->d_tag == DT_RELASZ)
            o.num_relocations[0] = value / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_PLTRELSZ)
            o.num_relocations[1] = value / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_PLTREL)
            is_rela = d->d_un.d_val == DT_RELA;
        else if (d->d_tag == DT_GNU_HASH)
            o.hash = at;
        else if (d->d_tag == DT_HASH)
            old_hash = at;
        else if (d->d_tag == DT_SONAME)
            name = d;
    }
    if (!is_rela)
        o.relocations[1] = NULL;
    if (name != NULL && o.strings != NULL)
        o.name = o.strings + name->d_un.d_val;
    o.has_gnu_hash = o.hash != NULL;
    if (o.hash == NULL)
        o.hash = old_hash; /* here hash[1] is the number of all symbols */
    return o;
}

static inline struct ps_loaded ps_loaded_of(const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *section = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            section =
                (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); // NOLINT(performance-no-int-to-ptr)
    return ps_loaded_at(info->dlpi_addr, section);
}

/* Returns whether the object is linked with a library of this name (DT_NEEDED). */
static inline bool ps_loaded_needs(const struct ps_loaded *o, const char *library)
{
    for (const ElfW(Dyn) *d = o->section; o->strings != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && __builtin_strcmp(o->strings + d->d_un.d_val, library) == 0)
            return true;
    return false;
}

/* Returns the number of the relocation's symbol; 0: it has none. */
static inline uint32_t ps_loaded_symbol(const ElfW(Rela) * relocation)
{
    return (uint32_t)(sizeof(void *) == 8 ? relocation->r_info >> 32 : relocation->r_info >> 8);
}

/* Returns a bound: every symbol that the object takes from others has a smaller number. 0: the tables are missing. If
 * the object offers no names, the hash table does not tell the bound (GNU's linker writes one empty bucket). Then the
 * bound comes from the relocations. */
static inline uint32_t ps_loaded_wanted_end(const struct ps_loaded *o)
{
    if (o->strings == NULL || o->symbols == NULL || o->hash == NULL)
        return 0;
    uint32_t end = o->hash[1];
    if (!o->has_gnu_hash || o->hash[0] != 1 || o->hash[4 + o->hash[2] * (sizeof(ElfW(Addr)) / sizeof *o->hash)] != 0)
        return end;
    for (unsigned t = 0; t < 2; t++)
        for (size_t i = 0; o->relocations[t] != NULL && i < o->num_relocations[t]; i++)
            if (ps_loaded_symbol(&o->relocations[t][i]) >= end)
                end = ps_loaded_symbol(&o->relocations[t][i]) + 1;
    return end;
}

/* Returns the number of the symbol of this name that the object takes from others; 0: it takes none. */
static inline uint32_t ps_loaded_wants(const struct ps_loaded *o, const char *name)
{
    uint32_t end = ps_loaded_wanted_end(o);
    for (uint32_t i = 1; i < end && o->strings != NULL; i++)
        if (o->symbols[i].st_shndx == SHN_UNDEF && __builtin_strcmp(o->strings + o->symbols[i].st_name, name) == 0)
            return i;
    return 0;
}

#endif
