/* Blocking and readying (src/psthreads/loop/scheduler.c, switch.h): a thread publishes itself while it still runs, may
 * be readied and dequeued before it has left its stack, and is never run on two vps at once.
 *
 * Each of THREADS threads publishes itself ROUNDS times and blocks; a readier takes it from there and puts it into the
 * queue of the vp that ran it last. A vp whose thread blocks takes from its own queue; one with nothing to do steals,
 * and moves what else it finds to its own queue. Checked: one vp at a time is on a stack. A context is resumed only
 * after it was saved. Every thread gets to its end. (A cycle of vps that wait for each other's contexts to be saved
 * would be an invalid end state.) With SHARED the vps have one queue together, as those of a place have. Then a vp may
 * take a thread that is about to leave its stack on another vp, and the other vp the first one's. So a thread that has
 * published itself does not wait, but leaves for a fresh stack, whose loop waits. Left out: that there may be no memory
 * for a fresh stack, so that a thread looks for itself in the queues, and a loop hands it back (loop.c).
 *   BROKEN_WAIT    a vp that resumes a thread does not wait for `running` to be cleared
 *   BROKEN_EARLY   `running` is cleared before the context is saved
 *   BROKEN_CROSS   SHARED: a thread that has published itself waits for another's context */
#define VPS 2
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define NO_THREAD 255
#ifdef SHARED
#define QUEUE(vp) 0
#else
#define QUEUE(vp) (vp)
#endif

chan queue[VPS] = [THREADS] of { byte };
bool published[THREADS];
bool running[THREADS];   /* uth.running */
bool saved[THREADS];     /* the context in memory is the thread's last one */
byte on[THREADS];        /* vps on its stack */
byte last_vp[THREADS];
byte rounds[THREADS];
byte ended;

#ifdef BROKEN_WAIT
#define MAY_RESUME(t) true
#else
#define MAY_RESUME(t) !running[t]
#endif
/* Before thread t is continued; the caller is still on its own stack. */
inline await_saved(t)
{
#ifdef BROKEN_WAIT
    skip
#else
    !running[t]
#endif
}
inline resume(t)
{
    atomic {
        assert(saved[t]);
        running[t] = true;
        saved[t] = false;
        on[t]++;
        assert(on[t] == 1);
        last_vp[t] = me;
        cur = t
    }
}
/* The switch away from thread t, and what the other side does first. */
inline leave(t)
{
#ifdef BROKEN_EARLY
    running[t] = false;
    atomic { saved[t] = true; on[t]-- }
#else
    atomic { saved[t] = true; on[t]-- };
    running[t] = false
#endif
}

inline take_own()
{
    w = NO_THREAD;
    atomic { if :: len(queue[QUEUE(me)]) > 0 -> queue[QUEUE(me)]?w :: else fi }
}
inline steal()
{
    atomic {
        if
        :: len(queue[1 - me]) > 0 ->
            queue[1 - me]?w;
            do
            :: len(queue[1 - me]) > 0 -> queue[1 - me]?more; queue[me]!more
            :: true -> break
            od;
            more = 0
        :: else
        fi
    }
}

proctype vp(byte me)
{
    byte cur = NO_THREAD, w, more;
    do
    :: cur == NO_THREAD && ended == THREADS -> break
    :: cur == NO_THREAD && ended < THREADS && len(queue[0]) + len(queue[1]) > 0 ->
        take_own();
        if
        :: w == NO_THREAD -> steal()
        :: else
        fi;
        if
        :: w != NO_THREAD -> await_saved(w); resume(w)
        :: else
        fi
    :: cur != NO_THREAD && rounds[cur] == ROUNDS -> atomic { on[cur]--; ended++; cur = NO_THREAD }
    :: cur != NO_THREAD && rounds[cur] < ROUNDS ->
        rounds[cur]++;
        published[cur] = true;
        /* from here on the thread may be readied */
        take_own();
        if
        :: w == cur
        :: w == NO_THREAD -> leave(cur); cur = NO_THREAD
#ifdef BROKEN_CROSS
        :: else -> await_saved(w); leave(cur); resume(w)
#else
        :: w != NO_THREAD && w != cur && MAY_RESUME(w) -> leave(cur); resume(w)
        :: w != NO_THREAD && w != cur && running[w] -> leave(cur); cur = NO_THREAD; await_saved(w); resume(w)
#endif
        fi
    od
}

proctype readier()
{
    byte t;
    do
    :: ended == THREADS -> break
    :: atomic { published[0] -> t = 0; published[0] = false }; queue[QUEUE(last_vp[t])]!t
    :: atomic { published[1] -> t = 1; published[1] = false }; queue[QUEUE(last_vp[t])]!t
#if THREADS > 2
    :: atomic { published[2] -> t = 2; published[2] = false }; queue[QUEUE(last_vp[t])]!t
#endif
    od
}

init {
    byte k;
    atomic {
        for (k : 0 .. THREADS - 1) { saved[k] = true; queue[QUEUE(k % VPS)]!k }
        for (k : 0 .. VPS - 1) { run vp(k) }
        run readier();
        run readier()
    }
}
