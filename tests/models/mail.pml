/* Signals to one thread T (src/identity/thread_signal.h): SIGNALS are sent to its own kernel thread P. T is taken by
 * one of two carriers, and is put back, moved to P, waits for good or spins, where it is until all signals are
 * handled. The carriers also run other threads, and hear nothing in between. Checked: each signal is handled once, in
 * T's block B, and nobody else is in B then. None is lost, and nothing waits for ever (invalid end state). Signals do
 * not go to and fro while T stays where it is: of what comes to a wrong kernel thread there is a bound (DROPS).
 *
 * A signal comes to P.
 *   in B       It is handled.
 *   elsewhere  The function before the handlers makes P deaf, sends the signal to P again, and sets alone.wake. The
 *              signal is `kept`: pending on P. The handler interrupts P's futex as well.
 * P, deaf, looks until nothing is kept and no letter is out. What it finds:
 *   T saved        P comes in: visited, fence, running, as uth_visit. It takes the letter back and hears.
 *   T on P         As T begins there, P takes the letter back and hears.
 *   T on carrier x P takes one signal, which becomes its letter, and pokes x: a signal that brings nothing. x, in the
 *                  function before the handlers, takes the letter of the block that is current there; else it drops the
 *                  poke. P pokes again: another carrier at once, the same one after a while.
 *   neither        T is on its way. P sleeps a millisecond. In the model it sleeps until a look would find something;
 *                  so a look that never does is an invalid end state.
 *
 * Why it holds. A signal is in one place: pending on P, P's letter, or handled. Three steps move it, each by one
 * thread: P takes what is pending (sigtimedwait), and only if no letter is out; x takes the letter; P takes the letter
 * back.
 *   As T   x takes the letter in B, where it carries T. P hears in B, while T is saved and visited, or is on P. A
 *          carrier that claims T's context sees `visited`, or P sees the claim behind its fence. A kernel
 *          thread that leaves B changes its thread pointer before it lets the context go.
 *   Once   A compare-and-swap of the letter decides between x and P. A poke alone runs nothing: it may
 *          come late, merge with another one, come in another thread's block, or stay pending on a deaf carrier for
 *          good. A signal that was sent on itself would be lost there, or run as another thread.
 *   Ends   While something is kept, or a letter is out, P is deaf, and looks. T is saved, on P or on a carrier, some
 *          time, and each of them is found. If it moves on meanwhile, P finds that at its next look. P becomes deaf in
 *          a handler: that sets alone.wake, or ends the futex's sleep; P clears alone.wake before it looks again.
 *   Hears  P hears again where nothing is kept and no letter is out. A signal in between is pending then, and comes at
 *          once.
 *
 * With HOME T is a root, and carrier 0 its home. Home's loop stands in B until P, or a release, has given it a storage
 * of its own, and home has left B since (root_release.pml). Till then P gives what it has to home, which handles it in
 * that loop, or as the root; else home sends it on to P. Home's loop comes into B no more then, so P comes in itself
 * the next time. P gives when it visits T no more: there a carrier may take the letter at the same time. Home hears
 * everywhere.
 * Left out: T below a thread that it has called (called_on.pml), masks, and signals of several numbers.
 *
 *   BROKEN_WAKE     the handler on P does not set alone.wake
 *   BROKEN_CLEAR    P clears alone.wake behind its look, before it sleeps
 *   BROKEN_LOOK     P hears again while a letter is out
 *   BROKEN_BACK     P comes in, and does not take the letter back
 *   BROKEN_RUN      T begins on P, and P does not take the letter back
 *   BROKEN_POKE     P pokes once for each letter
 *   BROKEN_AGAIN    P pokes no carrier a second time
 *   BROKEN_OUT      P writes a letter while one is out
 *   BROKEN_ITSELF   P sends the carrier the signal itself
 *   BROKEN_WHOSE    the carrier takes the letter in whatever block it is
 *   BROKEN_CAS      (with HOME) the carrier takes the letter by a load and a store
 *   BROKEN_COPY     (with HOME) P writes what it gives to home where the letter's is, which a carrier may still copy
 *   BROKEN_FENCE    P makes no fence
 *   BROKEN_AWAIT    a carrier does not wait for P's visit to end
 *   BROKEN_LEAVE    P lets the context go before it leaves B
 *   BROKEN_STORAGE  T leaves P, which lets the context go before it leaves B
 *   BROKEN_HOME     (with HOME) P comes in without a look where home's loop stands
 *   BROKEN_ON       (with HOME) home runs the handler as whatever thread it carries */
#ifndef SIGNALS
#define SIGNALS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef OTHERS
#define OTHERS 1
#endif
#define DROPS 6

#define NONE 0
#define OUT 1
#define TAKEN 2

#define NOBODY 0 /* where a thread pointer is */
#define B 1
#define C 2
#define LOOP_IN_B 3 /* home's loop, which stands in the root's storage */

byte x_tp[2], p_tp;
bool parted; /* home's loop goes into a storage of its own */
#ifdef HOME
#define OWN_STORAGE(x) (x == 0 && !parted -> LOOP_IN_B : NOBODY)
#define MAY_MOVE(x) (x != 0) /* at home a root needs no P */
#else
#define OWN_STORAGE(x) NOBODY
#define MAY_MOVE(x) true
#endif
bool x_in_B[2]; /* run.tls == B */

/* T's context */
bool running, visited, queued = true, pinned;
bool buffered[2]; /* a carrier's store of running that nobody else sees yet */
byte moves = ROUNDS, others = OTHERS;

/* P's */
byte kept;          /* signals that are pending on P */
bool deaf, wake, parked;
byte letter; /* NONE, OUT, or TAKEN: a carrier copies it */
byte poked;         /* the carrier that was poked last, from 1; 0: none */
bool poke[2];       /* pending on a carrier */
byte to_home;       /* signals pending on home */
byte sent, handled;
byte drops;         /* signals and pokes that have come to the wrong kernel thread since T or home has moved */

inline in_B()
{
    assert((x_tp[0] == B || x_tp[0] == LOOP_IN_B) + (x_tp[1] == B) + (p_tp == B) == 1)
}
inline flush(who) { if :: buffered[who] -> buffered[who] = false; running = true :: else fi }
inline fence() { atomic { flush(0); flush(1) } }
inline handle() { handled++; drops = 0; assert(handled <= sent) }

inline dropped() { drops++; assert(drops < DROPS) }

proctype sender()
{
    do
    :: sent < SIGNALS -> atomic { sent++; kept++ }
    :: else -> break
    od;
    handled == SIGNALS
}

/* A signal comes to P. */
active proctype kernel()
{
end:
    do
    :: atomic { kept > 0 && !deaf ->
           if
           :: p_tp == B -> kept--; in_B(); handle()
           :: else ->
               deaf = true; /* it is sent to P again, and ends P's sleep */
               parked = false;
#ifndef BROKEN_WAKE
               wake = true
#endif
           fi
       }
    od
}

active proctype memory()
{
end:
    do
    :: atomic { buffered[0] -> flush(0) }
    :: atomic { buffered[1] -> flush(1) }
    od
}

/* P is in B. */
inline take_back()
{
    atomic { if :: letter == OUT -> letter = NONE; kept++ :: else fi }
}
inline come_in()
{
    is_in = false;
    if
    :: !running ->
        visited = true;
#ifndef BROKEN_FENCE
        fence();
#endif
        if
        :: running -> visited = false
#if defined HOME && !defined BROKEN_HOME
        :: atomic { !running && x_tp[0] == LOOP_IN_B -> parted = true };
            visited = false;
            take_back();
#ifdef BROKEN_COPY
            assert(letter != TAKEN);
#endif
            atomic { if :: kept > 0 -> kept--; to_home++ :: else fi }
        :: atomic { !running && x_tp[0] != LOOP_IN_B -> parted = true };
#else
        :: !running ->
#endif
            atomic { p_tp = B; in_B() };
#ifndef BROKEN_BACK
            take_back();
#endif
            deaf = false;
            kept == 0; /* the kernel delivers them, at the latest as this call ends */
            assert(letter == NONE); /* nothing is left behind */
            deaf = true;
            is_in = true;
#ifdef BROKEN_LEAVE
            visited = false;
            p_tp = NOBODY
#else
            p_tp = NOBODY;
            visited = false
#endif
        fi
    :: else
    fi
}

#define RUNS_ON(x) (x_in_B[x])
#ifdef BROKEN_OUT
#define LETTER_FOR(x) (RUNS_ON(x) && kept > 0)
#else
#define LETTER_FOR(x) (RUNS_ON(x) && kept > 0 && letter == NONE)
#endif
#ifdef BROKEN_POKE
#define POKE_DUE(x) false
#elif defined BROKEN_AGAIN
#define POKE_DUE(x) (RUNS_ON(x) && letter == OUT && poked != 1 + (x))
#else
#define POKE_DUE(x) (RUNS_ON(x) && letter == OUT && (poked != 1 + (x) || !poke[x]))
#endif

inline write_letter(x)
{
    kept--;
#ifndef BROKEN_ITSELF
    letter = OUT;
#endif
    atomic { poke[x] = true; poked = 1 + x }
}

active proctype P()
{
    bool is_in;
    do
    :: pinned ->
        pinned = false;
        (!running && !visited && !buffered[0] && !buffered[1]);
        running = true;
        atomic { p_tp = B; in_B(); drops = 0 };
#ifndef BROKEN_RUN
        take_back();
#endif
        deaf = false;
        if /* T runs here */
        :: true
        :: handled == SIGNALS
        fi;
        queued = true;
#ifdef BROKEN_STORAGE
        running = false;
        p_tp = NOBODY
#else
        p_tp = NOBODY;
        running = false
#endif
    :: !pinned && deaf ->
        if
#ifdef BROKEN_LOOK
        :: kept == 0 -> deaf = false
        :: kept > 0 ->
#else
        :: kept == 0 && letter == NONE -> deaf = false
        :: kept > 0 || letter != NONE ->
#endif
            come_in();
            if
            :: is_in
            :: !is_in && LETTER_FOR(0) -> write_letter(0)
            :: !is_in && LETTER_FOR(1) -> write_letter(1)
            :: !is_in && POKE_DUE(0) -> atomic { poke[0] = true; poked = 1 }
            :: !is_in && POKE_DUE(1) -> atomic { poke[1] = true; poked = 2 }
            :: else
            fi;
            /* looks again: when it finds something else */
            (pinned || !running || (kept == 0 && letter == NONE) || LETTER_FOR(0) || LETTER_FOR(1) ||
             POKE_DUE(0) || POKE_DUE(1))
        fi
    :: !pinned && !deaf ->
#ifdef BROKEN_CLEAR
        wake = false;
#endif
        if
        :: pinned
        :: else ->
            if
            :: wake
            :: atomic { !wake -> parked = true };
end:            atomic { wake || !parked -> parked = false }
            fi
        fi;
        wake = false
    od
}

/* A poke has come to carrier me, or a signal to home. */
inline comes()
{
    if
    :: atomic { poke[me] -> poke[me] = false };
#ifdef BROKEN_ITSELF
        if
        :: true ->
#elif defined BROKEN_WHOSE
        if
        :: letter == OUT ->
#elif defined BROKEN_CAS
        if
        :: x_tp[me] == B && letter == OUT -> letter = TAKEN;
#else
        if
        :: atomic { x_tp[me] == B && letter == OUT -> letter = TAKEN };
#endif
            letter = NONE;
            wake = true;
            atomic { assert(x_tp[me] == B); in_B(); handle() }
        :: else -> atomic { dropped() }
        fi
#ifdef HOME
    :: atomic { me == 0 && to_home > 0 -> to_home-- };
        if
#ifdef BROKEN_ON
        :: true ->
            assert(x_tp[0] == B || x_tp[0] == LOOP_IN_B);
#else
        :: x_tp[0] == B || x_tp[0] == LOOP_IN_B ->
#endif
            atomic { in_B(); handle() }
        :: else -> atomic { dropped(); kept++ }
        fi
#endif
    fi
}
#define SOME_COMES (poke[me] || (me == 0 && to_home > 0))
inline may_come()
{
    do
    :: SOME_COMES -> comes()
    :: break
    od
}

proctype carrier(byte me)
{
end:
    do
#ifdef HOME
    :: atomic { queued && (me == 0 || x_tp[0] != LOOP_IN_B) -> queued = false; parted = parted || me != 0 };
#else
    :: atomic { queued -> queued = false };
#endif
        (!running && !visited && !buffered[0] && !buffered[1]);
        buffered[me] = true;
#ifndef BROKEN_AWAIT
        !visited;
#endif
        atomic { x_tp[me] = B; in_B(); drops = 0 };
        x_in_B[me] = true;
        do
        :: SOME_COMES -> comes()
        :: moves > 0 -> atomic { flush(me); moves--; queued = true }; break
        :: moves > 0 && MAY_MOVE(me) -> atomic { flush(me); moves--; pinned = true; wake = true }; break
        :: break /* it waits, and is not readied any more */
        :: true -> /* it spins, until the signals have been handled */
            do
            :: SOME_COMES -> comes()
            :: handled == SIGNALS -> break
            od;
            break
        od;
        x_in_B[me] = false;
        may_come();
        atomic { x_tp[me] = OWN_STORAGE(me); drops = 0 };
        atomic { flush(me); running = false }
    :: atomic { others > 0 -> /* another thread */
           others--; x_tp[me] = C; drops = 0 };
        may_come();
        x_tp[me] = OWN_STORAGE(me)
#ifdef HOME
    :: me == 0 && SOME_COMES -> comes()
#endif
    od
}

init
{
    atomic {
#ifdef HOME
        x_tp[0] = LOOP_IN_B;
#endif
        run sender();
        run carrier(0);
        run carrier(1)
    }
}
