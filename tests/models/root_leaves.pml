/* The first signal is sent to a root, which may be about to leave its stack or its storage (src/psthreads/lone_root.h,
 * "A root may be about to leave").
 *
 * The root goes ROUNDS times at most: it yields, calls others, or waits. `away` is what it sets first (uth.left_by,
 * uth.calls or uth.wait.thread), and clears when it is back. Stores to it are seen late, in order: they wait in
 * `pending` until they are flushed, by themselves or by the sender's fence for all kernel threads. A root that finds
 * `lone` set stays; where it wants to wait, it sleeps on its stack until the signal has been handled. The handler runs
 * at any time after the signal was sent. Checked: the root is at home then; nothing waits for ever (invalid end
 * state).
 *   BROKEN_FENCE   the sender makes no fence
 *   BROKEN_LOOK    the sender does not look at `away`
 *   BROKEN_ORDER   the root looks at `lone` before it sets `away`
 *   BROKEN_BACK    the root clears `away` before it is back
 *   BROKEN_SLEEPS  the sender does not see that the root sleeps on its stack */
#ifndef ROUNDS
#define ROUNDS 3
#endif

bool lone, away, sleeps, home = true, sent, handled, over;
chan pending = [2] of { bool };

inline flush()
{
    atomic {
        do
        :: nempty(pending) -> pending ? away
        :: empty(pending) -> break
        od
    }
}

active proctype root()
{
    byte rounds = 0;
    bool stays;
    do
    :: rounds < ROUNDS ->
        rounds++;
#ifdef BROKEN_ORDER
        stays = lone;
        pending ! true;
#else
        pending ! true;
        stays = lone;
#endif
        if
        :: !stays ->
            home = false;
#ifdef BROKEN_BACK
            pending ! false;
            home = true
#else
            home = true;
            pending ! false
#endif
        :: stays -> pending ! false
        :: stays -> /* it waits for what the handler does */
            sleeps = true;
            handled;
            sleeps = false;
            pending ! false
        fi
    :: break
    od;
    over = true
}

active proctype sender()
{
    lone = true;
#ifndef BROKEN_FENCE
    flush();
#endif
#ifndef BROKEN_LOOK
    if
    :: !away -> skip
#ifndef BROKEN_SLEEPS
    :: sleeps -> skip
#endif
    fi;
#endif
    sent = true
}

active proctype handler()
{
    sent;
    assert(home);
    handled = true
}

active proctype memory()
{
    do
    :: pending ? away
    :: over && empty(pending) -> break
    od
}
