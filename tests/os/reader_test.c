/* The reader: what is read of the system takes no descriptor of the process's; by any thread, in handlers, in children,
 * while the reader begins and ends. */
#include "test.h"

#include "os.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define TIMES 2000

static _Atomic uint32_t over, reads;

static void read_all(void)
{
    struct os_usage usage;
    assert_int_equal(os_thread_usage(os_thread_id(), &usage), 0);
    os_cpu_quota();
    os_signals_heard(UINT64_C(1) << (SIGUSR1 - 1));
    assert_false(os_main_thread_gone());
}

static void *read_on(void *arg)
{
    while (!ps_load_acquire(&over)) {
        read_all();
        ps_add_relaxed(&reads, 1);
    }
    return arg;
}

static void start_readers(os_thread thread[THREADS])
{
    ps_store_release(&over, 0);
    ps_store_relaxed(&reads, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(os_thread_start(&thread[i], read_on, NULL, 0, true), 0);
}

static void join_readers(const os_thread thread[THREADS])
{
    ps_store_release(&over, 1);
    for (int i = 0; i < THREADS; i++)
        os_thread_join(thread[i]);
}

static void no_descriptor_is_taken(void **state)
{
    (void)state;
    os_thread thread[THREADS];
    int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    os_reader_begin();
    start_readers(thread);
    for (uint32_t i = 0; i < TIMES || ps_load_relaxed(&reads) < 100; i++) {
        assert_int_equal(open("/dev/null", O_RDONLY), lowest);
        close(lowest);
    }
    join_readers(thread);
    os_reader_end();
}

static void reader_is_not_counted(void **state)
{
    (void)state;
    unsigned before = os_count_kernel_threads();
    os_reader_begin();
    assert_int_equal(os_count_kernel_threads(), before);
    os_reader_end();
}

static void on_alarm(int number)
{
    struct os_usage usage;
    (void)number;
    assert_int_equal(os_thread_usage(os_thread_id(), &usage), 0);
    ps_add_relaxed(&reads, 1);
}

static void handlers_read(void **state)
{
    (void)state;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    ps_store_relaxed(&reads, 0);
    os_reader_begin();
    setitimer(ITIMER_REAL, &often, NULL);
    while (ps_load_relaxed(&reads) < 200)
        read_all();
    setitimer(ITIMER_REAL, &never, NULL);
    os_reader_end();
}

static void begins_and_ends(void **state)
{
    (void)state;
    os_thread thread[THREADS];
    start_readers(thread);
    for (int i = 0; i < 100; i++) {
        os_reader_begin();
        read_all();
        os_reader_end();
    }
    join_readers(thread);
}

static void child_reads(void **state)
{
    (void)state;
    os_thread thread[THREADS];
    if (PS_TSAN) /* a forked child may have no second thread there */
        skip();
    os_reader_begin();
    start_readers(thread);
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            read_all();
            os_reader_begin();
            read_all();
            os_reader_end();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    join_readers(thread);
    os_reader_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_descriptor_is_taken),
        cmocka_unit_test(reader_is_not_counted),
        cmocka_unit_test(handlers_read),
        cmocka_unit_test(begins_and_ends),
        cmocka_unit_test(child_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
