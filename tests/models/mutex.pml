/* The mutex (src/psthreads/object/mutex.c): its state word, its queue, and which thread may touch its memory when.
 *
 * THREADS threads lock and unlock it ROUNDS times; the last to leave, known by a count under the mutex, gives its
 * memory up. Checked: mutual exclusion; no thread sleeps for ever (invalid end state); a woken thread loses at most
 * LOSSES_MAX + 1 times before it has the lock; no access after the memory was given up; the word is 0 in the end.
 *
 * Each compare-and-swap loop of the source is one atomic step here: it retries until it succeeds on what it saw.
 *   BROKEN_STORE     unlock stores instead of exchanging: wipes out a WAITERS set in between
 *   BROKEN_WOKEN     a woken thread that queues again does not clear WOKEN
 *   BROKEN_LOOK      a thread that goes to the queue sets WAITERS without having seen LOCKED in the same step
 *   BROKEN_TRANSFER  no waiter asks for the lock to be transferred
 *   BROKEN_LAST      unlock readies the thread it wakes before it lets go of the queue */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define LOSSES_MAX 1
#define NO_THREAD 255

#define LOCKED 1
#define WAITERS 2
#define WOKEN 4
#define TRANSFER 8

byte state;
bool queue_locked;
chan queue = [THREADS] of { byte };
bool token[THREADS], given[THREADS];
byte holders, references = THREADS;
bool freed;

inline touch() { assert(!freed) }
inline lock_queue() { atomic { !queue_locked -> touch(); queue_locked = true } }
inline unlock_queue() { atomic { touch(); queue_locked = false } }
inline ready(t) { atomic { assert(!token[t]); token[t] = true } }
inline block(t) { atomic { token[t] -> token[t] = false } }

/* A thread at the head of the queue: to the front, others to the back. */
inline push(me)
{
    if
    :: woken -> /* to the front */
        d_step {
            n = len(queue);
            queue!me;
            do
            :: n > 0 -> queue?other; queue!other; n--
            :: else -> break
            od
        }
    :: else -> queue!me
    fi
}

inline take_head(done)
{
    lock_queue();
    head = NO_THREAD;
    if
    :: len(queue) > 0 -> queue?head
    :: else
    fi;
    atomic {
        touch();
        bits = done;
        if
        :: len(queue) == 0 -> bits = bits | WAITERS
        :: else
        fi;
        state = state & ~bits
    }
#ifdef BROKEN_LAST
    assert(head != NO_THREAD);
    ready(head);
#endif
    unlock_queue()
}

inline lock(me)
{
    losses = 0;
    woken = 0;
    do
    :: true ->
        got = false;
        atomic { /* try_for_a_while */
            touch();
            if
            :: !(state & LOCKED) -> state = (state | LOCKED) & ~woken; got = true
            :: else
            fi
        }
        if
        :: got -> break
        :: else
        fi;
        lock_queue();
#ifdef BROKEN_LOOK
        atomic { touch(); state = (state | WAITERS) & ~woken; got = false }
#else
        atomic {
            touch();
            if
            :: state & LOCKED ->
                state = state | WAITERS;
#ifndef BROKEN_TRANSFER
                if
                :: losses >= LOSSES_MAX -> state = state | TRANSFER
                :: else
                fi;
#endif
#ifdef BROKEN_WOKEN
                skip
#else
                state = state & ~woken
#endif
            :: else -> state = (state | LOCKED) & ~woken; got = true
            fi
        }
#endif
        if
        :: got -> unlock_queue(); break
        :: else -> push(me); unlock_queue()
        fi;
        block(me);
        if
        :: given[me] -> given[me] = false; break
        :: else -> woken = WOKEN; losses++; assert(losses <= LOSSES_MAX + 1)
        fi
    od
}

inline unlock()
{
    act = 0;
#ifdef BROKEN_STORE
    seen = state;
    atomic {
        touch();
        if
        :: seen & TRANSFER -> act = TRANSFER
        :: !(seen & TRANSFER) && (seen & (WAITERS | WOKEN)) == WAITERS ->
            state = (seen & ~LOCKED) | WOKEN; act = WAITERS
        :: else -> state = seen & ~LOCKED
        fi
    }
#else
    atomic {
        touch();
        if
        :: state & TRANSFER -> act = TRANSFER
        :: !(state & TRANSFER) && (state & (WAITERS | WOKEN)) == WAITERS ->
            state = (state & ~LOCKED) | WOKEN; act = WAITERS
        :: else -> state = state & ~LOCKED
        fi
    }
#endif
    if
    :: act == TRANSFER ->
        take_head(TRANSFER);
        assert(head != NO_THREAD);
        given[head] = true;
#ifndef BROKEN_LAST
        ready(head)
#endif
    :: act == WAITERS ->
        take_head(0);
        assert(head != NO_THREAD);
#ifndef BROKEN_LAST
        ready(head)
#endif
    :: else
    fi
}

inline work()
{
    for (round : 1 .. ROUNDS) {
        lock(me);
        holders++;
        assert(holders == 1);
        if
        :: round == ROUNDS -> references--; last = references == 0
        :: else
        fi;
        holders--;
        unlock()
    }
    if
    :: last -> atomic {
           assert(state == 0 && !queue_locked && empty(queue));
           freed = true
       }
    :: else
    fi
}

proctype thread(byte me)
{
    byte round, woken, losses, head, bits, act, seen, n, other;
    bool got, last;
    work()
}

init {
    byte i;
    atomic {
        for (i : 0 .. THREADS - 1) { run thread(i) }
    }
}
