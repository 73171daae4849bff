/* Reads the values of variables. One reading serves the users of libgomp and of libomp.
 *
 * Does: turns a text into values. It takes every spelling that one of the two runtimes takes. Numbers have no sign. A
 * function that fails may have written a part of its results. Does not: know a variable's default, or print anything.
 * Callers: constructors of the library, or the first thread that asks. No shared state.
 * Deviation: a number that does not fit becomes the largest one; libomp's may overflow. */
#ifndef PS_ORT_SPELLING_H
#define PS_ORT_SPELLING_H

#include <stddef.h>

#include "compiler.h"

/* Returns the first place at or behind p that is no blank. */
const char *spelling_skip(const char *p);
/* Reads the digits at *p as a number, cut to `max`, and moves *p behind them. Returns false if there are no digits. */
bool spelling_digits(const char **p, unsigned long max, unsigned long *out);
/* Returns whether the text at *p begins with `word`; case does not matter. If so, moves *p behind the word. */
bool spelling_begins(const char **p, const char *word);
/* Compares `text` with `word` as libomp does; case does not matter. least > 0: returns whether one of them begins with
 * the other, which has at least `least` letters. least 0: returns whether they are equal. */
bool spelling_is_word(const char *word, size_t least, const char *text);
/* Return whether the text is a word for true, or for false. */
bool spelling_says_true(const char *text);
bool spelling_says_false(const char *text);

/* Reads a whole number. A number above max becomes max. If there is no number, or one below min, *out stays. Returns
 * true only if *out is exactly the number in the text. */
bool spelling_number(const char *text, long min, long max, long *out);
/* Reads OMP_NUM_THREADS into list: a number of threads for each level. An element that is left out is that of the level
 * before; a comma may stand at the end. Element 0, meaning the number of processors, comes from the text "all", or from
 * a first element that is left out. A 0 in the text becomes 1, and *changed becomes true. list has room for one more
 * element than the text has commas. Returns the number of elements; 0 if the text cannot be read. */
unsigned spelling_counts(const char *text, unsigned max, unsigned *list, bool *changed);
/* Reads OMP_SCHEDULE into *sched (enum ort_sched) and *chunk. Returns false if the text cannot be read. Sets *fault to
 * a message if a part of the text was ignored. */
bool spelling_schedule(const char *text, unsigned *sched, int *chunk, const char **fault);
/* Reads OMP_PROC_BIND into list (enum ort_bind), which has room for one more element than the text has commas. Returns
 * the number of policies; 0 if the text cannot be read. Sets *fault to a message if a part of the text was ignored. */
unsigned spelling_policies(const char *text, unsigned char *list, const char **fault);
/* Returns whether this value of OMP_PROC_BIND also turns places off. */
bool spelling_disables(const char *text);

#endif
