/* A thread is suspended below another one that it has called on its stack, in that one's block. A signal is sent to it:
 * its dedicated kernel thread D enters its block and handles the signal, if the thread cannot resume meanwhile without
 * D (mail.md, "Below another thread"; vp_resume_caller in src/psthreads/vp/vp_tls.h).
 *
 * The thread calls REGIONS times, on one vp. Its vp clears `below` when it resumes. That store is seen late: it waits
 * in `pending` until it is flushed, by itself or by D's fence for all kernel threads. Then the vp looks which thread
 * was in the block last. D comes to be at any time. With HOME the context comes home from another kernel thread
 * instead, where all stores and loads are seq_cst (carrier_of_next in src/psthreads/carrier/dedicated_move.c). Checked:
 * the thread and the handler are not in the block at the same time; nothing waits for ever (invalid end state).
 *   BROKEN_FENCE    D makes no fence
 *   BROKEN_LOOK     D does not look at `below` again
 *   BROKEN_TAKE     D does not take the block away
 *   BROKEN_ORDER    the vp looks which thread was in the block before it clears `below`
 *   BROKEN_HOME     (with HOME) the context comes home without a second look for D */
#ifndef REGIONS
#define REGIONS 2
#endif

#define NONE 0
#define VP 1
#define OWN 2

bool below, pending, dedicated, pinned, over, thread_in, handler_in;
byte carrier = VP;

inline flush()
{
    atomic {
        if
        :: pending -> below = false; pending = false
        :: else -> skip
        fi
    }
}

inline enter()
{
    thread_in = true;
    assert(!handler_in)
}

active proctype vp()
{
    byte calls = 0, last;
    bool moves;
    enter();
    do
    :: calls < REGIONS ->
        calls++;
        flush();
        thread_in = false;
        below = true;
        moves = false;
#ifdef HOME
        moves = dedicated;
        if
        :: !moves ->
            below = false;
#ifndef BROKEN_HOME
            moves = dedicated
#endif
        :: else -> skip
        fi;
        carrier = (moves -> carrier : VP);
#else
#ifdef BROKEN_ORDER
        last = carrier;
        pending = true;
#else
        pending = true;
        last = carrier;
#endif
        if
        :: last == VP -> skip
        :: else ->
            moves = dedicated;
            carrier = (moves -> carrier : VP)
        fi;
#endif
        if
        :: moves ->
            pinned = true;
            break
        :: else -> enter()
        fi
    :: else -> break
    od;
    over = true
}

active proctype own()
{
    bool seen;
    dedicated = true;
    do
    :: pinned -> /* runs the thread */
        enter();
        break
    :: !pinned && over -> break
    :: !pinned ->
        seen = below;
        if
        :: seen ->
#ifndef BROKEN_TAKE
            carrier = NONE;
#endif
#ifndef BROKEN_FENCE
            flush();
#endif
#ifndef BROKEN_LOOK
            seen = below;
#endif
            if
            :: seen ->
#ifndef BROKEN_TAKE
                carrier = OWN;
#endif
                handler_in = true;
                assert(!thread_in);
                handler_in = false
            :: else -> skip
            fi
        :: else -> skip
        fi
    od
}

active proctype memory()
{
    do
    :: pending -> flush()
    :: over -> flush(); break
    od
}
