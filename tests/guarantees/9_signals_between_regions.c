/* A signal sent to a member while no region is open reaches that member: its handler runs as the member, at once, and
 * not only when the next region opens. By the thread that opens the regions, or by another one meanwhile; to members
 * that no thread has sent anything before, and again in later regions. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define N 5
#define ROUNDS 4

static pthread_t self[N];
static long mark[N]; /* what each has left in its own storage */
static int got[N], astray;
static pthread_key_t key;
static int *where_errno[N];

static void on_signal(int number)
{
    int before = errno, id = 0;
    (void)number;
    while (id < N && !pthread_equal(self[id], pthread_self()))
        id++;
    if (id == N || pthread_getspecific(key) != &mark[id] || &errno != where_errno[id])
        __atomic_add_fetch(&astray, 1, __ATOMIC_SEQ_CST);
    else
        __atomic_add_fetch(&got[id], 1, __ATOMIC_SEQ_CST);
    errno = before;
}

static void open_region(void)
{
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        CHECK(omp_get_num_threads() == N);
        if (!self[id]) {
            self[id] = pthread_self();
            where_errno[id] = &errno;
            CHECK(pthread_setspecific(key, &mark[id]) == 0);
        }
        CHECK(pthread_equal(self[id], pthread_self()) && pthread_getspecific(key) == &mark[id]);
#pragma omp barrier
    }
}

static void *send_to_all(void *round)
{
    for (int id = 1; id < N; id++) {
        CHECK(pthread_kill(self[id], SIGUSR1) == 0);
        while (__atomic_load_n(&got[id], __ATOMIC_SEQ_CST) < *(int *)round &&
               !__atomic_load_n(&astray, __ATOMIC_SEQ_CST)) /* hangs where it does not arrive */
            nanosleep(&(struct timespec){0, 50000}, NULL);
        CHECK(astray == 0 && got[id] == *(int *)round);
    }
    return round;
}

static void begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && pthread_key_create(&key, NULL) == 0);
}

static void by_the_opener(void)
{
    begin();
    for (int round = 1; round <= ROUNDS; round++) {
        open_region();
        send_to_all(&round);
    }
}

/* Regions open and close while the signals are sent. */
static void by_another(void)
{
    pthread_t sender;
    begin();
    for (int round = 1; round <= ROUNDS; round++) {
        open_region();
        CHECK(pthread_create(&sender, NULL, send_to_all, &round) == 0);
        for (int i = 0; i < 200; i++)
            open_region();
        CHECK(pthread_join(sender, NULL) == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"by_the_opener", by_the_opener}, {"by_another", by_another}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
