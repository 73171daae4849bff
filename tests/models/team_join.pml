/* The end of a team with tasks (src/psthreads/team.c): tasks are made while members end and the parent waits in the
 * join; whoever is left runs them.
 *
 * RUNNERS vps claim the members 1 .. MEMBERS and run them, each several one after the other, whose units it takes off
 * together; so does the parent in its join, on its own stack, and when none is left it helps, says that it waits, and
 * blocks. Identities of those who have returned may be lent. The pusher is one more member: it makes TASKS tasks, the
 * region's first among them, asks for assistance each time, and then does nothing but wait for them (it cannot run them
 * itself), as a program's thread that spins. One carrier runs assistants when they are started. Nobody asks again: so
 * each task must find somebody by its one request. SPINS: the body of the last member waits for the tasks as well.
 * NEEDS: a task waits until that member has begun. AWAY: the parent is still in its body and does not help; so what
 * ends must. TLS: the identity of member 0, the parent's, is not lent. The store that offers an identity at the end of
 * a body is late: others see it at any time up to the next read-modify-write. Left out: the barrier, mail, the order of
 * the queue; `assisting` is a bit.
 *   BROKEN_LOOK    a member that ends does not look for tasks once more after it counts as ending
 *   BROKEN_CALLS   it does not read `calls` again after it has offered its identity
 *   BROKEN_FIRST   it asks whether there are tasks before it takes its unit off, not by what that finds
 *   BROKEN_RUN     a vp asks whether there are tasks before it claims the next member, not behind the claim as well
 *   BROKEN_BACK    it looks for tasks before it runs the one that it has claimed
 *   BROKEN_SCAN    who makes the first task does not look for members that have returned and whose vp runs others
 *   BROKEN_PARENT  the parent does not read `calls` again after it has said that it waits
 *   BROKEN_TAKE    the parent, asked in that moment, blocks without taking back that it waits
 *   BROKEN_READY   who asks readies the parent whenever it waits, also when the last member has done so */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef TASKS
#define TASKS 1
#endif
#ifndef RUNNERS
#define RUNNERS 1
#endif
#ifdef TLS
#define LENT_FROM 1
#else
#define LENT_FROM 0
#endif
#define FREE 0 /* of an identity: in its body, or somebody looks for tasks in its name */
#define DONE 1

byte tasks, done;           /* pushed and not taken; completed */
byte next = 1;              /* to be claimed */
byte low = MEMBERS + 2;     /* `left`: members whose unit is there, parent and pusher counted */
byte holds;                 /* `left`: those that end in two steps, and have not taken the second; assistants */
bool waiting;               /* `left`: PS_TEAM_WAITING */
bool interrupted;           /* the region has tasks */
bool all_busy;
byte calls;
byte identity[MEMBERS + 1]; /* done_in */
bool begun;                 /* the last member is in its body */
bool assisting;
byte started[MEMBERS + 1];  /* assistants on their way, by identity */
byte token;                 /* ps_ready of the parent that it has not consumed */
bool joined;

inline take_tasks()
{
    do
    :: atomic { tasks > 0 -> tasks-- };
#ifdef NEEDS
        begun;
#endif
        done++
    :: atomic { tasks == 0 -> break }
    od
}

inline last_gone()
{
    if
    :: low == 0 && holds == 0 && waiting -> assert(token == 0); token++
    :: else
    fi
}

/* the second step of n; the last readies a parent that waits */
inline let_go(n)
{
    atomic {
        assert(holds >= n && !joined);
        holds = holds - n;
        last_gone()
    }
}

/* again: somebody asked meanwhile, and the identity is the caller's once more */
inline offer(id)
{
    identity[id] = DONE;
#ifdef BROKEN_CALLS
    again = false;
#else
    again = calls != seen;
    if
    :: again -> take_identity(id)
    :: else
    fi
#endif
}

inline take_identity(id)
{
    atomic {
        again = identity[id] == DONE;
        if
        :: again -> identity[id] = FREE
        :: else
        fi
    }
}

/* what the store buffer holds becomes seen */
inline flush()
{
    if
    :: stored -> identity[last] = DONE; stored = false
    :: else
    fi
}

inline look_and_let_go(n)
{
    take_identity(last);
    do
    :: again ->
        seen = calls;
#ifndef BROKEN_LOOK
        take_tasks();
#endif
        offer(last)
    :: else -> break
    od;
    atomic { seen = 0; let_go(n) }
}

/* the units of a run, of which `last` returned last: taken off; a last look where the region has tasks */
inline units_ended()
{
    atomic {
        flush();
        assert(low >= units && !joined);
        low = low - units;
        held = holds > 0;
#ifdef BROKEN_FIRST
        if
        :: held && !saw -> held = false; holds = holds - units
        :: else
        fi;
#endif
        last_gone()
    };
    if
    :: atomic { held -> held = false }; look_and_let_go(units)
    :: else
    fi;
    units = 0
}

inline body(id)
{
#ifdef NEEDS
    if
    :: id == MEMBERS -> begun = true
    :: else
    fi;
#endif
#ifdef SPINS
    if
    :: id == MEMBERS -> done == TASKS
    :: else
    fi
#else
    skip
#endif
}

inline claim()
{
    atomic {
        if
        :: next <= MEMBERS -> flush(); id = next; next++
        :: else -> id = 0 /* no more than a look */
        fi
    }
}

/* Claims and runs members until none is left; `last` has returned, and `units` are to be taken off. */
inline run_members()
{
    do
    :: true ->
        if
        :: interrupted && units > 0 && next <= MEMBERS -> units_ended()
        :: else
        fi;
        claim();
        if
        :: id == 0 -> break
        :: else
        fi;
        if
#ifndef BROKEN_RUN
        :: interrupted && units > 0 ->
#else
        :: false ->
#endif
#ifdef BROKEN_BACK
            units_ended()
#else
            atomic { run late(id); id = 0 };
            units_ended()
#endif
        :: else
        fi;
        if
        :: id != 0 ->
            body(id);
            atomic {
                last = id; id = 0; stored = true; units++;
#ifdef BROKEN_FIRST
                saw = interrupted;
#endif
                if
                :: flush()
                :: true
                fi
            }
        :: else
        fi
    od
}

proctype late(byte last)
{
    byte seen;
    bool again;
    body(last);
    atomic {
        if
        :: holds == 0 -> holds = low
        :: else
        fi
    };
    low--;
    again = true;
    do
    :: again ->
        seen = calls;
        take_tasks();
        offer(last)
    :: else -> break
    od;
    let_go(1)
}

proctype runner()
{
    byte id, last, seen, units;
    bool again, held, stored, saw;
    run_members();
    if
    :: units > 0 -> units_ended()
    :: else
    fi
}

proctype carrier()
{
    byte id, seen;
    bool again;
end:
    do
    :: atomic {
        if
        :: started[0] > 0 -> id = 0
#if MEMBERS > 0
        :: started[1] > 0 -> id = 1
#endif
#if MEMBERS > 1
        :: started[2] > 0 -> id = 2
#endif
        fi;
        started[id]--
       };
        assisting = false;
        again = true;
        do
        :: again ->
            seen = calls;
            take_tasks();
            offer(id)
        :: else -> break
        od;
        atomic { seen = 0; id = 0; let_go(1) }
    od
}

inline interrupt()
{
    interrupted = true;
    atomic {
        if
        :: holds == 0 -> holds = low
        :: else
        fi
    };
    asked = false;
#ifndef BROKEN_SCAN
    i = 0;
    do
    :: i <= MEMBERS -> asked = asked || identity[i] == DONE; i++
    :: else -> break
    od;
#endif
    atomic { all_busy = !asked; asked = false; i = 0 }
}

inline ask()
{
    if
    :: low == MEMBERS + 2 && all_busy
    :: else ->
        calls++;
        asked = false;
        atomic {
            if
#ifdef BROKEN_READY
            :: waiting -> token++; asked = true
#else
            :: waiting && low + holds > 0 -> waiting = false; assert(token == 0); token++; asked = true
#endif
            :: else
            fi
        };
        if
        :: asked
        :: else ->
            atomic {
                if
                :: assisting -> asked = true
                :: else -> assisting = true
                fi
            };
            if
            :: asked
            :: else ->
                i = LENT_FROM;
                do
                :: i <= MEMBERS && !asked ->
                    atomic {
                        if
                        :: identity[i] == DONE -> identity[i] = FREE; holds++; started[i]++; asked = true
                        :: else
                        fi
                    };
                    i++
                :: else -> break
                od;
                if
                :: asked
                :: else -> assisting = false
                fi
            fi
        fi
    fi
}

/* its own last look is left out: it leaves no task behind */
proctype pusher()
{
    byte i, n;
    bool asked;
    for (n : 1 .. TASKS) {
        tasks++;
        if
        :: n == 1 -> interrupt()
        :: else
        fi;
        ask();
        done == n /* nothing else helps */
    };
    atomic { assert(low > 0); low-- };
    let_go(1)
}

proctype parent()
{
    byte id, last, seen, units = 1;
    bool again, all = false, held, off, saw, stored;
#ifdef AWAY
    low == 1 && holds <= 1;
#endif
    stored = true;
    run_members();
    atomic {
        flush();
        low = low - units;
        held = holds > 0;
        all = low == 0 && !held
    };
    if
    :: atomic { held -> held = false; holds = holds - units; all = low == 0 && holds == 0; units = 0; last = 0 }
    :: atomic { else -> units = 0; last = 0 }
    fi;
    do
    :: !all ->
        seen = calls;
        take_identity(0);
        if
        :: again -> take_tasks(); identity[0] = DONE
        :: else
        fi;
        atomic {
            again = false;
            off = low == 0 && holds == 0;
            if
            :: !off -> waiting = true
            :: else
            fi
        };
        if
        :: off -> break
        :: else
        fi;
#ifdef BROKEN_PARENT
        off = false;
#else
        off = calls != seen;
#endif
        if
        :: off ->
#ifndef BROKEN_TAKE
            atomic {
                if
                :: waiting && low + holds > 0 -> waiting = false
                :: else -> off = false
                fi
            }
#else
            off = false; waiting = false
#endif
        :: else
        fi;
        if
        :: off
        :: else -> atomic { token > 0 -> token-- }
        fi;
        atomic { all = waiting && low == 0 && holds == 0; seen = 0; off = false }
    :: else -> break
    od;
    joined = true;
    assert(tasks == 0 && done == TASKS && token == 0 && next == MEMBERS + 1)
}

init
{
    atomic {
#if RUNNERS > 0
        run runner();
#endif
#if RUNNERS > 1
        run runner();
#endif
        run pusher();
        run carrier();
        run parent()
    }
}
