/* The semaphore (src/psthreads/object/semaphore.c): its word, and which thread may touch its memory when.
 *
 * TAKERS threads take one each; as many posts are made, each by a thread of its own. LATE: one taker more, whose
 * deadline comes whenever the search likes; if it has got one by then it posts it again. The last to go destroys the
 * semaphore. Waiting on the value is modelled by what address_wait.c promises and address_wait.pml checks. A waiter
 * registers in one step with a look at the value. A wake-up behind a change finds every waiter that registered before
 * the change. Checked: no thread sleeps for ever (invalid end state). The value is never taken below 0. What was posted
 * was taken. No thread is counted as a waiter in the end. No access comes after the semaphore was destroyed, which a
 * post may outlive.
 *
 * Each compare-and-swap loop of the source is one atomic step here: it retries until it succeeds on what it saw.
 *   BROKEN_COUNT     a taker does not count itself before it waits
 *   BROKEN_SEPARATE  post adds 1, and looks for waiters in a second step
 *   BROKEN_LEAVE     a taker that gives up does not take itself off the waiters
 *   BROKEN_RETRY     a taker that was woken takes without looking
 *   BROKEN_FIRST     post wakes a taker only where the value was 0 */
#ifndef TAKERS
#define TAKERS 3
#endif
#ifdef LATE
#define WAITERS (TAKERS + 1)
#else
#define WAITERS TAKERS
#endif
#define NO_THREAD 255

short value;
byte waiters;
chan queue = [WAITERS] of { byte }; /* registered on the value's address */
bool token[WAITERS];                /* readied, and has not taken it yet */
byte inside = WAITERS, taken;
bool freed;

inline touch() { assert(!freed) }

inline take(off)
{
    atomic {
        touch();
        if
        :: value > 0 -> value--; waiters = waiters - off; got = true
        :: else -> got = false
        fi
    }
}

inline post()
{
    atomic { touch(); seen_value = value; seen_waiters = waiters; value++ }
#ifdef BROKEN_SEPARATE
    atomic { touch(); seen_waiters = waiters }
#endif
#ifdef BROKEN_FIRST
    if
    :: seen_value != 0 -> seen_waiters = 0
    :: else
    fi;
#endif
    if
    :: seen_waiters > 0 ->
        atomic { /* by the address alone: no touch */
            if
            :: queue?whom -> assert(!token[whom]); token[whom] = true
            :: empty(queue)
            fi
        }
    :: else
    fi;
    whom = NO_THREAD
}

proctype poster()
{
    short seen_value;
    byte seen_waiters, whom;
    post()
}

proctype taker(byte me; bool has_deadline)
{
    short seen_value;
    byte seen_waiters, whom;
    bool got, registered, late, woken;
    take(0);
    if
    :: got -> goto has_one
    :: else
    fi;
#ifndef BROKEN_COUNT
    atomic { touch(); waiters++ }
#endif
    do
    :: true ->
#ifdef BROKEN_COUNT
        take(0);
#else
#ifdef BROKEN_RETRY
        atomic {
            if
            :: woken -> value--; waiters--; got = true; assert(value >= 0)
            :: else
            fi
        }
        if
        :: !got -> take(1)
        :: else
        fi;
#else
        take(1);
#endif
#endif
        if
        :: got -> goto has_one
        :: !got && late -> break
        :: else
        fi;
        atomic {
            touch();
            if
            :: value != 0 -> registered = false
            :: else -> queue!me; registered = true
            fi
        }
        if
        :: registered ->
            if
            :: atomic { token[me] -> token[me] = false; woken = true }
            :: atomic { has_deadline && queue??[eval(me)] -> queue??eval(me); late = true }
            fi
        :: else
        fi
    od;
#ifndef BROKEN_LEAVE
    atomic { touch(); waiters-- }
#endif
    goto ends;
has_one:
    if
    :: has_deadline -> post()
    :: else -> taken++
    fi;
ends:
    atomic {
        inside--;
        if
        :: inside == 0 -> touch(); assert(value == 0 && waiters == 0 && taken == TAKERS && empty(queue)); freed = true
        :: else
        fi
    }
}

init {
    byte i;
    atomic {
        for (i : 0 .. TAKERS - 1) {
            run taker(i, false);
            run poster()
        }
#ifdef LATE
        run taker(TAKERS, true)
#endif
    }
}
