/* Blocks are there although the start meets a busy or a strange system: a child that was born while somebody held the
 * dynamic linker's lock, a kernel thread that the system refuses some times. Refused for good, it is said. Each in a
 * process of its own, since the first call decides. */
#define _GNU_SOURCE
#include "cpu.h"
#include "os.h"
#include "tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic unsigned refusals; /* that are still to come */

/* By the linker, in the place of the C library's. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    if (ps_load_relaxed(&refusals) != 0) {
        ps_sub_relaxed(&refusals, 1);
        return EAGAIN;
    }
    return __real_pthread_create(thread, attr, fn, arg);
}

static __thread int number = 41;

PS_NOINLINE static bool is_own_inside(const struct uth_tls *tls)
{
    bool own = number == 41 && uth_tls_current() == tls;
    number = 42;
    return own;
}
PS_NOINLINE static bool is_mine(void) { return number == 41; }

static bool blocks_work(void)
{
    struct uth_tls *tls = uth_tls_get(NULL);
    void *own = cpu_get_tp();
    if (tls == NULL)
        return false;
    uth_tls_enter(tls, tls, os_thread_id());
    bool right = is_own_inside(tls);
    uth_tls_end(tls);
    uth_tls_leave(own);
    uth_tls_put(tls);
    return right && is_mine();
}

static int in_a_child(bool (*holds)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(holds() ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool plain(void) { return uth_tls_init(UTH_TLS_AUTO, true) && blocks_work(); }

static bool refused_at_first(void)
{
    ps_store_relaxed(&refusals, 5);
    return plain() && ps_load_relaxed(&refusals) == 0;
}

static bool says_that_it_is_refused(void)
{
    char said[1000] = "";
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
        return false;
    ps_store_relaxed(&refusals, 1000000);
    bool enabled = uth_tls_init(UTH_TLS_AUTO, false);
    close(ends[1]);
    close(STDERR_FILENO);
    return !enabled && read(ends[0], said, sizeof said - 1) > 0 && strstr(said, "no kernel thread could be started");
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(in_a_child(refused_at_first), 0);
    assert_int_equal(in_a_child(says_that_it_is_refused), 0);
}

static _Atomic uint32_t inside, may_leave;

static int waits_inside(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)info, (void)bytes, (void)arg;
    ps_store_release(&inside, 1);
    while (!ps_load_acquire(&may_leave))
        usleep(1000);
    return 1;
}

static void *holds_the_lock(void *arg)
{
    dl_iterate_phdr(waits_inside, arg);
    return arg;
}

static void test_lock_is_nobodys(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, holds_the_lock, NULL), 0);
    while (!ps_load_acquire(&inside))
        usleep(1000);
    int status = in_a_child(plain);
    ps_store_release(&may_leave, 1);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
}

int main(void)
{
    if (in_a_child(plain) != 0) {
        printf("SKIPPED: no thread-local blocks here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_lock_is_nobodys)};
    return cmocka_run_group_tests_name("thread-local blocks at the start", tests, NULL, NULL);
}
