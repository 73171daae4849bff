/* Reads what psrun needs of an ELF file: what it needs, what it defines, what it leaves undefined, and in which
 * versions.
 *
 * Does not resolve names to files (closure.h asks the dynamic loader itself for that) and does not look into code.
 * Only files of psrun's own class and byte order are read. Every offset is checked against the file, for the file may
 * be anything: a broken one gives ELF_BROKEN, never a fault. An open elf is constant; strings live as long as it is
 * open.
 * Cost: one mmap, no copy of the symbol table; a definition is found by the file's own hash table, what it wants by a
 * pass over the undefined. */
#ifndef PSRUN_ELF_FILE_H
#define PSRUN_ELF_FILE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum elf_status { ELF_OK, ELF_UNREADABLE, ELF_NOT, ELF_FOREIGN, ELF_BROKEN };

#define ELF_NEEDED_MAX 512
#define ELF_VERSIONS_MAX 512

struct elf_version {
    const char *name; /* "GOMP_4.0" */
    const char *file; /* needed versions: the library that must define it; defined ones: NULL */
};

/* DT_GNU_HASH, as far as it lies in the file; bucket NULL: there is none. */
struct elf_hash {
    uint32_t num_buckets, num_bloom, shift, first; /* symbols before the first are not in it */
    const ElfW(Addr) * bloom;
    const uint32_t *bucket, *chain; /* chain[i]: of symbol first + i, for all symbols */
};

struct elf {
    char *path;
    dev_t dev;
    ino_t ino;
    const unsigned char *map;
    size_t size;
    unsigned machine;
    unsigned type;      /* ET_EXEC or ET_DYN */
    const char *interp; /* NULL: none */
    bool tls;           /* has thread-local variables */
    bool own_search;    /* tells the loader where to look for libraries, or what to load beside those of `needed` */
    const char *soname; /* NULL: none */
    unsigned num_needed;
    const char *needed[ELF_NEEDED_MAX];
    struct elf_version version[ELF_VERSIONS_MAX]; /* by version index; name NULL: none */
    const ElfW(Sym) * sym;
    size_t num_sym;
    size_t end_wanted; /* what it leaves undefined stands before this symbol */
    struct elf_hash hash;
    const ElfW(Half) * versym; /* NULL: no versions */
    const char *str;
    size_t str_size;
};

/* Opens path; on anything but ELF_OK there is nothing to close. */
enum elf_status elf_open(struct elf *e, const char *path);
void elf_close(struct elf *e);

/* Symbol i's name ("" for none), and its version (NULL: unversioned). */
const char *elf_sym_name(const struct elf *e, size_t i);
const struct elf_version *elf_sym_version(const struct elf *e, size_t i);
/* Strong and undefined; defined and visible to others. */
bool elf_sym_wanted(const struct elf *e, size_t i);
bool elf_sym_given(const struct elf *e, size_t i);

/* Whether e defines `name`, in this version (NULL: in any). Follows the loader's rule: an unversioned definition serves
 * any. */
bool elf_defines(const struct elf *e, const char *name, const char *version);
/* Returns the first symbol that e exports and that has this part in its name; e->num_sym: there is none. */
size_t elf_find(const struct elf *e, const char *part);
/* Does e leave one of the names (NULL-terminated) undefined? */
bool elf_wants_any(const struct elf *e, const char *const names[]);
/* Does e define the version node `version`? */
bool elf_has_version(const struct elf *e, const char *version);
/* Returns the text of the note whose owner has this name; NULL: there is none, or it is no text. */
const char *elf_note(const struct elf *e, const char *owner);
/* Whether `name` is a function in the unstripped symbol table, so also one that is not exported. */
bool elf_contains(const struct elf *e, const char *name);

#endif
