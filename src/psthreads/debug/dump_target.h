/* A process whose memory is read by its layout tables (debug_layout.h): this one or another one.
 *
 * Memory is read by os_read_memory only, and no structure is known but by the names in the tables, so that one way
 * serves both cases, a process of another build included. Takes no lock, allocates nothing and stops no thread. A
 * number that cannot be read is 0. Callers: one thread at a time in a process (the buffers are static). */
#ifndef PS_DUMP_TARGET_H
#define PS_DUMP_TARGET_H

#include "debug_layout.h"
#include "dump.h"

#define DUMP_FIELDS_MAX 256
#define DUMP_MAPS_MAX 1024

/* An executable mapping. */
struct dump_map {
    uintptr_t start, end, offset;
    char path[128];
};

extern struct dump_target {
    const struct dump_process *process;
    struct ps_debug_field field[DUMP_FIELDS_MAX], openmp[DUMP_FIELDS_MAX];
    unsigned num_fields, num_openmp, num_maps;
    struct dump_map map[DUMP_MAPS_MAX];
    uintptr_t runtime_start, runtime_end; /* of the object that the table is in */
} dump_target;

/* Reads process's tables and maps. Returns 0, or the errno value with which its memory cannot be read. */
int dump_target_begin(const struct dump_process *process);
/* Still: what was read before is what the process had. */
bool dump_target_is_there(void);

/* 0 or an errno value. */
int dump_copy(uintptr_t address, void *to, size_t bytes);
uint64_t dump_number(uintptr_t address, size_t bytes);
/* A field's offset or a constant's value, in the library's table and in the OpenMP core's; 0: the process has none. */
uintptr_t dump_field(const char *name);
uintptr_t dump_openmp_field(const char *name);

/* Writes the innermost frame of the program's on the stack whose context is saved in uth (dump_where.c). */
void dump_where(uintptr_t uth, char *text, size_t bytes);

#endif
