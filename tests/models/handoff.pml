/* A vp's handoff slot (src/psthreads/data/handoff.h, team_fork.c, idle.c): a member that is handed off is run once, by
 * the vp or by the parent that takes it back; a handoff that the parent does not take back is not slept over.
 *
 * The parent hands a member off for each of REGIONS regions, if the handoff slot is open, then joins: it waits, or
 * (IMPATIENT) may take the handoff back and run the member itself. Another thread puts ITEMS things into the vp's
 * queue, which the vp may take only with its handoff slot closed.
 *   BROKEN_LOOK    the vp does not look at its handoff slot again after it has said that it parks
 *   BROKEN_OPEN    the vp takes from its queue with the handoff slot open
 *   BROKEN_TAKE    the vp takes its handoff by load and store
 *   BROKEN_WAKE    the parent looks whether the vp is parked before it hands off */
#ifndef REGIONS
#define REGIONS 2
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
#define BUSY 0
#define IDLE 1 /* and 2 + r: the member of region r */

byte handoff = IDLE, queue;
bool parked, wake_word;
byte ran[REGIONS], items_run;
bool stop;

inline run_it(r)
{
    atomic { assert(ran[r] == 0); ran[r] = 1 }
}

inline wake_this()
{
    atomic {
        was = parked;
        parked = false
    };
    if
    :: was -> wake_word = true
    :: else
    fi
}

proctype vp()
{
    byte m;
    bool found, was;
    do
    :: stop -> break
    :: else ->
        /* one look, from the state IDLE */
        found = false;
        m = handoff;
        if
        :: m > IDLE ->
#ifdef BROKEN_TAKE
            handoff = BUSY;
            found = true;
#else
            atomic {
                if
                :: handoff == m -> handoff = BUSY; found = true
                :: else
                fi
            };
#endif
            if
            :: found -> run_it(m - 2); handoff = IDLE
            :: else
            fi
        :: else ->
            if
            :: queue > 0 ->
#ifndef BROKEN_OPEN
                atomic {
                    if
                    :: handoff == IDLE -> handoff = BUSY; found = true
                    :: else
                    fi
                };
#else
                found = true;
#endif
                if
                :: found -> queue--; items_run++; handoff = IDLE
                :: else
                fi
            :: else
            fi
        fi;
        if
        :: !found ->
            parked = true;
#ifdef BROKEN_LOOK
            was = queue > 0;
#else
            was = queue > 0 || handoff > IDLE;
#endif
            if
            :: was || stop ->
                atomic {
                    was = parked;
                    parked = false
                }
            :: else -> was = false
            fi;
            if
            :: was
            :: else -> atomic { wake_word -> wake_word = false }
            fi
        :: else
        fi
    od
}

proctype parent()
{
    byte r;
    bool handed_off, was;
    for (r : 0 .. REGIONS - 1) {
#ifdef BROKEN_WAKE
        wake_this();
#endif
        atomic {
            handed_off = handoff == IDLE;
            if
            :: handed_off -> handoff = 2 + r
            :: else
            fi
        };
        if
        :: handed_off ->
#ifndef BROKEN_WAKE
            wake_this();
#endif
            do
            :: ran[r] == 1 -> break
#ifdef IMPATIENT
            :: atomic { handoff == 2 + r -> handoff = IDLE }; run_it(r); break
#endif
            od
        :: else -> run_it(r)
        fi
    };
    items_run == ITEMS;
    stop = true;
    wake_this()
}

proctype inserter()
{
    byte n;
    bool was;
    for (n : 1 .. ITEMS) {
        queue++;
        wake_this()
    }
}

init
{
    atomic { run vp(); run parent(); run inserter() }
}
