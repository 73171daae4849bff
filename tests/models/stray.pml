/* Signals for the process, and kernel threads that are nobody (src/identity/process_signal.h; come_in and
 * thread_signal_be_roused in thread_signal.c, ps_await_pinned in dedicated.c).
 *
 * A thread that blocks the signal sends it SIGNALS times to the process, each time when the last one has been handled.
 * A worker W searches, and carries the one member that is there, ROUNDS times; between that the member waits. The ear E
 * hears for the member, and rouses it: the member gets a kernel thread of its own, P. With ENDS the member may end at
 * any time, and nobody waits for the signals.
 * Checked: a handler runs in the member's block alone, on the one kernel thread that runs the member then; in the block
 * a kernel thread hears. Each signal is handled (invalid end state). None is passed on for ever. P is made for a member
 * that is there. The member begins with W's mask, as if no signal had come. Left out: signals to one thread
 * (directed.pml), and what the watchdog's ticks do.
 *
 * The kernel gives a pending signal to any kernel thread that does not block it. A handler may come between any two
 * steps of that one. From when it comes to nobody until it has been passed on (`in`) the signal is pending nowhere. A
 * look in just that while is a coincidence; there are ODDS of them. A time limit is over when nothing else can be done,
 * and EARLY times before that.
 *   BROKEN_DEAF     what passes a signal on stays to hear
 *   BROKEN_MASK     W becomes deaf, and does not look whether a handler has come before that
 *   BROKEN_READ     W looks whether a handler has come, then reads its mask for the member
 *   BROKEN_HEAR     W unblocks signals, then says that it hears
 *   BROKEN_ENTER    W hears, then enters the block
 *   BROKEN_LATE     the ear listens again after the time limit, and rouses no member
 *   BROKEN_AGAIN    the ear does not look anew when it listens again
 *   BROKEN_DUE      the ear is told of the member before the member is there
 *   BROKEN_PARK     a handler on P does not wake it
 *   BROKEN_SELF     P does not take what it has passed on, and nobody else takes
 *   BROKEN_BESIDE   P lets the member's context go, and leaves the block after that
 *   BROKEN_CLAIM    the ear reads whether the member is there, then counts itself in
 *   BROKEN_AWAIT    the member's end does not wait for the ear
 *   BROKEN_CLEAR    the member's end waits, then says that the member is gone */
#ifndef SIGNALS
#define SIGNALS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef EARLY
#define EARLY 0
#endif
#ifndef ODDS
#define ODDS 0
#endif
#ifndef PASSES
#define PASSES 5 /* of one signal */
#endif

#define W 0
#define E 1
#define P 2

bool pending, handled, over;
byte passes, early, odds;

bool blocked[3] = {false, true, true}; /* the kernel thread's mask */
bool deaf[3], kept[3];                 /* VP_SIGNALS_BLOCKED; run.unblocked_mask blocks it */
bool strays[3], in[3];
bool in_block[3];

bool team, alone, freed; /* the member is there; has P; its block has been given back */
bool saved, visited;     /* its context */
bool carried, on_p;      /* by W; by P */
bool pinned, wake, roused, ends, left;
bool due;
byte rousing;

#define LATE (timeout || early < EARLY)
#define IN_FLIGHT (in[W] || in[E] || in[P])

inline limit_over()
{
    if
    :: early < EARLY -> early++
    :: else
    fi
}

/* --- the kernel, and the handlers --- */

inline deliver(who)
{
    pending = false;
    if
    :: in_block[who] ->
       assert(who == W -> (!on_p && !in_block[P]) : (!carried && !in_block[W]));
       handled = true
    :: else ->
       in[who] = true;
       passes++;
       assert(passes <= PASSES)
    fi
}

inline passed_on(who)
{
    in[who] = false;
    pending = true;
    strays[who] = true;
#ifndef BROKEN_DEAF
    if
    :: !deaf[who] -> kept[who] = false
    :: else
    fi;
    deaf[who] = true;
    blocked[who] = true;
#endif
#ifndef BROKEN_PARK
    if
    :: who == P -> wake = true
    :: else
    fi
#endif
}

active proctype kernel()
{
end:
    do
    :: atomic { pending && !blocked[W] && !in[W] -> deliver(W) }
    :: atomic { pending && !blocked[E] && !in[E] -> deliver(E) }
    :: atomic { pending && !blocked[P] && !in[P] -> deliver(P) }
    :: atomic { in[W] -> passed_on(W) }
    :: atomic { in[E] -> passed_on(E) }
    :: atomic { in[P] -> passed_on(P) }
    od
}

active proctype sender()
{
    byte i;
    do
    :: i < SIGNALS ->
#ifdef ENDS
       if
       :: atomic { !pending && !IN_FLIGHT -> passes = 0; pending = true }
       :: pending || IN_FLIGHT
       fi;
#else
       atomic { passes = 0; handled = false; pending = true };
       (handled);
#endif
       i++
    :: else -> break
    od;
    over = true
}

/* --- a kernel thread that hears, and is deaf: each step only while no handler runs there --- */

inline hear(who)
{
#ifdef BROKEN_HEAR
    atomic { !in[who] -> blocked[who] = kept[who] };
    atomic { !in[who] -> deaf[who] = false }
#else
    atomic { !in[who] -> deaf[who] = false };
    atomic { !in[who] -> blocked[who] = kept[who] }
#endif
}

inline deafen(who)
{
    if
    :: atomic { !in[who] && !deaf[who] -> skip };
       atomic { !in[who] -> before = blocked[who]; blocked[who] = true };
#ifdef BROKEN_MASK
       kept[who] = before;
       deaf[who] = true
#else
       if
       :: deaf[who]
       :: else -> kept[who] = before; deaf[who] = true
       fi
#endif
    :: atomic { !in[who] && deaf[who] -> skip }
    fi
}

/* What was passed on is pending no more; or it is, too long. */
#define GONE (!pending && (!IN_FLIGHT || odds < ODDS))
inline coincidence()
{
    if
    :: IN_FLIGHT -> odds++
    :: else
    fi
}

/* --- the worker, and the member --- */

inline tell_ear() { due = true }

inline end_member()
{
#ifdef BROKEN_CLEAR
    (rousing == 0);
    team = false;
#else
    team = false;
#ifndef BROKEN_AWAIT
    (rousing == 0);
#endif
#endif
    tell_ear();
    if
    :: alone -> ends = true; wake = true; (left)
    :: else
    fi;
    freed = true
}

inline enter_block_and_hear()
{
#ifdef BROKEN_ENTER
    if
    :: deaf[W] -> hear(W)
    :: else
    fi;
    atomic { !in[W] -> in_block[W] = true };
#else
    atomic { !in[W] -> in_block[W] = true };
    if
    :: deaf[W] -> hear(W)
    :: else
    fi;
#endif
    assert(!blocked[W])
}

active proctype worker()
{
    byte round;
    bool before, mask;
    /* the member begins, with the mask with which W hears */
#ifdef BROKEN_READ
    if
    :: atomic { !in[W] && deaf[W] -> mask = kept[W] }
    :: atomic { !in[W] && !deaf[W] -> skip };
       atomic { !in[W] -> mask = blocked[W] }
    fi;
#else
    atomic { !in[W] -> mask = blocked[W] };
    if
    :: atomic { !in[W] && deaf[W] -> mask = kept[W] }
    :: atomic { !in[W] && !deaf[W] -> skip }
    fi;
#endif
    assert(!mask);
#ifdef BROKEN_DUE
    tell_ear();
    team = true;
#else
    team = true;
    tell_ear();
#endif
    saved = true;
    do
    :: atomic { !in[W] -> skip };
       if
       :: alone -> deafen(W)
       :: else
       fi;
end:   if
       :: atomic { !in[W] && strays[W] && GONE -> coincidence(); strays[W] = false };
          if
          :: !alone && deaf[W] -> hear(W)
          :: else
          fi
       :: atomic { !in[W] && strays[W] && pending && LATE -> limit_over(); strays[W] = false }
       :: atomic { !in[W] && saved && (round < ROUNDS || over) -> saved = false };
          (!visited);
          enter_block_and_hear();
          carried = true;
          round++;
          carried = false;
          if
          :: over -> atomic { !in[W] -> in_block[W] = false }; break
#ifdef ENDS
          :: atomic { !in[W] -> in_block[W] = false }; break
#endif
          :: atomic { alone && roused && !in[W] -> in_block[W] = false }; /* it is asked to move */
             deafen(W);
             pinned = true;
             wake = true
          :: else ->
             atomic { !in[W] -> in_block[W] = false };
             saved = true
          fi
       :: on_p && over -> break
       fi
    od;
    on_p = false; /* the member has left P, too */
    end_member()
}

/* --- the member's own kernel thread --- */

inline come_in()
{
    atomic { !in[P] -> in_block[P] = true };
    deaf[P] = false;
    atomic { blocked[P] = false; if :: pending -> deliver(P) :: else fi }; /* a system call */
#ifdef BROKEN_BESIDE
    visited = false;
    in_block[P] = false
#else
    in_block[P] = false;
    visited = false
#endif
}

proctype own()
{
    do
    :: atomic { pinned && !in[P] -> pinned = false };
       on_p = true;
       atomic { !in[P] -> in_block[P] = true };
       if
       :: deaf[P] -> hear(P)
       :: else
       fi;
end_runs:
       (!on_p);
       in_block[P] = false
    :: atomic { !pinned && ends && !in[P] -> blocked[P] = true; break }
    :: atomic { !pinned && !ends && roused && !in[P] -> skip };
       if
       :: atomic { saved && !in[P] -> visited = true };
          come_in();
          atomic { !in[P] -> roused = false }
       :: !pending -> roused = false /* a signal that is on its way comes to P itself, or to another one */
       :: pinned || ends
       fi
    :: atomic { !pinned && !ends && !roused && !in[P] -> skip };
       if
       :: deaf[P] && strays[P] ->
          if
          :: atomic { GONE -> coincidence(); strays[P] = false };
             hear(P)
#ifdef BROKEN_SELF
          :: atomic { pending && LATE -> limit_over(); strays[P] = false };
             hear(P)
#else
          :: atomic { saved && !in[P] -> visited = true };
             come_in()
          :: atomic { pending && LATE -> limit_over(); strays[P] = false; roused = true }
#endif
          :: pinned || ends
          fi
       :: deaf[P] && !strays[P] -> hear(P)
       :: else ->
end:      (wake);
          wake = false
       fi
    od;
    left = true
}

/* --- the ear --- */

inline listen_anew()
{
    strays[E] = false;
    state = 0;
#ifndef BROKEN_AGAIN
    due = true
#endif
}

inline rouse()
{
#ifdef BROKEN_CLAIM
    found = team && !alone;
    rousing++;
#else
    rousing++;
    found = team && !alone;
#endif
    if
    :: found ->
       assert(!freed);
       alone = true;
       deaf[P] = true;
       run own();
       tell_ear();
       roused = true;
       wake = true
    :: else
    fi;
    rousing--
}

active proctype ear()
{
    byte state; /* 1: a member was roused */
    bool found;
    do
    :: atomic { !in[E] && strays[E] && GONE -> coincidence(); listen_anew() }
    :: atomic { !in[E] && strays[E] && pending && state == 1 && LATE -> limit_over(); listen_anew() }
    :: atomic { !in[E] && strays[E] && pending && state == 0 && LATE -> limit_over(); state = 1 };
#ifdef BROKEN_LATE
       found = false;
#else
       rouse();
#endif
       if
       :: !found -> listen_anew()
       :: else
       fi
    :: atomic { !in[E] && !strays[E] && due -> due = false };
       found = team && !alone;
       atomic { !in[E] -> blocked[E] = !found }
    :: atomic { !due && !strays[E] && !in[E] && over && freed -> break }
    od;
    blocked[E] = true
}
