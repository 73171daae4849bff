/* No handler of a signal runs while its thread has the lock that others need to send signals: it may wait for them. A
 * signal is raised where a kernel thread that joins the library has the lock; its handler runs when that is free. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>

#include "life.h"
#include "os.h"
#include "psthread.h"

static _Atomic int raised, handled, locked_in_handler;

static bool is_locked(void)
{
    if (pthread_mutex_trylock(&ps_life.slot_lock) != 0)
        return true;
    pthread_mutex_unlock(&ps_life.slot_lock);
    return false;
}

static void on_signal(int number)
{
    (void)number;
    handled = 1;
    locked_in_handler = is_locked();
}

void *__real_os_map(size_t bytes);
void *__wrap_os_map(size_t bytes);
void *__wrap_os_map(size_t bytes)
{
    if (!raised && is_locked()) {
        raised = 1;
        raise(SIGUSR1);
    }
    return __real_os_map(bytes);
}

static void *join_library(void *unused)
{
    (void)unused;
    psthread_self();
    return NULL;
}

static void a_new_slot(void **state)
{
    pthread_t thread;
    (void)state;
    signal(SIGUSR1, on_signal);
    psthread_self();
    raised = 0;
    assert_int_equal(pthread_create(&thread, NULL, join_library, NULL), 0);
    pthread_join(thread, NULL);
    assert_true(raised);
    assert_true(handled);
    assert_false(locked_in_handler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_new_slot)};
    raised = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
