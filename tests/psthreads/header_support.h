/* What the parts of the header test share (header_test.c). Each part has its own variables. */
#ifndef PS_HEADER_SUPPORT_H
#define PS_HEADER_SUPPORT_H

#include "psthread.h"
#define CHECK_END() abort() /* cmocka's own checks would jump out of the test, off the thread's stack */
#include "../check.h"
#include "../parts.h"
#include "compiler.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct test_part header_objects, header_io;

#define MS UINT64_C(1000000)

static inline void with(unsigned vps)
{
    psthread_config_t config = {.num_vps = vps, .max_spares = PSTHREAD_NO_SPARES};
    assert_int_equal(psthread_init(&config), 0);
}
static inline void done(void) { assert_int_equal(psthread_finalize(), 0); }

static inline psthread_t make(void *(*fn)(void *), void *arg)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    return t;
}
static inline psthread_t go(void *(*fn)(void *), void *arg)
{
    psthread_t t = make(fn, arg);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
    return t;
}
/* The others run until they wait. Each yield of main's runs one of them. */
static inline void let_run(void)
{
    for (int i = 0; i < 250; i++)
        psthread_yield();
}
static inline void *nothing(void *arg) { return arg; }
static int steps;
static inline void *step(void *arg)
{
    steps++;
    return arg;
}

static psthread_sem_t gate;
static inline void *waits_at_gate(void *arg)
{
    steps++;
    CHECK(psthread_sem_wait(&gate) == 0);
    return arg;
}

static int destroyed;
static inline void destroy(void *value)
{
    CHECK(value != NULL);
    destroyed++;
}

static inline unsigned kernel_threads(const char *name)
{
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char path[300], text[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (!f)
            continue;
        if (fgets(text, sizeof text, f)) { /* else it has ended meanwhile */
            text[strcspn(text, "\n")] = '\0';
            n += !name || strcmp(text, name) == 0;
        }
        fclose(f);
    }
    closedir(folder);
    return n;
}

#endif
