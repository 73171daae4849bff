/* What the parts of the promises test share (promises_test.c). Each part has its own variables. */
#ifndef PS_PROMISES_SUPPORT_H
#define PS_PROMISES_SUPPORT_H

#include "../parts.h"
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "sync_support.h"
#include "uth.h"
#include "vp.h"
#include "vp_tls.h"

#include <pthread.h>
#include <unistd.h>

extern const struct test_part promises_joining, promises_ends;
extern _Atomic unsigned *shared; /* with processes that are forked */

static inline void with_vps(unsigned n)
{
    psthread_config_t config = {.num_vps = n};
    CHECK(psthread_init(&config) == 0);
}
static inline void done(void) { CHECK(psthread_finalize() == 0); }

static inline psthread_t make(void *(*fn)(void *), void *arg)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    return t;
}
static inline psthread_t submit(void *(*fn)(void *), void *arg, int where)
{
    psthread_t t = make(fn, arg);
    CHECK(psthread_enqueue(t, where) == 0);
    return t;
}
static inline void *nothing(void *arg) { return arg; }
static _Atomic unsigned counter;
static inline void *count(void *arg)
{
    ps_add_relaxed(&counter, 1);
    return arg;
}

static inline int status_of(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
