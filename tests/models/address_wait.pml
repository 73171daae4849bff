/* Waiting on a word (src/psthreads/address_wait.c): no wake-up is lost, strangers in the bucket are not disturbed.
 *
 * LOCKERS threads use the smallest lock on a word (0 free, 1 held, 2 held and perhaps waited for; wake one on release),
 * while one stranger waits on another word that shares the bucket. A wake-up that is lost leaves somebody in block for
 * ever: an invalid end state.
 *
 * The words are sequentially consistent here. What the fence in ps_wake_on forbids, the load of `waiting` overtaking
 * the store to the word, is therefore spelled out as a variant.
 *   BROKEN_FENCE      wake reads `waiting` before the word is changed
 *   BROKEN_COUNT      wait looks at the word before it counts itself
 *   BROKEN_LOOK       wait does not look at the word again under the bucket's lock
 *   BROKEN_STRANGER   wake takes the longest waiting, whatever it waits for
 * With HANDLER the stranger is interrupted in its wait, by a handler that takes the lock. The handler waits on the word
 * itself, as a kernel thread (stray.h).
 *   BROKEN_THREAD     the handler waits as the stranger, and takes its wake
 *   BROKEN_HANDLERS   wake reads `handlers` before the word is changed
 *   BROKEN_UNCOUNTED  the handler looks at the word before it counts itself */
#ifndef LOCKERS
#define LOCKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define WAITERS (LOCKERS + 1)
#define NOBODY 255

byte word[2];        /* [0] the lock's, [1] the stranger's */
bool bucket_locked;
byte waiting;
chan queue = [WAITERS] of { byte, byte }; /* thread, index of its word; guarded by bucket_locked */
bool token[WAITERS]; /* readied, and has not taken it yet */
byte holders;
byte handlers;
bool parked; /* the handler, in its futex */

inline lock_bucket() { atomic { !bucket_locked -> bucket_locked = true } }
inline unlock_bucket() { bucket_locked = false }
inline ready(t) { atomic { assert(!token[t]); token[t] = true } }
inline block(t) { atomic { token[t] -> token[t] = false } }

inline wait_on(me, w, expected)
{
    lock_bucket();
#ifdef BROKEN_COUNT
    seen = word[w];
    waiting++;
#else
    waiting++;
    seen = word[w];
#endif
#ifdef BROKEN_LOOK
    seen = expected;
#endif
    if
    :: seen != expected -> waiting--; unlock_bucket()
    :: else -> queue!me,w; unlock_bucket(); block(me)
    fi
}

inline wait_in_handler()
{
#ifdef BROKEN_UNCOUNTED
    seen = word[0];
    handlers++;
    if
    :: seen == 2 -> parked = true; !parked
    :: else
    fi;
#else
    handlers++;
    if
    :: atomic { word[0] == 2 -> parked = true }; !parked
    :: else
    fi;
#endif
    handlers--
}

/* Changes word[w] to value and wakes one; `old` gets what it was. */
inline change_and_wake(w, value)
{
#ifdef BROKEN_HANDLERS
    waits = handlers;
#endif
#ifdef BROKEN_FENCE
    found = waiting;
    atomic { old = word[w]; word[w] = value }
#else
    atomic { old = word[w]; word[w] = value }
    if
    :: old == 2 -> found = waiting
    :: else -> found = 0
    fi;
#endif
#ifndef BROKEN_HANDLERS
    waits = handlers;
#endif
    if
    :: old == 2 && w == 0 && waits > 0 -> parked = false
    :: else
    fi;
    if
    :: old != 2 || found == 0
    :: else ->
        lock_bucket();
        taken = NOBODY;
        if
#ifdef BROKEN_STRANGER
        :: queue?[_,_] -> queue?taken,_; waiting--
#else
        :: queue??[_,eval(w)] -> queue??taken,eval(w); waiting--
#endif
        :: else
        fi;
        unlock_bucket();
        if
        :: taken != NOBODY -> ready(taken)
        :: else
        fi
    fi
}

proctype locker(byte me)
{
    byte round, seen, old, found, taken, waits;
    for (round : 1 .. ROUNDS) {
        atomic { seen = word[0]; if :: seen == 0 -> word[0] = 1 :: else fi }
        do
        :: seen == 0 -> break
        :: else ->
            atomic { seen = word[0]; word[0] = 2 }
            if
            :: seen == 0 -> break
            :: else -> wait_on(me, 0, 2); seen = 1
            fi
        od;
        holders++;
        assert(holders == 1);
        holders--;
        change_and_wake(0, 0)
    }
}

#ifdef HANDLER
inline handler(me)
{
    atomic { seen = word[0]; if :: seen == 0 -> word[0] = 1 :: else fi }
    do
    :: seen == 0 -> break
    :: else ->
        atomic { seen = word[0]; word[0] = 2 }
        if
        :: seen == 0 -> break
#ifdef BROKEN_THREAD
        :: else -> wait_on(me, 0, 2); seen = 1
#else
        :: else -> wait_in_handler(); seen = 1
#endif
        fi
    od;
    holders++;
    assert(holders == 1);
    holders--;
    change_and_wake(0, 0)
}

/* The first wait is interrupted where the thread is published, and has not blocked yet. */
inline wait_interrupted(me)
{
    lock_bucket();
    waiting++;
    seen = word[1];
    if
    :: seen != 0 -> waiting--; unlock_bucket()
    :: else -> queue!me,1; unlock_bucket(); handler(me); block(me)
    fi
}
#else
#define wait_interrupted(me) wait_on(me, 1, 0)
#endif

proctype stranger(byte me)
{
    byte seen, old, found, taken, waits;
    do
    :: word[1] == 0 -> wait_interrupted(me)
    :: else -> break
    od
}

proctype strangers_waker()
{
    byte old, found, taken, waits;
    word[1] = 2; /* what makes change_and_wake look; the waiter goes on at any value but 0 */
    change_and_wake(1, 2)
}

init {
    byte i;
    atomic {
        for (i : 0 .. LOCKERS - 1) { run locker(i) }
        run stranger(LOCKERS);
        run strangers_waker()
    }
}
