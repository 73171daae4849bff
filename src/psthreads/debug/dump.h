/* What a process's virtual processors and user-level threads do, written as text: of this process, or of another one.
 * See dump.c. */
#ifndef PS_DUMP_H
#define PS_DUMP_H

#include "compiler.h"

/* The addresses of a process's tables (debug_layout.h). openmp 0: it has no table of the OpenMP core. */
struct dump_process {
    int pid;
    uintptr_t layout, openmp;
};

/* Takes one line, without its end. */
typedef void dump_line_fn(void *context, const char *line);

/* Writes the whole state: each vp, each thread. 0, or the errno value with which its memory cannot be read. */
int dump_state(const struct dump_process *process, dump_line_fn *line, void *context);
/* A line for each thread that waits; returns how many there are. */
unsigned dump_waiting(const struct dump_process *process, dump_line_fn *line, void *context);

#endif
