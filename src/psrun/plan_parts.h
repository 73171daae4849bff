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
/* Returns the text, allocated. Ends psrun if there is no memory. */
__attribute__((format(printf, 1, 2))) char *plan_text(const char *format, ...);

/* Sets dropin_dir and dropin; sets entities if the folder is given. Returns p->status. */
int plan_open_dropin(struct plan *p, const char *given);

/* Returns the program's file; NULL if there is none: p->status and p->why say why. */
char *plan_find_program(struct plan *p, const char *name);
/* plan_look_at_elf opens the ELF file that the system runs for p->file, and sets elf, script, library, alone and
 * linked_in. plan_check_executable fails if the file is not executable, plan_check_privileges if it would get other
 * rights than psrun's caller. All three return p->status. */
int plan_look_at_elf(struct plan *p, struct elf *e, bool allow_library);
int plan_check_executable(struct plan *p);
int plan_check_privileges(struct plan *p);

/* Returns "first:old" without the entries of `old` that an outer psrun has put there. files: the entries are files
 * (LD_PRELOAD); otherwise they are folders (LD_LIBRARY_PATH). */
char *plan_put_first(const char *first, const char *old, const char *separators, bool files);
/* Returns a layer's file, in a folder beside the drop-ins; NULL if it is not installed. */
char *plan_layer_file(const struct plan *p, const char *folder, const char *name);
/* Sets p->pools to the library's file if it is installed and wanted; otherwise to NULL. */
void plan_find_pools(struct plan *p);
/* Puts p->pools after the drop-in, which is the first in p->preload_value. */
void plan_preload_pools(struct plan *p);
/* (doctor) Preloads src/pools' library for its census, if the plan does not preload it. Returns false if the library is
 * not installed, or would end the program (AddressSanitizer). */
bool plan_add_census(struct plan *p);
/* Adds the layer over MPI to p->preload_value. cleaned: the preloads to which it is added if p->preload_value is
 * NULL. */
void plan_preload_mpi(struct plan *p, const char *cleaned);

#endif
