/* Reads an ELF file: see elf_file.h. */
#include "elf_file.h"
#include "os.h"

#include <elf.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN 0x8000u /* bit of a version index: not the default version */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA ELFDATA2LSB
#else
#define OUR_DATA ELFDATA2MSB
#endif
#define OUR_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

/* Returns the address of `bytes` bytes at the offset; NULL if the file does not contain them all, or they are not
 * aligned. */
static const void *at_offset(const struct elf *e, size_t offset, size_t bytes, size_t align)
{
    return offset <= e->size && bytes <= e->size - offset && offset % align == 0 ? e->map + offset : NULL;
}

static const ElfW(Ehdr) * header(const struct elf *e) { return (const ElfW(Ehdr) *)e->map; }

static const ElfW(Phdr) * segment(const struct elf *e, unsigned i)
{
    return (const ElfW(Phdr) *)at_offset(e, header(e)->e_phoff + i * sizeof(ElfW(Phdr)), sizeof(ElfW(Phdr)),
                                         alignof(ElfW(Phdr)));
}

/* Returns the bytes that would be loaded at an address; NULL if they are not in the file, or not aligned. */
static const void *at_address(const struct elf *e, ElfW(Addr) address, size_t bytes, size_t align)
{
    for (unsigned i = 0; i < header(e)->e_phnum; i++) {
        const ElfW(Phdr) *p = segment(e, i);
        if (p && p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
            return at_offset(e, p->p_offset + (address - p->p_vaddr), bytes, align);
    }
    return NULL;
}

static const char *string_at(const struct elf *e, size_t offset) { return offset < e->str_size ? e->str + offset : ""; }

struct tables {
    size_t str, sym, versym, verneed, verdef, hash, gnu_hash; /* addresses; 0: the file has no such table */
    size_t str_size, num_verneed, num_verdef;
    size_t soname; /* an offset in the strings; 0: none */
    size_t needed[ELF_NEEDED_MAX];
    unsigned num_needed;
};

static bool tells_how_to_search(const ElfW(Dyn) * d)
{
    return d->d_tag == DT_RPATH || d->d_tag == DT_RUNPATH || d->d_tag == DT_AUXILIARY || d->d_tag == DT_FILTER ||
           d->d_tag == DT_AUDIT || d->d_tag == DT_DEPAUDIT ||
           (d->d_tag == DT_FLAGS_1 && (d->d_un.d_val & DF_1_NODEFLIB));
}

static void read_dynamic_entry(struct tables *t, const ElfW(Dyn) * d)
{
    const struct {
        int64_t tag;
        size_t *value;
    } fields[] = {{DT_STRTAB, &t->str},        {DT_STRSZ, &t->str_size},       {DT_SYMTAB, &t->sym},
                  {DT_VERSYM, &t->versym},     {DT_VERNEED, &t->verneed},      {DT_VERNEEDNUM, &t->num_verneed},
                  {DT_VERDEF, &t->verdef},     {DT_VERDEFNUM, &t->num_verdef}, {DT_HASH, &t->hash},
                  {DT_GNU_HASH, &t->gnu_hash}, {DT_SONAME, &t->soname}};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].tag == d->d_tag)
            *fields[i].value = d->d_un.d_val;
    if (d->d_tag == DT_NEEDED && t->num_needed < ELF_NEEDED_MAX)
        t->needed[t->num_needed++] = d->d_un.d_val;
}

/* Returns how many symbols fit between the symbol table's start and the next table. */
static size_t symbols_to_next_table(const struct tables *t)
{
    const size_t others[] = {t->str, t->versym, t->verneed, t->verdef, t->hash, t->gnu_hash};
    size_t end = SIZE_MAX;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] > t->sym && others[i] < end)
            end = others[i];
    return end == SIZE_MAX ? 0 : (end - t->sym) / sizeof(ElfW(Sym));
}

static uint32_t last_in_buckets(const uint32_t *bucket, uint32_t num)
{
    uint32_t last = 0;
    for (uint32_t i = 0; bucket && i < num; i++)
        if (bucket[i] > last)
            last = bucket[i];
    return last;
}

/* Returns the number of symbols. The dynamic section does not tell it, but the hash tables do. Only an empty GNU table
 * does not (in a program that exports nothing). Then the result is what fits before the next table. */
static size_t count_symbols(const struct elf *e, const struct tables *t)
{
    if (t->hash) {
        const uint32_t *h = at_address(e, t->hash, 8, 4);
        return h ? h[1] : 0;
    }
    const uint32_t *g = t->gnu_hash ? at_address(e, t->gnu_hash, 16, 4) : NULL;
    if (!g)
        return 0;
    uint32_t num_buckets = g[0], first = g[1];
    ElfW(Addr) buckets = t->gnu_hash + 16 + (size_t)g[2] * sizeof(ElfW(Addr));
    const uint32_t *bucket = at_address(e, buckets, (size_t)num_buckets * 4, 4);
    uint32_t last = last_in_buckets(bucket, num_buckets);
    if (last < first)
        return symbols_to_next_table(t);
    for (ElfW(Addr) chains = buckets + (size_t)num_buckets * 4;; last++) {
        const uint32_t *link = at_address(e, chains + (size_t)(last - first) * 4, 4, 4);
        if (!link || (*link & 1))
            return link ? last + 1u : 0;
    }
}

static void read_hash(struct elf *e, const struct tables *t)
{
    const uint32_t *g = t->gnu_hash ? at_address(e, t->gnu_hash, 16, 4) : NULL;
    if (!g || g[0] == 0 || g[2] == 0 || g[1] > e->num_sym)
        return;
    struct elf_hash h = {.num_buckets = g[0], .first = g[1], .num_bloom = g[2], .shift = g[3] % 32};
    ElfW(Addr) bloom = t->gnu_hash + 16, bucket = bloom + (size_t)g[2] * sizeof(ElfW(Addr));
    ElfW(Addr) chain = bucket + (size_t)g[0] * 4;
    h.bloom = at_address(e, bloom, (size_t)g[2] * sizeof(ElfW(Addr)), alignof(ElfW(Addr)));
    h.bucket = at_address(e, bucket, (size_t)g[0] * 4, 4);
    h.chain = h.first < e->num_sym ? at_address(e, chain, (e->num_sym - h.first) * 4, 4) : h.bucket;
    if (!h.bloom || !h.bucket || !h.chain || last_in_buckets(h.bucket, h.num_buckets) < h.first)
        return;
    e->hash = h;
    /* In a file of type ET_DYN all undefined symbols come before those of the hash table. In a program at a fixed
     * address an undefined function may have the address of its PLT entry, and then it is in the hash table. */
    if (e->type == ET_DYN)
        e->end_wanted = h.first;
}

static void set_version(struct elf *e, unsigned index, const char *name, const char *file)
{
    index &= ~HIDDEN;
    if (index < ELF_VERSIONS_MAX)
        e->version[index] = (struct elf_version){name, file};
}

static void read_versions(struct elf *e, const struct tables *t)
{
    ElfW(Addr) address = t->verneed;
    for (size_t i = 0; i < t->num_verneed; i++) {
        const ElfW(Verneed) *n = at_address(e, address, sizeof *n, alignof(ElfW(Verneed)));
        if (!n)
            break;
        ElfW(Addr) aux = address + n->vn_aux;
        for (unsigned k = 0; k < n->vn_cnt; k++) {
            const ElfW(Vernaux) *a = at_address(e, aux, sizeof *a, alignof(ElfW(Vernaux)));
            if (!a)
                break;
            set_version(e, a->vna_other, string_at(e, a->vna_name), string_at(e, n->vn_file));
            if (a->vna_next == 0)
                break;
            aux += a->vna_next;
        }
        if (n->vn_next == 0)
            break;
        address += n->vn_next;
    }
    address = t->verdef;
    for (size_t i = 0; i < t->num_verdef; i++) {
        const ElfW(Verdef) *d = at_address(e, address, sizeof *d, alignof(ElfW(Verdef)));
        const ElfW(Verdaux) *a = d ? at_address(e, address + d->vd_aux, sizeof *a, alignof(ElfW(Verdaux))) : NULL;
        if (!a)
            break;
        if (!(d->vd_flags & VER_FLG_BASE))
            set_version(e, d->vd_ndx, string_at(e, a->vda_name), NULL);
        if (d->vd_next == 0)
            break;
        address += d->vd_next;
    }
}

static enum elf_status read_elf_dynamic(struct elf *e, const ElfW(Phdr) * p)
{
    struct tables t = {0};
    const ElfW(Dyn) *d = at_offset(e, p->p_offset, p->p_filesz, alignof(ElfW(Dyn)));
    if (!d)
        return ELF_BROKEN;
    for (size_t i = 0; i < p->p_filesz / sizeof *d && d[i].d_tag != DT_NULL; i++) {
        read_dynamic_entry(&t, &d[i]);
        e->own_search |= tells_how_to_search(&d[i]);
    }
    e->str = t.str ? at_address(e, t.str, t.str_size, 1) : NULL;
    e->str_size = e->str ? t.str_size : 0;
    if (e->str_size == 0 || e->str[e->str_size - 1] != '\0')
        return t.num_needed || t.soname ? ELF_BROKEN : ELF_OK;
    e->soname = t.soname ? string_at(e, t.soname) : NULL;
    for (unsigned i = 0; i < t.num_needed; i++)
        e->needed[e->num_needed++] = string_at(e, t.needed[i]);
    e->num_sym = count_symbols(e, &t);
    e->sym = at_address(e, t.sym, e->num_sym * sizeof *e->sym, alignof(ElfW(Sym)));
    if (!e->sym)
        e->num_sym = 0;
    e->end_wanted = e->num_sym;
    read_hash(e, &t);
    e->versym = t.versym ? at_address(e, t.versym, e->num_sym * sizeof *e->versym, alignof(ElfW(Half))) : NULL;
    read_versions(e, &t);
    return ELF_OK;
}

static enum elf_status read_elf_file(struct elf *e)
{
    const unsigned char *ident = at_offset(e, 0, EI_NIDENT, 1);
    if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return ELF_NOT;
    const ElfW(Ehdr) *h = header(e);
    if (e->size > offsetof(ElfW(Ehdr), e_machine) + sizeof h->e_machine && ident[EI_DATA] == OUR_DATA)
        e->machine = h->e_machine; /* this field is at the same place in both classes */
    if (ident[EI_CLASS] != OUR_CLASS || ident[EI_DATA] != OUR_DATA)
        return ELF_FOREIGN;
    if (e->size < sizeof *h || (h->e_phnum > 0 && h->e_phentsize != sizeof(ElfW(Phdr))))
        return ELF_BROKEN;
    e->type = h->e_type;
    const ElfW(Phdr) *dynamic = NULL;
    for (unsigned i = 0; i < h->e_phnum; i++) {
        const ElfW(Phdr) *p = segment(e, i);
        if (!p)
            return ELF_BROKEN;
        if (p->p_type == PT_DYNAMIC)
            dynamic = p;
        e->tls |= p->p_type == PT_TLS && p->p_memsz > 0;
        if (p->p_type == PT_INTERP) {
            e->interp = at_offset(e, p->p_offset, p->p_filesz, 1);
            if (!e->interp || p->p_filesz == 0 || e->interp[p->p_filesz - 1] != '\0')
                return ELF_BROKEN;
        }
    }
    return dynamic ? read_elf_dynamic(e, dynamic) : ELF_OK;
}

enum elf_status elf_open(struct elf *e, const char *path)
{
    memset(e, 0, sizeof *e);
    /* O_NONBLOCK: the file may be a pipe, whose open would wait */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0)
        return ELF_UNREADABLE;
    if (os_fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return ELF_UNREADABLE;
    }
    e->dev = st.st_dev;
    e->ino = st.st_ino;
    e->size = (size_t)st.st_size;
    void *map = e->size ? mmap(NULL, e->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return ELF_NOT;
    e->map = map;
    e->path = strdup(path);
    enum elf_status status = e->path ? read_elf_file(e) : ELF_UNREADABLE;
    if (status != ELF_OK) {
        unsigned machine = e->machine;
        elf_close(e);
        e->machine = machine;
    }
    return status;
}

void elf_close(struct elf *e)
{
    if (e->map)
        munmap((void *)e->map, e->size);
    free(e->path);
    memset(e, 0, sizeof *e);
}

const char *elf_sym_name(const struct elf *e, size_t i) { return string_at(e, e->sym[i].st_name); }

const struct elf_version *elf_sym_version(const struct elf *e, size_t i)
{
    unsigned index = e->versym ? e->versym[i] & ~HIDDEN : 0;
    return index < ELF_VERSIONS_MAX && e->version[index].name ? &e->version[index] : NULL;
}

static unsigned binding(const struct elf *e, size_t i) { return e->sym[i].st_info >> 4; }

bool elf_sym_wanted(const struct elf *e, size_t i)
{
    return e->sym[i].st_shndx == SHN_UNDEF && binding(e, i) == STB_GLOBAL;
}

bool elf_sym_given(const struct elf *e, size_t i)
{
    unsigned visibility = e->sym[i].st_other & 3u;
    return e->sym[i].st_shndx != SHN_UNDEF && binding(e, i) != STB_LOCAL &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool is_definition(const struct elf *e, size_t i, const char *name, const char *version)
{
    if (!elf_sym_given(e, i) || strcmp(elf_sym_name(e, i), name) != 0)
        return false;
    const struct elf_version *v = elf_sym_version(e, i);
    return !version || !v || strcmp(v->name, version) == 0;
}

bool elf_defines(const struct elf *e, const char *name, const char *version)
{
    const struct elf_hash *t = &e->hash;
    if (!t->bucket) {
        for (size_t i = 0; i < e->num_sym; i++)
            if (is_definition(e, i, name, version))
                return true;
        return false;
    }
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    const unsigned bits = sizeof(ElfW(Addr)) * 8;
    ElfW(Addr) word = t->bloom[hash / bits % t->num_bloom];
    if (!(word >> hash % bits & word >> (hash >> t->shift) % bits & 1))
        return false;
    size_t i = t->bucket[hash % t->num_buckets];
    if (i < t->first)
        return false;
    for (; i < e->num_sym; i++) {
        uint32_t link = t->chain[i - t->first];
        if ((link | 1) == (hash | 1) && is_definition(e, i, name, version))
            return true;
        if (link & 1)
            break;
    }
    return false;
}

size_t elf_find(const struct elf *e, const char *part)
{
    if (!e->str || !memmem(e->str, e->str_size, part, strlen(part)))
        return e->num_sym;
    for (size_t i = 0; i < e->num_sym; i++)
        if (elf_sym_given(e, i) && strstr(elf_sym_name(e, i), part))
            return i;
    return e->num_sym;
}

bool elf_wants_any(const struct elf *e, const char *const names[])
{
    for (size_t i = 0; i < e->end_wanted; i++) {
        if (e->sym[i].st_shndx != SHN_UNDEF)
            continue;
        const char *wanted = elf_sym_name(e, i);
        for (unsigned k = 0; names[k]; k++)
            if (wanted[0] == names[k][0] && strcmp(wanted, names[k]) == 0)
                return true;
    }
    return false;
}

bool elf_has_version(const struct elf *e, const char *version)
{
    for (unsigned i = 0; i < ELF_VERSIONS_MAX; i++)
        if (e->version[i].name && !e->version[i].file && strcmp(e->version[i].name, version) == 0)
            return true;
    return false;
}

/* Returns the text of the first note of this owner between the offsets `at` and `end`; NULL if there is none, or it is
 * not text. A note's header is followed by its owner and its text, each padded to 4 bytes. */
static const char *note_in(const struct elf *e, size_t at, size_t end, const char *owner)
{
    for (const ElfW(Nhdr) * n; (n = at_offset(e, at, sizeof *n, alignof(ElfW(Nhdr)))) != NULL && at < end;) {
        size_t name = at + sizeof *n, text = name + (((size_t)n->n_namesz + 3) & ~(size_t)3);
        const char *its_owner = at_offset(e, name, n->n_namesz, 1), *its_text = at_offset(e, text, n->n_descsz, 1);
        if (!its_owner || !its_text)
            break;
        if (n->n_namesz == strlen(owner) + 1 && memcmp(its_owner, owner, n->n_namesz) == 0)
            return n->n_descsz > 0 && its_text[n->n_descsz - 1] == '\0' ? its_text : NULL;
        at = text + (((size_t)n->n_descsz + 3) & ~(size_t)3);
    }
    return NULL;
}

const char *elf_note(const struct elf *e, const char *owner)
{
    const char *found = NULL;
    for (unsigned i = 0; i < header(e)->e_phnum && !found; i++) {
        const ElfW(Phdr) *p = segment(e, i);
        if (p && p->p_type == PT_NOTE && p->p_offset <= e->size && p->p_filesz <= e->size - p->p_offset)
            found = note_in(e, p->p_offset, p->p_offset + p->p_filesz, owner);
    }
    return found;
}

bool elf_contains(const struct elf *e, const char *name)
{
    const ElfW(Ehdr) *h = header(e);
    for (unsigned i = 0; i < h->e_shnum && h->e_shentsize == sizeof(ElfW(Shdr)); i++) {
        const ElfW(Shdr) *s = at_offset(e, h->e_shoff + i * sizeof *s, sizeof *s, alignof(ElfW(Shdr)));
        if (!s || s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum)
            continue;
        const ElfW(Shdr) *strings = at_offset(e, h->e_shoff + s->sh_link * sizeof *s, sizeof *s, alignof(ElfW(Shdr)));
        const char *str = strings ? at_offset(e, strings->sh_offset, strings->sh_size, 1) : NULL;
        const ElfW(Sym) *sym = at_offset(e, s->sh_offset, s->sh_size, alignof(ElfW(Sym)));
        if (!str || !sym || strings->sh_size == 0 || str[strings->sh_size - 1] != '\0')
            continue;
        for (size_t k = 0; k < s->sh_size / sizeof *sym; k++)
            if (sym[k].st_shndx != SHN_UNDEF && (sym[k].st_info & 0xfu) == STT_FUNC &&
                sym[k].st_name < strings->sh_size && strcmp(str + sym[k].st_name, name) == 0)
                return true;
    }
    return false;
}
