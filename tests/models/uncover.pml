/* The carrier that the watchdog gives to a handler (src/psthreads/uncover.c, ps_carrier_of in promote.c): each carrier
 * has one owner, and none is lost.
 *
 * The watchdog looks LOOKS times, each time at one of VPS vps, any. The watchdog asks the handler there: once where a
 * carrier is at hand, else whether the member wants one, and then up to TRIES times. An interrupt may be late: the
 * watchdog stops waiting whenever it likes, and looks at another vp. A vp's handler runs for one interrupt at a time;
 * one that comes meanwhile is handled behind it. Each vp's thread may have a carrier from elsewhere at any moment: a
 * sender of a signal starts it one (own_carrier). The member that has been moved is not asked any more.
 * Checked: nobody takes or ends a carrier that somebody has; at the end each carrier, and each of a sender's, belongs
 * to a thread, or has ended.
 *   BROKEN_LOAD    the handler takes the carrier by a load and a store
 *   BROKEN_END     the watchdog takes it back by a load and a store
 *   BROKEN_BACK    a handler that finds that its thread has a carrier by now puts the one that it took back
 *   BROKEN_SHARE   it is given to the thread by a store, whatever is there
 *   BROKEN_KEEP    the watchdog starts one for another vp without taking the last one back
 *   BROKEN_WATCH   the watchdog stops watching and leaves it where it is */
#ifndef VPS
#define VPS 2
#endif
#ifndef LOOKS
#define LOOKS 3
#endif
#ifndef TRIES
#define TRIES 2
#endif

#define ASKED 0
#define REFUSED 1
#define WANTS 2
#define MOVES 3

#define NONE 0
#define OWN 255 /* from elsewhere */

#define NOBODYS 1 /* of a carrier: parked */
#define TAKEN 2
#define ENDED 3

byte word = REFUSED;
byte carrier = NONE;      /* its number */
byte made = 0;            /* the last number */
byte state[LOOKS + 2];
byte alone[VPS];          /* the carrier of the vp's thread */
bool interrupt[VPS], handles[VPS], moved[VPS];
bool started[VPS]; /* the sender has given the vp's thread one */
bool over;

inline end_carrier(c)
{
    atomic {
        assert(state[c] == NOBODYS);
        state[c] = ENDED
    }
}

proctype handler(byte v)
{
    byte to, told;
end:
    do
    :: atomic { interrupt[v] -> interrupt[v] = false; handles[v] = true };
       told = REFUSED;
       if
       :: word == ASKED && !moved[v] ->
          told = WANTS;
          to = alone[v];
          if
          :: to == NONE ->
#ifdef BROKEN_LOAD
             to = carrier;
             carrier = NONE;
#else
             atomic { to = carrier; carrier = NONE };
#endif
             if
             :: to != NONE ->
                atomic { assert(state[to] == NOBODYS); state[to] = TAKEN };
                atomic {
#ifdef BROKEN_SHARE
                    alone[v] = to;
#else
                    if
                    :: alone[v] == NONE -> alone[v] = to; to = NONE
                    :: else
                    fi
#endif
                };
#ifndef BROKEN_SHARE
                if
                :: to != NONE -> /* there is another one */
                   state[to] = NOBODYS;
#ifdef BROKEN_BACK
                   carrier = to
#else
                   end_carrier(to)
#endif
                :: else
                fi;
#endif
                told = MOVES
             :: else
             fi
          :: else -> told = MOVES
          fi;
          to = NONE
       :: else
       fi;
       if
       :: told == MOVES -> moved[v] = true
       :: else
       fi;
       word = told;
       handles[v] = false
    od
}

proctype sender(byte v)
{
end:
    atomic { alone[v] == NONE && !over -> alone[v] = OWN; started[v] = true }
}

inline ask(v)
{
    word = ASKED;
    interrupt[v] = true;
    if
    :: word != ASKED
    :: true /* it takes too long */
    fi;
    atomic {
        told = word;
        if
        :: word == ASKED -> word = REFUSED; told = REFUSED
        :: else
        fi
    }
}

inline take_back()
{
#ifdef BROKEN_END
    left = carrier;
    carrier = NONE;
#else
    atomic { left = carrier; carrier = NONE };
#endif
    if
    :: left != NONE -> end_carrier(left)
    :: else
    fi;
    left = NONE
}

active proctype watchdog()
{
    byte looks, v, made_for = 255, told, left, tries, i;
    atomic {
        for (i : 0 .. VPS - 1) {
            run handler(i);
            run sender(i)
        }
    }
    do
    :: looks < LOOKS ->
        looks++;
        select (v : 0 .. VPS - 1);
#ifndef BROKEN_KEEP
        if
        :: made_for != v -> take_back()
        :: else
        fi;
#endif
        tries = 1;
        if
#ifdef BROKEN_KEEP
        :: carrier == NONE || made_for != v ->
#else
        :: carrier == NONE ->
#endif
            ask(v);
            if
            :: told == WANTS ->
                made++;
                state[made] = NOBODYS;
                made_for = v;
                carrier = made;
                tries = TRIES
            :: else -> tries = 0
            fi
        :: else
        fi;
        do
        :: tries > 0 ->
            tries--;
            ask(v);
            if
            :: told == MOVES -> tries = 0
            :: else
            fi
        :: else -> break
        od;
        told = 0
    :: else -> break
    od;
    over = true;
#ifndef BROKEN_WATCH
    take_back();
#endif
    /* Handlers that are late come to an end. */
    do
    :: atomic { !interrupt[0] && !handles[0] && !interrupt[VPS - 1] && !handles[VPS - 1] -> break }
    od;
    for (i : 1 .. made) {
        assert(state[i] == ENDED || (state[i] == TAKEN && (alone[0] == i || alone[VPS - 1] == i)))
    }
    for (i : 0 .. VPS - 1) {
        assert(!started[i] || alone[i] == OWN)
    }
}
