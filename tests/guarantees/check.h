/* A check that names its place. A program returns 0 where every check held. */
#ifndef CHECK_H
#define CHECK_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
            _exit(1); /* not exit: what others hold may be wanted there */     \
        }                                                                      \
    } while (0)

#endif
