/* For the task tests: a check that names its place. A program returns 0 where every check held. */
#ifndef TASK_CHECK_H
#define TASK_CHECK_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* The runtime reads its environment once: a program that needs a value starts itself anew with it. */
static inline void need_env(char **argv, const char *name, const char *value)
{
    const char *now = getenv(name);
    if (now && strcmp(now, value) == 0)
        return;
    setenv(name, value, 1);
    execv("/proc/self/exe", argv);
    exit(2);
}

/* Keeps a processor busy for about n additions. */
static inline void work(int n)
{
    for (volatile int i = 0; i < n; i++)
        continue;
}

#endif
