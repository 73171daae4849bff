/* Standbys (src/psthreads/standby.c): a thread that is ready runs although no kernel thread can be started.
 *
 * M goes into a callback (the write lock) and waits there for T. L is in dlopen: has the loader's lock, which a start
 * takes too, and waits for the write lock. T is ready, and has a kernel thread only when the watchdog W has handed it
 * to a standby S or has started one. M asks for the standby before it goes in; W sleeps unless it is armed.
 * Checked: everybody ends, S in its parked state or told to end (invalid end state otherwise).
 *
 *   BROKEN_ASK      M goes in without a standby
 *   BROKEN_DISARM   the watchdog disarms without a look whether a standby is wanted
 *   BROKEN_ARMED    the asker reads whether the watchdog is armed before it raises what is wanted
 *   BROKEN_SERVED   the watchdog counts a start before the standby counts as alive
 *   BROKEN_ARRIVED  a standby counts its arrival as served before it has arrived
 *   BROKEN_INSIDE   the watchdog looks which thread is inside before it says that it starts a kernel thread
 *   BROKEN_DIRECT   M does not wait for a start that is under way
 *   BROKEN_LIST     the standby says that it is parked, and looks whether it is to end, without the lock
 *   BROKEN_PARK     the standby sleeps without comparing its word */

bool tls_lock, write_lock; /* the loader's: a start and L take the first; M, and L inside the first, the second */
byte wanted, alive, arrived, served, inside, direct;
byte armed = 1; /* for something else, at first */
bool stuck;      /* a look at the vps would say that T starves */
bool lock, parked, stops, in_list;
bool t_has_one, t_ended, all_ended;
byte word; /* the standby's */
#define PARKED 0
#define GO 1
#define END 2

bool s_started, s_ended;

inline acquire(l) { atomic { !l -> l = true } }
inline release(l) { l = false }

/* A kernel thread's start. */
inline start() { acquire(tls_lock); release(tls_lock) }

active proctype M()
{
    byte seen;
#ifndef BROKEN_ASK
#ifdef BROKEN_ARMED
    seen = armed;
    wanted = 1;
#else
    wanted = 1;
    seen = armed;
#endif
    if
    :: seen == 0 -> armed = 1
    :: else
    fi;
    do
    :: seen = served;
       if
       :: alive >= 1 && arrived >= 1 -> break
       :: else -> served != seen /* sleeps; a wake without a reason changes nothing */
       fi
    od;
#endif
    inside++;
#ifndef BROKEN_DIRECT
    direct == 0;
#endif
    acquire(write_lock);
    stuck = true;
    if
    :: armed == 0 -> armed = 1
    :: else
    fi;
    t_ended;
    release(write_lock);
    inside--;
    all_ended = true
}

active proctype L()
{
    acquire(tls_lock);
    acquire(write_lock);
    release(write_lock);
    release(tls_lock)
}

active proctype T()
{
    t_has_one || all_ended;
    t_ended = true
}

inline take(to)
{
    acquire(lock);
    if
    :: in_list -> in_list = false; took = true
    :: else -> took = false
    fi;
    release(lock)
}

/* For another reason, before anybody is inside, a spare is started too: what is under way when M goes in. */
active proctype W()
{
    bool took, another = true;
end:
    do
    :: all_ended -> break
    :: armed == 1 ->
       do
       :: wanted > alive ->
          start();
          s_started = true;
#ifdef BROKEN_SERVED
          served++;
          alive = 1
#else
          alive = 1;
          served++
#endif
       :: stuck && !t_has_one && wanted <= alive ->
          take(GO);
          if
          :: took -> word = GO; t_has_one = true
          :: else ->
             direct = 1;
             if
             :: inside == 0 -> start(); t_has_one = true
             :: inside > 0 && alive == 0 -> start(); t_has_one = true
             :: else
             fi;
             direct = 0
          fi
       :: another && wanted <= alive ->
          another = false;
#ifdef BROKEN_INSIDE
          if
          :: inside == 0 -> direct = 1; start()
          :: else
          fi;
#else
          direct = 1;
          if
          :: inside == 0 -> start()
          :: else
          fi;
#endif
          direct = 0
       :: break
       od;
       armed = 0;
#ifndef BROKEN_DISARM
       if
       :: wanted > alive -> armed = 1
       :: else
       fi;
#endif
       if
       :: stuck && !t_has_one -> armed = 1
       :: else
       fi
    od;
    acquire(lock);
    stops = true;
    release(lock);
    take(END);
    if
    :: took -> word = END
    :: else
    fi;
    !s_started || s_ended
}

active proctype S()
{
    bool first = true;
    s_started || all_ended;
    if
    :: !s_started -> goto ends
    :: else
    fi;
    do
    :: 
#ifdef BROKEN_LIST
       word = PARKED;
       if
       :: stops -> break
       :: else
       fi;
       acquire(lock);
       in_list = true;
       release(lock);
#else
       acquire(lock);
       if
       :: stops -> release(lock); break
       :: else -> word = PARKED; in_list = true; release(lock)
       fi;
#endif
       if
       :: first ->
          first = false;
#ifdef BROKEN_ARRIVED
          served++;
          arrived = 1
#else
          arrived = 1;
          served++
#endif
       :: else
       fi;
#ifdef BROKEN_PARK
       if
       :: word == PARKED -> parked = true; (!parked)
       :: else
       fi;
#else
       word != PARKED;
#endif
       if
       :: word == END -> break
       :: else /* carries, and is through */
       fi
    od;
ends:
    s_ended = true
}
