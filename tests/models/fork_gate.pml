/* Forks, and a kernel thread of the runtime's that begins, ends and is joined (src/os/linux/fork_gate.c).
 *
 * M makes the kernel thread T, and joins it. F forks meanwhile, FORKS times; so does a signal handler of M's, where M
 * has not blocked all signals. No thread's patience ends here.
 * Checked: at a fork no thread of the runtime's is in the allocator, from T's making to its storage's end. No process
 * waits for ever (invalid end state).
 *   BROKEN_CAS     a thread that enters looks whether the gate is closed, and adds its parties later
 *   BROKEN_MADE    the new thread is no party: its maker leaves for both
 *   BROKEN_JOIN    the joiner is no party
 *   BROKEN_ENDING  a fork does not wait for a thread that ends
 *   BROKEN_ORDER   a fork takes `ending` before it waits for the parties
 *   BROKEN_JOINER  a handler may come while its thread joins
 *   BROKEN_OWN     the same, and a fork does not wait for its own thread's party
 *   BROKEN_ENDER   a handler may come while its thread ends
 *   BROKEN_JOINED  the same before that, while the thread is joined (the limit in fork_gate.md)
 *   BROKEN_LAST    the last party that leaves does not wake the fork
 *   BROKEN_OPEN    a fork wakes no thread at its end */

#ifndef FORKS
#define FORKS 2
#endif
#define CLOSED 1
#define PARTY 2
#define F 0
#define M 1
#define T 2

byte gate;
bool sleeps[3];
bool asking, ending; /* mutexes; T's end releases the second */
bool allocates[3];
bool made, gone, has_handled;

inline wake_all() { d_step { sleeps[F] = false; sleeps[M] = false; sleeps[T] = false } }

inline park(me, value)
{
    atomic {
        if
        :: gate == value -> sleeps[me] = true
        :: else
        fi
    };
    !sleeps[me]
}

inline leave(parties)
{
    atomic { gate = gate - parties * PARTY; left = gate }; /* the fork's party may be the next that leaves */
    if
#ifndef BROKEN_LAST
    :: left == CLOSED -> wake_all()
#endif
    :: else
    fi
}

inline enter(me, parties)
{
    in = false;
    seen = gate;
    do
    :: in -> break
    :: !in && (seen & CLOSED) -> park(me, seen); seen = gate
    :: !in && !(seen & CLOSED) ->
#ifdef BROKEN_CAS
        gate = gate + parties * PARTY;
        in = true
#else
        atomic {
            if
            :: gate == seen -> gate = gate + parties * PARTY; in = true
            :: else -> seen = gate
            fi
        }
#endif
    od
}

inline forks(me, mine)
{
    atomic { !asking -> asking = true };
#ifdef BROKEN_ORDER
    atomic { !ending -> ending = true; takes = true };
#endif
    atomic { gate = gate | CLOSED; found = gate };
    do
    :: found == CLOSED + (mine) * PARTY -> break
    :: else -> park(me, found); found = gate
    od;
#if !defined(BROKEN_ORDER) && !defined(BROKEN_ENDING)
    atomic {
        !ending || ends_here -> /* its own: refused */
        if
        :: ends_here
        :: else -> ending = true; takes = true
        fi
    };
#endif
    assert((me == T || !allocates[T]) && (me == M || !allocates[M]));
#ifndef BROKEN_ENDING
    if
    :: takes -> takes = false; ending = false
    :: else
    fi;
#endif
    atomic { gate = gate & ~CLOSED };
#ifndef BROKEN_OPEN
    wake_all();
#endif
    asking = false
}

inline handler(me, mine)
{
    if
    :: !has_handled -> has_handled = true; forks(me, mine)
    :: skip
    fi
}

active proctype forker()
{
    byte found, n;
    bool takes, ends_here;
    for (n : 1 .. FORKS) {
        forks(F, 0)
    }
}

active proctype maker()
{
    byte seen, left, found;
    bool in, takes, ends_here;
    handler(M, 0);
    enter(M, 2);
    allocates[M] = true;
    made = true;
    allocates[M] = false;
#ifdef BROKEN_MADE
    leave(2);
#else
    leave(1);
#endif
    handler(M, 0);
#ifndef BROKEN_JOIN
    enter(M, 1);
#endif
#ifdef BROKEN_JOINER
    handler(M, 0);
#endif
#ifdef BROKEN_OWN
    handler(M, 1);
#endif
    gone;
    allocates[M] = true; /* frees T's storage */
    allocates[M] = false;
#ifndef BROKEN_JOIN
    leave(1);
#endif
    handler(M, 0)
}

active proctype thread()
{
    byte left, found;
    bool takes, ends_here;
    made;
    allocates[T] = true;
    allocates[T] = false;
#ifndef BROKEN_MADE
    leave(1);
#endif
#ifdef BROKEN_JOINED
    handler(T, 0);
#endif
    atomic { !ending -> ending = true; ends_here = true };
#ifdef BROKEN_ENDER
    handler(T, 0);
#endif
    allocates[T] = true;
    atomic { allocates[T] = false; ending = false; gone = true }
}
