/* The few calls that every threads library has, for threads_table.c. */
#ifndef BENCH_THREADS_PEERS_H
#define BENCH_THREADS_PEERS_H

typedef void *thread_fn(void *arg);

struct threads {
    void (*start)(unsigned workers);
    /* Makes a thread and submits it. */
    void *(*create)(thread_fn *fn, void *arg);
    void (*join)(void *thread);
    void (*yield)(void);
    void *(*barrier_make)(unsigned count);
    void (*barrier_wait)(void *barrier, unsigned id);
    void (*barrier_free)(void *barrier);
};

/* what: psthreads, psthreads-spawn, massivethreads=LIBRARY, argobots=LIBRARY (the peer's shared object, opened here, so
 * that nothing needs it to be built). NULL: no such library; a line says why. */
const struct threads *threads_open(const char *what);

#endif
