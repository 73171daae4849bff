/* Reads an ELF file: which libraries it needs, which symbols it defines or leaves undefined, and their versions.
 *
 * Does not resolve names to files (closure.h asks the dynamic loader for that), and does not read code. Only files of
 * psrun's own class and byte order are read. A file may contain anything, so every offset is checked: a broken file
 * gives ELF_BROKEN, or seems to have no symbols or versions, and never causes a fault. An open elf does not change. Its
 * strings live as long as it is open. Cost: one mmap, no copy of the symbol table. A definition is found by the file's
 * GNU hash table, or, without one, by a pass over all symbols. Undefined symbols are found by a pass. */
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
    const char *file; /* of a needed version: the library that defines it; of a defined one: NULL */
};

/* DT_GNU_HASH, if it lies in the file; bucket NULL: there is none. */
struct elf_hash {
    uint32_t num_buckets, num_bloom, shift, first; /* first: symbols before it are not in the table */
    const ElfW(Addr) * bloom;
    const uint32_t *bucket, *chain; /* chain[i] belongs to symbol first + i */
};

struct elf {
    char *path;
    dev_t dev;
    ino_t ino;
    const unsigned char *map;
    size_t size;
    unsigned machine;   /* e_machine */
    unsigned type;      /* e_type: ET_EXEC, ET_DYN ... */
    const char *interp; /* the loader's name; NULL: none */
    bool tls;           /* has thread-local variables */
    bool own_search;    /* the file tells the loader where to search, or what to load besides `needed` */
    const char *soname; /* its own name as a library; NULL: none */
    unsigned num_needed;
    const char *needed[ELF_NEEDED_MAX];
    struct elf_version version[ELF_VERSIONS_MAX]; /* [version index]; name NULL: no such version */
    const ElfW(Sym) * sym;
    size_t num_sym;
    size_t end_wanted; /* every undefined symbol has an index below this */
    struct elf_hash hash;
    const ElfW(Half) * versym; /* NULL: the file has no versions */
    const char *str;
    size_t str_size;
};

/* Opens path. If the result is not ELF_OK, there is nothing to close. With ELF_FOREIGN, e->machine is the file's
 * machine (0: the file has another byte order). */
enum elf_status elf_open(struct elf *e, const char *path);
void elf_close(struct elf *e);

/* Return symbol i's name ("" if it has none), and its version (NULL: unversioned). */
const char *elf_sym_name(const struct elf *e, size_t i);
const struct elf_version *elf_sym_version(const struct elf *e, size_t i);
/* elf_sym_wanted: the symbol is undefined and strong. elf_sym_given: it is defined and visible to other objects. */
bool elf_sym_wanted(const struct elf *e, size_t i);
bool elf_sym_given(const struct elf *e, size_t i);

/* Returns whether e defines `name` in this version (NULL: in any). An unversioned definition serves any version, as it
 * does for the loader. */
bool elf_defines(const struct elf *e, const char *name, const char *version);
/* Returns the index of the first symbol that e exports and whose name contains `part`; e->num_sym if there is none. */
size_t elf_find(const struct elf *e, const char *part);
/* Returns whether e leaves one of the names (NULL-terminated) undefined. */
bool elf_wants_any(const struct elf *e, const char *const names[]);
/* Returns whether e defines the version node `version`. */
bool elf_has_version(const struct elf *e, const char *version);
/* Returns the text of the note of this owner; NULL if there is none, or it is not text. */
const char *elf_note(const struct elf *e, const char *owner);
/* Returns whether the static symbol table, which also has functions that are not exported, defines this function. */
bool elf_contains(const struct elf *e, const char *name);

#endif
