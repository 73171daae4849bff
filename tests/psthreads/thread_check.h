/* For tests that see psthread.h alone: a check inside a thread. cmocka's own would jump out of the test, off the
 * thread's stack. */
#ifndef PS_TESTS_THREAD_CHECK_H
#define PS_TESTS_THREAD_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
