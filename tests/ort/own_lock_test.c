/* A child is born with the runtime's own locks free, and with what they guard whole; words of atomic updates are freed
 * in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock.h"
#include "own_lock.h"

#include "ort.h"

ORT_OWN_LOCK(pair_lock)
static volatile unsigned first, second; /* equal, but while the lock is held */

static _Atomic uint32_t words[3];
ORT_CHILD_FREES(words_of_a_child, &words[0], 2, sizeof words[0])

static _Atomic int stop, begun;
static void *busy(void *arg)
{
    while (!ps_load_acquire(&stop)) {
        ort_own_lock(&pair_lock);
        first++;
        for (volatile int i = 0; i < 2000; i++)
            ;
        second++;
        ort_own_unlock(&pair_lock);
        ps_store_release(&begun, 1);
        for (volatile int i = 0; i < 2000; i++) /* so that the forking thread gets it, too */
            ;
    }
    return arg;
}

static void a_child_finds_them_free(void **state)
{
    (void)state;
    ort_self();
    for (unsigned i = 0; i < 3; i++)
        assert_true(ort_lock_try(&words[i]));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, busy, NULL), 0);
    while (!ps_load_acquire(&begun))
        usleep(100);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            ort_own_lock(&pair_lock);
            bool whole = first == second;
            ort_own_unlock(&pair_lock);
            _exit(whole && ort_lock_try(&words[0]) && ort_lock_try(&words[1]) && !ort_lock_try(&words[2]) ? 44 : 1);
        }
        int status = 0;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 44);
    }
    ps_store_release(&stop, 1);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 3; i++)
        assert_false(ort_lock_try(&words[i])); /* here they stay as they were */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_finds_them_free)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
