/* Symbols that a loaded object does not export: read from the symbol table of its file, as debuggers do.
 *
 * Before glibc 2.34 the constants for debuggers (nptl_db) and the table of keys are local symbols of libpthread.so.0.
 * Distributions do not strip its symbol table, because gdb and libthread_db need it. In a stripped file nothing is
 * found. Callers: constructors. */
#include "loaded_object.h"
#include "os.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct wanted {
    const char *library;
    struct os_symbol *symbols;
    unsigned n;
};

struct file {
    const char *start;
    size_t bytes;
};

/* Returns the address of `count` items of one_bytes bytes at this offset of the file; NULL if the file ends before. */
static const void *in_file(const struct file *f, uint64_t offset, uint64_t count, uint64_t one_bytes)
{
    bool fits = offset <= f->bytes && count <= (f->bytes - offset) / one_bytes;
    return fits ? f->start + offset : NULL;
}

static void take_symbol(const struct wanted *w, const char *name, ElfW(Addr) address)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->symbols[i].address == NULL && strcmp(w->symbols[i].name, name) == 0)
            w->symbols[i].address = (void *)address; // NOLINT(performance-no-int-to-ptr)
}

static void read_table(const struct file *f, const ElfW(Shdr) * table, const ElfW(Shdr) * names, ElfW(Addr) base,
                       const struct wanted *w)
{
    size_t n = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *symbols = in_file(f, table->sh_offset, n, sizeof *symbols);
    const char *text = in_file(f, names->sh_offset, names->sh_size, 1);
    if (symbols == NULL || text == NULL || names->sh_size == 0 || text[names->sh_size - 1] != '\0')
        return;
    for (size_t i = 0; i < n; i++)
        if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < names->sh_size)
            take_symbol(w, text + symbols[i].st_name, base + symbols[i].st_value);
}

static void read_file(const struct file *f, ElfW(Addr) base, const struct wanted *w)
{
    const ElfW(Ehdr) *header = in_file(f, 0, 1, sizeof *header);
    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    const ElfW(Shdr) *sections = in_file(f, header->e_shoff, header->e_shnum, sizeof *sections);
    for (unsigned i = 0; sections != NULL && i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
            read_table(f, &sections[i], &sections[sections[i].sh_link], base, w);
}

static int look_into_file_of(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct wanted *w = arg;
    const char *name = ps_loaded_of(info).name;
    struct stat about;
    (void)bytes;
    if (name == NULL || strcmp(name, w->library) != 0)
        return 0;
    int fd = open(info->dlpi_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 1;
    struct file f = {.bytes = os_fstat(fd, &about) == 0 ? (size_t)about.st_size : 0};
    void *map = f.bytes != 0 ? mmap(NULL, f.bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (map != MAP_FAILED) {
        f.start = map;
        read_file(&f, info->dlpi_addr, w);
        munmap(map, f.bytes);
    }
    return 1;
}

void os_file_symbols(const char *library, struct os_symbol *symbols, unsigned n)
{
    struct wanted w = {library, symbols, n};
    os_objects_visit(look_into_file_of, &w);
}
