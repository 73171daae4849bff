/* Which functions the loaded objects want from others.
 *
 * Does: read the objects' own symbol tables. What an object wants stands in front of what it offers: the hash table has
 * the number of the first symbol that it offers. An old hash table has the number of all symbols.
 * Does not: see what is looked up by dlsym. */
#include "os.h"

#include <link.h>
#include <string.h>

struct wanted {
    const char *name;
    bool found;
};

struct tables {
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *hash, *old_hash;
};

/* The C library has made an address of the offset, but where it may not write. */
static const void *table_at(const struct dl_phdr_info *info, ElfW(Addr) at)
{
    return (const void *)(at < info->dlpi_addr ? info->dlpi_addr + at : at); // NOLINT(performance-no-int-to-ptr)
}

static struct tables tables_of(const struct dl_phdr_info *info, const ElfW(Dyn) * section)
{
    struct tables t = {0};
    for (const ElfW(Dyn) *d = section; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            t.strings = table_at(info, d->d_un.d_ptr);
        else if (d->d_tag == DT_SYMTAB)
            t.symbols = table_at(info, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            t.hash = table_at(info, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            t.old_hash = table_at(info, d->d_un.d_ptr);
    }
    return t;
}

static bool tables_want(const struct tables *t, const char *name)
{
    if (t->strings == NULL || t->symbols == NULL || (t->hash == NULL && t->old_hash == NULL))
        return false;
    uint32_t end = t->hash != NULL ? t->hash[1] : t->old_hash[1];
    for (uint32_t i = 1; i < end; i++)
        if (t->symbols[i].st_shndx == SHN_UNDEF && strcmp(t->strings + t->symbols[i].st_name, name) == 0)
            return true;
    return false;
}

static int look_into_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct wanted *w = arg;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum && !w->found; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            struct tables t = tables_of(info, table_at(info, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
            w->found = tables_want(&t, w->name);
        }
    return w->found;
}

bool os_objects_want(const char *name)
{
    struct wanted w = {name, false};
    os_objects_visit(look_into_object, &w);
    return w.found;
}
