/* The barrier of rounds and its way back to the word (src/psthreads/team/team_rounds.c): no member passes early, none
 * waits where no other comes, and all meet a barrier the same way.
 *
 * MEMBERS members go through PHASES barriers. A store of a flag, and one of NEITHER or WORD, stays in its member's
 * buffer until something drains it, as on a processor that lets loads overtake stores; a fence for everybody drains all
 * buffers. Any member that waits may become impatient. With TASKS member 0 makes the region's first task before it
 * arrives at some barrier. With few members all look at all; a flag is a barrier's number (one round). A member that
 * meets by the word counts there; the opener goes back to rounds, or does not. Left out: blocking, and being called
 * away to run tasks; a member that is counted by the word just waits for it.
 *   BROKEN_FENCE     an impatient member makes no fence
 *   BROKEN_BEHIND    a member that has all flags does not look behind them whether the others decide
 *   BROKEN_LOCK      the decider looks at the flags without holding the lock until it has written its decision
 *   BROKEN_SCAN      the decider does not look whether the barrier is over: by the word
 *   BROKEN_BASE      numbers behind a barrier by the word go on from each member's own
 *   BROKEN_TASKS     the maker of the first task sets its flag afterwards all the same (TASKS) */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef PHASES
#define PHASES 3
#endif

#define ROUNDS 0
#define NEITHER 1
#define WORD 2
#define NOTHING 255

byte flag[MEMBERS];           /* in memory */
byte pending[MEMBERS];          /* in the member's buffer: NOTHING, or a flag */
byte how = ROUNDS;              /* by_word, in memory */
byte pending_how[MEMBERS];      /* likewise */
byte word_from, base;
byte left = MEMBERS, phase;     /* the word */
byte came[PHASES];
byte way[PHASES];               /* how it was met: 0 not yet, 1 rounds, 2 word */
bool locked;

/* Stores leave a buffer in their order: a member has at most one flag and one `how` in it, and none of its steps puts
 * the second in before the first. */
#define DRAIN(m) \
    if \
    :: pending[m] != NOTHING -> flag[m] = pending[m]; pending[m] = NOTHING \
    :: else \
    fi; \
    if \
    :: pending_how[m] != NOTHING -> how = pending_how[m]; pending_how[m] = NOTHING \
    :: else \
    fi
#define DRAIN_ONE(m) \
    if \
    :: pending[m] != NOTHING -> flag[m] = pending[m]; pending[m] = NOTHING \
    :: else -> how = pending_how[m]; pending_how[m] = NOTHING \
    fi
#define PENDING(m) (pending[m] != NOTHING || pending_how[m] != NOTHING)

#define SEEN_HOW(m) (pending_how[m] != NOTHING -> pending_how[m] : how)
#define SEEN(m, k) ((k) == (m) && pending[m] != NOTHING -> pending[m] : flag[k])

/* The memory system: some buffer drains when it likes. */
proctype memory()
{
end:
    do
    :: atomic { PENDING(0) -> DRAIN_ONE(0) }
    :: atomic { PENDING(1) -> DRAIN_ONE(1) }
#if MEMBERS > 2
    :: atomic { PENDING(2) -> DRAIN_ONE(2) }
#endif
    od
}

/* d: 1 over, 2 by the word. */
inline decide(impatient)
{
    atomic { !locked -> locked = true; DRAIN(me) } /* taking a lock drains */
    if
    :: impatient && how == ROUNDS ->
        atomic { how = NEITHER }
#ifndef BROKEN_FENCE
        atomic { for (k : 0 .. MEMBERS - 1) { DRAIN(k) } }
#endif
        atomic { if :: how == NEITHER -> how = WORD :: else fi }
    :: else
    fi;
    if
    :: word_from && number >= word_from -> d = 2
    :: else ->
#ifdef BROKEN_SCAN
        over = false;
#else
        /* one look after the other */
        over = true;
        j = 0;
        do
        :: j < MEMBERS ->
            if
            :: SEEN(me, j) < number -> over = false
            :: else
            fi;
            j++
        :: else -> break
        od;
        j = 0;
#endif
#ifdef BROKEN_LOCK
        locked = false;
#endif
        if
        :: over -> d = 1
        :: else -> word_from = number; d = 2
        fi
    fi;
    atomic { DRAIN(me); locked = false };
    over = false
}

inline passed(by)
{
    atomic {
        assert(came[p] == MEMBERS);
        assert(way[p] == 0 || way[p] == by);
        way[p] = by
    }
}

proctype member(byte me)
{
    byte p, number, j, k, d, turn;
    bool over;

    do
    :: p < PHASES ->
        d = 0;
#ifdef TASKS
        if
        :: me == 0 && SEEN_HOW(me) != WORD -> atomic { pending_how[me] = WORD } /* the first task; at any barrier */
        :: true
        fi;
#endif
        atomic { came[p]++ }
        turn = phase;
        if
#ifdef BROKEN_TASKS
        :: true ->
#else
        :: SEEN_HOW(me) != WORD ->
#endif
            atomic { number = (number > base -> number : base) + 1; pending[me] = number }
            do
            :: j < MEMBERS && SEEN(me, j) >= number -> j++ /* one look after the other */
            :: j == MEMBERS -> break
            :: j < MEMBERS && SEEN_HOW(me) != ROUNDS -> decide(false); break
            :: j < MEMBERS -> decide(true); break /* impatient */
            od;
            j = 0;
            if
            :: d == 0 ->
#ifdef BROKEN_BEHIND
                d = 1
#else
                if
                :: SEEN_HOW(me) == ROUNDS -> d = 1
                :: else -> decide(false)
                fi
#endif
            :: else
            fi
        :: else -> d = 2
        fi;
        if
        :: d == 1 -> passed(1)
        :: else ->
            atomic { DRAIN(me); left--; k = left }
            if
            :: k == 0 -> /* opens */
#ifdef TASKS
                skip;
#else
                if
                :: how == WORD && true ->
#ifndef BROKEN_BASE
                    base = (word_from -> word_from : base);
#endif
                    word_from = 0;
                    how = ROUNDS
                :: true
                fi;
#endif
                passed(2);
                atomic { left = MEMBERS; phase++ }
            :: else ->
                turn != phase;
                passed(2)
            fi
        fi;
        p++
    :: else -> break
    od
}

init
{
    atomic {
        byte i;
        for (i : 0 .. MEMBERS - 1) {
            pending[i] = NOTHING;
            pending_how[i] = NOTHING
        }
        run memory();
        for (i : 0 .. MEMBERS - 1) {
            run member(i)
        }
    }
}
