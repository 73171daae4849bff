/* A malloc that stands before the C library's, with one mutex, which is kept for a while for DALLY_BYTES. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "malloc_library.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *p);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *unlocked(void *p)
{
    pthread_mutex_unlock(&mutex);
    return p;
}

void *malloc(size_t bytes)
{
    pthread_mutex_lock(&mutex);
    if (bytes == DALLY_BYTES)
        for (double end = now() + DALLY_S; now() < end;)
            for (volatile int i = 0; i < 100000; i++)
                continue;
    return unlocked(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    return unlocked(__libc_calloc(n, bytes));
}

void *realloc(void *p, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    return unlocked(__libc_realloc(p, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    return unlocked(__libc_memalign(alignment, bytes));
}

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
    *p = aligned_alloc(alignment, bytes);
    return *p ? 0 : ENOMEM;
}

void free(void *p)
{
    pthread_mutex_lock(&mutex);
    __libc_free(p);
    pthread_mutex_unlock(&mutex);
}
