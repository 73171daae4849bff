/* A collector of garbage stops all threads of nested regions, those that wait for an inner region among them: each
 * says in its handler where its stack ends, and waits there for another signal. The handler runs as the thread that the
 * signal was sent to, with its storage and mask. What stands between there and the bottom of that thread's stack has
 * all that the thread has. No thread runs meanwhile. The collector is a member of an inner region, one of the outer
 * one, or a thread of the program's own. In "openers" only those that wait for inner regions are stopped, and the
 * members of these go on. In "first_..." the program's own thread is one of them. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "stop_world.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define MOST 16
#define COOKIE UINT64_C(0x5ca1ab1e0ddba110)
#define CYCLES 4

struct thread {
    pthread_t self;
    uintptr_t low, high;
    volatile uint64_t *cookie;
    const int *errno_at;
    volatile uintptr_t stopped_at;
    volatile long work;
    volatile int known, opener;
};
static struct thread outer_ones[MOST], inner_ones[MOST][MOST];
static _Thread_local struct thread *me;
static volatile int stranger, elsewhere, other_mask;
static int outer_n, inner_n;

static void on_stop(int number)
{
    int before = errno;
    sigset_t now;
    (void)number;
    if (!me || !pthread_equal(pthread_self(), me->self) || &errno != me->errno_at)
        stranger = 1;
    else {
        me->stopped_at = (uintptr_t)__builtin_frame_address(0);
        if (me->stopped_at < me->low || me->stopped_at >= (uintptr_t)me->cookie)
            elsewhere = 1;
    }
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    if (!sigismember(&now, SIGUSR2) || sigismember(&now, SIGURG))
        other_mask = 1;
    stay_stopped(false);
    errno = before;
}

static void each_of(void (*do_it)(struct thread *t))
{
    for (int i = 0; i < outer_n; i++) {
        if (outer_ones[i].known)
            do_it(&outer_ones[i]);
        for (int k = 0; k < inner_n; k++)
            if (inner_ones[i][k].known)
                do_it(&inner_ones[i][k]);
    }
}

static int others;
static bool openers_only, first_too;
static struct thread *chosen[MOST * MOST];
static long before_work[MOST * MOST];

static void choose(struct thread *t)
{
    if (t != me && (t->opener || !openers_only))
        chosen[others++] = t;
}

static void look_at_stack(const struct thread *t)
{
    bool found = false;
    for (const volatile uint64_t *p = (const volatile uint64_t *)(t->stopped_at & -(uintptr_t)8);
         (uintptr_t)p < t->high; p++)
        found |= *p == (COOKIE ^ (uintptr_t)t);
    CHECK(found);
}

static void stop_and_go(void)
{
    others = 0;
    world_runs = 0;
    each_of(choose);
    for (int i = 0; i < others; i++)
        CHECK(pthread_kill(chosen[i]->self, SIGUSR1) == 0);
    wait_for(&stopped, others); /* hangs where one does not come */
    CHECK(!stranger);
    CHECK(!elsewhere);
    CHECK(!other_mask);
    for (int i = 0; i < others; i++)
        before_work[i] = chosen[i]->work;
    waits_compute_us(500);
    for (int i = 0; i < others; i++) {
        CHECK(chosen[i]->work == before_work[i]);
        look_at_stack(chosen[i]);
    }
    world_runs = 1;
    for (int i = 0; i < others; i++)
        CHECK(pthread_kill(chosen[i]->self, SIGUSR2) == 0);
    wait_for(&resumed, others);
}

static void begin(struct thread *t, volatile uint64_t *cookie)
{
    pthread_attr_t attr;
    void *low;
    size_t bytes;
    me = t;
    t->self = pthread_self();
    t->errno_at = &errno;
    CHECK(pthread_getattr_np(t->self, &attr) == 0 && pthread_attr_getstack(&attr, &low, &bytes) == 0);
    pthread_attr_destroy(&attr);
    t->low = (uintptr_t)low;
    t->high = (uintptr_t)low + bytes;
    *cookie = COOKIE ^ (uintptr_t)t;
    t->cookie = cookie;
    t->known = 1;
}
static void end(struct thread *t) { t->known = t->opener = 0; }

static void __attribute__((noinline)) live(struct thread *t, int way, bool collects)
{
    for (int i = 0; i < CYCLES || !collects; i++) {
        waits_compute_us(100);
        t->work++;
        if (way == 1)
            wait_in_a_critical();
        if (way == 2)
            usleep(200);
        if (collects)
            stop_and_go();
        if (over)
            return;
    }
    over = 1;
}

enum collector { INNER, OUTER, OUTSIDE };

static volatile int ready;
static void *stop_from_outside(void *unused)
{
    (void)unused;
    while (!ready)
        usleep(100);
    for (int i = 0; i < CYCLES; i++) {
        stop_and_go();
        usleep(500);
    }
    over = 1;
    return NULL;
}

static void __attribute__((noinline)) open_inner(int id, int way, enum collector who)
{
    struct thread *t = &outer_ones[id];
    t->opener = 1;
#pragma omp parallel num_threads(inner_n)
    if (omp_get_thread_num() > 0) { /* the first one only waits for the others */
        volatile uint64_t cookie;
        struct thread *own = &inner_ones[id][omp_get_thread_num()];
        begin(own, &cookie);
        ready = 1;
        live(own, way, who == INNER && id == outer_n - 2 && omp_get_thread_num() == 1);
        end(own);
    }
    t->opener = 0;
}

static void region(int way, enum collector who)
{
#pragma omp parallel num_threads(outer_n)
    {
        int id = omp_get_thread_num();
        volatile uint64_t cookie;
        if (id > 0 || first_too)
            begin(&outer_ones[id], &cookie);
#pragma omp barrier
        if (id == outer_n - 1 && who == OUTER)
            live(&outer_ones[id], 0, true);
        else if (id > 0 || first_too)
            open_inner(id, way, who);
#pragma omp barrier
        if (id > 0 || first_too)
            end(&outer_ones[id]);
    }
}

static void rounds(int way, enum collector who, int outer, int inner, bool openers)
{
    handle_stops(on_stop);
    omp_set_max_active_levels(2);
    outer_n = outer;
    inner_n = inner;
    openers_only = openers;
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        ready = over = 0; /* the thread looks at both */
        if (who == OUTSIDE)
            CHECK(pthread_create(&thread, NULL, stop_from_outside, NULL) == 0);
        region(way, who);
        if (who == OUTSIDE)
            pthread_join(thread, NULL);
    }
}

static void small(void) { rounds(0, INNER, 3, 2, false); }
static void by_inner(void) { rounds(0, INNER, 4, 4, false); }
static void by_inner_waiting(void) { rounds(1, INNER, 4, 4, false); }
static void by_inner_blocking(void) { rounds(2, INNER, 4, 4, false); }
static void by_outer(void) { rounds(0, OUTER, 4, 4, false); }
static void by_outer_waiting(void) { rounds(1, OUTER, 4, 4, false); }
static void from_outside(void) { rounds(0, OUTSIDE, 4, 4, false); }
static void from_outside_blocking(void) { rounds(2, OUTSIDE, 4, 4, false); }
static void openers(void) { rounds(0, INNER, 4, 4, true); }
static void with_first(enum collector who, int way, bool openers)
{
    first_too = true;
    rounds(way, who, 3, 4, openers);
}
static void first_by_inner(void) { with_first(INNER, 0, false); }
static void first_by_outer_waiting(void) { with_first(OUTER, 1, false); }
static void first_from_outside(void) { with_first(OUTSIDE, 0, false); }
static void first_from_outside_blocking(void) { with_first(OUTSIDE, 2, false); }
static void first_openers(void) { with_first(INNER, 0, true); }
static void openers_waiting(void) { rounds(1, OUTSIDE, 4, 4, true); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"small", small},
                                           {"by_inner", by_inner},
                                           {"by_inner_waiting", by_inner_waiting},
                                           {"by_inner_blocking", by_inner_blocking},
                                           {"by_outer", by_outer},
                                           {"by_outer_waiting", by_outer_waiting},
                                           {"from_outside", from_outside},
                                           {"from_outside_blocking", from_outside_blocking},
                                           {"openers", openers},
                                           {"openers_waiting", openers_waiting},
                                           {"first_by_inner", first_by_inner},
                                           {"first_by_outer_waiting", first_by_outer_waiting},
                                           {"first_from_outside", first_from_outside},
                                           {"first_from_outside_blocking", first_from_outside_blocking},
                                           {"first_openers", first_openers}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
