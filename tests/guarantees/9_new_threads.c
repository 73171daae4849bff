/* A kernel thread that a member starts begins with what the member has: its name, which is the process's where nobody
 * has set another, its signal mask and nice value, and nothing of another member's. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#define N 8

static char process_name[16];

struct seen {
    char name[16];
    int nice;
    bool blocked;
    atomic_int done;
};

static void look(struct seen *seen)
{
    sigset_t mask;
    char path[60];
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)syscall(SYS_gettid));
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(seen->name, sizeof seen->name, file));
    fclose(file);
    seen->name[strcspn(seen->name, "\n")] = '\0';
    seen->nice = getpriority(PRIO_PROCESS, 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    seen->blocked = sigismember(&mask, SIGUSR2) == 1;
    atomic_store(&seen->done, 1);
}

static void *be_thread(void *seen)
{
    look(seen);
    return NULL;
}
static void by_pthread(struct seen *seen)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, be_thread, seen) == 0 && pthread_join(thread, NULL) == 0);
}

static int be_c11_thread(void *seen)
{
    look(seen);
    return 0;
}
static void by_c11(struct seen *seen)
{
    thrd_t thread;
    CHECK(thrd_create(&thread, be_c11_thread, seen) == thrd_success && thrd_join(thread, NULL) == thrd_success);
}

#define MOST_NICE 19
static int first_nice; /* the process's: the test may begin with any */
__attribute__((constructor)) static void read_nice(void) { first_nice = getpriority(PRIO_PROCESS, 0); }

static void check(void (*start)(struct seen *), const char *name, int nice, bool blocked)
{
    struct seen seen = {.done = 0};
    start(&seen);
    CHECK(atomic_load(&seen.done));
    if (strcmp(seen.name, name))
        fprintf(stderr, "\"%s\" instead of \"%s\"\n", seen.name, name);
    CHECK(!strcmp(seen.name, name) && seen.nice == nice && seen.blocked == blocked);
}

static void members_start(void (*start)(struct seen *))
{
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num(), own_nice = first_nice;
            char own[16];
            snprintf(own, sizeof own, "%s", process_name);
            wait_in_a_barrier();
            if (round == 0)
                check(start, own, first_nice, false);
            wait_in_all_ways();
            if (id % 2) { /* not the first one: that is the process's */
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, SIGUSR2);
                snprintf(own, sizeof own, "member %d", id);
                own_nice = first_nice + id < MOST_NICE ? first_nice + id : MOST_NICE;
                CHECK(pthread_setname_np(pthread_self(), own) == 0 && setpriority(PRIO_PROCESS, 0, own_nice) == 0);
                CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
            }
            wait_in_all_ways();
            check(start, own, own_nice, id % 2);
        }
    }
}
static void pthreads(void) { members_start(by_pthread); }
static void c11_threads(void) { members_start(by_c11); }

/* Where nothing else tells that a member is to have a kernel thread of its own. */
static void names_only(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 3; i++) {
        check(i % 2 ? by_c11 : by_pthread, process_name, first_nice, false);
        wait_in_all_ways();
    }
}

/* --- kernel threads that the C library starts for itself, at the first such call of the process --- */

static struct seen seen_by_helper;
static void on_event(union sigval value)
{
    (void)value;
    look(&seen_by_helper);
}

static struct sigevent by_helper(void)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on_event;
    return event;
}

static void await_helper(void)
{
    while (!atomic_load(&seen_by_helper.done))
        usleep(500);
    if (strcmp(seen_by_helper.name, process_name))
        fprintf(stderr, "\"%s\" instead of \"%s\"\n", seen_by_helper.name, process_name);
    CHECK(!strcmp(seen_by_helper.name, process_name));
}

/* Not on the kernel thread of the first one, which is the process's. */
static void last_member(void (*asks)(void))
{
    atomic_int asked = 0;
#pragma omp parallel num_threads(N) shared(asked)
    {
        wait_in_all_ways();
        if (omp_get_thread_num() == 0)
            while (!atomic_load(&asked))
                continue;
        if (omp_get_thread_num() == N - 1) {
            asks();
            atomic_store(&asked, 1);
        }
    }
}

static void ask_for_time(void)
{
    struct sigevent event = by_helper();
    struct itimerspec soon = {{0, 0}, {0, 1000000}};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
    await_helper();
    CHECK(timer_delete(timer) == 0);
}
static void a_timer(void) { last_member(ask_for_time); }

static char text[16];
static struct aiocb reading = {.aio_buf = text, .aio_nbytes = sizeof text};
static void open_to_read(void)
{
    reading.aio_fildes = open("/proc/self/exe", O_RDONLY);
    reading.aio_sigevent = by_helper();
    CHECK(reading.aio_fildes >= 0);
}
static void ask_for_bytes(void)
{
    open_to_read();
    CHECK(aio_read(&reading) == 0);
    await_helper();
}
static void a_reading(void) { last_member(ask_for_bytes); }

static void ask_for_a_list(void)
{
    struct aiocb *list[] = {&reading};
    open_to_read();
    reading.aio_lio_opcode = LIO_READ;
    CHECK(lio_listio(LIO_NOWAIT, list, 1, NULL) == 0);
    await_helper();
}
static void a_list(void) { last_member(ask_for_a_list); }

static void ask_for_a_message(void)
{
    char name[40];
    snprintf(name, sizeof name, "/psthreads.%ld", (long)getpid());
    struct sigevent event = by_helper();
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
    if (queue < 0 && (errno == ENOSYS || errno == EACCES || errno == EMFILE))
        return; /* the system has none */
    CHECK(queue >= 0 && mq_unlink(name) == 0);
    CHECK(mq_notify(queue, &event) == 0 && mq_send(queue, "", 1, 0) == 0);
    await_helper();
    CHECK(mq_close(queue) == 0);
}
static void a_message(void) { last_member(ask_for_a_message); }

static void ask_for_an_address(void)
{
    struct sigevent event = by_helper();
    struct addrinfo as = {.ai_flags = AI_NUMERICHOST};
    struct gaicb request = {.ar_name = "127.0.0.1", .ar_request = &as}, *list[] = {&request};
    CHECK(getaddrinfo_a(GAI_NOWAIT, list, 1, &event) == 0);
    await_helper();
}
static void an_address(void) { last_member(ask_for_an_address); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"pthreads", pthreads},   {"c11_threads", c11_threads}, {"names_only", names_only}, {"a_timer", a_timer},
        {"a_reading", a_reading}, {"a_list", a_list},           {"a_message", a_message},   {"an_address", an_address}};
    CHECK(pthread_getname_np(pthread_self(), process_name, sizeof process_name) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
