/* Waits with a limit in a process that has no descriptor left when the first of them begins: those that are made ready
 * in time are, the others end at their limit. (The poller keeps time without descriptors then.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/resource.h>

#include "psthread.h"

enum { WAITERS = 8 };
#define FAR UINT64_C(60000000000) /* ns */
#define NEAR UINT64_C(20000000)

static psthread_sem_t posted[WAITERS], never;
static int result[WAITERS];

static void *waits(void *arg)
{
    int i = *(int *)arg;
    result[i] = i % 2 ? psthread_sem_timedwait(&posted[i], psthread_now() + FAR)
                      : psthread_sem_timedwait(&never, psthread_now() + NEAR);
    return arg;
}

static void *posts(void *arg)
{
    for (int i = 1; i < WAITERS; i += 2) {
        for (int k = 0; k < 20; k++)
            psthread_yield();
        psthread_sem_post(&posted[i]);
    }
    return arg;
}

static void wait_all(unsigned num_vps)
{
    psthread_config_t config = {.num_vps = num_vps};
    psthread_t waiter[WAITERS], poster;
    int id[WAITERS];
    assert_int_equal(psthread_init(&config), 0);
    psthread_sem_init(&never, 0);
    for (int i = 0; i < WAITERS; i++) {
        id[i] = i;
        psthread_sem_init(&posted[i], 0);
        assert_int_equal(psthread_create(&waiter[i], NULL, waits, &id[i]), 0);
        assert_int_equal(psthread_enqueue(waiter[i], PSTHREAD_VP_ANY), 0);
    }
    assert_int_equal(psthread_create(&poster, NULL, posts, NULL), 0);
    assert_int_equal(psthread_enqueue(poster, PSTHREAD_VP_ANY), 0);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(psthread_join(waiter[i], NULL), 0);
        assert_int_equal(result[i], i % 2 ? 0 : ETIMEDOUT);
    }
    assert_int_equal(psthread_join(poster, NULL), 0);
    assert_int_equal(psthread_finalize(), 0);
}

static void one_processor(void **state)
{
    (void)state;
    wait_all(1);
}
static void two_processors(void **state)
{
    (void)state;
    wait_all(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_processor), cmocka_unit_test(two_processors)};
    struct rlimit before, limit;
    getrlimit(RLIMIT_NOFILE, &before);
    limit = before;
    limit.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &limit);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    setrlimit(RLIMIT_NOFILE, &before); /* a sanitizer looks for leaks now */
    return failed;
}
