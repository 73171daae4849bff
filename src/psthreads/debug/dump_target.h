/* Reads the memory of a process, this one or another one, by the names in its layout tables (debug_layout.h).
 *
 * Memory is read by os_read_memory only, and every structure is known only by the names in the tables. So one way
 * serves both cases, also for a process of another build. These functions take no lock, allocate nothing and stop no
 * thread. A number that cannot be read is 0. Callers: one thread at a time in a process (dump_target is one static
 * buffer). */
#ifndef PS_DUMP_TARGET_H
#define PS_DUMP_TARGET_H

#include "debug_layout.h"
#include "dump.h"

#define DUMP_FIELDS_MAX 256
#define DUMP_MAPS_MAX 1024

/* An executable mapping of the process (/proc/PID/maps). */
struct dump_map {
    uintptr_t start, end, offset;
    char path[128];
};

extern struct dump_target {
    const struct dump_process *process;
    struct ps_debug_field field[DUMP_FIELDS_MAX], openmp[DUMP_FIELDS_MAX];
    unsigned num_fields, num_openmp, num_maps;
    struct dump_map map[DUMP_MAPS_MAX];
    uintptr_t runtime_start, runtime_end; /* the code of the object that has the table */
} dump_target;

/* Reads process's tables and maps. Returns 0, or the errno value with which its memory cannot be read. */
int dump_target_begin(const struct dump_process *process);
/* Returns whether the process still exists. If so, it existed during all earlier reads: a 0 among them does not come
 * from its end. */
bool dump_target_is_there(void);

/* dump_copy copies memory of the process; returns 0 or an errno value. dump_number returns a number of 1 to 8 bytes. */
int dump_copy(uintptr_t address, void *to, size_t bytes);
uint64_t dump_number(uintptr_t address, size_t bytes);
/* Return a field's offset or a constant's value: dump_field from the library's table, dump_openmp_field from the OpenMP
 * core's. 0 if the table does not have the name. */
uintptr_t dump_field(const char *name);
uintptr_t dump_openmp_field(const char *name);

/* Writes the innermost place in the program's code on the stack whose context is saved in uth (dump_where.c). */
void dump_where(uintptr_t uth, char *text, size_t bytes);

#endif
