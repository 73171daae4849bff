/* Fork beside kernel threads of the runtime's that begin and end: the child can start kernel threads and allocate. The
 * allocator of an older AddressSanitizer would leave its locks taken in the child; the C library's malloc does not. */
#include "test.h"

#include "atomic.h"
#include "os.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 200, CHILD_SECONDS = 60 };

static void *is_short(void *arg) { return arg; }

static _Atomic uint32_t stop;
static _Atomic unsigned starts;
static void *starts_many(void *arg)
{
    while (!ps_load_acquire(&stop)) {
        os_thread t;
        if (os_thread_start(&t, is_short, NULL, 0, true) != 0)
            continue;
        if (ps_add_relaxed(&starts, 1) % 2)
            os_thread_detach(t);
        else
            os_thread_join(t);
    }
    return arg;
}

static void in_child(void)
{
    alarm(CHILD_SECONDS);
    for (int i = 0; i < 2; i++) {
        os_thread t;
        void *memory = malloc(100);
        if (memory == NULL || os_thread_start(&t, is_short, NULL, 0, true) != 0)
            _exit(1);
        free(memory);
        os_thread_join(t);
    }
    _exit(0);
}

static void a_child_may_start_kernel_threads(void **state)
{
    (void)state;
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    os_objects_init(); /* the handlers of fork */
    pthread_t starter;
    assert_int_equal(pthread_create(&starter, NULL, starts_many, NULL), 0);
    int bad = 0;
    for (int i = 0; i < FORKS && !bad; i++) {
        unsigned seen = ps_load_relaxed(&starts);
        while (ps_load_relaxed(&starts) == seen)
            os_yield();
        pid_t child = fork();
        if (child == 0)
            in_child();
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &bad, 0), child);
    }
    ps_store_release(&stop, 1);
    pthread_join(starter, NULL);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_may_start_kernel_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
