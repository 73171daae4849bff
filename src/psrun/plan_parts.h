/* What the files of the plan share (plan.h).
 *
 *   plan.c      the decision: by name, by interposition, or not at all
 *   program.c   the program's file, and what speaks against running it
 *   dropin.c    the runtime's folder
 *   preload.c   the values of the loader's variables; the layers over MPI and over other libraries' thread pools */
#ifndef PSRUN_PLAN_PARTS_H
#define PSRUN_PLAN_PARTS_H

#include "plan.h"

#define DROPIN_LINK "libgomp.so.1"

/* Sets p->status and p->why. Returns status. */
__attribute__((format(printf, 3, 4))) int plan_fail(struct plan *p, int status, const char *format, ...);
/* The text, allocated. Ends psrun where there is no memory. */
__attribute__((format(printf, 1, 2))) char *plan_text(const char *format, ...);

/* Sets dropin_dir, dropin, and entities where the folder is given. Returns p->status. */
int plan_open_dropin(struct plan *p, const char *given);

/* The program's file; NULL: there is none, p->status says why. */
char *plan_find_program(struct plan *p, const char *name);
/* Opens what the system runs for p->file: sets elf, script, library, alone. These return p->status. */
int plan_look_at_elf(struct plan *p, struct elf *e, bool allow_library);
int plan_check_executable(struct plan *p);
int plan_check_privileges(struct plan *p);

/* "first:old", where old loses what an outer psrun put there. */
char *plan_put_first(const char *first, const char *old, const char *separators, bool files);
/* A layer's file, which is found beside the drop-ins; NULL: it is not there. */
char *plan_layer_file(const struct plan *p, const char *folder, const char *name);
/* Sets p->pools to the library's file where it is there and wanted. */
void plan_find_pools(struct plan *p);
/* Puts it behind the drop-in, which is the first in p->preload_value. */
void plan_preload_pools(struct plan *p);
/* (doctor) Adds the library where the plan does without it, for its census. False: it cannot be had. */
bool plan_add_census(struct plan *p);
/* Adds the layer over MPI to p->preload_value. cleaned: what is preloaded where that is NULL. */
void plan_preload_mpi(struct plan *p, const char *cleaned);

#endif
