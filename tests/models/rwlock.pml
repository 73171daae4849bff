/* The read-write lock (src/psthreads/object/rwlock.c): its state word, the count of writers that wait, and that no
 * waiter is forgotten.
 *
 * READERS and WRITERS threads take it ROUNDS times. LATE: one writer more, whose deadline comes whenever the search
 * likes. Waiting on the state is modelled by what address_wait.c promises and address_wait.pml checks. A waiter
 * registers in one step with a look at the word. A wake-up behind a change finds every waiter that registered before
 * it. Checked: many readers or one writer; no thread sleeps for ever (invalid end state); in the end the state and the
 * count are 0.
 *
 * A look at `writers` is a step of its own, and a compare-and-swap may come long after the look at what it compares
 * with.
 *   BROKEN_LOOK     a reader does not look at `writers` once more when it has set WAITED
 *   BROKEN_LEAVE    a writer that gives up wakes no waiter
 *   BROKEN_COUNT    a writer that gives up looks for WAITED before it takes itself off `writers`
 *   BROKEN_ONE      unlock wakes one of the waiters
 *   BROKEN_CLEAR    unlock wakes, but leaves WAITED set
 *   BROKEN_STORE    the last reader's unlock stores 0 instead of exchanging what it saw */
#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifdef LATE
#define THREADS (READERS + WRITERS + 1)
#else
#define THREADS (READERS + WRITERS)
#endif
#define ALONE 16
#define WAITED 32

byte state, writers;
chan queue = [THREADS] of { byte };
bool token[THREADS];
byte reading, writing, inside = THREADS;

inline try_read()
{
    got = false;
    s = state;
    do
    :: s & ALONE -> break
    :: else ->
        if
        :: writers > 0 -> break
        :: else
        fi;
        atomic {
            if
            :: state == s -> state = s + 1; got = true; break
            :: else -> s = state
            fi
        }
    od
}

inline try_write()
{
    atomic {
        got = false;
        if
        :: !(state & ~WAITED) -> state = state | ALONE; got = true
        :: else
        fi
    }
}

/* Sets WAITED, looks, waits; again = true: worth another try; false: late. */
inline wait_for_change(me, reads, has_deadline)
{
    again = false;
    s = state;
    do
    :: true ->
        if
        :: !(s & ~WAITED) && !reads -> again = true; break
        :: !(s & ~WAITED) && reads ->
            if
            :: writers == 0 -> again = true; break
            :: else
            fi
        :: else
        fi;
        if
        :: s & WAITED -> break
        :: else
        fi;
        atomic {
            if
            :: state == s -> state = s | WAITED; break
            :: else -> s = state
            fi
        }
    od;
#ifndef BROKEN_LOOK
    if
    :: !again && reads && !(s & ALONE) ->
        if
        :: writers == 0 -> again = true
        :: else
        fi
    :: else
    fi;
#endif
    if
    :: again
    :: else ->
        atomic {
            if
            :: state == (s | WAITED) -> queue!me; registered = true
            :: else -> registered = false; again = true
            fi
        }
        if
        :: registered ->
            if
            :: atomic { token[me] -> token[me] = false; again = true }
            :: atomic { has_deadline && queue??[eval(me)] -> queue??eval(me) }
            fi
        :: else
        fi
    fi;
    registered = false
}

inline wake_all()
{
    atomic {
        do
        :: queue?whom ->
            assert(!token[whom]);
            token[whom] = true;
#ifdef BROKEN_ONE
            break
#endif
        :: empty(queue) -> break
        od;
        whom = 0
    }
}

inline unlock()
{
#ifdef BROKEN_STORE
    s = state;
#endif
    atomic {
#ifndef BROKEN_STORE
        s = state;
#endif
        assert(s & ~WAITED);
        if
        :: s & ALONE -> n = s & ~ALONE
        :: else -> n = s - 1
        fi;
        if
        :: !(n & ~WAITED) -> n = 0
        :: else
        fi;
#ifdef BROKEN_CLEAR
        state = (n == 0 -> (s & WAITED) : n)
#else
        state = n
#endif
    }
    if
    :: n == 0 && (s & WAITED) -> wake_all()
    :: else
    fi
}

inline leave()
{
    atomic {
        inside--;
        assert(inside > 0 || (state == 0 && writers == 0 && empty(queue)))
    }
}

proctype reader(byte me)
{
    byte round, s, n, whom;
    bool got, again, registered;
    for (round : 1 .. ROUNDS) {
        try_read();
        do
        :: got -> break
        :: else -> wait_for_change(me, true, false); try_read()
        od;
        reading++;
        assert(writing == 0);
        reading--;
        unlock()
    }
    leave()
}

proctype writer(byte me; bool has_deadline)
{
    byte round, s, n, whom;
    bool got, again, registered;
    for (round : 1 .. ROUNDS) {
        try_write();
        if
        :: got
        :: else ->
            writers++;
            again = true;
            do
            :: true ->
                try_write();
                if
                :: got || !again -> break
                :: else -> wait_for_change(me, false, has_deadline)
                fi
            od;
#ifdef BROKEN_COUNT
            s = state;
            writers--;
#else
            writers--;
#endif
            if
            :: got
            :: else ->
#ifndef BROKEN_LEAVE
                atomic {
#ifndef BROKEN_COUNT
                    s = state;
#endif
                    state = (s & WAITED -> state & ~WAITED : state)
                }
                if
                :: s & WAITED -> wake_all()
                :: else
                fi
#else
                skip
#endif
            fi
        fi;
        if
        :: got ->
            writing++;
            assert(writing == 1 && reading == 0);
            writing--;
            unlock()
        :: else
        fi
    }
    leave()
}

init {
    byte i;
    atomic {
        for (i : 0 .. READERS - 1) { run reader(i) }
        for (i : 0 .. WRITERS - 1) { run writer(READERS + i, false) }
#ifdef LATE
        run writer(READERS + WRITERS, true)
#endif
    }
}
