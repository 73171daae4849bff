/* The barrier (src/psthreads/object/barrier.c): no thread passes early, none waits for ever, none touches it after it
 * was destroyed.
 *
 * MEMBERS threads go through PHASES phases, taking turns with the ids; each spins or blocks, named in a slot or
 * gathered with its vp's others (member m's is m % 2), as it happens. The first thread out of the last phase destroys
 * the barrier. Checked: in each phase all have come before one leaves; one serial thread a phase; no access after the
 * memory is gone.
 *   BROKEN_LOOK      a member that spun does not look again after it has registered itself
 *   BROKEN_SLOT      one slot an id instead of one for odd and one for even phases
 *   BROKEN_INSIDE    destroy does not wait for the threads that are leaving
 *   BROKEN_COUNT     the number of members is read after the arrival
 *   BROKEN_EXCEPT    the last to arrive does not take itself out of its vp's gathering
 *   BROKEN_GATHERED  one gathering a vp instead of one for odd and one for even phases
 *   BROKEN_WITHDRAW  a member whose second look says that the phase is over leaves without taking its name back */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef PHASES
#define PHASES 2
#endif
#define NO_THREAD 255

byte arrived, phase;
byte who[2 * MEMBERS];
byte gathered[4]; /* a bit for each member */
bool inside[2 * MEMBERS];
bool token[MEMBERS];
byte came[PHASES], serial[PHASES];
byte first;
bool freed;

#ifdef BROKEN_SLOT
#define SLOT(id, p) (id)
#else
#define SLOT(id, p) (2 * (id) + (p) % 2)
#endif

#ifdef BROKEN_GATHERED
#define AT(v, p) (v)
#else
#define AT(v, p) (2 * (v) + (p) % 2)
#endif

inline touch() { assert(!freed) }
inline ready(t) { atomic { assert(!token[t]); token[t] = true } }
inline block(t) { atomic { token[t] -> token[t] = false } }

inline open_barrier()
{
    atomic { touch(); arrived = 0 };
    atomic { touch(); phase = p + 1 };
    for (v : 0 .. 1) {
        atomic { touch(); w = gathered[AT(v, p)] };
#ifndef BROKEN_EXCEPT
        w = w & ~(1 << me);
#endif
        atomic { touch(); gathered[AT(v, p)] = 0 };
        for (i : 0 .. MEMBERS - 1) {
            if
            :: w & (1 << i) -> ready(i)
            :: else
            fi
        }
    }
    v = 0;
    for (i : 0 .. MEMBERS - 1) {
        atomic { touch(); w = who[SLOT(i, p)] };
        if
        :: w != NO_THREAD ->
            atomic {
                touch();
                if
                :: who[SLOT(i, p)] == w -> who[SLOT(i, p)] = NO_THREAD
                :: else -> w = NO_THREAD
                fi
            };
            if
            :: w != NO_THREAD -> ready(w)
            :: else
            fi
        :: else
        fi
    }
    w = NO_THREAD;
    i = 0
}

inline await_phase()
{
    do
    :: atomic { touch(); over = phase != p };
       if
       :: over -> break
       :: !over -> break /* the time-out may come after any look */
       :: !over
       fi
    od;
    if
    :: over -> atomic { touch(); inside[SLOT(id, p)] = false }
    :: else ->
        atomic { touch(); who[SLOT(id, p)] = me };
#ifdef BROKEN_LOOK
        over = false;
#else
        atomic { touch(); over = phase != p };
#endif
#ifndef BROKEN_WITHDRAW
        if
        :: over -> atomic {
               touch();
               if
               :: who[SLOT(id, p)] == me -> who[SLOT(id, p)] = NO_THREAD
               :: else -> over = false
               fi
           }
        :: else
        fi;
#endif
        atomic { touch(); inside[SLOT(id, p)] = false };
        if
        :: !over -> block(me)
        :: else
        fi
    fi
}

proctype member(byte me)
{
    byte p, id, i, v, w = NO_THREAD, turn, n;
    bool spins, over, last;
    for (turn : 0 .. PHASES - 1) {
        id = (me + turn) % MEMBERS;
        came[turn]++;
        atomic { touch(); p = phase };
        if
        :: spins = true; atomic { touch(); inside[SLOT(id, p)] = true }
        :: spins = false; atomic { touch(); who[SLOT(id, p)] = me }
        :: spins = false; atomic { touch(); gathered[AT(me % 2, p)] = gathered[AT(me % 2, p)] | (1 << me) }
        fi;
        atomic { touch(); arrived++; last = arrived == MEMBERS };
#ifdef BROKEN_COUNT
        touch();
#endif
        if
        :: last ->
            atomic { touch(); inside[SLOT(id, p)] = true };
            atomic { touch(); who[SLOT(id, p)] = NO_THREAD };
            open_barrier();
            atomic { touch(); inside[SLOT(id, p)] = false };
            serial[turn]++;
        :: !last && spins -> await_phase()
        :: else -> block(me)
        fi;
        assert(came[turn] == MEMBERS);
        assert(serial[turn] <= 1)
    }
    atomic { first++; last = first == 1 };
    if
    :: last -> /* destroy */
        atomic { touch(); assert(arrived == 0) };
#ifndef BROKEN_INSIDE
        for (i : 0 .. 2 * MEMBERS - 1) {
            !inside[i]
        }
#endif
        freed = true
    :: else
    fi
}

init {
    byte k;
    atomic {
        for (k : 0 .. 2 * MEMBERS - 1) { who[k] = NO_THREAD }
        for (k : 0 .. MEMBERS - 1) { run member(k) }
    }
}
