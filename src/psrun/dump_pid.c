/* psrun dump PID: the state of a running program's virtual processors and user-level threads
 * (src/psthreads/debug/dump.c, compiled in here).
 *
 * Does: find the runtime among what the process has mapped, by the tables that it exports (ps_debug_layout), and print.
 * Needs nothing of the process but that its memory may be read (the same user, and ptrace allowed): no signal, no
 * variable; it is not stopped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "elf_file.h"
#include "psrun.h"

/* Of a symbol that the file exports; 0: there is none. */
static uintptr_t symbol_value(const struct elf *e, const char *name)
{
    for (size_t i = 0; i < e->num_sym; i++)
        if (elf_sym_given(e, i) && strcmp(elf_sym_name(e, i), name) == 0)
            return e->sym[i].st_value;
    return 0;
}

/* Opens a mapped file of number `inode`, whose name is the process's own (another mount namespace) or ours (another
 * root folder). False: neither, or no ELF file. */
static bool open_mapped(struct elf *e, int pid, const char *name, unsigned long inode)
{
    char theirs[4500];
    snprintf(theirs, sizeof theirs, "/proc/%d/root%s", pid, name);
    const char *const names[] = {theirs, name};
    for (unsigned i = 0; i < 2; i++) {
        if (elf_open(e, names[i]) != ELF_OK)
            continue;
        if (e->ino == inode)
            return true;
        elf_close(e);
    }
    return false;
}

/* The runtime in the process: false where there is none. What has ended, and is still to be waited for, has no maps. */
static bool find_runtime(struct dump_process *process, bool *readable)
{
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", process->pid);
    FILE *maps = fopen(path, "re");
    *readable = false;
    while (maps && !process->layout && fgets(line, sizeof line, maps)) {
        unsigned long start, offset, inode;
        int name = 0;
        *readable = true;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%lx-%*x %*s %lx %*s %lu %n", &start, &offset, &inode, &name) < 3 || offset != 0 || !name ||
            line[name] != '/')
            continue;
        struct elf e;
        if (!open_mapped(&e, process->pid, line + name, inode))
            continue;
        uintptr_t value = symbol_value(&e, "ps_debug_layout"), openmp = symbol_value(&e, "ort_debug_layout");
        elf_close(&e);
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
                         : "there is no such process, or it has ended, or it may not be looked at");
        return 1;
    }
    int error = dump_state(&process, print_line, NULL);
    if (error) {
        if (error == ESRCH)
            fprintf(stderr, "psrun: dump %ld: it has ended meanwhile\n", pid);
        else
            fprintf(stderr, "psrun: dump %ld: its memory cannot be read: %s\n", pid, strerror(error));
        return 1;
    }
    return 0;
}
