/* A check that names its place, for programs without cmocka. A program returns 0 where every check held. Where one
 * fails the program ends by CHECK_END, which a folder's own check.h may define before it includes this. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CHECK_END
#define CHECK_END() _exit(1) /* not exit: what others hold may be wanted there */
#endif

#define CHECK(cond) \
    ((cond) ? (void)0 : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond), CHECK_END()))

#endif
