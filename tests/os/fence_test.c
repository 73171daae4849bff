/* The fence for all kernel threads, in a process that had several of them when the library was loaded, as a Python
 * program has. */
#include "test.h"

#include "os.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t end;
static pthread_t other;

static void *wait_for_end(void *arg)
{
    while (sem_wait(&end) != 0)
        continue;
    return arg;
}

/* Before the library's own constructors: 101 is the first priority that programs may use. */
__attribute__((constructor(101))) static void begin_other(void)
{
    if (sem_init(&end, 0, 0) != 0 || pthread_create(&other, NULL, wait_for_end, NULL) != 0)
        _exit(1);
}

/* What needs a fence has it with the first call, and the fast paths may rely on it from then on. */
static void first_fence(void **state)
{
    (void)state;
    if (syscall(SYS_membarrier, 0 /* query */, 0) < 1 << 4) {
        assert_false(os_fence_all());
        assert_false(os_fence_all_ready());
        return;
    }
    assert_false(os_fence_all_ready());
    assert_true(os_fence_all());
    assert_true(os_fence_all_ready());
}

/* Called last. */
static void end_other(void **state)
{
    (void)state;
    sem_post(&end);
    assert_int_equal(pthread_join(other, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_fence), cmocka_unit_test(end_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
