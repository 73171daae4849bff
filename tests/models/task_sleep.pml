/* Members that wait in the core, and tasks that are made meanwhile (src/ort/task/task_sleep.c): each task finds a
 * member, also where every other thread does nothing but wait for that task in the program's code.
 *
 * Two tasks; each one's body waits until the other has begun. A member that has pushed a task tells one sleeper that
 * may run it, and then waits in its code until all tasks are done. Member 0 waits for what comes at any time (or, with
 * CHILD, for the end of the tasks), runs tasks meanwhile, and behind its wait goes on in the program's code, where it
 * waits for the tasks' effects. The others wait in a barrier. Nothing else helps: so a wake-up that a sleeper keeps to
 * itself is a hang, which the search finds as an invalid end state.
 *
 * Everything is sequentially consistent, as in the source; sections under the lock are one step. A look takes the
 * oldest task of each deque: it reads top, then bottom, then moves top by a compare-and-swap, which may fail.
 *   CHILD         each task stands in a deque of its own; member 1 may run the second one alone, and that one waits
 *                 for nothing
 *   BROKEN_LOOK   a sleeper that has entered the list does not look again
 *   BROKEN_RACE   a look that has lost a race is taken for one that found nothing
 *   BROKEN_KEEP   a sleeper whose wish is fulfilled keeps a task's wake-up to itself
 *   BROKEN_OTHER  a sleeper that has found another task does
 *   BROKEN_WOKEN  one that has slept looks for tasks no more than its wait does, and does not compare */
#define NONE 2
#ifdef CHILD
#define PUSHERS 2
#define MEMBERS 2
#define EACH 1
#define ITEM(d, i) (d)
#define MAY(m, t) (m == 0 || t == 1)
#define MAY_END(t) (t == 1 || begun == ALL)
#else
#define PUSHERS 1
#define MEMBERS 3
#define EACH 2
#define ITEM(d, i) (i)
#define MAY(m, t) true
#define MAY_END(t) (begun == ALL)
#endif
#define ALL 2
#define SATISFIED(m) (m == 0 -> come : finished == PUSHERS)

byte top[PUSHERS], bottom[PUSHERS];
byte begun, done, finished;
bool come;             /* what member 0 waits for */
byte takers;
bool listed[MEMBERS];
bool word[MEMBERS];
byte told[MEMBERS];    /* for which task it was woken */

/* Under the lock: one that may run t is woken for it. */
inline tell(t)
{
    atomic {
        if
        :: listed[0] && MAY(0, t) -> s = 0
        :: listed[1] && MAY(1, t) -> s = 1
#if MEMBERS > 2
        :: listed[2] && MAY(2, t) -> s = 2
#endif
        :: else -> s = MEMBERS
        fi;
        if
        :: s < MEMBERS -> listed[s] = false; takers--; told[s] = t; word[s] = true
        :: else
        fi;
        s = 0
    }
}

inline wake_satisfied()
{
    atomic {
        for (s : 0 .. MEMBERS - 1) {
            if
            :: listed[s] && SATISFIED(s) -> listed[s] = false; takers--; word[s] = true
            :: else
            fi
        };
        s = 0
    }
}

proctype pusher(byte d)
{
    byte s, n;
    for (n : 0 .. EACH - 1) {
        bottom[d]++;
        if
        :: takers > 0 -> tell(ITEM(d, n))
        :: else
        fi
    };
    done == ALL;
    finished++;
    wake_satisfied()
}

proctype comer()
{
    byte s;
#ifdef CHILD
    done == ALL;
#endif
    come = true;
    wake_satisfied()
}

/* Not between two reads of one step: a top that moves meanwhile makes the compare-and-swap fail. */
inline look_at(d)
{
    atomic {
        seen = top[d];
        item = (got == NONE && seen < bottom[d] && MAY(me, ITEM(d, seen)) -> ITEM(d, seen) : NONE)
    };
    atomic {
        if
        :: item != NONE && top[d] == seen -> top[d]++; got = item
        :: else /* there is none, or another one was faster */
        fi;
        item = 0; seen = 0
    }
}

inline look()
{
#if PUSHERS > 1
    if
    :: true -> look_at(0); look_at(1)
    :: true -> look_at(1); look_at(0)
    fi
#else
    look_at(0)
#endif
}

#define STANDS(d) (top[d] < bottom[d] && MAY(me, ITEM(d, top[d])))
#if PUSHERS > 1
#define ANY_STANDS (STANDS(0) || STANDS(1))
#define MAY_STAND(t) (t == 0 -> top[0] == 0 : top[1] == 0)
#else
#define ANY_STANDS STANDS(0)
#define MAY_STAND(t) (top[0] <= t)
#endif

inline look_surely()
{
    do
    :: look();
#ifdef BROKEN_RACE
       break
#else
       if
       :: got == NONE && ANY_STANDS
       :: else -> break
       fi
#endif
    od
}

inline leave_sleep()
{
    atomic {
        if
        :: !word[me] -> listed[me] = false; takers--
        :: else
        fi;
        t = told[me]
    };
    if
    :: t != NONE ->
#ifndef BROKEN_WOKEN
        if
        :: got == NONE && !SATISFIED(me) -> look_surely()
        :: else
        fi;
#endif
        if
#ifndef BROKEN_OTHER
        :: t != got && got != NONE && MAY_STAND(t) -> tell(t)
#endif
#ifndef BROKEN_KEEP
        :: t != got && got == NONE && SATISFIED(me) && MAY_STAND(t) -> tell(t)
#endif
        :: else
        fi;
        t = 0
    :: else -> t = 0
    fi
}

proctype member(byte me)
{
    byte got = NONE, seen, item, t, s;
    do
    :: SATISFIED(me) -> break
    :: else ->
#ifdef CHILD
        look(); /* else a sleeper's looks do */
#endif
        if
        :: got == NONE ->
            atomic { word[me] = false; told[me] = NONE; listed[me] = true; takers++ };
            if
            :: SATISFIED(me)
            :: else ->
#ifndef BROKEN_LOOK
                look_surely();
#endif
                if
                :: got == NONE -> word[me]
                :: else
                fi
            fi;
            leave_sleep()
        :: else
        fi;
        if
        :: got != NONE -> begun++;
            atomic { MAY_END(got) -> done++; got = NONE }
        :: else
        fi
    od;
    done == ALL /* the program's code */
}

init
{
    atomic {
        run pusher(0);
#if PUSHERS > 1
        run pusher(1);
#endif
        run comer();
        run member(0);
        run member(1);
#if MEMBERS > 2
        run member(2)
#endif
    }
}
