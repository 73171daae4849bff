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

/* Print the lines about the program and the runtime; the verdict; and all that the files tell. others: pools beside
 * OpenMP's. */
void doctor_print_program(const struct plan *p, FILE *out);
void doctor_print_verdict(const struct plan *p, FILE *out);
void doctor_print_files(const struct plan *p, const struct report *others, FILE *out);
/* Adds the pools that the files have, as those of process 0. with_openmp: also OpenMP runtimes. */
void doctor_read_files(const struct plan *p, struct report *r, bool with_openmp);

/* Runs the program to its end, or until it has been idle for a second, and then ends it. Reads what its processes have
 * reported. Returns its number, and in *ended the status from waitpid. Returns 0, after a message, if it was not
 * started. */
int doctor_run(struct plan *p, const struct wishes *w, char **argv, bool until_idle, struct report *r, int *ended);

#endif
