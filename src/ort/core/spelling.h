/* Reads the values of variables. One reading serves the users of libgomp and of libomp.
 *
 * Does: turns a text into values. It takes every spelling that one of the two runtimes takes. Numbers have no sign. A
 * function that fails may have written a part of its results. Does not: know a variable's default, or print anything.
 * Callers: constructors of the library, and the thread whose OpenMP call reads variables again (env.h). No shared
 * state.
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
/* Compares `text` with `word` as libomp does; case does not matter. least 0: returns whether the two are equal. least >
 * 0: returns whether one of the two is the beginning of the other, and has at least `least` letters. */
bool spelling_is_word(const char *word, size_t least, const char *text);
/* Return whether the text is a word for true, or for false. */
bool spelling_says_true(const char *text);
bool spelling_says_false(const char *text);

/* Reads the whole number that is all of the text into *out. A number above max becomes max. If the text is no number,
 * or a number below min, *out stays. Returns true if *out is the number in the text. */
bool spelling_number(const char *text, long min, long max, long *out);
/* Reads OMP_NUM_THREADS into list: a number of threads for each level. An element that is left out gets the number of
 * the level before; a comma may stand at the end. If the text is "all", or the first element is left out, element 0
 * becomes 0, which stands for the number of processors. A 0 in the text becomes 1, and *changed becomes true. list has
 * room for one more element than the text has commas. Returns the number of elements; 0 if the text cannot be read, or
 * a number is above `max`. */
unsigned spelling_counts(const char *text, unsigned max, unsigned *list, bool *changed);
/* Reads OMP_SCHEDULE into *sched (enum ort_sched) and *chunk. Returns false if the text cannot be read. Sets *fault to
 * a message if a part of the text was ignored. */
bool spelling_schedule(const char *text, unsigned *sched, int *chunk, const char **fault);
/* Reads OMP_PROC_BIND into list (enum ort_bind), which has room for one more element than the text has commas. Returns
 * the number of policies; 0 if the text cannot be read. Sets *fault to a message if a part of the text was ignored. */
unsigned spelling_policies(const char *text, unsigned char *list, const char **fault);
/* Returns whether this value of OMP_PROC_BIND ("disabled", perhaps behind a number) also turns places off. */
bool spelling_disables(const char *text);

#endif
