/* Threads of a region that want the same lock, of the C library, of the program or of the system, in the order that is
 * hardest for a runtime whose threads share kernel threads:
 *   - The opener holds an OpenMP lock, the gate, until the owner is inside the lock in question.
 *   - The region's first thread, and all others, wait for the gate and then go for that lock too.
 *   - The owner meanwhile stays inside: it computes, blocks in the kernel, or waits in the runtime.
 * A runtime that lets the first thread go on has to take the owner off that kernel thread, inside the lock. No
 * thread-local variable and no pthread_self here: a program without them is a case of its own. */
#ifndef PS_GUARANTEES_CONTEND_H
#define PS_GUARANTEES_CONTEND_H

#include "check.h"
#include "kinds.h"
#include "load.h"
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define CONTEND_HOLD_MS 60

enum contend_hold { HOLD_COMPUTING, HOLD_BLOCKED, HOLD_IN_RUNTIME };
static const char *const contend_holds[] = {"computing", "blocked", "runtime"};

static struct {
    omp_lock_t gate,
        later; /* the opener's: the gate opens when the owner is inside, `later` when it has been for a while */
    int owner; /* member that is inside when the others come */
    enum contend_hold hold;
    bool shared;    /* several may be inside */
    int inside;     /* threads that are inside now */
    int visits;     /* threads that have been inside in this round */
    int owner_came; /* the owner has been inside in this round */
    int closed;     /* the gate has been closed in this round */
} contend;

static inline double contend_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + (double)t.tv_nsec / 1e6;
}

static inline void compute_ms(double ms)
{
    for (double end = contend_now_ms() + ms; contend_now_ms() < end;)
        for (volatile int i = 0; i < 20000; i++)
            continue;
}

/* The gate has to be open when no other thread can get inside: `came` says that the owner has entered. */
static inline void contend_came(void) { __atomic_store_n(&contend.owner_came, 1, __ATOMIC_RELEASE); }

static inline void contend_hold(void)
{
    if (contend.hold == HOLD_COMPUTING)
        compute_ms(CONTEND_HOLD_MS);
    else if (contend.hold == HOLD_BLOCKED)
        usleep(CONTEND_HOLD_MS * 1000);
    else {
        omp_set_lock(&contend.later);
        omp_unset_lock(&contend.later);
    }
}

/* What a thread does inside the lock. */
static inline void contend_stay(void)
{
    int others = __atomic_fetch_add(&contend.inside, 1, __ATOMIC_ACQ_REL);
    CHECK(contend.shared || others == 0);
    __atomic_fetch_add(&contend.visits, 1, __ATOMIC_ACQ_REL);
    if (omp_get_thread_num() == contend.owner && !__atomic_load_n(&contend.owner_came, __ATOMIC_ACQUIRE)) {
        contend_came();
        contend_hold();
    } else {
        compute_ms(0.1);
    }
    CHECK(contend.shared || __atomic_load_n(&contend.inside, __ATOMIC_ACQUIRE) == 1);
    __atomic_fetch_sub(&contend.inside, 1, __ATOMIC_ACQ_REL);
}

/* visit: takes the lock, calls contend_stay, gives it back. */
static inline void contend_member(void (*visit)(void), bool meet)
{
    int id = omp_get_thread_num(), opener = 3 - contend.owner;
    if (id == opener) {
        omp_set_lock(&contend.gate);
        omp_set_lock(&contend.later);
        __atomic_store_n(&contend.closed, 1, __ATOMIC_RELEASE);
    }
    if (meet) {
#pragma omp barrier
    }
    if (id == opener) {
        while (!__atomic_load_n(&contend.owner_came, __ATOMIC_ACQUIRE))
            usleep(100);
        omp_unset_lock(&contend.gate);
        if (contend.hold == HOLD_IN_RUNTIME)
            compute_ms(CONTEND_HOLD_MS);
        omp_unset_lock(&contend.later);
    } else if (id != contend.owner) {
        if (!meet) /* the opener may not have closed the gate yet */
            while (!__atomic_load_n(&contend.closed, __ATOMIC_ACQUIRE))
                usleep(100);
        omp_set_lock(&contend.gate);
        omp_unset_lock(&contend.gate);
    }
    visit();
}

static inline void contend_rounds(int members, int rounds, enum contend_hold hold, void (*before)(void),
                                  void (*visit)(void))
{
    contend.hold = hold;
    omp_init_lock(&contend.gate);
    omp_init_lock(&contend.later);
    for (int i = 0; i < rounds; i++) {
        int round =
            3 - i % 4; /* what has been seen to fail most often comes first: a process has only one first time */
        if (before)
            before();
        contend.owner = 1 + round % 2;
        contend.owner_came = contend.inside = contend.visits = contend.closed = 0;
#pragma omp parallel num_threads(members)
        {
            CHECK(omp_get_num_threads() >= 3);
            contend_member(visit, round / 2 % 2 == 0);
        }
    }
    omp_destroy_lock(&contend.gate);
    omp_destroy_lock(&contend.later);
}

static inline enum contend_hold contend_hold_by_name(const char *name)
{
    for (int hold = 0; hold < 3; hold++)
        if (!strcmp(name, contend_holds[hold]))
            return (enum contend_hold)hold;
    fprintf(stderr, "no such way to hold a lock: %s\n", name);
    exit(2);
}

/* A program's arguments: how the lock is held ("computing"), `fixed` in all of the program's own, then perhaps one kind
 * or "loaded", which keeps the processors busy. Returns the kind; NULL: all. */
static inline const char *contend_arguments(int argc, char **argv, int fixed, enum contend_hold *hold)
{
    *hold = contend_hold_by_name(argc > 1 ? argv[1] : contend_holds[HOLD_COMPUTING]);
    const char *last = argc > fixed + 1 ? argv[fixed + 1] : NULL;
    if (!last || strcmp(last, "loaded") != 0)
        return last;
    load_processors(1);
    return NULL;
}

#endif
