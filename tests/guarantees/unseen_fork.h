/* Kinds of a guarantee about forked members, where the runtime does not know before that the member forks: it has no
 * kernel thread of its own then, as where it forks in a signal handler. */
#ifndef PS_GUARANTEES_UNSEEN_FORK_H
#define PS_GUARANTEES_UNSEEN_FORK_H

#include "check.h"
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <unistd.h>

static pid_t (*make_child)(void) = fork;

/* The C library's own function, which nobody answers in its place. */
static inline void find_library_fork(void)
{
    void *library = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    CHECK(library && (make_child = (pid_t(*)(void))dlsym(library, "fork")) != NULL);
}

/* Beside the kind of this name, another one. */
#define UNSEEN(kind)                \
    static void kind##_unseen(void) \
    {                               \
        find_library_fork();        \
        kind();                     \
    }

#endif
