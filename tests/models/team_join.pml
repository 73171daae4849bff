/* The end of a team with tasks (src/psthreads/team/team_help.c, with EXCHANGE src/ee/member_end.h;
 * src/ort/task/task_queue.c): tasks are made while members end and the parent waits in the join; those that are left
 * run them.
 * What the members, the pusher and the identities of the model are, and its options: team_join.md.
 * Left out: the barrier, handoff, the order of the queue, members that sleep in the core.
 *   BROKEN_AGAIN   an identity that enters the list does not look for tasks behind that
 *   BROKEN_COMING  a helper looks without taking `coming` back
 *   BROKEN_FIRST   a vp asks whether there are tasks before it drops its reference, not by what that finds
 *   BROKEN_RUN     a vp asks whether there are tasks before it claims the next member, not behind the claim as well
 *   BROKEN_BACK    it looks for tasks before it runs the one that it has claimed
 *   BROKEN_SCAN    the maker of the first task does not look for members that have returned
 *   BROKEN_PARENT  the parent does not ask whether there are tasks after it has said that it is DONE
 *   BROKEN_WANTED  the parent blocks although it was wanted since it entered the list
 *   BROKEN_READY   the asker for member 0 readies the parent also where it does not block yet
 *   BROKEN_STORE   (EXCHANGE) a member does not look what was in its word
 *   BROKEN_TOLD    (EXCHANGE) the maker of the first task leaves no TOLD */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef TASKS
#define TASKS 1
#endif
#ifndef RUNNERS
#define RUNNERS 1
#endif
#define FREE 0 /* of an identity: in its body, or somebody looks for tasks in its name */
#define DONE 1
#define LISTED 2
#define TOLD 3 /* EXCHANGE: the region has tasks, and the member has not returned */

byte tasks, done;           /* pushed and not taken; completed */
byte next = 1;              /* to be claimed */
#ifdef EXCHANGE
byte low = MEMBERS + 1;     /* `left`: members and assistants that have not ended, the parent not counted */
#else
byte low = MEMBERS + 2;     /* `left`: members whose reference is there, parent and pusher counted */
#endif
byte pending;                 /* `left`: those that end in two steps, and have not taken the second; assistants */
bool waiting;               /* `left`: PS_TEAM_WAITING */
bool notified;           /* the region has tasks */
byte identity[MEMBERS + 1]; /* DONE: the body has returned, the core does not know; LISTED: in its list */
bool wanted;                /* `left`: the parent is called back to assist */
bool begun;                 /* the last member is in its body */
bool coming;                /* a helper has not looked yet; written under the lock */
bool comes[MEMBERS + 1];    /* whose that is, by identity; member 0 may have to wait, and nothing waits for it */
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

/* The caller owns an identity, and is about to look. */
inline assist(id)
{
#ifndef BROKEN_COMING
    atomic {
        if
        :: comes[id] -> comes[id] = false; coming = false
        :: else
        fi
    };
#endif
    take_tasks()
}

inline last_gone()
{
    if
    :: low == 0 && pending == 0 && waiting -> assert(token == 0); token++
    :: else
    fi
}

/* references get a pending one each, all at once */
inline add_pending()
{
    atomic {
        if
        :: pending == 0 -> pending = low
        :: else
        fi
    }
}

/* the second step of n; with EXCHANGE the end of n. The last readies a parent that waits */
inline drop_pending(n)
{
    atomic {
#ifdef EXCHANGE
        assert(low >= n && !joined);
        low = low - n;
#else
        assert(pending >= n && !joined);
        pending = pending - n;
#endif
        last_gone()
    }
}

#ifdef EXCHANGE
/* of the word of the caller's member; again: it was TOLD */
inline exchange(id)
{
    atomic {
#ifdef BROKEN_STORE
        again = false;
#else
        again = identity[id] == TOLD;
#endif
        identity[id] = (again -> FREE : DONE)
    }
}
#endif

/* The caller's identity enters the list, then it looks once more. again: there is a task, and it has itself back. */
inline list(id)
{
    identity[id] = LISTED;
    again = !coming; /* else somebody will look behind this */
#ifdef BROKEN_AGAIN
    again = false;
#endif
    if
    :: again -> again = tasks > 0
    :: else
    fi;
    if
    :: again ->
        atomic {
            again = identity[id] == LISTED && !coming;
            if
            :: again -> identity[id] = FREE; comes[id] = id != 0; coming = coming || comes[id]
            :: else
            fi
        }
    :: else
    fi
}

inline take_identity(id)
{
    atomic {
        again = notified && identity[id] == DONE;
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

inline look_and_drop_pending(n)
{
#ifdef TLS
    if
    :: last == 0 -> assist(last); again = false /* it is DONE where it waits */
    :: else -> take_identity(last)
    fi;
#else
    take_identity(last);
#endif
    do
    :: again -> assist(last); list(last)
    :: else -> break
    od;
    drop_pending(n)
}

/* the references of a run, of which `last` returned last: taken off; a last look where the region has tasks */
inline drop_refs()
{
    atomic {
        flush();
        assert(low >= refs && !joined);
        low = low - refs;
        held = pending > 0;
#ifdef BROKEN_FIRST
        if
        :: held && !saw -> held = false; pending = pending - refs
        :: else
        fi;
#endif
        last_gone()
    };
    if
    :: atomic { held -> held = false }; look_and_drop_pending(refs)
    :: else
    fi;
    refs = 0
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

/* Claims and runs members until none is left; `last` has returned, and `refs` are to be taken off. */
inline run_members()
{
    do
    :: true ->
        if
        :: notified && refs > 0 && next <= MEMBERS -> drop_refs()
        :: else
        fi;
        claim();
        if
        :: id == 0 -> break
        :: else
        fi;
        if
#ifndef BROKEN_RUN
        :: notified && refs > 0 ->
#else
        :: false ->
#endif
#ifdef BROKEN_BACK
            drop_refs()
#else
            atomic { run late(id); id = 0 };
            drop_refs()
#endif
        :: else
        fi;
        if
        :: id != 0 ->
            body(id);
            atomic {
                last = id; id = 0; stored = true; refs++;
#ifdef BROKEN_FIRST
                saw = notified;
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

#ifdef EXCHANGE
proctype worker(byte id)
{
    bool again;
    body(id);
    exchange(id);
    do
    :: again -> assist(id); list(id)
    :: else -> break
    od;
    drop_pending(1)
}
#else
proctype late(byte last)
{
    bool again;
    body(last);
    add_pending();
    low--;
    assist(last);
    identity[last] = DONE;
    take_identity(last);
    do
    :: again ->
        list(last);
        if
        :: again -> assist(last)
        :: else
        fi
    :: else -> break
    od;
    drop_pending(1)
}

proctype runner()
{
    byte id, last, refs;
    bool again, held, stored, saw;
    run_members();
    if
    :: refs > 0 -> drop_refs()
    :: else
    fi
}

#endif

proctype carrier()
{
    byte id;
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
        again = true;
        do
        :: again -> assist(id); list(id)
        :: else -> break
        od;
        atomic { id = 0; drop_pending(1) }
    od
}

inline start(id)
{
#ifdef EXCHANGE
    atomic { low++; started[id]++ }
#else
    add_pending();
    atomic { pending++; started[id]++ }
#endif
}

/* The identity is the caller's, whose own reference keeps `left` above 0; or the caller is the parent. */
inline help(id)
{
#if defined(TLS) || defined(EXCHANGE)
    if
    :: id == 0 ->
        atomic {
            wanted = true;
            if
#ifdef BROKEN_READY
            :: true -> waiting = false; token++
#else
            :: waiting -> waiting = false; assert(token == 0); token++
#endif
            :: else
            fi
        }
    :: else -> start(id)
    fi
#else
    start(id)
#endif
}

inline interrupt()
{
    notified = true;
#ifndef EXCHANGE
    add_pending();
#endif
#ifndef BROKEN_SCAN
    i = 0;
    do
    :: i <= MEMBERS ->
#ifdef EXCHANGE
        atomic {
            again = identity[i] == DONE;
#ifdef BROKEN_TOLD
            identity[i] = (again -> FREE : identity[i])
#else
            identity[i] = (again -> FREE : TOLD)
#endif
        };
#else
        take_identity(i);
#endif
        if
        :: again ->
            list(i);
            if
            :: again -> help(i)
            :: else
            fi
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0; again = false
#endif
}

/* behind the fence: `sleepers` is read without the lock */
inline ask()
{
    i = 0;
    asked = false;
    if
    :: coming /* read without the lock: that helper looks later */
    :: else ->
        atomic {
            do
            :: i <= MEMBERS && !asked ->
                if
                :: identity[i] == LISTED && !coming ->
                    asked = true; identity[i] = FREE; comes[i] = i != 0; coming = coming || comes[i]
                :: else -> i++
                fi
            :: else -> break
            od
        }
    fi;
    if
    :: asked -> help(i)
    :: else
    fi;
    atomic { i = 0; asked = false }
}

/* its own last look is left out: it leaves no task behind */
proctype pusher()
{
    byte i, n;
    bool asked, again;
    for (n : 1 .. TASKS) {
        tasks++;
        if
        :: n == 1 -> interrupt()
        :: else
        fi;
        ask();
        done == n /* nothing else helps */
    };
#ifdef EXCHANGE
    drop_pending(1)
#else
    atomic { assert(low > 0); low-- };
    drop_pending(1)
#endif
}

proctype parent()
{
    byte id, last, refs = 1;
    bool again, all = false, held, off, saw, stored;
#ifdef EXCHANGE
    next = MEMBERS + 1;
    all = low == 0;
    if
    :: !all -> exchange(0)
#ifdef BROKEN_PARENT
               ; again = false
#endif
    :: else
    fi;
#else
#ifdef AWAY
    low == 1 && pending <= 1;
#endif
#ifdef TLS
    stored = false;
#else
    stored = true;
#endif
    run_members();
    atomic {
        flush();
        low = low - refs;
        held = pending > 0;
        all = low == 0 && !held
    };
    if
    :: atomic {
        held -> held = false; pending = pending - refs; all = low == 0 && pending == 0; refs = 0; id = last; last = 0
       }
    :: atomic { else -> refs = 0; id = last; last = 0 }
    fi;
    if
    :: !all && id != 0 -> /* the last one that it has run */
        take_identity(id);
        if
        :: again -> list(id)
        :: else
        fi;
        if
        :: again -> help(id)
        :: else
        fi
    :: else
    fi;
    id = 0;
#ifdef TLS
    if
    :: !all -> identity[0] = DONE
    :: else
    fi;
#endif
    if
#ifndef BROKEN_PARENT
    :: !all -> take_identity(0)
#endif
    :: else -> again = false
    fi;
#endif
    do
    :: !all ->
        do
        :: again -> assist(0); list(0)
        :: else -> break
        od;
        atomic { /* one compare-and-swap of `left` */
            if
            :: low == 0 && pending == 0 && !wanted -> all = true
            :: else ->
                if
#ifndef BROKEN_WANTED
                :: wanted -> wanted = false; off = true
#endif
                :: else -> waiting = true
                fi
            fi
        };
        if
        :: all -> break
        :: off
        :: else ->
            atomic { token > 0 -> token-- };
            all = waiting && low == 0 && pending == 0 /* else the asker has taken `waiting` off */
        fi;
        if
        :: off -> atomic { off = false; again = true }
        :: else
        fi
    :: else -> break
    od;
    joined = true;
    assert(tasks == 0 && done == TASKS && token == 0 && next == MEMBERS + 1)
}

init
{
    atomic {
#ifdef EXCHANGE
#if MEMBERS > 0
        run worker(1);
#endif
#if MEMBERS > 1
        run worker(2);
#endif
#else
#if RUNNERS > 0
        run runner();
#endif
#if RUNNERS > 1
        run runner();
#endif
#endif
        run pusher();
        run carrier();
        run parent()
    }
}
