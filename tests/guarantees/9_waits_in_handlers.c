/* A handler waits in the kernel, on a member that waits: for a semaphore, room in a pipe, the next signal, a child, a
 * moment. Whatever either of the two waits for, both go on. Signals are sent to the members one after the other,
 * wherever these are. [KIND, or a dash and kinds that are left out] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>

#define N 6
#define HANDLERS 400
#define NEXT_SIGNALS 40 /* to a member that is not reached; each of them took two seconds */

static _Thread_local volatile int known; /* 1 + the thread's number */
static pthread_t self[N];
static _Atomic bool sent[N], over;        /* a signal that has not been handled yet; all are */
static _Atomic int handled, asked, given; /* of the semaphore */
static volatile bool wants_next[N];
static omp_lock_t lock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static int room[2];

/* What handlers do. */

static void take_semaphore(void)
{
    asked++;
    while (sem_wait(&semaphore))
        CHECK(errno == EINTR);
}
static void write_to_full_pipe(void)
{
    static char page[4096];
    while (write(room[1], page, sizeof page) == -1)
        CHECK(errno == EINTR);
}
static void await_next_signal(void)
{
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    sigdelset(&mask, SIGUSR2);
    wants_next[known - 1] = true;
    while (wants_next[known - 1])
        sigsuspend(&mask);
}
static void poll_a_while(void) { poll(NULL, 0, 1); }
static void sleep_and_yield(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    sched_yield();
}
static void await_child(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    while (waitpid(child, NULL, 0) != child)
        CHECK(errno == EINTR);
}

static const struct kind {
    const char *name;
    void (*wait)(void);
} kinds[] = {
    {"semaphore", take_semaphore}, {"pipe", write_to_full_pipe}, {"signal", await_next_signal}, {"poll", poll_a_while},
    {"sleep", sleep_and_yield},    {"child", await_child},       {"unreached", NULL},
};
#define KINDS (int)(sizeof kinds / sizeof *kinds)
static const struct kind *kind;

static void on_signal(int number)
{
    int before = errno, me = known;
    (void)number;
    if (me)
        kind->wait();
    handled++;
    for (int id = 0; id < N; id++)
        if (!me || id == me - 1) /* as no thread of the program's: docs/guarantees.md, given up */
            sent[id] = false;
    errno = before;
}

static void on_next(int number)
{
    (void)number;
    if (known)
        wants_next[known - 1] = false;
}

/* Gives handlers what they wait for. */
static void *give(void *arg)
{
    static char bytes[1 << 16];
    for (; !over; usleep(100)) {
        while (read(room[0], bytes, sizeof bytes) > 0)
            continue;
        for (; given < asked; given++)
            sem_post(&semaphore);
        for (int id = 0; id < N; id++)
            if (wants_next[id])
                CHECK(pthread_kill(self[id], SIGUSR2) == 0);
    }
    return arg;
}

static void *send_signals(void *arg)
{
    unsigned seed = 1;
    for (; handled < HANDLERS; usleep(rand_r(&seed) % 100)) {
        int id = rand_r(&seed) % N;
        if (!sent[id]) {
            sent[id] = true;
            CHECK(pthread_kill(self[id], SIGUSR1) == 0);
        }
    }
    return arg;
}

static void wait_for_locks(void)
{
    for (int i = 0; i < 20; i++) {
        omp_set_lock(&lock);
        waits_compute_us(5);
        omp_unset_lock(&lock);
        pthread_mutex_lock(&mutex);
        waits_compute_us(5);
        pthread_mutex_unlock(&mutex);
    }
}

static void wait_for_inner_team(void)
{
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
    CHECK(n == 2);
}

static void wait_for_group(void)
{
    int done = 0;
#pragma omp taskgroup
    for (int i = 0; i < 3; i++)
#pragma omp task shared(done)
    {
        waits_compute_us(50);
#pragma omp atomic
        done++;
    }
    CHECK(done == 3);
}

/* The member is in the C library for seconds, where it cannot be left. */
static void *send_to_unreached(void *arg)
{
    while (!asked)
        usleep(100);
    CHECK(pthread_kill(self[1], SIGUSR1) == 0);
    for (; !over; sched_yield())
        if (wants_next[1])
            CHECK(pthread_kill(self[1], SIGUSR2) == 0);
    return arg;
}

static void on_next_of_unreached(int number)
{
    (void)number;
    wants_next[1] = false;
}

static void await_next_signals(int number)
{
    sigset_t mask;
    (void)number;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    sigdelset(&mask, SIGUSR2);
    for (int i = 0; i < NEXT_SIGNALS; i++) {
        wants_next[1] = true;
        while (wants_next[1])
            sigsuspend(&mask);
    }
    over = true;
}

static void run_unreached(void)
{
    pthread_t sender;
    size_t bytes = (size_t)1 << 26;
    char *zeros = calloc(bytes, 1);
    CHECK(pthread_create(&sender, NULL, send_to_unreached, NULL) == 0);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        self[1] = pthread_self();
        asked = 1;
        while (!over)
            CHECK(!memchr(zeros, 1, bytes));
    }
    CHECK(pthread_join(sender, NULL) == 0);
    free(zeros);
}

static void run_kind(int number)
{
    kind = &kinds[number];
    bool unreached = !kind->wait;
    struct sigaction action = {.sa_handler = unreached ? await_next_signals : on_signal};
    sigaddset(&action.sa_mask, SIGUSR2);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_handler = unreached ? on_next_of_unreached : on_next;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    if (unreached) {
        run_unreached();
        return;
    }
    pthread_t giver, sender;
    sigset_t all, before;
    CHECK(pipe(room) == 0 && fcntl(room[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(room[1], F_SETPIPE_SZ, 4096) > 0);
    CHECK(sem_init(&semaphore, 0, 0) == 0);
    omp_init_lock(&lock);
    omp_set_max_active_levels(2);
    for (bool begun = false; !begun || handled < HANDLERS; begun = true) {
#pragma omp parallel num_threads(N)
        {
            int me = omp_get_thread_num();
            known = me + 1;
            self[me] = pthread_self();
#pragma omp barrier
#pragma omp master
            if (!begun) {
                sigfillset(&all);
                CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
                CHECK(pthread_create(&giver, NULL, give, NULL) == 0);
                CHECK(pthread_create(&sender, NULL, send_signals, NULL) == 0);
                CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
            }
            wait_for_locks();
            wait_in_all_ways();
            wait_for_tasks();
            wait_for_inner_team();
            wait_for_group();
            CHECK(omp_get_thread_num() == me && known == me + 1);
        }
    }
    CHECK(pthread_join(sender, NULL) == 0);
    for (int id = 0; id < N; id++)
        while (sent[id])
            usleep(100);
    over = true;
    CHECK(pthread_join(giver, NULL) == 0);
}

static const char *name_of(int number) { return kinds[number].name; }

int main(int argc, char **argv)
{
    in_a_process_each(KINDS, name_of, run_kind, argc > 1 ? argv[1] : NULL);
    return 0;
}
