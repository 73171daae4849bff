/* wq.h - what the workqueueing programs have in common: the command line, the clock, and what is said at the end.
 *
 * A program solves its problem sequentially and with a task queue and compares. One thread calls everything here. */
#ifndef WQ_H
#define WQ_H

#include <stdbool.h>
#include <stddef.h>

struct wq_number { /* a switch with a number: --size N */
    const char *name, *what;
    long value, least, most;
};

struct wq {
    const char *name, *what;
    struct wq_number *numbers; /* the last one has no name */
    void (*setup)(void);       /* before each run, outside of the time */
    void (*serial)(void);
    void (*parallel)(int threads);
    /* After each run: what is wrong, NULL if nothing. `serial` says which one has run. */
    const char *(*check)(bool serial);
    /* The result in a few words, at the end. */
    void (*say)(char *text, size_t bytes);
    unsigned long (*tasks)(void); /* that the last parallel run made */
};

int wq_main(const struct wq *program, int argc, char **argv);

/* A number that must lie between least and most; else a line, and exit status 1. */
long wq_read_number(const char *option, const char *text, long least, long most);

/* Memory or one line and exit status 1. */
void *wq_alloc(size_t bytes);

/* Before the first task: how many virtual processors libpsthreads starts, unless PSTHREADS_NUM_VPS says it. */
void wq_threads(int threads);

double wq_now(void);

#endif
