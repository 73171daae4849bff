/* The state of a process's virtual processors and user-level threads, as text. The process is this one or another one.
 * See dump.c. */
#ifndef PS_DUMP_H
#define PS_DUMP_H

#include "compiler.h"

/* The addresses of a process's tables (debug_layout.h). openmp 0: the process has no table of the OpenMP core. */
struct dump_process {
    int pid;
    uintptr_t layout, openmp;
};

/* Takes one line of the dump, without the newline. */
typedef void dump_line_fn(void *context, const char *line);

/* Writes the whole state: each vp, each thread. Returns 0, or the errno value with which the process's memory cannot be
 * read. */
int dump_state(const struct dump_process *process, dump_line_fn *line, void *context);
/* Writes a line for each thread that waits, and returns how many threads wait. */
unsigned dump_waiting(const struct dump_process *process, dump_line_fn *line, void *context);

#endif
