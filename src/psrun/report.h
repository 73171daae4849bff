/* What doctor tells: the thread pools of processes, as a table or as JSON.
 *
 * A pool's fields are those of src/pools/census.c, in that order. Memory is never given back: psrun ends soon. */
#ifndef PSRUN_REPORT_H
#define PSRUN_REPORT_H

#include <stdbool.h>
#include <stdio.h>

enum report_field {
    FIELD_USER_API,
    FIELD_INTERNAL_API,
    FIELD_PREFIX,
    FIELD_FILEPATH,
    FIELD_VERSION,
    FIELD_THREADING_LAYER,
    FIELD_ARCHITECTURE,
    FIELD_NUM_THREADS,
    FIELD_OURS,
    FIELD_ADVICE,
    NUM_FIELDS
};

struct pool_line {
    const char *field[NUM_FIELDS]; /* "": not known */
};

struct process {
    long pid;            /* 0: no process, but files */
    const char *command; /* NULL: not known */
    long kernel_threads; /* 0: not known */
    struct pool_line *pool;
    unsigned num;
};

struct report {
    struct process *process;
    unsigned num;
};

struct process *report_process(struct report *r, long pid); /* the process of this number, added where it is new */
/* NULL: not known. The texts are copied. */
void report_add_pool(struct process *p, const char *const fields[NUM_FIELDS]);

/* Adds what processes have appended to the file (PSTHREADS_CENSUS). Lines that are not as they should be are passed
 * over. */
void report_read_census(struct report *r, FILE *census);

/* A table of the pools of each process. Processes with the same pools are shown once. */
void report_print(const struct report *r, FILE *out);
/* The value of "processes", as docs/doctor.md has it. */
void report_print_json(const struct report *r, FILE *out);
/* A string, or null. */
void report_print_json_text(FILE *out, const char *text);

#endif
