/* The team's barrier (src/psthreads/team/team_barrier.c): no member passes early, none sleeps through an opening or a
 * call, none is readied twice.
 *
 * MEMBERS members go through PHASES phases on VPS vps; member m begins on vp m % VPS. A vp runs one member at a time
 * and, when that waits, one that is ready there. A member that arrives joins its vp's waiters if a teammate is ready
 * there (whether it is the next one is the queue's business: any), else it counts all. Where that is the whole team it
 * opens the barrier by a store. Else it looks whether it is the last, spins or not, publishes itself, and its vp
 * publishes the waiters. The word (left, head, phase) is changed in atomic steps, as is what happens under a queue's
 * lock. head is the set of published members. With CALL member 0 calls for all back for good before it arrives
 * (ps_team_notify), and does not arrive until another member, any, has looked what for. Meanwhile it keeps its vp,
 * or others run there (it blocks, or a spare has come: spares.h). A member that is called back waits again, and is not
 * called any more. A member that joins the waiters needs no look for a call under the lock here: the teammate that runs
 * next sees the call.
 * STEAL: ready members change the vp.
 *   BROKEN_PHASE     a vp that publishes does not look at the phase
 *   BROKEN_OPEN      the opener reads the published batches before it ends the phase, and does not take them in the
 *                    same step
 *   BROKEN_LEAVE     a vp that goes on with nothing, or something else, does not count its waiters
 *   BROKEN_OWN       the opener forgets its own vp's waiters
 *   BROKEN_SPIN      a member whose spin ends forgets its vp's waiters
 *   BROKEN_HERE      the last member of all opens by a store, though members of other vps may be published
 *   BROKEN_AGAIN     a vp that publishes does not look for a call afterwards (CALL)
 *   BROKEN_COUNT     a member that calls waiters back does not count them (CALL) */
#ifndef MEMBERS
#define MEMBERS 4
#endif
#ifndef VPS
#define VPS 2
#endif
#ifndef PHASES
#define PHASES 2
#endif

#define ALL ((1 << MEMBERS) - 1)

byte left = MEMBERS, phase;
byte head;              /* published: a bit for each member */
byte ready[VPS];        /* in the vp's queue: a bit for each member */
byte waiters[VPS];      /* of the vp: likewise */
byte uncounted[VPS];
bool notified;
byte w_phase[VPS];
byte running[VPS];      /* the member that runs there + 1; 0: none */
byte vp_of[MEMBERS];
byte came[PHASES];
byte served;            /* a bit for each member that has looked for what the call was for */

/* Makes the members of set ready, each on the vp that ran it last. */
inline make_ready(set)
{
    for (k : 0 .. MEMBERS - 1) {
        if
        :: (set) & (1 << k) ->
            assert(!(ready[vp_of[k]] & (1 << k))); /* it may still run, about to leave */
            ready[vp_of[k]] = ready[vp_of[k]] | (1 << k)
        :: else
        fi
    }
}

inline take_published()
{
    atomic {
        set = head;
        head = 0;
        make_ready(set);
        set = 0
    }
}

/* With the exchange of the word; the caller is in an atomic step. */
inline open_barrier()
{
    set = head;
    head = 0;
    left = MEMBERS;
    phase++;
    make_ready(set);
    set = 0
}

/* The caller's vp has waiters, and goes on with something else. */
inline leave(v)
{
    atomic { /* under the lock */
        mine = waiters[v]; units = uncounted[v]; turn = w_phase[v];
        waiters[v] = 0;
        uncounted[v] = 0
    }
    if
    :: mine ->
        atomic {
            if
#ifndef BROKEN_PHASE
            :: turn != phase -> make_ready(mine); mine = 0
#endif
            :: else ->
                head = head | mine;
#ifndef BROKEN_LEAVE
                left = left - units;
#ifdef CALL /* one that was called back, and is counted, ran on this vp */
                if
                :: units && !left -> open_barrier()
                :: else
                fi
#else
                assert(!units || left)
#endif
#endif
            fi
        }
#ifndef BROKEN_AGAIN
        if
        :: mine && notified -> take_published()
        :: else
        fi
#endif
    :: else
    fi;
    mine = 0; units = 0; turn = 0
}

/* The vp's counted waiters become ready there. */
inline ready_waiters(v)
{
    atomic {
        assert(!uncounted[v]);
        mine = waiters[v];
        waiters[v] = 0;
        make_ready(mine);
        mine = 0
    }
}

/* Member 0 makes the first task. */
inline call()
{
    notified = true;
    for (i : 0 .. VPS - 1) {
        atomic { /* under the lock */
#ifndef BROKEN_COUNT
            left = left - uncounted[i];
            if
            :: uncounted[i] && !left -> open_barrier()
            :: else
            fi;
#endif
            uncounted[i] = 0;
            set = waiters[i];
            waiters[i] = 0;
            make_ready(set);
            set = 0
        }
    }
    take_published()
}

/* Member me runs: chosen by the member that waits on its vp, or taken by a vp that runs no other. */
inline be_run()
{
    atomic {
        if
        :: running[vp_of[me]] == me + 1 -> v = vp_of[me]
        :: running[vp_of[me]] == 0 && (ready[vp_of[me]] & (1 << me)) ->
            v = vp_of[me];
            ready[v] = ready[v] & ~(1 << me);
            running[v] = me + 1
        fi
    }
}

proctype member(byte me)
{
    byte p, i, k, set, mine, units, turn, v;
    bool gone, joined, back; /* back: it was called */

    be_run();
    do
    :: p < PHASES ->
        if /* waits for something else, or yields, before it arrives */
        :: true ->
            leave(v);
            atomic { ready[v] = ready[v] | (1 << me); running[v] = 0 }
            be_run()
        :: true
        fi;
#ifdef CALL
        if
        :: me == 0 && p == 0 ->
            call();
            select (k : 1 .. MEMBERS - 1);
            if /* keeps its vp until k has come, or leaves it to others */
            :: served & (1 << k)
            :: true ->
                running[v] = 0;
                atomic { served & (1 << k); ready[vp_of[me]] = ready[vp_of[me]] | (1 << me) }
                be_run()
            fi
        :: else
        fi;
#endif
        came[p]++;
        if
        :: notified -> served = served | (1 << me)
        :: else
        fi;
        back = false;
        joined = false;
        atomic { /* under the lock */
            if
            :: ready[v] && !notified ->
                if
                :: !waiters[v] -> w_phase[v] = p
                :: else -> assert(w_phase[v] == p)
                fi;
                waiters[v] = waiters[v] | (1 << me);
                uncounted[v]++;
                joined = true;
                select (k : 0 .. MEMBERS - 1);
                do
                :: ready[v] & (1 << k) -> break
                :: else -> k = (k + 1) % MEMBERS
                od;
                ready[v] = ready[v] & ~(1 << k);
                running[v] = k + 1
            :: else
            fi
        }
        if
        :: joined -> skip
        :: else ->
            atomic {
                units = 1 + uncounted[v];
                uncounted[v] = 0;
#ifdef BROKEN_HERE
                gone = units == left
#else
                gone = units == MEMBERS
#endif
            }
            if
            :: gone -> /* all are of this vp: a store, whatever the word says */
                gone = false;
                units = 0;
                atomic { head = 0; left = MEMBERS; phase = p + 1 }
                ready_waiters(v);
                goto passed
            :: else
            fi;
            atomic { left = left - units; units = 0; gone = left == 0 }
            if
            :: gone ->
                gone = false;
#ifdef BROKEN_OPEN
                set = head;
                atomic { left = MEMBERS; phase++; head = 0; make_ready(set); set = 0 }
#else
                atomic { open_barrier() }
#endif
#ifndef BROKEN_OWN
                ready_waiters(v);
#endif
                goto passed
            :: else
            fi;
            if /* spins as long as it likes */
            :: phase != p ->
#ifndef BROKEN_SPIN
                ready_waiters(v);
#endif
                goto passed
            :: notified -> ready_waiters(v); goto again
            :: true
            fi;
            goto block
        fi;
sleep:
        /* its context is saved; whatever has readied it, its vp's next member comes to run when no other does */
        be_run();
        if
        :: phase != p -> goto passed
        :: else
        fi;
again:  /* called back: it has looked for tasks, and waits anew */
        back = true;
        served = served | (1 << me);
        leave(v);
        if
        :: phase != p -> goto passed
        :: else
        fi;
block:
        atomic {
            if
            :: phase == p -> head = head | (1 << me); gone = false
            :: else -> gone = true
            fi
        }
        if
        :: gone ->
            gone = false;
            ready_waiters(v);
            goto passed
        :: else
        fi;
#ifndef BROKEN_AGAIN
        if
        :: notified && !back ->
            atomic {
                set = head;
                head = 0;
                gone = (set & (1 << me)) != 0;
                set = set & ~(1 << me);
                make_ready(set);
                set = 0
            }
            if
            :: gone ->
                gone = false;
                ready_waiters(v);
                if
                :: phase != p -> goto passed
                :: else -> goto again
                fi
            :: else
            fi
        :: else
        fi;
#endif
        leave(v);
        running[v] = 0;
        goto sleep;
passed:
        assert(came[p] == MEMBERS);
        assert(!waiters[v] || w_phase[v] != p); /* no member of this phase is left to the next */
        p++
    :: else -> break
    od;
    leave(v);
    running[v] = 0
}

#ifdef STEAL
active proctype thief()
{
    byte m;
    do
    :: atomic {
        select (m : 0 .. MEMBERS - 1);
        if
        :: ready[vp_of[m]] & (1 << m) ->
            ready[vp_of[m]] = ready[vp_of[m]] & ~(1 << m);
            vp_of[m] = 1 - vp_of[m];
            ready[vp_of[m]] = ready[vp_of[m]] | (1 << m)
        :: else
        fi
       }
       break
    od
}
#endif

init
{
    byte n;
    atomic {
        for (n : 0 .. MEMBERS - 1) {
            vp_of[n] = n % VPS;
            ready[n % VPS] = ready[n % VPS] | (1 << n)
        }
        for (n : 0 .. MEMBERS - 1) {
            run member(n)
        }
    }
}
