/* psrun --trace and --stats: psrun stays as the program's parent. At the end it makes a timeline and a profile of the
 * recordings that the program's processes have written (src/trace).
 *
 *   trace.c         what is asked for, and where it goes; the recorder's environment
 *   trace_run.c     runs the program as its parent
 *   trace_report.c  runs psthreads-report (src/report), which makes both; psrun stats, psrun report */
#ifndef PSRUN_TRACE_H
#define PSRUN_TRACE_H

#include "psrun.h"

struct trace {
    bool on;
    char *recorder;     /* the recorder's file */
    char *out;          /* the timeline's file, already made and empty; NULL: there will be none */
    bool screen;        /* the profile is printed to standard error */
    char *json;         /* the profile's file, already made and empty; NULL: there will be none */
    char *prefix;       /* the recordings are PREFIX.<pid>.<n>.recording */
    uint64_t limit;     /* the most bytes of events that a recording keeps */
    char **environment; /* psrun's environment at its start, for psthreads-report */
};

enum { TRACE_LIMIT_MIB = 256 };

bool trace_size(const char *text, uint64_t *bytes); /* reads "64M"; returns false if it is no size */
/* Returns how many characters of a name come before its extension (".pftrace"). */
size_t trace_stem(const char *name);
/* Sets t by what the user asks for. Writes a message for what is impossible, and leaves that out. t->on: psrun becomes
 * the program's parent. */
void trace_make(struct trace *t, const struct plan *p, const struct wishes *w);
void trace_environment(const struct trace *t); /* sets the recorder's environment */
/* Runs the program, then calls trace_report. Returns the program's exit status; if a signal has ended the program, the
 * same signal ends psrun. */
int trace_run(const struct trace *t, const struct plan *p, char **argv);
bool trace_is_stopped(void);  /* since the program's end a signal has asked psrun to end */
void trace_reporter(int pid); /* notes the reporter's pid, for signals that ask psrun to end; 0: it has ended */
/* Makes timelines and a profile of all recordings of this run. A recording is removed once all that was asked for is
 * made of it. first: the pid of the program. */
void trace_report(const struct trace *t, int first);
void trace_give_up(const struct trace *t); /* removes the empty files */

int stats_of_pid(const char *number); /* psrun stats PID */
int report_page(char **arguments);    /* psrun report TRACE... -o PAGE: gets its arguments */

#endif
