/* The mutex (src/psthreads/mutex.c): its state word, its queue, and which thread may touch its memory when.
 *
 * THREADS threads lock and unlock it ROUNDS times; the last to leave, known by a count under the mutex, gives its
 * memory up. Checked: mutual exclusion; nobody sleeps for ever (invalid end state); a woken thread loses at most
 * LOSSES_MAX + 1 times before it has the lock; no access after the memory was given up; the word is 0 in the end.
 *
 * Each compare-and-swap loop of the source is one atomic step here: it retries until it succeeds on what it saw.
 *   BROKEN_STORE    unlock stores instead of exchanging: wipes out a WAITERS set in between
 *   BROKEN_WOKEN    a woken thread that queues again does not clear WOKEN
 *   BROKEN_LOOK     a thread that goes to the queue sets WAITERS without having seen LOCKED in the same step
 *   BROKEN_HANDOFF  no waiter asks for the lock to be handed over
 *   BROKEN_LAST     unlock readies the thread it wakes before it lets go of the queue
 *
 * FORK: the first thread forks, while it holds the mutex or while no thread does. The search goes on in the child: the
 * other threads stop wherever they are (ghosts, src/psthreads/ghosts.h), and YOUNG new ones come. Checked as well:
 * nothing is done to a ghost.
 *   BROKEN_BITS     the bits beside LOCKED count, whichever process set them
 *   BROKEN_QUEUE    a thread that sets WAITERS does not empty the queue first
 *   BROKEN_SHORT    the queue's lock is held, whichever process holds it */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifdef FORK
#ifndef YOUNG
#define YOUNG 2
#endif
#else
#define YOUNG 0
#endif
#define LOSSES_MAX 1
#define NOBODY 255

#define LOCKED 1
#define WAITERS 2
#define WOKEN 4
#define HANDOFF 8

byte generation;     /* of the process: 1 in the child */
byte state, made_in; /* the generation is in the same word */
byte queue_locked;   /* 0; or the holder's generation + 1 */
chan queue = [THREADS + YOUNG] of { byte };
bool token[THREADS + YOUNG], given[THREADS + YOUNG];
byte holders, references = THREADS;
bool freed;

/* What the state says here. mine: the generation of the thread that asks. */
#ifdef BROKEN_BITS
#define BITS state
#else
#define BITS (state & (LOCKED + (made_in == mine) * (WAITERS + WOKEN + HANDOFF)))
#endif
inline set_state(to) { state = to; made_in = mine }

#define IS_GHOST(t) (mine > 0 && t > 0 && t < THREADS)

inline touch() { assert(!freed) }
#ifdef BROKEN_SHORT
inline lock_queue() { atomic { queue_locked == 0 -> touch(); queue_locked = mine + 1 } }
#else
inline lock_queue() { atomic { queue_locked != mine + 1 -> touch(); queue_locked = mine + 1 } }
#endif
inline unlock_queue() { atomic { touch(); queue_locked = 0 } }
inline ready(t) { atomic { assert(!token[t] && !IS_GHOST(t)); token[t] = true } }
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
    head = NOBODY;
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
        set_state(BITS & ~bits)
    }
#ifdef BROKEN_LAST
    assert(head != NOBODY);
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
            :: !(state & LOCKED) -> set_state((BITS | LOCKED) & ~woken); got = true
            :: else
            fi
        }
        if
        :: got -> break
        :: else
        fi;
        lock_queue();
#ifdef BROKEN_LOOK
        atomic { touch(); set_state((BITS | WAITERS) & ~woken); got = false }
#else
        atomic {
            touch();
            if
            :: state & LOCKED ->
                fresh = !(BITS & WAITERS);
                set_state(BITS | WAITERS);
#ifndef BROKEN_HANDOFF
                if
                :: losses >= LOSSES_MAX -> set_state(BITS | HANDOFF)
                :: else
                fi;
#endif
#ifdef BROKEN_WOKEN
                skip
#else
                set_state(BITS & ~woken)
#endif
            :: else -> set_state((BITS | LOCKED) & ~woken); got = true
            fi
        }
#ifndef BROKEN_QUEUE
        if
        :: !got && fresh -> d_step { do :: len(queue) > 0 -> queue?other :: else -> break od }
        :: else
        fi;
#endif
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
    seen = BITS;
    atomic {
        touch();
        if
        :: seen & HANDOFF -> act = HANDOFF
        :: !(seen & HANDOFF) && (seen & (WAITERS | WOKEN)) == WAITERS ->
            set_state((seen & ~LOCKED) | WOKEN); act = WAITERS
        :: else -> set_state(seen & ~LOCKED)
        fi
    }
#else
    atomic {
        touch();
        if
        :: BITS & HANDOFF -> act = HANDOFF
        :: !(BITS & HANDOFF) && (BITS & (WAITERS | WOKEN)) == WAITERS ->
            set_state((BITS & ~LOCKED) | WOKEN); act = WAITERS
        :: else -> set_state(BITS & ~LOCKED)
        fi
    }
#endif
    if
    :: act == HANDOFF ->
        take_head(HANDOFF);
        assert(head != NOBODY);
        given[head] = true;
#ifndef BROKEN_LAST
        ready(head)
#endif
    :: act == WAITERS ->
        take_head(0);
        assert(head != NOBODY);
#ifndef BROKEN_LAST
        ready(head)
#endif
    :: else
    fi
}

/* The caller goes on in the child, which has the mutex as it is: held by the caller (`holds`), or free. */
inline fork_child(holds)
{
    d_step {
        mine == 0 && me == 0 && (holds || !(state & LOCKED)) ->
        generation = 1;
        mine = 1;
        holders = holds;
        references = 1 + YOUNG
    };
    for (n : 0 .. YOUNG - 1) { run thread(THREADS + n) }
}

#ifdef FORK
#define MAY_FORK(holds) if :: fork_child(holds) :: true fi
#else
#define MAY_FORK(holds) skip
#endif

inline work()
{
    for (round : 1 .. ROUNDS) {
        MAY_FORK(0);
        lock(me);
        holders++;
        assert(holders == 1);
        MAY_FORK(1);
        if
        :: round == ROUNDS -> references--; last = references == 0
        :: else
        fi;
        holders--;
        unlock()
    }
    if
    :: last -> atomic {
           assert(state == 0 && queue_locked != mine + 1 && (mine > 0 || empty(queue)));
           freed = true
       }
    :: else
    fi
}

proctype thread(byte me)
{
    byte round, woken, losses, head, bits, act, seen, n, other, mine = generation;
    bool got, last, fresh;
#ifdef FORK
    { work() } unless { generation != mine }
#else
    work()
#endif
}

init {
    byte i;
    atomic {
        for (i : 0 .. THREADS - 1) { run thread(i) }
    }
}
