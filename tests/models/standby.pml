/* Standbys (src/psthreads/park/standby.c): a spare that stands by is called once, or ends.
 *
 * S stands by, works when it is called, and stands by again. G calls twice, as the watchdog or a thread that blocks:
 * where none stands by it goes without. Q stops the library, when G is through: it sets `stops` and tells those that
 * stand by. Checked: S is called as often as it was told so, and ends (invalid end state otherwise).
 *
 *   BROKEN_LIST   S enters the list, and looks whether it is to end, without the lock
 *   BROKEN_PARK   S sleeps without comparing its word
 *   BROKEN_STOP   Q tells those that stand by before it sets `stops`
 *   BROKEN_WORD   S stores STANDS_BY when it is in the list already, and the lock is free */

bool lock, stops, in_list, given_all;
byte word;   /* the spare's */
bool asleep; /* in the futex */
byte told, called;
#define STANDS_BY 0
#define CALLED 1
#define ENDS 2

inline acquire(l) { atomic { !l -> l = true } }
inline release(l) { l = false }

inline tell(what)
{
    bool done;
    acquire(lock);
    done = in_list;
    in_list = false;
    release(lock);
    if
    :: done ->
       if
       :: what == CALLED -> told++
       :: else
       fi;
       word = what;
       /* The futex compares the word as it goes to sleep, in one step; a wake finds it asleep, or changes nothing. */
       asleep = false
    :: else
    fi
}

active proctype S()
{
    bool stands;
    do
    ::
#ifdef BROKEN_LIST
       stands = !stops;
       if
       :: stands -> word = STANDS_BY; in_list = true
       :: else
       fi;
#else
       acquire(lock);
       stands = !stops;
       if
       :: stands ->
#ifndef BROKEN_WORD
          word = STANDS_BY;
#endif
          in_list = true
       :: else
       fi;
       release(lock);
#ifdef BROKEN_WORD
       word = STANDS_BY;
#endif
#endif
       if
       :: !stands -> break
       :: else
       fi;
       do
       :: word != STANDS_BY -> break
#ifdef BROKEN_PARK
       :: word == STANDS_BY -> asleep = true; !asleep
#else
       :: atomic { word == STANDS_BY -> asleep = true }; !asleep
#endif
       od;
       if
       :: word == ENDS -> break
       :: else -> called++
       fi
    od;
    assert(called == told)
}

active proctype G()
{
    tell(CALLED);
    tell(CALLED);
    given_all = true
}

active proctype Q()
{
    given_all;
#ifdef BROKEN_STOP
    tell(ENDS);
    acquire(lock);
    stops = true;
    release(lock)
#else
    acquire(lock);
    stops = true;
    release(lock);
    tell(ENDS)
#endif
}
