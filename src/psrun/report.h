/* The report of psrun doctor: the thread pools of processes, as a table or as JSON.
 *
 * A pool's fields are those of src/pools/census.c, in that order. Memory is never freed: psrun ends soon. */
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
    const char *field[NUM_FIELDS]; /* "": unknown */
};

struct process {
    long pid;            /* 0: the pools are those of files */
    const char *command; /* NULL: unknown */
    long kernel_threads; /* 0: unknown */
    struct pool_line *pool;
    unsigned num;
};

struct report {
    struct process *process;
    unsigned num;
};

/* returns the process of this number; adds it if it is new */
struct process *report_process(struct report *r, long pid);
/* Adds a pool. A field NULL: unknown. The texts are copied. */
void report_add_pool(struct process *p, const char *const fields[NUM_FIELDS]);

/* Adds what processes have written into the file (PSTHREADS_CENSUS). Malformed lines are skipped. */
void report_read_census(struct report *r, FILE *census);

/* Prints a table of the pools of each process. Processes with the same pools are shown once. */
void report_print(const struct report *r, FILE *out);
/* Prints the value of "processes", as docs/doctor.md describes it. */
void report_print_json(const struct report *r, FILE *out);
/* Prints a JSON string; null if the text is NULL or empty. */
void report_print_json_text(FILE *out, const char *text);

#endif
