/* Signals to one thread T (src/identity/thread_signal.h): SIGNALS are sent to its dedicated kernel thread D. T is taken
 * by one of two carriers, and is put back, moved to D, waits for good or spins, where it is until all signals are
 * handled. The carriers also run other threads, and take no signals in between. Checked: each signal is handled once,
 * in T's block B, and no other thread is in B then. None is lost, and nothing waits for ever (invalid end state).
 * Signals do not go to and fro while T stays where it is: of what comes to a wrong kernel thread there is a bound
 * (DROPS).
 *
 * A signal comes to D.
 *   in B       It is handled.
 *   elsewhere  The function before the handlers blocks D's signals, sends the signal to D again, and sets
 *              dedicated.wake. The signal is `deferred`: pending on D. The handler interrupts D's futex as well.
 * D, which blocks signals, looks until nothing is deferred and no letter is out. What it finds:
 *   T saved        D comes in: visited, fence, running, as uth_visit. It takes the letter back and takes signals.
 *   T on D         As T begins there, D takes the letter back and takes signals.
 *   T on carrier x D takes one signal, which becomes its letter, and pokes x: a signal that brings nothing. x, in the
 *                  function before the handlers, takes the letter of the block that is current there; else it drops the
 *                  poke. D pokes again: another carrier at once, the same one after a while.
 *   neither        T is on its way. D sleeps a millisecond. In the model it sleeps until a look would find something;
 *                  so a look that never does is an invalid end state.
 *
 * Why it holds. A signal is in one place: pending on D, D's letter, or handled. Three steps move it, each by one
 * thread: D takes what is pending (sigtimedwait), and only if no letter is out; x takes the letter; D takes the letter
 * back.
 *   As T   x takes the letter in B, where it carries T. D takes signals in B, while T is saved and visited, or is on D.
 *          A carrier that claims T's context sees `visited`, or D sees the claim behind its fence. A kernel thread that
 *          leaves B changes its thread pointer before it lets the context go.
 *   Once   A compare-and-swap of the letter decides between x and D. A poke alone runs nothing: it may come late, merge
 *          with another one, come in another thread's block, or stay pending for good on a carrier that blocks signals.
 *          A signal that was sent on itself would be lost there, or run as another thread.
 *   Ends   While something is deferred, or a letter is out, D blocks signals, and looks. T is saved, on D or on a
 *          carrier, some time, and each of them is found. If it moves on meanwhile, D finds that at its next look. D
 *          blocks signals in a handler: that sets dedicated.wake, or ends the futex's sleep; D clears dedicated.wake
 *          before it looks again.
 *   Opens  D unblocks signals where nothing is deferred and no letter is out. A signal in between is pending then, and
 *          comes at once.
 *
 * With HOME T is a root, and carrier 0 its home. Home's loop stands in B until D, or a release, has given it a storage
 * of its own, and home has left B since (root_release.pml). Till then D gives what it has to home, which handles it in
 * that loop, or as the root; else home sends it on to D. Home's loop comes into B no more then, so D comes in itself
 * the next time. D gives when it visits T no more: there a carrier may take the letter at the same time. Home takes
 * signals everywhere. Left out: T below a thread that it has called (called_on.pml), masks, and signals of several
 * numbers.
 *
 *   BROKEN_WAKE     the handler on D does not set dedicated.wake
 *   BROKEN_CLEAR    D clears dedicated.wake behind its look, before it sleeps
 *   BROKEN_LOOK     D unblocks signals while a letter is out
 *   BROKEN_BACK     D comes in, and does not take the letter back
 *   BROKEN_RUN      T begins on D, and D does not take the letter back
 *   BROKEN_POKE     D pokes once for each letter
 *   BROKEN_AGAIN    D pokes no carrier a second time
 *   BROKEN_OUT      D writes a letter while one is out
 *   BROKEN_ITSELF   D sends the carrier the signal itself
 *   BROKEN_WHOSE    the carrier takes the letter in whatever block it is
 *   BROKEN_CAS      (with HOME) the carrier takes the letter by a load and a store
 *   BROKEN_COPY     (with HOME) D writes what it gives to home where the letter's is, which a carrier may still copy
 *   BROKEN_FENCE    D makes no fence
 *   BROKEN_AWAIT    a carrier does not wait for D's visit to end
 *   BROKEN_LEAVE    D lets the context go before it leaves B
 *   BROKEN_STORAGE  T leaves D, which lets the context go before it leaves B
 *   BROKEN_HOME     (with HOME) D comes in without a look where home's loop stands
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

#define NO_THREAD 0 /* where a thread pointer is */
#define B 1
#define C 2
#define LOOP_IN_B 3 /* home's loop, which stands in the root's storage */

byte x_tp[2], d_tp;
bool parted; /* home's loop goes into a storage of its own */
#ifdef HOME
#define OWN_STORAGE(x) (x == 0 && !parted -> LOOP_IN_B : NO_THREAD)
#define MAY_MOVE(x) (x != 0) /* at home a root needs no D */
#else
#define OWN_STORAGE(x) NO_THREAD
#define MAY_MOVE(x) true
#endif
bool x_in_B[2]; /* run.tls == B */

/* T's context */
bool running, visited, queued = true, pinned;
bool buffered[2]; /* a carrier's store of running that no other thread sees yet */
byte moves = ROUNDS, others = OTHERS;

/* D's */
byte deferred;          /* signals that are pending on D */
bool blocked, wake, parked;
byte letter; /* NONE, OUT, or TAKEN: a carrier copies it */
byte poked;         /* the carrier that was poked last, from 1; 0: none */
bool poke[2];       /* pending on a carrier */
byte to_home;       /* signals pending on home */
byte sent, handled;
byte drops;         /* signals and pokes that have come to the wrong kernel thread since T or home has moved */

inline in_B()
{
    assert((x_tp[0] == B || x_tp[0] == LOOP_IN_B) + (x_tp[1] == B) + (d_tp == B) == 1)
}
inline flush(who) { if :: buffered[who] -> buffered[who] = false; running = true :: else fi }
inline fence() { atomic { flush(0); flush(1) } }
inline handle() { handled++; drops = 0; assert(handled <= sent) }

inline dropped() { drops++; assert(drops < DROPS) }

proctype sender()
{
    do
    :: sent < SIGNALS -> atomic { sent++; deferred++ }
    :: else -> break
    od;
    handled == SIGNALS
}

/* A signal comes to D. */
active proctype kernel()
{
end:
    do
    :: atomic { deferred > 0 && !blocked ->
           if
           :: d_tp == B -> deferred--; in_B(); handle()
           :: else ->
               blocked = true; /* it is sent to D again, and ends D's sleep */
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

/* D is in B. */
inline take_back()
{
    atomic { if :: letter == OUT -> letter = NONE; deferred++ :: else fi }
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
            atomic { if :: deferred > 0 -> deferred--; to_home++ :: else fi }
        :: atomic { !running && x_tp[0] != LOOP_IN_B -> parted = true };
#else
        :: !running ->
#endif
            atomic { d_tp = B; in_B() };
#ifndef BROKEN_BACK
            take_back();
#endif
            blocked = false;
            deferred == 0; /* the kernel delivers them, at the latest as this call ends */
            assert(letter == NONE); /* nothing is left behind */
            blocked = true;
            is_in = true;
#ifdef BROKEN_LEAVE
            visited = false;
            d_tp = NO_THREAD
#else
            d_tp = NO_THREAD;
            visited = false
#endif
        fi
    :: else
    fi
}

#define RUNS_ON(x) (x_in_B[x])
#ifdef BROKEN_OUT
#define LETTER_FOR(x) (RUNS_ON(x) && deferred > 0)
#else
#define LETTER_FOR(x) (RUNS_ON(x) && deferred > 0 && letter == NONE)
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
    deferred--;
#ifndef BROKEN_ITSELF
    letter = OUT;
#endif
    atomic { poke[x] = true; poked = 1 + x }
}

active proctype D()
{
    bool is_in;
    do
    :: pinned ->
        pinned = false;
        (!running && !visited && !buffered[0] && !buffered[1]);
        running = true;
        atomic { d_tp = B; in_B(); drops = 0 };
#ifndef BROKEN_RUN
        take_back();
#endif
        blocked = false;
        if /* T runs here */
        :: true
        :: handled == SIGNALS
        fi;
        queued = true;
#ifdef BROKEN_STORAGE
        running = false;
        d_tp = NO_THREAD
#else
        d_tp = NO_THREAD;
        running = false
#endif
    :: !pinned && blocked ->
        if
#ifdef BROKEN_LOOK
        :: deferred == 0 -> blocked = false
        :: deferred > 0 ->
#else
        :: deferred == 0 && letter == NONE -> blocked = false
        :: deferred > 0 || letter != NONE ->
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
            (pinned || !running || (deferred == 0 && letter == NONE) || LETTER_FOR(0) || LETTER_FOR(1) ||
             POKE_DUE(0) || POKE_DUE(1))
        fi
    :: !pinned && !blocked ->
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
        :: else -> atomic { dropped(); deferred++ }
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
