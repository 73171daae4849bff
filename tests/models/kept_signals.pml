/* Signals for the process that come while the first thread is away (src/psthreads/lone_root.h, "Signals for the
 * process"; the functions named below are in lone_root.c).
 *
 * SIGNALS signals are sent to the process, each once. F is the process's first kernel thread, W any other one. The root
 * of F goes ROUNDS times at most: it waits for something of the others', or for what the handlers of all signals do.
 * While it is away, F runs another thread, looks for work, or is parked. The other thread runs once; it ends by itself,
 * or spins until all signals are handled. With `lone` set F stands below the root's context. A step on F is made only
 * while no handler runs on top (`depth`). At most two handlers run on F, one on top of the other.
 * Checked: a handler of the program's begins only where the root could be left by a jump (`whole`); each signal is
 * handled, once; no process waits for ever (invalid end state).
 *
 * What wakes a loop or a wait when the root is made ready is that of park.pml. The watchdog's tries in vain are left
 * out: it interrupts F only where that would do something as it looks, and again until nothing is kept. (The C code
 * gives up after KEPT_TRIES, and begins anew at the next tick.) An interrupt that is late may still find F elsewhere. A
 * thread that the root has called on its stack is like any other here. The kernel refuses to queue REFUSALS of the
 * signals that send_kept sends.
 * With NOROOM F cannot stand below the root's context. The time limit (is_late) is over when nothing else can be done.
 * With KEPT_MOST below SIGNALS, and with NOROOM, a handler may run elsewhere where the limit is met.
 * With STOP the root stops the watchdog at the end, or ends itself.
 *   BROKEN_EMPTY    send_kept stores 0 in n before it sends, and then what was refused
 *   BROKEN_REFUSED  send_kept forgets what was refused
 *   BROKEN_MARK     root_is_there does not look at the root's mark
 *   BROKEN_BACK     the root clears its mark before it is back
 *   BROKEN_AGAIN    what was sent to F by its number is not kept again
 *   BROKEN_BLOCK    keep_signal blocks no signals
 *   BROKEN_LONE     keep_signal does not set `lone`
 *   BROKEN_WAKE     keep_signal does not wake the loop
 *   BROKEN_PARK     the loop parks without a look at `lone`
 *   BROKEN_CALL     keep_signal calls the watchdog, then stores n
 *   BROKEN_DISARM   the watchdog looks at n, then disarms
 *   BROKEN_LEAVE    serve does not make other threads leave
 *   BROKEN_SEND     serve does not send what is kept where the root is there
 *   BROKEN_LATE     there is no time limit
 *   BROKEN_STOP     what is kept is not sent when the watchdog is gone */
#ifndef SIGNALS
#define SIGNALS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef REFUSALS
#define REFUSALS 1
#endif
#ifndef KEPT_MOST
#define KEPT_MOST SIGNALS
#endif

#define ALL ((1 << SIGNALS) - 1) /* a set has a bit for each signal */

/* F, which alone writes these but for `left` */
bool on_root = true; /* run.uth is own_uth, and the block the root's own */
bool mark, point;    /* uth.calls, left_by or wait.thread; vp.directed.point */
bool whole = true;   /* the root goes on, or its context is saved */
bool program, left;  /* another thread runs code that may be left; it has been made to leave */
bool in_bits, wake;      /* ps_idle.bits; wake_word */
bool blocked;        /* all signals */
byte depth;
bool for_signals; /* the root waits for what handlers do */

/* the kernel's */
byte of_process, of_f; /* pending signals */
bool interrupt;        /* pending on F */
byte refusals = REFUSALS;

/* kept, and the rest */
byte n, slot[KEPT_MOST];
bool since, is_over; /* kept.since_ns; the time limit */
bool lone, armed, stops, ended;
byte handled;

#define READY (!for_signals || handled == ALL)
#ifdef BROKEN_MARK
#define ROOT_IS_THERE on_root
#else
#define ROOT_IS_THERE (on_root && (point || !mark))
#endif
#define IS_LATE (since && is_over)

#define ON_F(when, step) atomic { depth == 0 && (when) -> step }
#define ON_TOP(when, step) atomic { depth == d && (when) -> step }

inline one_of(set)
{
    if
    :: set & 1 -> s = 0
    :: set & 2 -> s = 1
    :: set & 4 -> s = 2
    fi
}

/* F or a handler on it, all signals blocked. The first line is a load in the C code: n changes on F alone. */
inline send_kept()
{
    atomic { k = n; i = 0; r = 0
#ifdef BROKEN_EMPTY
             ; n = 0
#endif
    };
    do
    :: atomic { i < k ->
        if
        :: refusals > 0 -> refusals--; slot[r] = slot[i]; r++
        :: of_f = of_f | (1 << slot[i])
        fi;
        i++
       }
    :: atomic { i == k -> break }
    od;
#ifdef BROKEN_REFUSED
    r = 0;
#endif
    atomic { n = r; k = 0; i = 0; r = 0 }
}

/* --- the root, and the loop of its vp --- */

inline run_another()
{
    if
    :: spins = true
    :: spins = false
    fi;
    ON_F(true, program = true); /* before that it is in the runtime's code */
    if
    :: ON_F(left, left = false)
    :: ON_F((!spins || handled == ALL) && !left, program = false)
    fi;
    spins = false
}

inline park()
{
#ifdef BROKEN_PARK
    ON_F(true, found = READY);
    ON_F(true, in_bits = true);
#else
    ON_F(true, in_bits = true);
    ON_F(true, found = READY || lone); /* park_unless_found */
#endif
    if
    :: ON_F(found && in_bits, in_bits = false)
    :: ON_F(!found || !in_bits, skip);
       if
       :: ON_F(wake, wake = false)
       :: ON_F(in_bits && READY, in_bits = false) /* its readier wakes the loop */
       fi
    fi;
    found = false
}

/* lone_root_await: stand_as_root and wait_there */
inline await_as_root()
{
#ifndef NOROOM
    ON_F(true, blocked = true); /* stand_as_root */
    if
    :: ON_F(READY, skip)
    :: ON_F(!READY, point = true; whole = true); /* ps_leave_point */
       ON_F(true, blocked = false);                    /* hear_below */
       ON_F(true, on_root = true);                     /* wait_there */
       if /* lone_root_send_kept */
       :: ON_F(n > 0, blocked = true); send_kept(); ON_F(true, blocked = false)
       :: ON_F(n == 0, skip)
       fi;
       ON_F(READY, blocked = true); /* ps_await_pinned; hear_below again */
       ON_F(true, point = false; whole = false; on_root = false)
    fi;
    ON_F(true, blocked = false);
#endif
    ON_F(READY, skip)
}

inline go_and_come_back()
{
    ON_F(true, whole = false);
    ON_F(true, on_root = false);
    do
    :: ON_F(lone, break)
    :: ON_F(!lone && READY, break)
    :: ON_F(!lone && another, another = false); run_another()
    :: ON_F(!lone, skip); park()
    od;
    if
    :: ON_F(lone, skip); await_as_root()
    :: ON_F(READY, skip) /* it was found before */
    fi;
    ON_F(true, on_root = true)
}

active proctype root()
{
    byte round, k, i, r;
    bool stays, spins, found, another = true;
    do
    :: round < ROUNDS ->
       round++;
       if
       :: for_signals = true
       :: for_signals = false
       fi;
       ON_F(true, mark = true); /* root_goes, root_yields, or wait.thread */
       ON_F(true, stays = lone); /* vp_stays_with_root */
       if
       :: stays ->
          ON_F(true, point = true); /* ps_wait_alone */
          ON_F(READY, point = false);
          ON_F(true, mark = false)
       :: else ->
          go_and_come_back();
#ifdef BROKEN_BACK
          ON_F(true, mark = false);
          ON_F(true, whole = true)
#else
          ON_F(true, whole = true);
          ON_F(true, mark = false)
#endif
       fi
    :: round == ROUNDS -> break
    :: break
    od;
    for_signals = false;
#ifdef STOP
    ON_F(true, stops = true);
    ON_F(true, armed = true);
    ended; /* watchdog_stop has joined it */
#ifndef BROKEN_STOP
    ON_F(true, blocked = true); /* lone_root_send_kept */
    send_kept();
    ON_F(true, blocked = false)
#endif
#endif
}

/* --- what the kernel calls on F --- */

inline handle()
{
    assert(!(handled & (1 << s)));
    handled = handled | (1 << s);
    depth--
}

/* keep_signal; in a handler on F */
inline keep_signal()
{
#ifndef BROKEN_BLOCK
    ON_TOP(true, blocked = true); /* os_swap_signal_mask */
#endif
    ON_TOP(true, k = n); /* real-time signals: none is found there already */
    if
    :: ON_TOP(k == KEPT_MOST || IS_LATE || ended, blocked = false; handle()) /* !fits */
    :: ON_TOP(k < KEPT_MOST && !IS_LATE && !ended, since = true);
       ON_TOP(true, slot[k] = s); /* kept.signal[i] */
#ifdef BROKEN_CALL
       ON_TOP(true, armed = true);
#endif
       ON_TOP(true, n = k + 1); /* ps_store_seq */
#ifndef BROKEN_LONE
       ON_TOP(true, lone = true); /* PS_LONE_SIGNALS */
#endif
#ifndef BROKEN_WAKE
       ON_TOP(true, wake = wake || in_bits; in_bits = false); /* idle_wake_this */
#endif
#ifndef BROKEN_CALL
       ON_TOP(true, armed = true); /* watchdog_serve_soon */
#endif
       ON_TOP(true, blocked = false; depth--)
    fi;
    k = 0
}

#ifdef BROKEN_AGAIN
#define KEPT_AGAIN (!sent)
#else
#define KEPT_AGAIN true
#endif

/* ps_signal_is_kept */
inline come_to_f()
{
    if
    :: ON_TOP(ROOT_IS_THERE || !KEPT_AGAIN, assert(whole && on_root); since = false; is_over = false; handle())
    :: ON_TOP(!ROOT_IS_THERE && KEPT_AGAIN, skip); keep_signal()
    fi
}

/* come_to_kept */
inline interrupt_f()
{
    if
#ifndef BROKEN_SEND
    :: ON_TOP(ROOT_IS_THERE || IS_LATE, skip); send_kept()
#else
    :: ON_TOP(IS_LATE, skip); send_kept()
#endif
#ifndef BROKEN_LEAVE
    :: ON_TOP(!(ROOT_IS_THERE || IS_LATE) && program && d == 1, program = false; left = true)
#endif
    :: ON_TOP(!(ROOT_IS_THERE || IS_LATE) && !(program && d == 1), skip)
    fi;
    ON_TOP(true, blocked = false; depth--)
}

proctype on_top_of(byte d)
{
    byte s, k, i, r;
    bool sent;
end:
    do
    :: atomic { depth == d - 1 && !blocked && (of_process | of_f) ->
        one_of((of_process | of_f));
        sent = (of_f & (1 << s)) != 0;
        if
        :: sent -> of_f = of_f & ~(1 << s)
        :: else -> of_process = of_process & ~(1 << s)
        fi;
        depth = d
       };
       come_to_f();
       atomic { s = 0; sent = false }
    :: atomic { depth == d - 1 && !blocked && interrupt -> interrupt = false; blocked = true; depth = d };
       interrupt_f()
    od
}

/* --- others --- */

/* The kernel gives W a signal while F blocks it, and W sends it on. */
active proctype W()
{
    byte s;
end:
    do
    :: atomic { blocked && of_process ->
        one_of(of_process);
        of_process = of_process & ~(1 << s)
       };
       atomic { of_f = of_f | (1 << s); s = 0 }
    od
}

#define HELPS (ROOT_IS_THERE || program || IS_LATE)

/* watchdog_main */
active proctype watchdog()
{
    do
    :: stops -> break
    :: atomic { !stops && armed -> skip };
       do /* watch: lone_root_serve, and a tick that counts as quiet if nothing is kept */
       :: stops -> break
       :: n == 0 -> break
       :: atomic { n > 0 && HELPS && !interrupt -> interrupt = true }
       od;
#ifdef BROKEN_DISARM
       if
       :: n == 0 -> armed = false
       :: else
       fi
#else
       armed = false;
       if
       :: n > 0 -> armed = true
       :: else
       fi
#endif
    :: atomic { !stops && !armed ->
end:    armed || stops }
    od;
    ended = true
}

active proctype sender()
{
    byte s;
    run on_top_of(1);
    run on_top_of(2);
    do
    :: s < SIGNALS -> of_process = of_process | (1 << s); s++
    :: else -> break
    od;
    do
    :: handled == ALL -> break
#if defined(NOROOM) && !defined(BROKEN_LATE)
    :: timeout && since && !is_over -> is_over = true
#endif
    od
}
