/* Once in the process: the first caller runs the function, others wait until it has returned.
 *
 * The word: NEVER -> RUNNING (compare-and-swap by who will run it) -> WAITED (by who is about to wait) -> DONE
 * (exchange by the runner), or RUNNING -> DONE. DONE is stored with release and read with acquire: what the function
 * did is seen by everybody who returns. Waiting is on the word (address_wait.c); only a runner that finds WAITED wakes.
 *
 * The function may block (others run meanwhile). It must return: psthread_exit inside it, or a call of psthread_once
 * on the same object, leaves the others waiting, as in POSIX. Cost when done: one load. */
#include "address_wait.h"
#include "psthread.h"

#include <limits.h>

#define NEVER 0u
#define RUNNING 1u
#define WAITED 2u
#define DONE 3u

_Static_assert(sizeof(_Atomic uint32_t) <= sizeof(psthread_once_t), "a once fits");

int psthread_once(psthread_once_t *once, void (*fn)(void))
{
    _Atomic uint32_t *word = (_Atomic uint32_t *)(void *)once;
    uint32_t s = NEVER;
    if (PS_LIKELY(ps_load_acquire(word) == DONE))
        return 0;
    if (ps_cas_acquire(word, &s, RUNNING)) {
        fn();
        if (ps_xchg_release(word, DONE) == WAITED)
            ps_wake_on(word, UINT_MAX);
        return 0;
    }
    while (s != DONE) {
        if (s == WAITED || ps_cas_acquire(word, &s, WAITED))
            ps_wait_on(word, WAITED);
        s = ps_load_acquire(word);
    }
    return 0;
}
