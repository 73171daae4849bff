/* Values of variables, one reading for the users of libgomp and of libomp.
 *
 * Does: turns a text into values. What either runtime takes as valid is taken; a number has no sign. A text that cannot
 * be read may still have counted in part. Does not: know a variable's default, or say anything.
 * Callers: constructors of the library, or the first thread that asks; no shared state.
 * Deviations: a number that does not fit is the largest there is, where libomp's own may overflow. */
#ifndef PS_ORT_SPELLING_H
#define PS_ORT_SPELLING_H

#include <stddef.h>

#include "compiler.h"

/* Returns the place behind the blanks at p. */
const char *spelling_skip(const char *p);
/* Reads the digits at *p as a number, at most `max`; *p moves behind them. false: there are no digits. */
bool spelling_digits(const char **p, unsigned long max, unsigned long *out);
/* Whether the text at *p begins with `word`, in capitals or not, whatever follows; if so, *p moves behind the word. */
bool spelling_begins(const char **p, const char *word);
/* Compares as libomp does: in any case, and once `least` letters are the same the rest of the longer word does not
 * matter. least 0: all letters matter. */
bool spelling_is_word(const char *word, size_t least, const char *text);
/* Whether the text is a switch's word for true, or for false. */
bool spelling_says_true(const char *text);
bool spelling_says_false(const char *text);

/* Reads a whole number. One that is too large becomes the largest; if it is too small, or none, *out stays. true: *out
 * is as it was given. */
bool spelling_number(const char *text, long min, long max, long *out);
/* Reads OMP_NUM_THREADS: a number for each level; 0: the number of processors. A level without a number has that of the
 * level before; a comma may stand at the end. list has room for one more than there are commas. Returns 0 if the text
 * cannot be read. *changed: a 0 has become 1. */
unsigned spelling_counts(const char *text, unsigned max, unsigned *list, bool *changed);
/* Reads OMP_SCHEDULE; *sched: enum ort_sched. *fault: what is wrong in a text that can be read all the same. */
bool spelling_schedule(const char *text, unsigned *sched, int *chunk, const char **fault);
/* Reads OMP_PROC_BIND; list: enum ort_bind, has room for one more than there are commas. Returns how many policies
 * there are; 0: it cannot be read. *fault: what is wrong in a text that can be read all the same. */
unsigned spelling_policies(const char *text, unsigned char *list, const char **fault);
/* Whether this value of OMP_PROC_BIND also says that there are no places. */
bool spelling_disables(const char *text);

#endif
