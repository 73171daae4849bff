/* A thread is away from an interrupted system call, and handles signals meanwhile: the call then ends with EINTR (in
 * src/psthreads/directed.c, directed_leaves and directed_is_back; vp.signals_sent of the thread's own kernel thread P).
 *
 * The thread is in a system call on another kernel thread than P, is interrupted there, leaves its stack, and comes
 * back there or on P; ROUNDS times. SENDERS threads send it one signal each. While the thread's context is saved, P
 * visits the context and handles what is sent to it there; while the thread runs on P, P handles it as the thread. What
 * P and a sender agree by is that of directed.pml, with each step of theirs in one.
 * Checked: a handler that has run while the thread was away ends the call. A call ends so only where a signal was sent
 * since it was interrupted. P goes from no stack of the thread's with a signal that it has not handled. No process
 * waits for ever (invalid end state). Left out: a signal that comes behind the look (src/os/linux/restart.c, "Limit").
 *   BROKEN_SEND     a sender sends before it says so
 *   BROKEN_OLD      the thread does not forget, as it leaves, what was sent before
 *   BROKEN_LATE     it forgets that when its context is saved already
 *   BROKEN_VISIT    the context is taken while P visits it
 *   BROKEN_COUNT    a sender counts itself out before it sends
 *   BROKEN_CALL     P makes no system call before it leaves the context
 *   BROKEN_BLOCK    handlers may run between the thread's look at what was sent and its end of the interrupt */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define EMPTY 0
#define THERE 1
#define REFUSED 2
#define RUNS 3

#define ELSEWHERE 0
#define SAVED 1
#define ON_P 2

byte at = ELSEWHERE; /* the thread */
bool visited;        /* P stands below its saved context */
byte state, senders; /* vp.directed of P */
byte come;           /* the same: senders that have come since it was EMPTY */
bool sent;           /* vp.signals_sent */
byte pending;        /* signals that were sent, and that P has not handled */
bool away;           /* the thread was interrupted, and is not back */
bool handled, said;  /* since it was interrupted: a handler has run; a sender has said that it sends */
byte over;

inline handle()
{
    assert(visited || at == ON_P);
    pending--;
    handled = handled || away
}

inline system_call()
{
    atomic {
        do
        :: pending > 0 -> handle()
        :: else -> break
        od
    }
}

/* until no sender is left, and what they have sent is handled */
inline stay()
{
    do
    :: atomic { senders == 0 -> seen = come };
#ifndef BROKEN_CALL
        if
        :: seen > 0 && state != REFUSED -> system_call()
        :: else
        fi;
#endif
        atomic {
            if
            :: senders == 0 && come == seen -> state = EMPTY; come = 0; seen = 0; break
            :: else
            fi
        }
    od
}

/* The kernel delivers what was sent at any time. */
active proctype kernel()
{
end:
    do
    :: atomic { pending > 0 && (visited || at == ON_P) -> handle() }
    od
}

active proctype own()
{
    byte seen;
end:
    do
    :: atomic { senders > 0 && state == EMPTY && at != ON_P ->
        if
        :: at == SAVED -> visited = true; state = THERE
        :: else -> state = REFUSED
        fi
       };
        stay();
        visited = false
    od
}

active [SENDERS] proctype sender()
{
    bool here;
    do
    :: here -> break
    :: else ->
        atomic { state != REFUSED -> senders++; come++ };
        state != EMPTY;
        here = state == THERE || state == RUNS;
#ifdef BROKEN_COUNT
        atomic { senders-- };
#endif
        if
        :: here ->
#ifdef BROKEN_SEND
            pending++;
#endif
            atomic { sent = true; said = true };
#ifndef BROKEN_SEND
            pending++
#endif
        :: else
        fi;
#ifndef BROKEN_COUNT
        atomic { senders-- }
#endif
    od;
    over++
}

active proctype thread()
{
    byte round;
    byte seen;
    bool ends;
    for (round : 1 .. ROUNDS) {
        /* the interrupt */
        atomic {
            away = true;
            handled = false;
            said = false;
#if !defined(BROKEN_OLD) && !defined(BROKEN_LATE)
            sent = false
#endif
        };
        at = SAVED;
#ifdef BROKEN_LATE
        sent = false;
#endif
        if
#ifdef BROKEN_VISIT
        :: atomic { at == SAVED -> at = ELSEWHERE }
#else
        :: atomic { at == SAVED && !visited -> at = ELSEWHERE }
#endif
        :: atomic { at == SAVED && !visited && state == EMPTY -> at = ON_P; state = RUNS }
        fi;
#ifdef BROKEN_BLOCK
        atomic { ends = sent; sent = false };
#endif
        atomic { /* all signals are blocked */
#ifndef BROKEN_BLOCK
            ends = sent;
            sent = false;
#endif
            away = false;
            assert(!handled || ends);
            assert(!ends || said)
        };
        if
        :: at == ON_P -> stay(); at = ELSEWHERE
        :: else
        fi
    };
    /* senders that still send find it saved */
    at = SAVED;
    over == SENDERS;
    assert(pending == 0 || visited)
}
