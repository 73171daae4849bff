/* psrun dump PID: prints the state of a running program's virtual processors and user-level threads.
 * src/psthreads/debug/dump.c is compiled in here. psrun finds the runtime among the files that the process has mapped,
 * by the tables that the runtime exports (ps_debug_layout). psrun needs only the right to read the process's memory
 * (the same user, and ptrace allowed). It sends the process no signal and does not stop it. The process needs no
 * environment variable for this. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "maps.h"
#include "psrun.h"

/* Returns the value of a symbol that the file exports; 0 if it exports none of this name. */
static uintptr_t symbol_value(const struct elf *e, const char *name)
{
    for (size_t i = 0; i < e->num_sym; i++)
        if (elf_sym_given(e, i) && strcmp(elf_sym_name(e, i), name) == 0)
            return e->sym[i].st_value;
    return 0;
}

/* Looks for the runtime's tables in one mapped file, whose beginning is at `start`. Returns false once they are found,
 * which ends the search. A shared object is linked at address 0, so a symbol's address is `start` plus its value. */
static bool look_for_runtime(void *process_of_dump, struct elf *e, uintptr_t start)
{
    struct dump_process *process = process_of_dump;
    uintptr_t value = symbol_value(e, "ps_debug_layout"), openmp = symbol_value(e, "ort_debug_layout");
    process->layout = value ? start + value : 0;
    process->openmp = openmp ? start + openmp : 0;
    elf_close(e);
    free(e);
    return process->layout == 0;
}

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

int read_pid(const char *number)
{
    char *end;
    errno = 0;
    long pid = strtol(number, &end, 10);
    return errno || end == number || *end || pid < 1 || pid > 1 << 30 ? 0 : (int)pid;
}

int dump_pid(const char *number)
{
    int pid = read_pid(number);
    if (!pid) {
        fprintf(stderr, "psrun: dump %s: wanted a process's number\n", number);
        return EXIT_USAGE;
    }
    struct dump_process process = {.pid = pid};
    bool readable = maps_each(pid, look_for_runtime, &process);
    if (!process.layout) {
        fprintf(stderr, "psrun: dump %d: %s\n", pid,
                readable ? "no psthreads runtime with user-level threads is in that process"
                         : "there is no such process, or it has ended, or it may not be looked at");
        return 1;
    }
    int error = dump_state(&process, print_line, NULL);
    if (error) {
        if (error == ESRCH)
            fprintf(stderr, "psrun: dump %d: it has ended meanwhile\n", pid);
        else
            fprintf(stderr, "psrun: dump %d: its memory cannot be read: %s\n", pid, strerror(error));
        return 1;
    }
    return 0;
}
