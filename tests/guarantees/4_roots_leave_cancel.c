/* A thread of the program's ends after its regions, in which it went on elsewhere because others held its kernel
 * thread. It returns, exits, or is cancelled: after the regions, in one of them while it does not allow that, or
 * where it blocks in a call. Its clean-up handlers and the destructors of its keys run once, in it, and may open
 * regions. Its joiner gets its result, and no other thread ends. [KIND] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>

#define N 4
#define THREADS 6

static __thread int own;
static pthread_key_t key;
static pthread_t self;
static int *where_own, *where_errno;
static _Atomic int cleaned, destroyed, ended;
static _Atomic bool is_out; /* of its regions */
static sem_t done;

static void expect_itself(void)
{
    CHECK(pthread_equal(pthread_self(), self) && own == 5 && &own == where_own && &errno == where_errno);
}

static int count_members(void)
{
    int n = 0;
#pragma omp parallel num_threads(N) reduction(+ : n)
    n++;
    return n;
}

static void clean(void *arg)
{
    CHECK(arg == &own);
    expect_itself();
    cleaned++;
}

static void destroy(void *arg)
{
    CHECK(arg == &own);
    expect_itself();
    CHECK(count_members() == N);
    destroyed++;
}

/* --- how it ends --- */

static void *returns(void) { return &ended; }
static void *exits(void) { pthread_exit(&ended); }
static void *exits_within_calls(void)
{
    volatile char room[1000];
    room[0] = (char)count_members();
    return room[0] ? exits() : NULL;
}
static void *passes_a_point(void)
{
    is_out = true;
    for (;;) {
        pthread_testcancel();
        sched_yield();
    }
    return NULL;
}
static void *pauses(void)
{
    is_out = true;
    for (;;)
        pause();
    return NULL;
}
static void *reads(void)
{
    int unwritten[2];
    char c;
    CHECK(pipe(unwritten) == 0);
    is_out = true;
    (void)!read(unwritten[0], &c, 1);
    CHECK(!"it reads nothing");
    return NULL;
}
static void *waits_for_a_post(void)
{
    sem_t none;
    CHECK(sem_init(&none, 0, 0) == 0);
    is_out = true;
    sem_wait(&none);
    CHECK(!"no thread posts");
    return NULL;
}
static void *computes(void)
{
    int old;
    is_out = true;
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
    for (;;)
        ;
}

static const struct way {
    const char *name;
    void *(*end)(void);
    bool is_cancelled, in_regions; /* by a member, while it is elsewhere */
} ways[] = {
    {"returns", returns, false, false},
    {"exits", exits, false, false},
    {"exits_within_calls", exits_within_calls, false, false},
    {"cancelled", passes_a_point, true, false},
    {"cancelled_in_pause", pauses, true, false},
    {"cancelled_in_read", reads, true, false},
    {"cancelled_on_a_semaphore", waits_for_a_post, true, false},
    {"cancelled_computing", computes, true, false},
    {"cancelled_in_regions", passes_a_point, false, true},
    {"cancelled_in_regions_then_pauses", pauses, false, true},
};
static const struct way *way;

static void goes_on(struct away *a)
{
    (void)a;
    expect_itself();
    if (way->in_regions && a->wait == AWAY_LOCK)
        CHECK(pthread_cancel(self) == 0);
    pthread_testcancel(); /* it does not allow it */
}

static void *live(void *arg)
{
    struct away away;
    int old;
    void *result;
    own = 5;
    self = pthread_self();
    where_own = &own;
    where_errno = &errno;
    CHECK(pthread_setspecific(key, &own) == 0);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    pthread_cleanup_push(clean, &own);
    away_begin(&away, N, goes_on);
    for (int i = 0; i < AWAY_WAITS; i++)
        away_trip(&away, (enum away_wait)i, (enum away_stay)(i % AWAY_STAYS));
    away_end(&away);
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0);
    result = way->end();
    pthread_cleanup_pop(1);
    (void)arg;
    return result;
}

static void run(int i)
{
    way = &ways[i];
    for (int k = 1; k <= THREADS; k++) {
        pthread_t thread;
        void *result;
        is_out = false;
        CHECK(pthread_create(&thread, NULL, live, NULL) == 0);
        while (way->is_cancelled && !is_out)
            usleep(100);
        if (way->is_cancelled)
            CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        if (way->end != computes) /* glibc 2.36 may give NULL where it is asynchronous */
            CHECK(result == (way->is_cancelled || way->in_regions ? PTHREAD_CANCELED : (void *)&ended));
        CHECK(cleaned == k && destroyed == k);
        CHECK(count_members() == N);
    }
}

/* Detached: its key's destructor is the last that it does. */
static void tell(void *arg)
{
    destroy(arg);
    sem_post(&done);
}
static void detached(void)
{
    pthread_attr_t attr;
    CHECK(pthread_key_delete(key) == 0 && pthread_key_create(&key, tell) == 0);
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(sem_init(&done, 0, 0) == 0);
    way = &ways[1];
    for (int k = 1; k <= THREADS; k++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &attr, live, NULL) == 0);
        while (sem_wait(&done))
            continue;
        CHECK(cleaned == k && destroyed == k && count_members() == N);
    }
}

/* The program's own thread exits; another one goes on, and ends the process. */
static pthread_t first_thread;
static void *ends_the_process(void *arg)
{
    CHECK(pthread_join(first_thread, NULL) == 0);
    CHECK(cleaned == 1 && destroyed == 1 && count_members() == N);
    exit(0);
    return arg;
}
static void the_first_exits(void)
{
    pthread_t thread;
    first_thread = pthread_self();
    way = &ways[1];
    CHECK(pthread_create(&thread, NULL, ends_the_process, NULL) == 0);
    live(NULL);
}

static const char *name_of(int i) { return ways[i].name; }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"detached", detached}, {"the_first_exits", the_first_exits}};
    const char *only = argc > 1 ? argv[1] : NULL;
    CHECK(pthread_key_create(&key, destroy) == 0);
    in_a_process_each(sizeof ways / sizeof *ways, name_of, run, only);
    RUN_KINDS(kinds, only);
    return 0;
}
