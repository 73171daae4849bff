/* Starts that are handed to the watchdog (src/psthreads/starter.c, watchdog_tick.c): each is done once, by the
 * watchdog or, where that is held up, by the asker. Nothing sleeps for ever.
 *
 * A0 and A1 ask. The watchdog W sleeps a tick after the other (on stop_word, with NUDGE), or disarmed. A tick ends by
 * a nudge, or W has been quiet for long enough and disarms. Once W waits for a lock that A0 has in hand (the dynamic
 * linker's) until A0's start is done. Then, and at no other time, patience ends: a watchdog that is late is waited for.
 * Checked: both end, W sleeps, each start is done once.
 *
 *   BROKEN_NUDGE     W takes NUDGE back after it has looked which thread asks
 *   BROKEN_DISARM    W disarms without a look whether a thread asks
 *   BROKEN_ARMED     the asker reads whether W is armed before it asks
 *   BROKEN_TAKEN     the asker takes the order back without looking whether W has it already
 *   BROKEN_TIMEOUT  the asker waits without a limit
 *   BROKEN_BACK      the asker takes the order back and wakes nothing
 *   BROKEN_DONE      W wakes nothing when it has started what was asked for */

#define FREE 0
#define HELD 1
#define ASKED 2
#define STARTS 3
#define DONE 4

byte word, whose; /* the order */
byte wakes;       /* of the asker that sleeps for the order's word */
bool armed, nudged;
bool stuck;       /* W, until A0 is through */
byte started[2];

inline wake() { wakes = (wakes + 1) % 8 }

/* The futex compares the word with w, then sleeps until a wake. */
inline sleep_while(w)
{
    if
    :: atomic { word == w -> seen = wakes };
       if
       :: wakes != seen
#ifndef BROKEN_TIMEOUT
       :: patient && stuck -> patient = false
#endif
       fi
    :: word != w
    fi
}

proctype A(byte id)
{
    bool patient = true, was_armed;
    byte seen, now;
    do
    :: atomic { word == FREE -> word = HELD }; break
    :: patient ->
       now = word;
       if
       :: now != FREE -> sleep_while(now)
       :: else
       fi
    :: !patient && word != FREE -> goto by_itself
    od;
#ifdef BROKEN_ARMED
    was_armed = armed;
#endif
    whose = id;
    word = ASKED;
    nudged = true;
#ifndef BROKEN_ARMED
    was_armed = armed;
#endif
    if
    :: !was_armed -> armed = true
    :: else
    fi;
    do
    :: now = word;
       if
       :: now == DONE -> break
       :: now == STARTS -> sleep_while(STARTS)
       :: now == ASKED && patient -> sleep_while(ASKED)
       :: now == ASKED && !patient ->
#ifdef BROKEN_TAKEN
          word = FREE;
#else
          if
          :: atomic { word == ASKED -> word = FREE }
          :: word != ASKED -> goto again
          fi;
#endif
#ifndef BROKEN_BACK
          wake();
#endif
          goto by_itself
       fi;
again: skip
    od;
    word = FREE;
    wake();
    goto through;
by_itself:
    started[id]++;
through:
    assert(started[id] == 1)
}

inline serve()
{
    if
    :: atomic { word == ASKED -> word = STARTS };
       started[whose]++;
       word = DONE;
#ifndef BROKEN_DONE
       wake()
#endif
    :: word != ASKED
    fi
}

active proctype W()
{
    bool restless, may_wait = true;
    if
    :: restless = true
    :: restless = false
    fi;
end_disarmed:
    do
    :: armed ->
end_in_a_tick:
       do
       :: nudged ->
#ifdef BROKEN_NUDGE
          serve();
          nudged = false
#else
          nudged = false;
          serve()
#endif
       :: may_wait && started[0] == 0 ->
          may_wait = false;
          stuck = true;
          started[0] == 1;
          stuck = false
       :: !restless -> break
       od;
       armed = false;
#ifndef BROKEN_DISARM
       if
       :: word == ASKED -> armed = true
       :: else
       fi
#endif
    od
}

init { atomic { run A(0); run A(1) } }
