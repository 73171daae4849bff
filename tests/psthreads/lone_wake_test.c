/* A sender of a signal may wake a kernel thread that carries one thread alone (dedicated.h) when that has gone. The
 * next root of the slot must not take it for a wake of the idle protocol: one searching vp too few would be counted. */
#include "current.h"
#include "dedicated.h"
#include "idle.h"
#include "psthread.h"
#include "sync_support.h"
#include "vp.h"

#include <pthread.h>

static _Atomic bool begun, go;

static void *begins_and_stays(void *arg)
{
    ps_store_release(&begun, true);
    while (!ps_load_acquire(&go))
        usleep(100);
    usleep(5000); /* its joiner comes to rest */
    return arg;
}

/* A root that waits for a thread which another vp runs. */
static void waits(void)
{
    psthread_t t;
    ps_store_relaxed(&begun, false);
    ps_store_relaxed(&go, false);
    CHECK(psthread_create(&t, NULL, begins_and_stays, NULL) == 0 && psthread_enqueue(t, 1) == 0);
    while (!ps_load_acquire(&begun))
        usleep(100);
    ps_store_release(&go, true);
    CHECK(psthread_join(t, NULL) == 0);
}

static void *is_woken_late(void *arg)
{
    waits();
    ps_wake_dedicated(ps_vp());
    return arg;
}

/* In the same slot, unless a spare has come meanwhile: then this round shows nothing. */
static void *comes_then(void *arg)
{
    waits();
    return arg;
}

static void a_late_wake_is_nobodys(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2};
    assert_int_equal(psthread_init(&config), 0);
    for (int i = 0; i < 3; i++) {
        pthread_t root;
        assert_int_equal(pthread_create(&root, NULL, is_woken_late, NULL), 0);
        pthread_join(root, NULL);
        assert_int_equal(pthread_create(&root, NULL, comes_then, NULL), 0);
        pthread_join(root, NULL);
    }
    for (int i = 0; i < 50; i++) { /* where one too few is counted, this is so once all rest */
        assert_in_range(IDLE_SEARCHING(idle_word()), 0, IDLE_MAX);
        usleep(1000);
    }
    assert_int_equal(psthread_finalize(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_late_wake_is_nobodys)};
    return cmocka_run_group_tests_name("lone roots' wakes", tests, NULL, NULL);
}
