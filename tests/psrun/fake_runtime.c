/* An OpenMP "runtime" for psrun's tests: one thread, and it says its name. Built under several names and sets of
 * symbols. */
#include <stdio.h>

#ifndef FAKE_NAME
#error "FAKE_NAME: what it says"
#endif

int omp_get_thread_num(void);
int omp_get_num_threads(void);
void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags);

void GOMP_critical_start(void);
void GOMP_critical_end(void);

int omp_get_thread_num(void) { return 0; }
int omp_get_num_threads(void) { return 1; }
void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags)
{
    (void)num_threads, (void)flags;
    printf("runtime: %s\n", FAKE_NAME);
    fflush(stdout);
    fn(data);
}

void GOMP_critical_start(void) {}
void GOMP_critical_end(void) {}

#ifdef FAKE_EXTRA
void GOMP_never_heard_of(void);
void GOMP_never_heard_of(void) { printf("extra\n"); }
#endif
