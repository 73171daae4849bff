/* What the parts of the test of thread-local blocks share (tls_test.c). */
#ifndef UTH_TLS_SUPPORT_H
#define UTH_TLS_SUPPORT_H

#include "cpu.h"
#include "os.h"
#include "tls.h"
#include "tls_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static __thread int number = 41;
static __thread char text[100] = "initial";
static __thread int zero[1000];

/* What happens inside a block is in functions that are not inlined: nothing of the thread pointer is kept. */
typedef void inside_fn(void *arg);
extern unsigned wrong;

PS_NOINLINE static void run_in(struct uth_tls *tls, inside_fn *fn, void *arg)
{
    void *own = cpu_get_tp();
    uth_tls_enter(tls, tls, os_thread_id());
    fn(arg);
    uth_tls_leave(own);
}

static inline void end(void *tls) { uth_tls_end(tls); }

#define EXPECT(cond)                                                                  \
    do {                                                                              \
        if (!(cond)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
            wrong++;                                                                  \
        }                                                                             \
    } while (0)

static inline void set_all(void *arg)
{
    number = (int)(uintptr_t)arg;
    snprintf(text, sizeof text, "%d", number);
    zero[500] = number;
    errno = number;
}

void test_library_that_comes_later(void **state);
void test_initial_exec_library(void **state);
void test_library_comes_and_goes(void **state);
void test_flags_are_read(void **state);

#endif
