/* psrun doctor, from within (psrun.h has its command).
 *
 *   doctor.c         its options; which of the three it does; the report as JSON
 *   doctor_files.c   what the files of a program tell
 *   doctor_run.c     what the processes of a run tell
 *   report.c         pools of processes, as a table or as JSON */
#ifndef PSRUN_DOCTOR_H
#define PSRUN_DOCTOR_H

#include "plan.h"
#include "psrun.h"
#include "report.h"

/* A program's line and the runtime's; the verdict; and all that the files tell, others being pools beside OpenMP's. */
void doctor_print_program(const struct plan *p, FILE *out);
void doctor_print_verdict(const struct plan *p, FILE *out);
void doctor_print_files(const struct plan *p, const struct report *others, FILE *out);
/* The pools in the files, as process 0. */
void doctor_read_files(const struct plan *p, struct report *r, bool with_openmp);

/* Runs the program to its end, or until it has rested for a second, which then is its end. Reads what its processes
 * have told. Returns its number, and how it ended (as waitpid says); 0: it was not started, which is said. */
int doctor_run(struct plan *p, const struct wishes *w, char **argv, bool until_idle, struct report *r, int *ended);

#endif
