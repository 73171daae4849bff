/* Standbys (src/psthreads/park/standby.c): a spare that rests is called once, or ends.
 *
 * S rests, works when it is called, and rests again. G calls twice, as the watchdog or a thread that blocks: where
 * nobody rests it goes without. Q stops the library, when G is through: it sets `stops` and tells those that rest.
 * Checked: S is called as often as it was told so, and ends (invalid end state otherwise).
 *
 *   BROKEN_LIST   S enters the list, and looks whether it is to end, without the lock
 *   BROKEN_PARK   S sleeps without comparing its word
 *   BROKEN_STOP   Q tells those that rest before it sets `stops`
 *   BROKEN_WORD   S stores RESTS when it is in the list already, and the lock is free */

bool lock, stops, in_list, given_all;
byte word;   /* the spare's */
bool asleep; /* in the futex */
byte told, called;
#define RESTS 0
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
    bool rests;
    do
    ::
#ifdef BROKEN_LIST
       rests = !stops;
       if
       :: rests -> word = RESTS; in_list = true
       :: else
       fi;
#else
       acquire(lock);
       rests = !stops;
       if
       :: rests ->
#ifndef BROKEN_WORD
          word = RESTS;
#endif
          in_list = true
       :: else
       fi;
       release(lock);
#ifdef BROKEN_WORD
       word = RESTS;
#endif
#endif
       if
       :: !rests -> break
       :: else
       fi;
       do
       :: word != RESTS -> break
#ifdef BROKEN_PARK
       :: word == RESTS -> asleep = true; !asleep
#else
       :: atomic { word == RESTS -> asleep = true }; !asleep
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
