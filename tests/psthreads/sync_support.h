/* What the tests of the synchronisation half share: they run on the product's scheduler and on the stand-in
 * (sched_on_pthreads.c), with 1, 2 and 4 vps each.
 *
 * Checks inside threads abort with the line they stand on: cmocka's own jump out of the test, which must not leave a
 * thread's stack. */
#ifndef PS_SYNC_SUPPORT_H
#define PS_SYNC_SUPPORT_H

#include "atomic.h"
#include "check.h"
#include "compiler.h"
#include "psthread.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHECK(cond) PS_CHECK(cond, "%s:%d: not so: %s", __FILE__, __LINE__, #cond)

/* Sanitizers and the stand-in make threads dear: fewer of them there. */
#if defined(ON_PTHREADS) || PS_TSAN
#define MANY 120u
#elif PS_ASAN
#define MANY 1000u
#else
#define MANY 4000u
#endif

struct crew {
    void (*fn)(unsigned id, void *arg);
    void *arg;
};
struct crew_member {
    const struct crew *crew;
    unsigned id;
};

static inline void *crew_member_main(void *arg)
{
    struct crew_member *m = arg;
    m->crew->fn(m->id, m->crew->arg);
    return NULL;
}

/* Whether a thread that was seen to run has, when the caller runs again, come to where it blocks: on one vp nothing
 * else can have happened in between. */
static inline bool one_at_a_time(void)
{
#ifdef ON_PTHREADS
    return false;
#else
    return psthread_num_vps() == 1;
#endif
}

/* Starts one thread that can be joined. */
static inline psthread_t start(void *(*fn)(void *), void *arg)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    return t;
}

/* Runs fn(0 .. n-1, arg) as n threads and waits for them. */
static inline void run_crew(unsigned n, void (*fn)(unsigned, void *), void *arg)
{
    struct crew crew = {fn, arg};
    struct crew_member *members = calloc(n, sizeof(*members));
    const psthread_attr_t attr = {0, PSTHREAD_ATTR_DETACHED};
    CHECK(members);
    for (unsigned i = 0; i < n; i++) {
        psthread_t t;
        members[i] = (struct crew_member){&crew, i};
        CHECK(psthread_create(&t, &attr, crew_member_main, &members[i]) == 0);
        CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    }
    CHECK(psthread_waitall() == 0);
    free(members);
}

/* Now and then, by a number that the caller keeps. */
static inline bool one_in(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % n == 0;
}

static inline int run_on_vps(const struct CMUnitTest *tests, size_t n, const char *name)
{
    static const unsigned vps[] = {1, 2, 4};
    int failed = 0;
    for (unsigned i = 0; i < sizeof vps / sizeof vps[0]; i++) {
        /* with one vp, one thread at a time (one_at_a_time): no spare beside it on a busy machine */
        psthread_config_t config = {.num_vps = vps[i], .max_spares = vps[i] == 1 ? PSTHREAD_NO_SPARES : 0};
        char title[80];
        snprintf(title, sizeof title, "%s, %u vps", name, vps[i]);
        CHECK(psthread_init(&config) == 0);
        failed += _cmocka_run_group_tests(title, tests, n, NULL, NULL);
        CHECK(psthread_finalize() == 0);
    }
    return failed;
}
#define RUN_ON_VPS(tests, name) run_on_vps(tests, sizeof(tests) / sizeof((tests)[0]), name)

/* Runs fn in a child process; returns its wait status and what it wrote to standard error (cut to bytes - 1). The
 * library must not run in the caller. */
static inline int in_child(void (*fn)(void), char *err, size_t bytes)
{
    int pipe_fds[2], status;
    CHECK(pipe(pipe_fds) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(pipe_fds[1], STDERR_FILENO);
        close(pipe_fds[0]);
        fn();
        _exit(0);
    }
    close(pipe_fds[1]);
    size_t got = 0;
    for (ssize_t r; got < bytes - 1 && (r = read(pipe_fds[0], err + got, bytes - 1 - got)) > 0;)
        got += (size_t)r;
    err[got] = 0;
    close(pipe_fds[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

#endif
