/* Signals to the region's first thread, the program's own, from members: the handler runs as that thread, with its
 * storage, wherever it waits, and no other thread's place is taken; once some have come, on its stack, too. By its
 * handle, by its number; and all threads stopped together with it, as collectors of garbage do. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define N 4
#define ROUNDS 4
#define RESTART (SIGRTMIN + 3)

static pthread_t first;
static char *first_stack; /* a place in it, above all that it does in the region */
static volatile int handled, elsewhere, on_its_stack;

static void on_signal(int number)
{
    char here;
    (void)number;
    handled++;
    if (!pthread_equal(pthread_self(), first) ||
        (on_its_stack && (&here > first_stack || first_stack - &here > 8 << 20)))
        elsewhere++;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void send_in_regions(void (*send)(void))
{
    char here;
    first = pthread_self();
    first_stack = &here;
    handle(SIGUSR1, on_signal);
    for (int round = 0; round < ROUNDS; round++) {
        on_its_stack = round > 0;
#pragma omp parallel num_threads(N)
        for (int i = 0; i < 5; i++) {
            if (omp_get_thread_num())
                send();
            wait_in_all_ways();
        }
    }
    CHECK(handled > 0 && elsewhere == 0);
}

static void send_to_handle(void) { CHECK(pthread_kill(first, SIGUSR1) == 0); }
static void send_to_number(void) { CHECK(syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1) == 0); }
static void by_handle(void) { send_in_regions(send_to_handle); }
static void by_number(void) { send_in_regions(send_to_number); }

/* A file that is the first thread's. */
static int ends[2];
static void send_by_file(void) { CHECK(write(ends[1], "x", 1) == 1); }
static void by_file(void)
{
    struct f_owner_ex owner = {F_OWNER_TID, getpid()};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && fcntl(ends[0], F_SETOWN_EX, &owner) == 0);
    CHECK(fcntl(ends[0], F_SETSIG, SIGUSR1) == 0 && fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) == 0);
    send_in_regions(send_by_file);
}

/* --- all of them stopped --- */

static pthread_t thread[N];
static long long progress[N];
static sem_t answers;
static volatile int round_now;

static void on_stop(int number)
{
    sigset_t all_but_one;
    int round = round_now;
    (void)number;
    if (pthread_equal(pthread_self(), first))
        on_signal(number);
    sem_post(&answers);
    sigfillset(&all_but_one);
    sigdelset(&all_but_one, RESTART);
    while (round == round_now)
        sigsuspend(&all_but_one);
    sem_post(&answers);
}
static void on_restart(int number) { (void)number; }

static void await_answers(int n)
{
    for (int i = 0; i < n; i++)
        while (sem_wait(&answers) != 0)
            continue;
}

static void send_to_others(int own, int number)
{
    for (int i = 0; i < N; i++)
        if (i != own)
            CHECK(pthread_kill(thread[i], number) == 0);
}

static void stop_the_others(int own)
{
    long long before[N];
    send_to_others(own, SIGUSR1);
    await_answers(N - 1);
    for (int i = 0; i < N; i++)
        before[i] = __atomic_load_n(&progress[i], __ATOMIC_SEQ_CST);
    waits_compute_us(500);
    for (int i = 0; i < N; i++)
        CHECK(i == own || before[i] == __atomic_load_n(&progress[i], __ATOMIC_SEQ_CST));
    round_now++;
    send_to_others(own, RESTART);
    await_answers(N - 1);
}

static void stopped_by_the_last(void)
{
    char here;
    first = pthread_self();
    first_stack = &here;
    CHECK(sem_init(&answers, 0, 0) == 0);
    handle(SIGUSR1, on_stop);
    handle(RESTART, on_restart);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        thread[id] = pthread_self();
#pragma omp barrier
        for (int i = 0; i < 3 * ROUNDS; i++) {
            if (id == N - 1) {
                waits_compute_us(300);
                on_its_stack = i >= 3;
                stop_the_others(id);
            } else if (i % 3 == 0) {
                for (int k = 0; k < 100; k++) {
                    __atomic_add_fetch(&progress[id], 1, __ATOMIC_SEQ_CST);
                    waits_compute_us(5);
                }
            } else if (i % 3 == 1) {
#pragma omp critical(turn)
                {
                    __atomic_add_fetch(&progress[id], 1, __ATOMIC_SEQ_CST);
                    waits_compute_us(300);
                }
            }
#pragma omp barrier
        }
    }
    CHECK(handled > 0 && elsewhere == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"by_handle", by_handle},
                                           {"by_number", by_number},
                                           {"by_file", by_file},
                                           {"stopped_by_the_last", stopped_by_the_last}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
