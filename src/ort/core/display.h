/* What OpenMP prints about itself: the settings (environment/display.c), and each thread's affinity
 * (place/affinity_format.c). */
#ifndef PS_ORT_DISPLAY_H
#define PS_ORT_DISPLAY_H

#include "atomic.h"
#include "compiler.h"

struct ort_thread;

/* Prints the initial ICVs: by ort_display_env_otherwise, or, if that is NULL, on standard error in libgomp's form.
 * verbose: also prints the variables of that runtime that are not OpenMP's. */
void ort_display_env(bool verbose);
/* A function of an ABI that prints the ICVs in another runtime's form. Set while the library is loaded, before
 * variables are read. NULL: the core prints what OMP_DISPLAY_ENV asks for while the library is loaded. Otherwise the
 * ABI prints it at the first OpenMP call. */
extern void (*ort_display_env_otherwise)(bool verbose);
/* The value of OMP_DISPLAY_ENV; written by ort_display_env_read. */
extern enum ort_display_wish { ORT_DISPLAY_NOTHING, ORT_DISPLAY_SOME, ORT_DISPLAY_VERBOSE } ort_display_env_wish;
/* Returns the text that ort_display_env prints in libgomp's form. The caller frees it. NULL: no memory. */
char *ort_display_env_text(bool verbose);
/* Reads OMP_DISPLAY_ENV and OMP_AFFINITY_FORMAT. Called while the library is loaded, after all other variables have
 * been read; called again if variables are read again (ort_env_settle). */
void ort_display_env_read(void);

/* true: the program has made an OpenMP call of libomp's interface. Lines of affinity then look as libomp's do, and are
 * printed on standard output. Set once, never cleared; read with relaxed loads. */
extern _Atomic bool ort_display_as_libomp;
/* The default values of affinity-format-var: [1] is libomp's, used while ort_display_as_libomp is true, [0]
 * libgomp's. */
extern const char *const ort_affinity_defaults[2];

/* Sets affinity-format-var to `length` characters of format, which need not end with a zero. */
void ort_affinity_format_set(const char *format, size_t length);
/* Copies affinity-format-var into buffer, cut to size - 1 characters and ended by a zero; copies nothing if size is 0.
 * Returns the length of the whole format. */
size_t ort_affinity_format_get(char *buffer, size_t size);

/* Formats t's affinity as `format` says; NULL or empty: as affinity-format-var says. Copies the first `size` characters
 * into buffer, without a zero at the end. Returns the length of the whole text; 0 without memory. */
size_t ort_affinity_text(const struct ort_thread *t, const char *format, char *buffer, size_t size);
/* Prints ort_affinity_text's text as one line on standard error; on standard output while ort_display_as_libomp is
 * true. Without memory prints nothing. */
void ort_affinity_print(const struct ort_thread *t, const char *format);
/* Called by member m when it begins, if OMP_DISPLAY_AFFINITY is set: prints m's line, unless the line would show the
 * same state as m's last one. In libgomp's form a team of one prints none. */
void ort_affinity_member_begins(struct ort_thread *m);

#endif
