/* psthread_once: the first caller runs the function; other callers wait until the function has returned.
 *
 * The states of the word: NEVER -> RUNNING (compare-and-swap, by the thread that will run the function: the runner) ->
 * WAITED (by a thread that is about to wait) -> DONE (exchange, by the runner), or RUNNING -> DONE. DONE is stored with
 * release and read with acquire: every caller that returns sees what the function did. The callers wait on the word
 * (address_wait.c). The runner wakes them only if it finds WAITED.
 *
 * The function may block; other threads run meanwhile. If the function throws a C++ exception or calls psthread_exit,
 * it counts as not run: the word returns to NEVER, and one of the waiting threads runs the function. A function that
 * calls psthread_once on its own object waits for ever, as in POSIX.
 * Cost when done: one load.
 *
 * This file is compiled with -fexceptions, so that an exception runs `settle` on its way. The routines that this needs
 * belong to the C++ runtime, and are weak symbols here: a process without them throws nothing. */
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
    uint32_t after; /* what the word becomes: NEVER, or DONE once the function has returned */
    struct ps_exit here;
};

static void settle(struct running *r)
{
    ps_exit_pop(&r->here);
    ps_race_release(r->word);
    if (ps_xchg_release(r->word, r->after) == WAITED)
        ps_wake_on(r->word, UINT_MAX);
}

/* Calls fn. Returns false if fn has called psthread_exit, with *result. An exit stops at this frame's point and does
 * not unwind this frame. So `settle` runs exactly once, on return, exit or exception. */
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
