/* The end of a team with tasks (src/psthreads/team.c): a task is pushed while members end and the parent waits in the join; whoever is left runs it.
 *
 * Members 1 .. MEMBERS return from their bodies and end; their identities may be lent. The parent joins: helps, says that it waits, blocks.
 * The pusher is one more member: it makes TASKS tasks, asks for assistance each time, and then does nothing but wait for them (it cannot run them
 * itself), as a program's thread that spins. One carrier runs assistants when they are started. Nobody asks again: so each task must find
 * somebody by its one request. AWAY: the parent is still in its body and does not help; so what ends must. MEMBERS=0: there is but the parent. Left out: the barrier, mail, claims, the order of the queue; `assisting` is a bit.
 *   BROKEN_LOOK    a member that ends does not look for tasks once more after it counts as ending
 *   BROKEN_CALLS   it does not read `calls` again after it has offered its identity
 *   BROKEN_PARENT  the parent does not read `calls` again after it has said that it waits
 *   BROKEN_TAKE    the parent, asked in that moment, blocks without taking back that it waits
 *   BROKEN_READY   who asks readies the parent whenever it waits, also when the last member has done so */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef TASKS
#define TASKS 1
#endif
#define FREE 0 /* of an identity: in its body, or somebody looks for tasks in its name */
#define DONE 1

byte tasks, done;          /* pushed and not taken; completed */
byte left = MEMBERS + 1;   /* units: members and assistants; the parent's is gone when it joins */
byte ending;               /* of these, those that look a last time */
bool waiting;              /* PS_TEAM_WAITING */
byte calls;
byte identity[MEMBERS + 1]; /* done_in of members 1 .. MEMBERS */
bool assisting;
byte started[MEMBERS + 1]; /* assistants on their way, by identity */
byte token;                /* ps_ready of the parent that it has not consumed */
bool joined;
bool parent_joins; /* all_busy is 0 */

inline take_tasks()
{
    do
    :: atomic { tasks > 0 -> tasks--; done++ }
    :: atomic { tasks == 0 -> break }
    od
}

/* takes off 1 unit and `e` ending ones; the last readies a parent that waits */
inline ended(e)
{
    atomic {
        assert(left > 0 && !joined);
        left--;
        ending = ending - e;
        if
        :: left == 0 && waiting -> assert(token == 0); token++
        :: else
        fi
    }
}

inline offer(id, seen)
{
    identity[id] = DONE;
#ifdef BROKEN_CALLS
    again = false;
#else
    again = calls != seen;
    if
    :: again -> atomic {
           if
           :: identity[id] == DONE -> identity[id] = FREE
           :: else -> again = false
           fi
       }
    :: else
    fi
#endif
}

proctype member(byte id)
{
    byte seen;
    bool again = true;
    ending++;
    do
    :: again ->
        seen = calls;
#ifndef BROKEN_LOOK
        take_tasks();
#endif
        offer(id, seen)
    :: else -> break
    od;
    ended(1)
}

proctype carrier()
{
    byte id, seen;
    bool again;
end:
    do
#if MEMBERS > 0
    :: atomic { started[1] > 0 -> id = 1; started[1]-- };
look:
        assisting = false;
        seen = calls;
        take_tasks();
        offer(id, seen);
        if
        :: again -> goto look
        :: else -> ended(1)
        fi
#else
    :: false -> skip
#endif
#if MEMBERS > 1
    :: atomic { started[2] > 0 -> id = 2; started[2]-- };
        goto look
#endif
    od
}

inline ask()
{
    if
    :: atomic { left == MEMBERS + 1 && ending == 0 && !waiting && !parent_joins -> skip }
    :: else ->
        calls++;
        asked = false;
        atomic {
            if
#ifdef BROKEN_READY
            :: waiting -> token++; asked = true
#else
            :: waiting && left > 0 -> waiting = false; assert(token == 0); token++; asked = true
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
                i = 1;
                do
                :: i <= MEMBERS && !asked ->
                    atomic {
                        if
                        :: identity[i] == DONE -> identity[i] = FREE; left++; ending++; started[i]++; asked = true
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

proctype pusher()
{
    byte i, n;
    bool asked;
    for (n : 1 .. TASKS) {
        tasks++;
        ask();
        done == n /* nothing else helps */
    };
    ended(0)
}

proctype parent()
{
    byte seen;
    bool all = false, off;
#ifdef AWAY
    left == 0;
    all = true;
#else
    parent_joins = true;
#endif
    /* its own unit was taken off at the start of the model: see left */
    do
    :: !all ->
        seen = calls;
        take_tasks();
        atomic {
            off = left == 0;
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
                :: waiting && left > 0 -> waiting = false
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
        all = waiting && left == 0
    :: else -> break
    od;
    joined = true;
    assert(tasks == 0 && done == TASKS && token == 0)
}

init
{
    atomic {
#if MEMBERS > 0
        run member(1);
#endif
#if MEMBERS > 1
        run member(2);
#endif
        run pusher();
        run carrier();
        run parent()
    }
}
