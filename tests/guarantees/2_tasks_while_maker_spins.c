/* Members that have returned run tasks while the maker of these waits by hand: several tasks at once, and a task that
 * becomes ready by an event, which the maker or a foreign thread fulfils. */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#define ROUNDS 10

static bool seen(int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0; }
static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
static void await(int *flag)
{
    while (!seen(flag))
        usleep(50);
}

/* The first task waits for the second, and the second for the first to go on. */
static void two_at_once(void)
{
    int first = 0, second = 0;
#pragma omp parallel num_threads(4) shared(first, second)
#pragma omp master
    {
        usleep(2000); /* the others have returned */
#pragma omp task shared(first, second)
        {
            await(&second);
            set(&first);
        }
#pragma omp task shared(first, second)
        {
            set(&second);
            await(&first);
        }
        await(&first);
    }
}

static omp_event_handle_t event;
static int given;

static void *fulfils(void *arg)
{
    await(&given);
    omp_fulfill_event(event);
    return arg;
}

static void behind_an_event(bool foreign)
{
    int done = 0, x = 0;
    pthread_t thread;
    __atomic_store_n(&given, 0, __ATOMIC_RELAXED);
    if (foreign)
        CHECK(pthread_create(&thread, NULL, fulfils, NULL) == 0);
#pragma omp parallel num_threads(2) shared(done, x)
#pragma omp master
    {
        omp_event_handle_t mine;
        usleep(2000);
#pragma omp task detach(mine) depend(out : x)
        x = 1;
        event = mine;
#pragma omp task shared(done, x) depend(in : x)
        set(&done);
        usleep(2000);
        if (foreign)
            set(&given);
        else
            omp_fulfill_event(event);
        await(&done);
    }
    if (foreign)
        pthread_join(thread, NULL);
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        two_at_once();
        behind_an_event(false);
        behind_an_event(true);
    }
    return 0;
}
