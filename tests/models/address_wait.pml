/* Waiting on a word (src/psthreads/thread/address_wait.c): no wake-up is lost, strangers in the bucket are not
 * disturbed.
 *
 * LOCKERS threads use the smallest lock on a word (0 free, 1 held, 2 held and perhaps waited for; wake one on release),
 * while one stranger waits on another word that shares the bucket. A wake-up that is lost leaves a thread in block for
 * ever: an invalid end state.
 *
 * The words are sequentially consistent here. What the fence in ps_wake_on forbids, the load of `waiting` overtaking
 * the store to the word, is therefore spelled out as a variant.
 *   BROKEN_FENCE      wake reads `waiting` before the word is changed
 *   BROKEN_COUNT      wait looks at the word before it counts itself
 *   BROKEN_LOOK       wait does not look at the word again under the bucket's lock
 *   BROKEN_STRANGER   wake takes the longest waiting, whatever it waits for */
#ifndef LOCKERS
#define LOCKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define WAITERS (LOCKERS + 1)
#define NO_THREAD 255

byte word[2];        /* [0] the lock's, [1] the stranger's */
bool bucket_locked;
byte waiting;
chan queue = [WAITERS] of { byte, byte }; /* thread, index of its word; guarded by bucket_locked */
bool token[WAITERS]; /* readied, and has not taken it yet */
byte holders;

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

/* Changes word[w] to value and wakes one; `old` gets what it was. */
inline change_and_wake(w, value)
{
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
    if
    :: old != 2 || found == 0
    :: else ->
        lock_bucket();
        taken = NO_THREAD;
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
        :: taken != NO_THREAD -> ready(taken)
        :: else
        fi
    fi
}

proctype locker(byte me)
{
    byte round, seen, old, found, taken;
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

proctype stranger(byte me)
{
    byte seen;
    do
    :: word[1] == 0 -> wait_on(me, 1, 0)
    :: else -> break
    od
}

proctype strangers_waker()
{
    byte old, found, taken;
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
