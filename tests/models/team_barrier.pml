/* The team's barrier (src/psthreads/team.c): nobody passes early, nobody sleeps through an opening.
 *
 * MEMBERS members go through PHASES phases; each spins, or counts itself, says that it blocks, looks again, blocks. Who opens the barrier looks at the
 * count and, unless it is zero, at everybody. Left out: interruption and assistance, which ready a member as a late opener does.
 *   BROKEN_COUNT     a member counts itself after it has said that it blocks
 *   BROKEN_LOOK      it does not look at the phase again before it blocks
 *   BROKEN_WITHDRAW  one whose second look says that the phase is over goes on without taking back that it blocks
 *   BROKEN_ORDER     who opens looks for those who block before it ends the phase
 *   BROKEN_RESET     who opens sets the arrivals anew after it has ended the phase */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef PHASES
#define PHASES 2
#endif

byte arrivals_left = MEMBERS, phase, count;
bool blocks[MEMBERS], token[MEMBERS];
byte came[PHASES];

/* compare-and-swap of member.blocked; the count follows */
inline take(m)
{
    atomic {
        taken = blocks[m];
        blocks[m] = false
    };
    if
    :: taken -> count--
    :: else
    fi
}

inline wake_the_blocked()
{
    if
    :: count != 0 ->
        for (i : 0 .. MEMBERS - 1) {
            take(i);
            if
            :: taken -> atomic { assert(!token[i]); token[i] = true }
            :: else
            fi
        }
    :: else
    fi
}

inline open_barrier()
{
#ifndef BROKEN_RESET
    arrivals_left = MEMBERS;
#endif
#ifdef BROKEN_ORDER
    wake_the_blocked();
    phase = p + 1;
#else
    phase = p + 1;
#ifdef BROKEN_RESET
    arrivals_left = MEMBERS;
#endif
    wake_the_blocked();
#endif
}

inline await_phase()
{
    do
    :: phase != p -> break
    :: else ->
#ifdef BROKEN_COUNT
        blocks[me] = true;
        count++;
#else
        count++;
        blocks[me] = true;
#endif
#ifdef BROKEN_LOOK
        over = false;
#else
        over = phase != p;
#endif
        taken = false;
        if
#ifdef BROKEN_WITHDRAW
        :: over -> break
#else
        :: over -> take(me)
#endif
        :: else
        fi;
        if
        :: taken -> break
        :: else -> atomic { token[me] -> token[me] = false } /* perhaps of an opener of the phase before: looks again */
        fi
    od
}

proctype member(byte me)
{
    byte p, i, turn;
    bool over, taken, last;
    for (turn : 0 .. PHASES - 1) {
        came[turn]++;
        p = phase;
        atomic { arrivals_left--; last = arrivals_left == 0 };
        if
        :: last -> open_barrier()
        :: else -> await_phase()
        fi;
        assert(came[turn] == MEMBERS && !token[me])
    }
}

init
{
    byte n;
    atomic {
        for (n : 0 .. MEMBERS - 1) {
            run member(n)
        }
    }
}
