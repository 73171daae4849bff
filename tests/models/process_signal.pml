/* Signals for the process, and kernel threads on which no thread runs (src/identity/process_signal.h; come_in in
 * thread_signal.c, ps_await_pinned in dedicated.c).
 *
 * A thread that blocks the signal sends it SIGNALS times to the process, each time when the last one has been handled.
 * A worker W searches, and carries the one member that is there, ROUNDS times; between that the member waits. The
 * receiver R takes signals for the member, and dedicates it: the member gets a kernel thread D. (process_signal.md says
 * where R stands today.) With ENDS the member may end at any time, and no thread waits for the signals. Checked: a
 * handler runs in the member's block only, on the one kernel thread that runs the member then; in the block a kernel
 * thread takes signals. Each signal is handled (invalid end state). None is passed on for ever. D is made for a member
 * that is there. The member begins with W's mask, as if no signal had come. Left out: signals to one thread (mail.pml),
 * and what the watchdog's ticks do.
 *
 * The kernel gives a pending signal to any kernel thread that does not block it. A handler may come between any two
 * steps of that one. From when it comes where no thread runs until it has been passed on (`in`) the signal is pending
 * nowhere. A look in just that while is a coincidence; there are ODDS of them. A time limit is over when nothing else
 * can be done, and EARLY times before that.
 *   BROKEN_BLOCK    what passes a signal on does not block signals
 *   BROKEN_MASK     W blocks signals, and does not look whether a handler has come before that
 *   BROKEN_READ     W looks whether a handler has come, then reads its mask for the member
 *   BROKEN_UNBLOCK  W unblocks signals, then says so
 *   BROKEN_ENTER    W unblocks signals, then enters the block
 *   BROKEN_LATE     R listens again after the time limit, and dedicates no member
 *   BROKEN_AGAIN    R does not look anew when it listens again
 *   BROKEN_DUE      R is told of the member before the member is there
 *   BROKEN_PARK     a handler on D does not wake it
 *   BROKEN_SELF     D does not take what it has passed on, and no other thread takes
 *   BROKEN_BESIDE   D lets the member's context go, and leaves the block after that
 *   BROKEN_CLAIM    R reads whether the member is there, then counts itself in
 *   BROKEN_AWAIT    the member's end does not wait for R
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
#define R 1
#define D 2

bool pending, handled, over;
byte passes, early, odds;

bool blocked[3] = {false, true, true}; /* the kernel thread's mask */
bool says_blocked[3], own_mask[3];                 /* VP_SIGNALS_BLOCKED; run.unblocked_mask blocks it */
bool passed[3], in[3];
bool in_block[3];

bool team, dedicated, freed; /* the member is there; has D; its block has been given back */
bool saved, visited;     /* its context */
bool carried, on_d;      /* by W; by D */
bool pinned, wake, asked, ends, left;
bool due;
byte dedicating;

#define LATE (timeout || early < EARLY)
#define IN_FLIGHT (in[W] || in[R] || in[D])

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
       assert(who == W -> (!on_d && !in_block[D]) : (!carried && !in_block[W]));
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
    passed[who] = true;
#ifndef BROKEN_BLOCK
    if
    :: !says_blocked[who] -> own_mask[who] = false
    :: else
    fi;
    says_blocked[who] = true;
    blocked[who] = true;
#endif
#ifndef BROKEN_PARK
    if
    :: who == D -> wake = true
    :: else
    fi
#endif
}

active proctype kernel()
{
end:
    do
    :: atomic { pending && !blocked[W] && !in[W] -> deliver(W) }
    :: atomic { pending && !blocked[R] && !in[R] -> deliver(R) }
    :: atomic { pending && !blocked[D] && !in[D] -> deliver(D) }
    :: atomic { in[W] -> passed_on(W) }
    :: atomic { in[R] -> passed_on(R) }
    :: atomic { in[D] -> passed_on(D) }
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

/* --- a kernel thread takes signals, or blocks them: each step only while no handler runs there --- */

inline unblock_signals(who)
{
#ifdef BROKEN_UNBLOCK
    atomic { !in[who] -> blocked[who] = own_mask[who] };
    atomic { !in[who] -> says_blocked[who] = false }
#else
    atomic { !in[who] -> says_blocked[who] = false };
    atomic { !in[who] -> blocked[who] = own_mask[who] }
#endif
}

inline block_signals(who)
{
    if
    :: atomic { !in[who] && !says_blocked[who] -> skip };
       atomic { !in[who] -> before = blocked[who]; blocked[who] = true };
#ifdef BROKEN_MASK
       own_mask[who] = before;
       says_blocked[who] = true
#else
       if
       :: says_blocked[who]
       :: else -> own_mask[who] = before; says_blocked[who] = true
       fi
#endif
    :: atomic { !in[who] && says_blocked[who] -> skip }
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

inline tell_receiver() { due = true }

inline end_member()
{
#ifdef BROKEN_CLEAR
    (dedicating == 0);
    team = false;
#else
    team = false;
#ifndef BROKEN_AWAIT
    (dedicating == 0);
#endif
#endif
    tell_receiver();
    if
    :: dedicated -> ends = true; wake = true; (left)
    :: else
    fi;
    freed = true
}

inline enter_block_and_unblock()
{
#ifdef BROKEN_ENTER
    if
    :: says_blocked[W] -> unblock_signals(W)
    :: else
    fi;
    atomic { !in[W] -> in_block[W] = true };
#else
    atomic { !in[W] -> in_block[W] = true };
    if
    :: says_blocked[W] -> unblock_signals(W)
    :: else
    fi;
#endif
    assert(!blocked[W])
}

active proctype worker()
{
    byte round;
    bool before, mask;
    /* the member begins, with the mask with which W takes signals */
#ifdef BROKEN_READ
    if
    :: atomic { !in[W] && says_blocked[W] -> mask = own_mask[W] }
    :: atomic { !in[W] && !says_blocked[W] -> skip };
       atomic { !in[W] -> mask = blocked[W] }
    fi;
#else
    atomic { !in[W] -> mask = blocked[W] };
    if
    :: atomic { !in[W] && says_blocked[W] -> mask = own_mask[W] }
    :: atomic { !in[W] && !says_blocked[W] -> skip }
    fi;
#endif
    assert(!mask);
#ifdef BROKEN_DUE
    tell_receiver();
    team = true;
#else
    team = true;
    tell_receiver();
#endif
    saved = true;
    do
    :: atomic { !in[W] -> skip };
       if
       :: dedicated -> block_signals(W)
       :: else
       fi;
end:   if
       :: atomic { !in[W] && passed[W] && GONE -> coincidence(); passed[W] = false };
          if
          :: !dedicated && says_blocked[W] -> unblock_signals(W)
          :: else
          fi
       :: atomic { !in[W] && passed[W] && pending && LATE -> limit_over(); passed[W] = false }
       :: atomic { !in[W] && saved && (round < ROUNDS || over) -> saved = false };
          (!visited);
          enter_block_and_unblock();
          carried = true;
          round++;
          carried = false;
          if
          :: over -> atomic { !in[W] -> in_block[W] = false }; break
#ifdef ENDS
          :: atomic { !in[W] -> in_block[W] = false }; break
#endif
          :: atomic { dedicated && asked && !in[W] -> in_block[W] = false }; /* it is asked to move */
             block_signals(W);
             pinned = true;
             wake = true
          :: else ->
             atomic { !in[W] -> in_block[W] = false };
             saved = true
          fi
       :: on_d && over -> break
       fi
    od;
    on_d = false; /* the member has left D, too */
    end_member()
}

/* --- the member's dedicated kernel thread --- */

inline come_in()
{
    atomic { !in[D] -> in_block[D] = true };
    says_blocked[D] = false;
    atomic { blocked[D] = false; if :: pending -> deliver(D) :: else fi }; /* a system call */
#ifdef BROKEN_BESIDE
    visited = false;
    in_block[D] = false
#else
    in_block[D] = false;
    visited = false
#endif
}

proctype own()
{
    do
    :: atomic { pinned && !in[D] -> pinned = false };
       on_d = true;
       atomic { !in[D] -> in_block[D] = true };
       if
       :: says_blocked[D] -> unblock_signals(D)
       :: else
       fi;
end_runs:
       (!on_d);
       in_block[D] = false
    :: atomic { !pinned && ends && !in[D] -> blocked[D] = true; break }
    :: atomic { !pinned && !ends && asked && !in[D] -> skip };
       if
       :: atomic { saved && !in[D] -> visited = true };
          come_in();
          atomic { !in[D] -> asked = false }
       :: !pending -> asked = false /* a signal that is on its way comes to D itself, or to another one */
       :: pinned || ends
       fi
    :: atomic { !pinned && !ends && !asked && !in[D] -> skip };
       if
       :: says_blocked[D] && passed[D] ->
          if
          :: atomic { GONE -> coincidence(); passed[D] = false };
             unblock_signals(D)
#ifdef BROKEN_SELF
          :: atomic { pending && LATE -> limit_over(); passed[D] = false };
             unblock_signals(D)
#else
          :: atomic { saved && !in[D] -> visited = true };
             come_in()
          :: atomic { pending && LATE -> limit_over(); passed[D] = false; asked = true }
#endif
          :: pinned || ends
          fi
       :: says_blocked[D] && !passed[D] -> unblock_signals(D)
       :: else ->
end:      (wake);
          wake = false
       fi
    od;
    left = true
}

/* --- the receiver --- */

inline listen_anew()
{
    passed[R] = false;
    state = 0;
#ifndef BROKEN_AGAIN
    due = true
#endif
}

inline dedicate()
{
#ifdef BROKEN_CLAIM
    found = team && !dedicated;
    dedicating++;
#else
    dedicating++;
    found = team && !dedicated;
#endif
    if
    :: found ->
       assert(!freed);
       dedicated = true;
       says_blocked[D] = true;
       run own();
       tell_receiver();
       asked = true;
       wake = true
    :: else
    fi;
    dedicating--
}

active proctype receiver()
{
    byte state; /* 1: a member was dedicated */
    bool found;
    do
    :: atomic { !in[R] && passed[R] && GONE -> coincidence(); listen_anew() }
    :: atomic { !in[R] && passed[R] && pending && state == 1 && LATE -> limit_over(); listen_anew() }
    :: atomic { !in[R] && passed[R] && pending && state == 0 && LATE -> limit_over(); state = 1 };
#ifdef BROKEN_LATE
       found = false;
#else
       dedicate();
#endif
       if
       :: !found -> listen_anew()
       :: else
       fi
    :: atomic { !in[R] && !passed[R] && due -> due = false };
       found = team && !dedicated;
       atomic { !in[R] -> blocked[R] = !found }
    :: atomic { !due && !passed[R] && !in[R] && over && freed -> break }
    od;
    blocked[R] = true
}
