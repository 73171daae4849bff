/* psrun dump PID: the state of a running program's virtual processors and user-level threads (src/psthreads/dump.c,
 * compiled in here).
 *
 * Does: find the runtime among what the process has mapped, by the tables that it exports (ps_debug_layout), and print.
 * Needs nothing of the process but that its memory may be read (the same user, and ptrace allowed): no signal, no
 * variable; it is not stopped. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dump.h"
#include "psrun.h"

/* The value of a symbol in the dynamic table of an open ELF file; 0: there is none. */
static uintptr_t symbol_value(int file, const char *name)
{
    ElfW(Ehdr) head;
    ElfW(Shdr) table, strings;
    ElfW(Sym) symbol;
    char found[32];
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return 0;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        if (pread(file, &table, sizeof table, (off_t)(head.e_shoff + (size_t)i * sizeof table)) !=
            (ssize_t)sizeof table)
            return 0;
        if (table.sh_type != SHT_DYNSYM ||
            pread(file, &strings, sizeof strings, (off_t)(head.e_shoff + (size_t)table.sh_link * sizeof strings)) !=
                (ssize_t)sizeof strings)
            continue;
        for (size_t at = 0; at + sizeof symbol <= table.sh_size; at += sizeof symbol) {
            if (pread(file, &symbol, sizeof symbol, (off_t)(table.sh_offset + at)) != (ssize_t)sizeof symbol)
                return 0;
            if (symbol.st_shndx == SHN_UNDEF || (symbol.st_info & 15) != STT_OBJECT)
                continue;
            ssize_t got = pread(file, found, sizeof found, (off_t)(strings.sh_offset + symbol.st_name));
            if (got > (ssize_t)strlen(name) && strcmp(found, name) == 0)
                return symbol.st_value;
        }
    }
    return 0;
}

/* Opens a mapped file of number `inode`, whose name is the process's own (another mount namespace) or ours (another
 * root folder). -1: neither. */
static int open_mapped(int pid, const char *name, unsigned long inode)
{
    char theirs[4500];
    snprintf(theirs, sizeof theirs, "/proc/%d/root%s", pid, name);
    const char *const names[] = {theirs, name};
    for (unsigned i = 0; i < 2; i++) {
        struct stat st;
        int file = open(names[i], O_RDONLY | O_CLOEXEC);
        if (file >= 0 && fstat(file, &st) == 0 && st.st_ino == inode)
            return file;
        if (file >= 0)
            close(file);
    }
    return -1;
}

/* The runtime in the process: false where there is none. */
static bool find_runtime(struct dump_process *process, bool *readable)
{
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", process->pid);
    FILE *maps = fopen(path, "re");
    *readable = maps != NULL;
    while (maps && !process->layout && fgets(line, sizeof line, maps)) {
        unsigned long start, offset, inode;
        int name = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%lx-%*x %*s %lx %*s %lu %n", &start, &offset, &inode, &name) < 3 || offset != 0 || !name ||
            line[name] != '/')
            continue;
        int file = open_mapped(process->pid, line + name, inode);
        if (file < 0)
            continue;
        uintptr_t value = symbol_value(file, "ps_debug_layout"), openmp = symbol_value(file, "ort_debug_layout");
        close(file);
        process->layout = value ? start + value : 0; /* shared objects are linked at 0 */
        process->openmp = openmp ? start + openmp : 0;
    }
    if (maps)
        fclose(maps);
    return process->layout != 0;
}

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

int dump_pid(const char *number)
{
    char *end;
    errno = 0;
    long pid = strtol(number, &end, 10);
    if (errno || end == number || *end || pid < 1 || pid > 1 << 30) {
        fprintf(stderr, "psrun: dump %s: wanted a process's number\n", number);
        return EXIT_USAGE;
    }
    struct dump_process process = {.pid = (int)pid};
    bool readable;
    if (!find_runtime(&process, &readable)) {
        fprintf(stderr, "psrun: dump %ld: %s\n", pid,
                readable ? "no psthreads runtime with user-level threads is in that process"
                         : "there is no such process, or it may not be looked at");
        return 1;
    }
    int error = dump_state(&process, print_line, NULL);
    if (error) {
        fprintf(stderr, "psrun: dump %ld: its memory cannot be read: %s\n", pid, strerror(error));
        return 1;
    }
    return 0;
}
