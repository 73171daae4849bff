/* More kernel threads use the library at once than its table once had room for (4096): each is a thread of its own. */
#include "idle.h"
#include "sync_support.h"

#include <pthread.h>

#define ROOTS 4200u
#define STACK_BYTES ((size_t)128 * 1024) /* the least that AArch64 has */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static bool is_over;
static _Atomic unsigned here;

static void *nothing(void *arg) { return arg; }

static void *root(void *arg)
{
    psthread_t child;
    CHECK(psthread_create(&child, NULL, nothing, NULL) == 0 && psthread_enqueue(child, PSTHREAD_VP_ANY) == 0);
    CHECK(psthread_join(child, NULL) == 0);
    ps_add_relaxed(&here, 1);
    pthread_mutex_lock(&lock);
    while (!is_over)
        pthread_cond_wait(&over, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void all_at_once(void **state)
{
    static pthread_t thread[ROOTS];
    unsigned n = 0;
    pthread_attr_t attr;
    (void)state;
    assert_true(ROOTS > 4096 && ROOTS < IDLE_MAX);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
    while (n < ROOTS && pthread_create(&thread[n], &attr, root, NULL) == 0)
        n++;
    while (ps_load_relaxed(&here) < n)
        usleep(1000);
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_broadcast(&over);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    if (n < ROOTS)
        skip(); /* the system refuses so many */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
