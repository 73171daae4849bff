/* Once in the process: the first caller runs the function, others wait until it has returned.
 *
 * The word: NEVER -> RUNNING (compare-and-swap, by the thread that will run the function: the runner) -> WAITED (by a
 * thread that is about to wait) -> DONE (exchange, by the runner), or RUNNING -> DONE. DONE is stored with release and
 * read with acquire: every caller that returns sees what the function did. Waiting is on the word (address_wait.c);
 * only a runner that finds WAITED wakes.
 *
 * The function may block (others run meanwhile). If the function throws a C++ exception or calls psthread_exit, it has
 * not run: the word goes back to NEVER, and one of the waiting threads runs it. A call of psthread_once on the same
 * object inside it waits for ever, as in POSIX.
 * Cost when done: one load.
 *
 * This file is compiled with -fexceptions, so that an exception runs `settle` on its way. The routines that this needs
 * are the C++ runtime's, weak: where they are missing nothing throws. */
#include "address_wait.h"
#include "exit.h"
#include "psthread.h"
#include "race.h"

#include <limits.h>

#define NEVER 0u
#define RUNNING 1u
#define WAITED 2u
#define DONE 3u

_Static_assert(sizeof(_Atomic uint32_t) <= sizeof(psthread_once_t), "a once fits");

__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

struct running {
    _Atomic uint32_t *word;
    uint32_t after; /* what the word becomes: NEVER unless the function returns */
    struct ps_exit here;
};

static void settle(struct running *r)
{
    ps_exit_pop(&r->here);
    ps_race_release(r->word);
    if (ps_xchg_release(r->word, r->after) == WAITED)
        ps_wake_on(r->word, UINT_MAX);
}

/* Calls fn. False: fn called psthread_exit, with *result. The exit stops before this frame is unwound (its point lies
 * in it): so `settle` runs once, whichever way fn is left. */
static PS_NOINLINE bool call_once_settling(_Atomic uint32_t *word, void (*fn)(void), void **result)
{
    struct running r __attribute__((cleanup(settle))) = {.word = word, .after = NEVER};
    ps_exit_push(&r.here, word, (uintptr_t)call_once_settling);
    if (_setjmp(r.here.jump) != 0) {
        *result = r.here.result;
        return false;
    }
    fn();
    r.after = DONE;
    return true;
}

static void run_once(_Atomic uint32_t *word, void (*fn)(void))
{
    void *result;
    if (!call_once_settling(word, fn, &result))
        psthread_exit(result);
}

int psthread_once(psthread_once_t *once, void (*fn)(void))
{
    _Atomic uint32_t *word = (_Atomic uint32_t *)(void *)once;
    for (;;) {
        uint32_t s = ps_load_acquire(word);
        if (PS_LIKELY(s == DONE)) {
            ps_race_acquire(word);
            return 0;
        }
        if (s == NEVER) {
            if (ps_cas_acquire(word, &s, RUNNING)) {
                run_once(word, fn);
                return 0;
            }
        } else if (s == WAITED || ps_cas_acquire(word, &s, WAITED)) {
            ps_wait_on(word, WAITED);
        }
    }
}
