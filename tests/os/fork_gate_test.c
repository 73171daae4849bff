/* Fork beside kernel threads of the runtime's that begin and end: the child can start kernel threads and allocate. The
 * allocator of an older AddressSanitizer would leave its locks taken in the child; the C library's malloc does not. And
 * a signal handler forks whose thread joins a kernel thread: it does not wait for its own thread. */
#include "test.h"

#include "atomic.h"
#include "os.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 200, CHILD_SECONDS = 60 };
#define TOO_LONG_NS UINT64_C(4000000000) /* less than a fork's patience */

#if !PS_ASAN && !PS_TSAN
void __lsan_enable(void); /* by this a sanitizer's allocator is known: the gate is used here without one, too */
void __lsan_enable(void) {}
#endif

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

/* --- a handler of the thread that joins --- */

static int joiner;
static pthread_t joiner_handle;
static _Atomic uint32_t has_sent;
static volatile pid_t child_of_handler = -1;
static volatile uint64_t fork_took_ns;

static pid_t timed_fork(void)
{
    uint64_t begin = os_now_ns();
    pid_t child = fork();
    fork_took_ns = os_now_ns() - begin;
    return child;
}

static void forks(int number)
{
    (void)number;
    child_of_handler = timed_fork();
}

static void *ends_after_signal(void *arg)
{
    while (!ps_load_acquire(&has_sent))
        os_yield();
    return arg;
}

static void *sends_when_joiner_sleeps(void *arg)
{
    struct os_usage usage = {0};
    while (os_thread_usage(joiner, &usage) == 0 && !usage.sleeping)
        os_yield();
    pthread_kill(joiner_handle, SIGUSR1);
    ps_store_release(&has_sent, 1);
    return arg;
}

static void goes_on_in_child(void)
{
    bool slow = fork_took_ns > TOO_LONG_NS;
    alarm(CHILD_SECONDS);
    int status = 1;
    pid_t child = timed_fork();
    slow |= fork_took_ns > TOO_LONG_NS;
    if (child == 0)
        in_child();
    _exit(slow || waitpid(child, &status, 0) != child || status != 0);
}

static void a_handler_may_fork_where_its_thread_joins(void **state)
{
    (void)state;
    if (PS_TSAN)
        skip();
    os_objects_init();
    struct sigaction action = {.sa_handler = forks, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    joiner = os_thread_id();
    joiner_handle = pthread_self();
    os_thread joined;
    pthread_t sender;
    assert_int_equal(os_thread_start(&joined, ends_after_signal, NULL, 0, true), 0);
    assert_int_equal(pthread_create(&sender, NULL, sends_when_joiner_sleeps, NULL), 0);
    os_thread_join(joined);
    if (child_of_handler == 0)
        goes_on_in_child();
    assert_true(fork_took_ns <= TOO_LONG_NS);
    int status = 1;
    assert_int_equal(waitpid(child_of_handler, &status, 0), child_of_handler);
    assert_int_equal(status, 0);
    pthread_join(sender, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_may_start_kernel_threads),
                                       cmocka_unit_test(a_handler_may_fork_where_its_thread_joins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
