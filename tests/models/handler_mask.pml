/* A handler leaves a mask to a thread that is not on its own kernel thread P (src/psthreads/handler_mask.h), and the
 * thread then moves to P (promote.h).
 *
 * The thread's vp leaves the thread's stack: it pins the thread to P, wakes P, and then lets go of the context. P
 * enters the thread's block, and runs the thread. A handler may run as the thread before that, and between these steps;
 * each leaves another mask: 1, 2 and so on. A sender that has seen a handler end is served by P. A handler that is left
 * by a jump is the same: it posts, and the thread is pinned then (or P asks for it later).
 * Checked: P serves a sender, and runs the thread, with the mask that the last handler before has left, and has it in
 * inner_mask where nothing is posted that it has not taken. No process waits for ever (invalid end state).
 *   BROKEN_ORDER   a handler counts before it writes the mask
 *   BROKEN_EARLY   P takes the mask when it finds the thread pinned, and not when the context is saved
 *   BROKEN_CLEAR   P reads the mask before it reads how many were posted
 *   BROKEN_SERVE   P takes the mask before it looks whether the context is saved, and not behind that
 *   BROKEN_ARRIVE  P does not look again when the thread runs there */

byte new_mask, left; /* left: by the last handler that has ended */
byte posted, taken;
bool wake, pinned, saved;
byte inner, mask;    /* P's */
bool runs;

inline handler()
{
#ifdef BROKEN_ORDER
    posted++;
    new_mask = left + 1;
#else
    new_mask = left + 1;
    posted++;
#endif
    wake = true;
    left++
}

inline take()
{
    if
    :: posted != taken ->
#ifdef BROKEN_CLEAR
        seen = new_mask;
        n = posted;
#else
        n = posted;
        seen = new_mask;
#endif
        inner = seen;
        taken = n;
        mask = seen
    :: else
    fi
}

/* on the kernel thread that the thread leaves */
active proctype thread()
{
    if
    :: handler()
    :: skip
    fi;
    if
    :: pinned = true; wake = true
    :: handler(); pinned = true; wake = true
    fi;
    if
    :: handler()
    :: skip
    fi;
    saved = true
}

/* what another handler would find: the newest mask, wherever it stands */
active proctype looker()
{
    byte ended;
    ended = left;
    atomic { posted == taken -> assert(inner >= ended) }
}

active proctype P()
{
    byte seen, n, expected;
    do
    :: pinned -> break
    :: else ->
        expected = left;
        take();
        if
        :: expected > 0 && posted == taken -> assert(mask >= expected) /* between regions a sender is served */
        :: else
        fi;
        expected = left;
        if
        :: saved -> /* and below the saved context */
#ifndef BROKEN_SERVE
            take();
#endif
            assert(mask >= expected)
        :: else
        fi;
        if
        :: !pinned -> atomic { wake -> wake = false } /* parks */
        :: else
        fi
    od;
#ifdef BROKEN_EARLY
    take();
    saved
#else
    saved;
    take()
#endif
    ;
    assert(mask == left && posted == taken); /* it hears in the thread's block */
    if
    :: handler() /* before P can be told as the thread's: as elsewhere */
    :: skip
    fi;
#ifndef BROKEN_ARRIVE
    take();
#endif
    runs = true;
    assert(mask == left && posted == taken)
}
