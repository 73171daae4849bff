/* What OpenMP shows of itself: the environment, and each thread's affinity. See display.c and affinity_format.c. */
#ifndef PS_ORT_DISPLAY_H
#define PS_ORT_DISPLAY_H

#include "atomic.h"
#include "compiler.h"

struct ort_thread;

/* Shows the initial ICVs on standard error, in libgomp's form; verbose: also those that only libgomp has. */
void ort_display_env(bool verbose);
/* Shows the ICVs in another form instead, from the first OpenMP call on; NULL: it is not wanted. Set while the library
 * is loaded, before the rest. */
extern void (*ort_display_env_otherwise)(bool verbose);
/* What OMP_DISPLAY_ENV asks for. */
extern enum ort_display_wish { ORT_DISPLAY_NOTHING, ORT_DISPLAY_SOME, ORT_DISPLAY_VERBOSE } ort_display_env_wish;
/* The same as text, to be freed; NULL: no memory. */
char *ort_display_env_text(bool verbose);
/* Reads OMP_DISPLAY_ENV and OMP_AFFINITY_FORMAT; once, while the library is loaded, after all other variables. */
void ort_display_env_read(void);

/* Set (relaxed, once for all) where a program asks in libomp's way: lines of affinity then look as libomp's do, and
 * appear on standard output. */
extern _Atomic bool ort_display_as_libomp;
/* The values of affinity-format-var where none was set: libgomp's, then libomp's (ort_display_as_libomp). */
extern const char *const ort_affinity_defaults[2];

/* Sets affinity-format-var. length: format need not end with a zero. */
void ort_affinity_format_set(const char *format, size_t length);
/* Copies as much of affinity-format-var as fits, with a zero behind it where size > 0. Returns the format's length. */
size_t ort_affinity_format_get(char *buffer, size_t size);

/* Writes the text for t as `format` asks (NULL or empty: affinity-format-var). Copies what fits, without a zero.
 * Returns the text's length. */
size_t ort_affinity_text(const struct ort_thread *t, const char *format, char *buffer, size_t size);
/* Prints that text as one line on standard error, or on standard output (ort_display_as_libomp). */
void ort_affinity_print(const struct ort_thread *t, const char *format);
/* Prints the line of member m, which begins, where the line is new. Called where OMP_DISPLAY_AFFINITY asks for it. */
void ort_affinity_member_begins(struct ort_thread *m);

#endif
