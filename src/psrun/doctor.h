/* The parts of psrun doctor (psrun.h declares the command).
 *
 *   doctor.c         the options; which source is used; the report as JSON
 *   doctor_files.c   reads the files of a program
 *   doctor_run.c     runs a program and reads what its processes report
 *   report.c         prints the pools of processes, as a table or as JSON */
#ifndef PSRUN_DOCTOR_H
#define PSRUN_DOCTOR_H

#include "plan.h"
#include "psrun.h"
#include "report.h"

/* doctor_print_program prints the lines about the program and the runtime, doctor_print_verdict the verdict.
 * doctor_print_files prints all that the files tell, these lines included. others: the pools other than OpenMP's. */
void doctor_print_program(const struct plan *p, FILE *out);
void doctor_print_verdict(const struct plan *p, FILE *out);
void doctor_print_files(const struct plan *p, const struct report *others, FILE *out);
/* Adds the pools of the program's files to r, under the process number 0. with_openmp: also OpenMP runtimes. */
void doctor_read_files(const struct plan *p, struct report *r, bool with_openmp);

/* Runs the program to its end. With until_idle, psrun sends it SIGTERM once it has reported that it was idle for a
 * second. Adds to r what the program and its processes have reported. Returns the program's pid, and in *ended its
 * status from waitpid. Returns 0, after a message, if the program could not be started. */
int doctor_run(struct plan *p, const struct wishes *w, char **argv, bool until_idle, struct report *r, int *ended);

#endif
