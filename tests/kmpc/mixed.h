#ifndef MIXED_H
#define MIXED_H
/* A region of so many threads, in which each calls call(level, argument); the sum of what they return, and 4 for each
 * thread. */
int by_gcc(int threads, int (*call)(int, int), int argument);
int gcc_sees_threads(void);
/* Likewise, and 1 for each thread. */
int by_fortran(int threads, int (*call)(int, int), int argument);
#endif
