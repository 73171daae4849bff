/* A wait that ends at a deadline at the latest (src/psthreads/thread/timer.c, ps_block_until): exactly one ready, and
 * the timer, which stands on the waiter's stack, is not touched when it is gone.
 *
 * WAITERS threads publish themselves in one place, insert their timers and block; a readier takes READIES of them out
 * of the place; the poller takes those whose deadline has come. Deadlines are 1, 2, ...; time goes on whenever the
 * search likes, and the timerfd rings for the moment that was set last. With ROUNDS=2 each waits twice, with the same
 * memory. Checked: no waiter is readied twice. None sleeps for ever (invalid end state), which needs a deadline for
 * each that is not readied otherwise. A timer is linked and looked at only while its owner is in ps_block_until. A
 * waiter that is late was taken by the poller, and any other by the readier. Nothing of a waiter that has returned is
 * published or linked.
 *
 *   BROKEN_TAKE     take looks whether the waiter is published, and takes it out in a second step
 *   BROKEN_AGAIN    a waiter that was readied does not take the lock before it returns: a take may still be at work on
 *                   its timer
 *   BROKEN_REMOVE   a waiter that was readied leaves its timer in the heap
 *   BROKEN_CLOCK    a waiter that inserts the earliest deadline does not set the clock
 *   BROKEN_REST     the poller does not set the clock for the earliest of those that are left
 *   BROKEN_BEFORE   a timer is inserted before its owner is published: the poller may find no waiter, and forget it */
#ifndef WAITERS
#define WAITERS 2
#endif
#ifndef READIES
#define READIES 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define NO_THREAD 255
#define NEVER 100

bool locked;                        /* the lock of all timers */
bool published[WAITERS];            /* in the place: each step on it is one under the place's lock */
bool linked[WAITERS];               /* in the heap; guarded by locked */
bool late[WAITERS], there[WAITERS]; /* the timer's field; its owner is in ps_block_until */
bool token[WAITERS];
bool was_readied[WAITERS];
byte now, clock = NEVER, left = WAITERS, readies = READIES;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline ready(t) { atomic { assert(!token[t]); token[t] = true } }
#define DEADLINE(t) (t + 1)

/* Under the lock: the earliest that is linked. */
inline earliest(e)
{
    d_step {
        e = 0;
        do
        :: e < WAITERS && !linked[e] -> e++
        :: else -> break
        od;
        if
        :: e == WAITERS -> e = NO_THREAD
        :: else -> assert(there[e])
        fi
    }
}

inline insert(me)
{
    lock();
    linked[me] = true;
    earliest(e);
#ifndef BROKEN_CLOCK
    if
    :: e == me -> clock = DEADLINE(me)
    :: else
    fi;
#endif
    unlock()
}

proctype waiter(byte me)
{
    byte round, e;
    for (round : 1 .. ROUNDS) {
        atomic { there[me] = true; late[me] = false; was_readied[me] = false }
#ifdef BROKEN_BEFORE
        insert(me);
        published[me] = true;
#else
        published[me] = true;
        insert(me);
#endif
        atomic { token[me] -> token[me] = false };
#ifndef BROKEN_AGAIN
        lock();
#endif
#ifndef BROKEN_REMOVE
        linked[me] = false;
#endif
#ifndef BROKEN_AGAIN
        unlock();
#endif
        atomic {
            assert(late[me] != was_readied[me]);
            there[me] = false
        }
    }
    atomic {
        left--;
        assert(!published[me] && !linked[me])
    }
}

proctype readier()
{
    byte whom;
    do
    :: readies > 0 ->
        atomic {
            whom = NO_THREAD;
            if
            :: published[0] -> whom = 0
            :: WAITERS > 1 && published[WAITERS - 1] -> whom = WAITERS - 1
            :: left == 0 -> readies = 1 /* all were late */
            fi;
            readies--;
            if
            :: whom != NO_THREAD -> published[whom] = false; was_readied[whom] = true
            :: else
            fi
        }
        if
        :: whom != NO_THREAD -> ready(whom)
        :: else
        fi
    :: else -> break
    od
}

proctype poller()
{
    byte e, seen_now;
    bool taken;
end:
    do
    :: clock <= now -> /* the timerfd rings, once */
        clock = NEVER;
        seen_now = now;
        lock();
        do
        :: true ->
            earliest(e);
            if
            :: e == NO_THREAD || DEADLINE(e) > seen_now -> break
            :: else
            fi;
            linked[e] = false;
#ifdef BROKEN_TAKE
            taken = published[e];
            published[e] = false;
#else
            atomic { taken = published[e]; published[e] = false };
#endif
            assert(there[e]);
            late[e] = taken;
            if
            :: taken -> ready(e)
            :: else
            fi
        od;
#ifndef BROKEN_REST
        if
        :: e != NO_THREAD -> clock = DEADLINE(e)
        :: else
        fi;
#endif
        unlock()
    :: atomic { now < WAITERS -> now++ }
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. WAITERS - 1) { run waiter(i) }
        run readier();
        run poller()
    }
}
