/* Reads and changes the symbols of a loaded object: see object.h. */
#include "object.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the address of a table. On most processors the dynamic linker has turned the file's offsets into addresses;
 * otherwise `base` is added. */
static const void *table_at(ElfW(Addr) base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value); /* NOLINT(performance-no-int-to-ptr) */
}

/* Returns the number of symbols. GNU's hash table does not have it: the last entry of the last chain is the last
 * symbol. */
static size_t count_hashed(const uint32_t *gnu_hash)
{
    uint32_t buckets = gnu_hash[0], first = gnu_hash[1], words = gnu_hash[2], last = 0;
    const uint32_t *bucket = gnu_hash + 4 + (size_t)words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return first;
    while (!(chain[last - first] & 1))
        last++;
    return (size_t)last + 1;
}

bool object_read(struct object *o, const struct dl_phdr_info *info)
{
    *o = (struct object){.base = info->dlpi_addr,
                         .path = info->dlpi_name,
                         .segments = info->dlpi_phdr,
                         .num_segments = info->dlpi_phnum};
    const ElfW(Dyn) *d = NULL;
    for (unsigned i = 0; i < o->num_segments; i++)
        if (o->segments[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(o->base + o->segments[i].p_vaddr); /* NOLINT(performance-no-int-to-ptr) */
    for (; d && d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            o->symbols = (ElfW(Sym) *)(uintptr_t)table_at(o->base, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            o->names = table_at(o->base, d->d_un.d_ptr);
            break;
        case DT_STRSZ:
            o->names_bytes = d->d_un.d_val;
            break;
        case DT_HASH:
            o->num_symbols = ((const uint32_t *)table_at(o->base, d->d_un.d_ptr))[1];
            break;
        case DT_GNU_HASH:
            if (o->num_symbols == 0)
                o->num_symbols = count_hashed(table_at(o->base, d->d_un.d_ptr));
            break;
        case DT_JMPREL:
            o->relocations[0] = table_at(o->base, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            o->num_relocations[0] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            o->relocations[1] = table_at(o->base, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            o->num_relocations[1] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    return o->symbols && o->names && o->num_symbols > 1;
}

bool object_mentions(const struct object *o, const char *part)
{
    return memmem(o->names, o->names_bytes, part, strlen(part)) != NULL;
}

ElfW(Sym) * object_symbol(const struct object *o, const char *part, const ElfW(Sym) * last)
{
    if (!last && !object_mentions(o, part))
        return NULL;
    for (ElfW(Sym) *s = o->symbols + (last ? last - o->symbols : 0) + 1; s < o->symbols + o->num_symbols; s++)
        if (s->st_shndx != SHN_UNDEF && s->st_name < o->names_bytes && strstr(object_name(o, s), part))
            return s;
    return NULL;
}

void *object_find(const struct object *o, const char *name)
{
    for (const ElfW(Sym) *s = NULL; (s = object_symbol(o, name, s));)
        if (strcmp(object_name(o, s), name) == 0)
            return object_address(o, s);
    return NULL;
}

/* Returns the protection of the page at the address, as the dynamic linker has set it; -1: the address is in no
 * segment. The dynamic linker makes a part of a segment read-only (RELRO), up to the last page that is completely in
 * that part. */
static int protection_of(const struct object *o, ElfW(Addr) address, ElfW(Addr) page)
{
    for (unsigned i = 0; i < o->num_segments; i++) {
        const ElfW(Phdr) *p = &o->segments[i];
        ElfW(Addr) begin = o->base + p->p_vaddr, end = (begin + p->p_memsz) & ~(page - 1);
        if (p->p_type == PT_GNU_RELRO && address >= begin && address < end)
            return PROT_READ;
    }
    for (unsigned i = 0; i < o->num_segments; i++) {
        const ElfW(Phdr) *p = &o->segments[i];
        if (p->p_type == PT_LOAD && address - o->base - p->p_vaddr < p->p_memsz)
            return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
                   (p->p_flags & PF_X ? PROT_EXEC : 0);
    }
    return -1;
}

/* Writes a word, which lies in one page. Makes that page writable meanwhile if it is not. Returns false if that
 * fails. */
static bool write_word(const struct object *o, ElfW(Addr) * word, ElfW(Addr) value)
{
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    void *begin = (void *)((ElfW(Addr))word & ~(page - 1)); /* NOLINT(performance-no-int-to-ptr) */
    int prot = protection_of(o, (ElfW(Addr))word, page);
    if (prot < 0 || (!(prot & PROT_WRITE) && mprotect(begin, page, prot | PROT_WRITE) != 0))
        return false;
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    if (!(prot & PROT_WRITE))
        mprotect(begin, page, prot);
    return true;
}

bool object_replace(const struct object *o, ElfW(Sym) * s, void *fn)
{
    return write_word(o, &s->st_value, (ElfW(Addr))fn - o->base);
}

bool object_rebind(const struct object *o, const char *name, void *fn)
{
    bool any = false;
    for (unsigned k = 0; k < 2; k++) {
        for (size_t i = 0; i < o->num_relocations[k]; i++) {
            const ElfW(Rela) *r = &o->relocations[k][i];
            size_t symbol = ELF64_R_SYM(r->r_info);
            if (symbol != 0 && symbol < o->num_symbols && r->r_addend == 0 &&
                strcmp(object_name(o, &o->symbols[symbol]), name) == 0)
                any = write_word(o, (ElfW(Addr) *)(o->base + r->r_offset), (ElfW(Addr))fn) || any; /* NOLINT */
        }
    }
    return any;
}
