/* psrun --trace and --stats: psrun stays as the parent of the program, and makes a timeline and a profile of the
 * recordings that the program's processes have written (src/trace).
 *
 *   trace.c         what is asked for, and where it goes; the environment of the recorder
 *   trace_run.c     the program's parent
 *   trace_report.c  psthreads-report (src/report), the program that makes them; psrun stats, psrun report */
#ifndef PSRUN_TRACE_H
#define PSRUN_TRACE_H

#include "psrun.h"

struct trace {
    bool on;
    char *recorder;     /* the library */
    char *out;          /* the timeline's file, which is there and empty; NULL: none is asked for */
    bool screen;        /* the profile goes to standard error */
    char *json;         /* its file, likewise; NULL: none */
    char *prefix;       /* of the recordings: PREFIX.<pid>.<n>.recording */
    uint64_t limit;     /* bytes of a recording's events */
    char **environment; /* as it was: what psthreads-report gets */
};

enum { TRACE_LIMIT_MIB = 256 };

bool trace_size(const char *text, uint64_t *bytes); /* "64M"; false: it is no size */
/* How much of a name stands before its extension (".pftrace"). */
size_t trace_stem(const char *name);
/* Says what cannot be. t->on: psrun becomes the program's parent. */
void trace_make(struct trace *t, const struct plan *p, const struct wishes *w);
void trace_environment(const struct trace *t); /* of the program */
/* Returns the exit status; ends psrun by a signal that has ended the program. */
int trace_run(const struct trace *t, const struct plan *p, char **argv);
bool trace_is_stopped(void);  /* a signal has asked for an end since the program's end */
void trace_reporter(int pid); /* psthreads-report, which such a signal ends; 0: it has ended */
/* All recordings of this run become files, and go; `first`: the program's process. */
void trace_report(const struct trace *t, int first);
void trace_give_up(const struct trace *t); /* nothing is written */

int stats_of_pid(const char *number); /* psrun stats PID */
int report_page(char **arguments);    /* psrun report TRACE... -o PAGE; the arguments */

#endif
