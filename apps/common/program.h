/* What an application calls itself: the name that it was started by, in every message, and its version. */
#ifndef APPS_PROGRAM_H
#define APPS_PROGRAM_H

#include <errno.h> /* program_invocation_short_name */
#include <stdio.h>

#define PROGRAM_NAME program_invocation_short_name

/* The answer to --version. */
static inline void program_print_version(void) { printf("%s (psthreads) %s\n", PROGRAM_NAME, PS_VERSION); }

#endif
