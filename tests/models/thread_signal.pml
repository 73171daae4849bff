/* A signal to one thread (uth_visit and uth_switch in src/uth, src/identity/thread_signal.c): it is handled while the
 * thread's dedicated kernel thread D runs on the stack of the thread's saved context, or runs the thread; and no sender
 * waits for ever.
 *
 * SENDERS threads send one signal each. A carrier takes the thread's context from a queue, runs it and saves it, ROUNDS
 * times. With MOVES the thread is dedicated in the last round, runs on D, and goes home. The interrupt that asks a
 * thread to move over is left out: a sender that is refused tries again. Senders are counted here (COME, STAY, EARLY),
 * as they were in an earlier protocol; in the source they wait for nothing, and mail.pml has what D does today.
 * Checked: where a signal is handled; the carrier never runs the thread while D is below it, nor while D runs it. The
 * one that runs the thread is the current vp in the thread's block. Every signal is handled. No process sleeps for ever
 * (invalid end state).
 *
 * The block (vp_enter_tls_again and vp_enter_tls): `entered` is the one that entered it last, and `current` the vp
 * that is written there. The one that was the last to enter it enters again without a look at `current`.
 *
 * The carrier's store of `running` may lie in its store buffer when it reads `visited`; the visitor's fence for all
 * kernel threads empties the buffer. The kernel delivers a signal at any moment after it was sent, at the latest at the
 * end of D's next system call. With HANDLES a handler runs on D once, where D has not answered or has refused, and
 * waits until a signal has come to it. Senders find it there.
 *   BROKEN_HANDLES  D does not answer for the handler
 *   BROKEN_FENCE    the visitor has no fence
 *   BROKEN_AWAIT    the carrier does not wait for a visitor
 *   BROKEN_ENTER    the carrier enters the block before it claims the context
 *   BROKEN_CALL     D makes no system call before it leaves
 *   BROKEN_COME     senders do not count themselves in COME
 *   BROKEN_STAY     D leaves while a sender is counted in
 *   BROKEN_WAKE     a sender does not wake D
 *   BROKEN_CLEAR    D clears wake_word behind its look, before it parks
 *   BROKEN_EARLY    a sender sends before it is answered
 *   BROKEN_RAN      D does not wait for senders when the thread leaves it */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define EMPTY 0
#define THERE 1
#define REFUSED 2
#define RUNS 3

#define NATIVE 0
#define BELOW 1
#define ON 2

byte senders, come, state; /* one word, changed and compared in one step */
bool running, buffered, visited;
bool available = true; /* the thread stands in a queue */
bool pinned, wake_word, carried;
byte standing = NATIVE;
byte pending, handled, done;
bool in_handler, met;

#define CARRIER 1
#define OWN 2 /* D */
byte entered = CARRIER, current = CARRIER;

inline enter_block(who)
{
    if
    :: entered == who
    :: else -> entered = who; current = who
    fi
}

inline handle()
{
    assert(in_handler || (!carried && standing != NATIVE));
    handled++;
    pending--
}

inline system_call()
{
    atomic {
        do
        :: pending > 0 -> handle()
        :: else -> break
        od
    }
}

active proctype kernel()
{
end:
    do
    :: atomic { pending > 0 -> handle() }
    od
}

active proctype store_buffer()
{
end:
    do
    :: atomic { buffered -> buffered = false; running = true }
    od
}

inline answer(what) { state = what }

inline stay()
{
    do
    :: atomic { s = senders; c = come; st = state };
       if
       :: st == EMPTY -> break
#ifndef BROKEN_STAY
       :: st != EMPTY && s > 0 -> (senders != s || come != c || state != st)
#endif
       :: else ->
#ifndef BROKEN_CALL
          if
          :: c > 0 && st != REFUSED -> system_call()
          :: else
          fi;
#endif
          atomic {
              if
              :: senders == s && come == c && state == st -> come = 0; state = EMPTY; break
              :: else
              fi
          }
       fi
    od
}

inline interrupted()
{
#ifdef HANDLES
    if
    :: !met ->
       met = true;
       in_handler = true;
       before = handled;
#ifndef BROKEN_HANDLES
       answer(THERE);
#endif
       (handled > before || done == SENDERS);
       stay();
       in_handler = false
    :: true
    fi
#else
    skip
#endif
}

inline serve()
{
    found = false;
    interrupted();
    if
    :: !running ->
       visited = true;
#ifndef BROKEN_FENCE
       atomic {
           if
           :: buffered -> buffered = false; running = true
           :: else
           fi
       };
#endif
       if
       :: !running -> found = true
       :: else -> visited = false
       fi
    :: else
    fi;
    if
    :: found -> assert(!carried); entered = OWN; current = OWN; standing = BELOW; answer(THERE)
    :: else -> answer(REFUSED); interrupted()
    fi;
    stay();
    standing = NATIVE;
    if
    :: found -> visited = false
    :: else
    fi
}

active proctype D()
{
    byte s, c, st, before;
    bool found;
    do
    :: if
       :: pinned ->
          pinned = false;
          (!running && !buffered);
          running = true;
          assert(!carried);
          entered = OWN;
          current = OWN;
          standing = ON;
          answer(RUNS);
          skip; /* the thread's code */
#ifdef BROKEN_RAN
          state = EMPTY;
#else
          stay();
#endif
          available = true;
          standing = NATIVE;
          running = false
       :: !pinned && senders > 0 && state == EMPTY -> serve()
       :: else ->
#ifdef BROKEN_CLEAR
          wake_word = false;
#endif
end:      (wake_word);
          wake_word = false
       fi
    od
}

active proctype carrier()
{
    byte round;
    do
    :: round < ROUNDS ->
       atomic { available -> available = false };
       (!running && !buffered); /* a context that D has just left */
#ifdef BROKEN_ENTER
       enter_block(CARRIER);
#endif
       buffered = true;
#ifndef BROKEN_AWAIT
       if
       :: visited -> (!visited)
       :: else
       fi;
#endif
#ifndef BROKEN_ENTER
       enter_block(CARRIER);
#endif
       carried = true;
       assert(standing == NATIVE && current == CARRIER);
       carried = false;
       round++;
       atomic { buffered -> buffered = false; running = true } unless { !buffered };
#ifdef MOVES
       if
       :: round == ROUNDS -> pinned = true; wake_word = true
       :: else -> available = true
       fi;
#else
       available = true;
#endif
       running = false
    :: else -> break
    od
}

active [SENDERS] proctype sender()
{
    byte was;
    bool sent = false;
#ifdef BROKEN_EARLY
    pending++;
    sent = true;
#endif
    do
    :: (state != REFUSED);
       atomic {
           was = state;
           senders++;
#ifndef BROKEN_COME
           come = (come + 1) % 8;
           if
           :: come == 0 -> come = 1 /* the field has 14 bits: it does not come round while D looks */
           :: else
           fi
#endif
       };
#ifndef BROKEN_WAKE
       if
       :: was == EMPTY -> wake_word = true
       :: else
       fi;
#endif
       (state != EMPTY);
       if
       :: (state == THERE || state == RUNS) && !sent -> pending++; sent = true
       :: else
       fi;
       senders--;
       if
       :: sent -> break
       :: else
       fi
    od;
    done++;
    (done == SENDERS && pending == 0);
    assert(handled == SENDERS)
}
