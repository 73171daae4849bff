/* What the stand-in for OpenBLAS and its tests share. */
#ifndef TESTS_FAKE_BLAS_H
#define TESTS_FAKE_BLAS_H

#include <stddef.h>

typedef void (*openblas_job)(int number, void *data, int extra);
typedef void (*openblas_jobs)(int wait, openblas_job job, int num, size_t bytes, void *data, int extra);

/* The names' prefix and suffix. */
#ifndef PREFIX
#define PREFIX
#define SUFFIX
#endif
#define PASTE_(a, b, c) a##b##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define NAME(x) PASTE(PREFIX, x, SUFFIX)

int exec_blas(long n, void *jobs);
void NAME(openblas_set_threads_callback_function)(openblas_jobs f);
int NAME(openblas_get_parallel)(void);
char *NAME(openblas_get_config)(void);
int NAME(openblas_get_num_threads)(void);
void NAME(goto_set_num_threads)(int n);
void NAME(openblas_set_num_threads)(int n);
void NAME(openblas_set_num_threads_)(const int *n);

/* Runs jobs; returns how many. 1: the caller alone; 0: nobody was given the jobs. */
int NAME(fake_product)(void);
int NAME(fake_vector)(void);
/* Somebody had asked for the jobs when the library's constructor ran. */
int NAME(fake_told_in_time)(void);

#endif
