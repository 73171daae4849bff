/* The part of the test of thread-local blocks (tls_test.c) that opens libraries. */
#define _GNU_SOURCE
#include "tls_support.h"

#include <dlfcn.h>

/* --- a library that comes later --- */

static int *(*late_variable)(void);

static void use_late(void *arg)
{
    EXPECT(*late_variable() == 17); /* also where the library's block is made on first use */
    *late_variable() = (int)(uintptr_t)arg;
}
static void expect_late(void *arg) { EXPECT(*late_variable() == (int)(uintptr_t)arg); }

static void with_library(const char *path)
{
    struct uth_tls *a = uth_tls_get(NULL), *b = uth_tls_get(NULL);
    run_in(a, set_all, (void *)1); /* in use before the library is there */
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    *(void **)&late_variable = dlsym(library, "late_variable");
    assert_non_null(late_variable);
    assert_true(uth_tls_look_again());
    for (int again = 0; again < 3; again++) {
        run_in(a, use_late, (void *)100);
        run_in(b, use_late, (void *)200);
        run_in(a, expect_late, (void *)100);
        run_in(b, expect_late, (void *)200);
        assert_int_equal(*late_variable(), 17);
        run_in(a, end, a);
        run_in(b, end, b);
        uth_tls_put(b);
        uth_tls_put(a);
        a = uth_tls_get(NULL);
        b = uth_tls_get(NULL);
    }
    uth_tls_put(a);
    uth_tls_put(b);
    dlclose(library);
    assert_int_equal(wrong, 0);
}

void test_library_that_comes_later(void **state)
{
    (void)state;
    with_library(LATE_LIBRARY);
}

void test_initial_exec_library(void **state)
{
    (void)state;
    with_library(LATE_LIBRARY_INITIAL_EXEC);
}

/* --- a library that comes and goes while blocks are taken --- */

static _Atomic(uintptr_t) open_variable; /* late_variable, while the library is open */
static _Atomic unsigned users, uses, stop, mistakes;

static void expect_library(void *variable)
{
    int *late = ((int *(*)(void))(uintptr_t)variable)();
    if (*late != 17 || number != 41)
        ps_add_relaxed(&mistakes, 1);
    *late = 18;
    number = 18;
}

static void *use_open_library(void *arg)
{
    while (!ps_load_relaxed(&stop)) {
        ps_add_seq(&users, 1);
        uintptr_t variable = ps_load_seq(&open_variable);
        if (variable != 0) {
            struct uth_tls *tls = uth_tls_get(NULL);
            run_in(tls, expect_library, (void *)variable);
            run_in(tls, end, tls);
            uth_tls_put(tls);
            ps_add_relaxed(&uses, 1);
        }
        ps_sub_seq(&users, 1);
    }
    return arg;
}

void test_library_comes_and_goes(void **state)
{
    (void)state;
    static const char *const paths[] = {LATE_LIBRARY, LATE_LIBRARY_INITIAL_EXEC};
    pthread_t thread[2];
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, use_open_library, thread), 0);
    for (unsigned i = 0; i < 60; i++) {
        void *library = dlopen(paths[i % 2], RTLD_NOW);
        assert_non_null(library);
        unsigned before = ps_load_relaxed(&uses);
        ps_store_seq(&open_variable, (uintptr_t)dlsym(library, "late_variable"));
        while (ps_load_relaxed(&uses) - before < 4)
            usleep(1000);
        ps_store_seq(&open_variable, 0);
        while (ps_load_seq(&users) != 0)
            usleep(100);
        dlclose(library);
    }
    ps_store_relaxed(&stop, 1);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    uth_tls_trim();
    assert_int_equal(ps_load_relaxed(&mistakes), 0);
}

/* Flags are kept once an object reads them that has OpenMP constructs. */
void test_flags_are_read(void **state)
{
    (void)state;
    static const char *const paths[] = {FLAGS_LIBRARY, FLAGS_LIBRARY_OPENMP};
#if defined(CPU_HAS_FLOAT_STATE)
    for (unsigned i = 0; i < 2; i++) {
        void *library = dlopen(paths[i], RTLD_LAZY);
        assert_non_null(library);
        assert_true(uth_tls_look_again());
        assert_int_equal(cpu_float_flags_kept(), i);
        dlclose(library);
    }
#else
    (void)paths;
    skip();
#endif
}
