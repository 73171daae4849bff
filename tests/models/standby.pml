/* Standbys (src/psthreads/standby.c): a parked kernel thread is told once what it carries, or that it ends.
 *
 * S parks, carries what it is given, and parks again. G gives twice, as the watchdog or a root: where nobody is parked
 * it goes without. Q stops the library, when G is through: it sets `stops` and tells those that are parked.
 * Checked: S reads what was meant for it, and everybody ends (invalid end state otherwise).
 *
 *   BROKEN_LIST   S enters the list, and looks whether it is to end, without the lock
 *   BROKEN_PARK   S sleeps without comparing its word
 *   BROKEN_STOP   Q tells the parked before it sets `stops`
 *   BROKEN_VP     G says GO before it says what is carried */

bool lock, stops, in_list, given_all;
byte word;    /* the standby's */
bool asleep;  /* in the futex */
byte vp;      /* what it is to carry; 0: it ends */
#define PARKED 0
#define GO 1

inline acquire(l) { atomic { !l -> l = true } }
inline release(l) { l = false }

/* The futex compares the word as it goes to sleep, in one step; a wake finds it asleep, or changes nothing. */
inline wake() { asleep = false }

inline tell(what, done)
{
    acquire(lock);
    done = in_list;
    in_list = false;
    release(lock);
    if
    :: done ->
#ifdef BROKEN_VP
       word = GO;
       vp = what;
#else
       vp = what;
       word = GO;
#endif
       wake()
    :: else
    fi
}

active proctype S()
{
    byte carries;
    bool parks;
    do
    ::
#ifdef BROKEN_LIST
       parks = !stops;
       if
       :: parks -> word = PARKED; vp = 9; in_list = true
       :: else
       fi;
#else
       acquire(lock);
       parks = !stops;
       if
       :: parks -> word = PARKED; vp = 9; in_list = true
       :: else
       fi;
       release(lock);
#endif
       if
       :: !parks -> break
       :: else
       fi;
       do
       :: word != PARKED -> break
#ifdef BROKEN_PARK
       :: word == PARKED -> asleep = true; !asleep
#else
       :: atomic { word == PARKED -> asleep = true }; !asleep
#endif
       od;
       carries = vp;
       assert(carries != 9);
       if
       :: carries == 0 -> break
       :: else
       fi
    od
}

active proctype G()
{
    bool done;
    tell(1, done);
    tell(2, done);
    given_all = true
}

active proctype Q()
{
    bool done;
    given_all;
#ifdef BROKEN_STOP
    tell(0, done);
    acquire(lock);
    stops = true;
    release(lock)
#else
    acquire(lock);
    stops = true;
    release(lock);
    tell(0, done)
#endif
}
