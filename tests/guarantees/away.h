/* A region's first thread goes on while other members keep its kernel thread. A runtime whose threads share kernel
 * threads lets it go on elsewhere, and brings it back when the region ends. Here that thread is called the root, and
 * such a region a trip.
 *
 * The root waits in the runtime, so that others come to its kernel thread. All of them stay where they are until the
 * root has gone on and done something. Nothing depends on where it goes on; carrier.h says how often it was
 * elsewhere. */
#ifndef PS_GUARANTEES_AWAY_H
#define PS_GUARANTEES_AWAY_H

#include "carrier.h"
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* How the root waits. */
enum away_wait { AWAY_BARRIER, AWAY_LOCK, AWAY_CRITICAL, AWAY_TASKWAIT, AWAY_INNER_REGION, AWAY_WAITS };
/* How the others stay. */
enum away_stay { AWAY_SPINNING, AWAY_BLOCKED, AWAY_STAYS };

/* One for each root. */
struct away {
    int members;
    enum away_wait wait;
    enum away_stay stay;
    void (*body)(struct away *); /* what the root does when it goes on */
    void *of_body;
    long home, times; /* the root's kernel thread; how often it went on elsewhere */
    omp_lock_t lock;
    omp_event_handle_t event;
    int channel[2];
    volatile int kept, inside, over; /* what the root waits for is kept; members that stay; they may go on */
};

/* Called by the root, outside of regions. */
static inline void away_begin(struct away *a, int members, void (*body)(struct away *))
{
    memset(a, 0, sizeof *a);
    a->members = members;
    a->body = body;
    a->home = carrier_id();
    omp_init_lock(&a->lock);
    CHECK(pipe(a->channel) == 0);
    if (omp_get_max_active_levels() < 2)
        omp_set_max_active_levels(2);
}

static inline void away_end(struct away *a)
{
    omp_destroy_lock(&a->lock);
    CHECK(close(a->channel[0]) == 0 && close(a->channel[1]) == 0);
}

/* The root, when it waits no more. */
static inline void away_go_on(struct away *a)
{
    a->times += carrier_id() != a->home;
    a->body(a);
    a->over = 1;
    for (int i = 1; i < a->members && a->stay == AWAY_BLOCKED; i++)
        CHECK(write(a->channel[1], "x", 1) == 1);
}

static inline void away_stay(struct away *a)
{
    char c;
    ssize_t n;
    __atomic_add_fetch(&a->inside, 1, __ATOMIC_SEQ_CST);
    if (a->stay == AWAY_SPINNING) {
        while (!a->over)
            ;
        return;
    }
    while ((n = read(a->channel[0], &c, 1)) == -1 && errno == EINTR)
        continue;
    CHECK(n == 1);
}

/* One keeps what the root waits for until the others stay. */
static inline void away_await(const volatile int *what, int least)
{
    while (*what < least)
        usleep(100);
}

static inline void away_keep(struct away *a)
{
    int others = a->members - 2;
    if (a->wait == AWAY_LOCK) {
        away_await(&a->inside, others);
        omp_unset_lock(&a->lock);
    } else if (a->wait == AWAY_CRITICAL) {
#pragma omp critical(away)
        {
            a->kept = 1;
            away_await(&a->inside, others);
        }
    } else if (a->wait == AWAY_TASKWAIT) {
        away_await(&a->kept, 1);
        away_await(&a->inside, others);
        omp_fulfill_event(a->event);
    }
}

static inline void away_wait(struct away *a)
{
    omp_event_handle_t event;
    if (a->wait == AWAY_LOCK) {
        omp_set_lock(&a->lock);
        omp_unset_lock(&a->lock);
    } else if (a->wait == AWAY_CRITICAL) {
        away_await(&a->kept, 1);
#pragma omp critical(away)
        a->kept = 2;
    } else if (a->wait == AWAY_TASKWAIT) {
#pragma omp task detach(event)
        {
            a->event = event;
            a->kept = 1;
        }
#pragma omp taskwait
    } else if (a->wait == AWAY_INNER_REGION) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            away_await(&a->inside, a->members - 1);
    }
}

static inline void away_trip(struct away *a, enum away_wait wait, enum away_stay stay)
{
    a->wait = wait;
    a->stay = stay;
    a->kept = a->inside = a->over = 0;
#pragma omp parallel num_threads(a->members)
    {
        int id = omp_get_thread_num();
        CHECK(omp_get_num_threads() == a->members);
        if (id == 1 && wait == AWAY_LOCK)
            omp_set_lock(&a->lock);
#pragma omp barrier
        if (id == 0) {
            away_wait(a);
            away_go_on(a);
        } else {
            if (id == 1)
                away_keep(a);
            away_stay(a);
        }
    }
    CHECK(carrier_id() == a->home);
}

/* Every wait and every stay, `rounds` times. */
static inline void away_trips(struct away *a, int rounds)
{
    for (int i = 0; i < rounds * AWAY_WAITS * AWAY_STAYS; i++)
        away_trip(a, (enum away_wait)(i % AWAY_WAITS), (enum away_stay)(i / AWAY_WAITS % AWAY_STAYS));
}

#endif
