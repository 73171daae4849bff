/* The reader: what is read of the system takes no descriptor of the process's; by any thread, in handlers, in children,
 * while the reader begins and ends. It closes nothing of the program's: locks and notifications of files stay. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
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
    assert_true(os_mappings_max() > 0);
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

/* --- the program's own files --- */

static void begin_and_read(void)
{
    os_reader_begin();
    read_all();
}

static void assert_locked(int with_records, int by_file)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct flock whole = {.l_type = F_WRLCK};
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", by_file);
        int again = open(path, O_RDWR);
        bool held = fcntl(with_records, F_SETLK, &whole) != 0 && again >= 0 && flock(again, LOCK_EX | LOCK_NB) != 0;
        _exit(!held);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A process that closes any descriptor of a file loses its record locks there. */
static void locks_stay(void **state)
{
    struct flock whole = {.l_type = F_WRLCK};
    int with_records = memfd_create("records", 0), by_file = memfd_create("file", 0);
    (void)state;
    assert_true(with_records >= 0 && by_file >= 0);
    assert_int_equal(fcntl(with_records, F_SETLK, &whole), 0);
    assert_int_equal(flock(by_file, LOCK_EX), 0);
    begin_and_read();
    assert_locked(with_records, by_file);
    os_reader_end();
    assert_locked(with_records, by_file);
    close(with_records);
    close(by_file);
}

/* A process that closes any descriptor of a message queue is not notified any more. */
static void notifications_stay(void **state)
{
    struct sigevent silent = {.sigev_notify = SIGEV_NONE};
    char name[64];
    (void)state;
    snprintf(name, sizeof name, "/psthreads-reader-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
    if (queue < 0) /* the system has none */
        skip();
    assert_int_equal(mq_unlink(name), 0);
    assert_int_equal(mq_notify(queue, &silent), 0);
    begin_and_read();
    os_reader_end();
    assert_int_equal(mq_notify(queue, &silent), -1); /* it is asked for still */
    assert_int_equal(errno, EBUSY);
    mq_close(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_descriptor_is_taken),
        cmocka_unit_test(reader_is_not_counted),
        cmocka_unit_test(handlers_read),
        cmocka_unit_test(begins_and_ends),
        cmocka_unit_test(child_reads),
        cmocka_unit_test(locks_stay),
        cmocka_unit_test(notifications_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
