/* The runtime reads its environment once: a program that needs a value starts itself anew with it. */
#ifndef NEED_ENV_H
#define NEED_ENV_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void need_env(char **argv, const char *name, const char *value)
{
    const char *now = getenv(name);
    if (now && strcmp(now, value) == 0)
        return;
    setenv(name, value, 1);
    execv("/proc/self/exe", argv);
    exit(2);
}

#endif
