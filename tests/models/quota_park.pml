/* A worker's vp that is sent offline and called back (src/psthreads/park/quota_park.h, quota_park.c), while a parent
 * sends it a handoff.
 *
 * The limit changes CHANGES times, each time to any of two values: the vp may carry work (1) or not (0). One parent
 * posts a member by handoff. Checked, when nothing can move any more: the member was run by the vp or queued for
 * others. No request to go offline lies unread. The vp is not offline where the limit allows it to run. A vp without a
 * kernel thread counts as parked, with an open handoff slot, exactly where it may run.
 *
 * Sequentially consistent, as the operations on limit, changes, pinned slot and bit are in the source. The vp's search
 * is one look at its slot and its handoff slot; other work, and that a look misses a vp which is just getting up (the
 * next look asks it again), are left out.
 *   RUNS           the vp has a kernel thread from the beginning
 *   BROKEN_SEEN    a vp that is about to go offline reads `changes` behind the limit
 *   BROKEN_ASK     the bit is looked at before the request is in the slot
 *   BROKEN_HANDOFF    the handoff slot of one without a kernel thread is shut without a look at what is in it
 *   BROKEN_LATE    its handoff slot is opened again without a look into it behind that
 *   BROKEN_BIT     such a one stays startable: its bit is not taken */
#ifndef CHANGES
#define CHANGES 4
#endif
#define BUSY 0
#define IDLE 1
#define LETTER 2
mtype = { ONLINE, ASKED, OFFLINE, UNSTARTED };

#ifdef RUNS
bool started = true, idle_bit = false;
#else
bool started = false, idle_bit = true;
#endif
bool wake_word, pinned;
byte handoff = IDLE, limit = 1, changes, ran, queued, posted;
mtype state = ONLINE;

/* Which process has taken the idle_bit. */
inline wake()
{
    if
    :: started -> wake_word = true
    :: else -> started = true
    fi
}

inline sleep_here()
{
    idle_bit = true;
    if
    :: (pinned || handoff == LETTER) ->
        if
        :: atomic { idle_bit -> idle_bit = false }
        :: atomic { wake_word -> wake_word = false }
        fi
    :: !(pinned || handoff == LETTER) ->
end_asleep:
        atomic { wake_word -> wake_word = false }
    fi
}

inline rest_here()
{
#ifdef BROKEN_SEEN
    if
    :: limit == 0 -> seen = changes; state = OFFLINE
    :: else
    fi;
#else
    seen = changes;
    if
    :: limit == 0 -> state = OFFLINE
    :: else
    fi;
#endif
    do
    :: state == OFFLINE ->
end_at_rest:
        changes != seen; /* the system's wait on a word */
        seen = changes;
        if
        :: limit == 1 -> break
        :: else
        fi
    :: else -> break
    od;
    state = ONLINE
}

active proctype vp()
{
    byte seen;
end_unstarted:
    started;
    do
    :: handoff == LETTER && !pinned -> atomic { handoff == LETTER -> handoff = BUSY }; ran++; handoff = IDLE
    :: pinned ->
        atomic {
            if
            :: handoff == LETTER -> queued++
            :: else
            fi;
            handoff = BUSY
        };
        pinned = false;
        rest_here();
        handoff = IDLE
    :: handoff != LETTER && !pinned -> sleep_here()
    od
}

active proctype watchdog()
{
    byte n;
    bool got;
    do
    :: n < CHANGES ->
        n++;
        if
        :: limit = 1;
            if
            :: state == UNSTARTED -> state = ONLINE; handoff = IDLE; idle_bit = true;
#ifndef BROKEN_LATE
                if
                :: handoff == LETTER ->
                    atomic { got = idle_bit; idle_bit = false };
                    if
                    :: got -> wake()
                    :: else
                    fi
                :: else
                fi
#endif
            :: else
            fi
        :: limit = 0;
            got = false;
            if
            :: state == ONLINE ->
                if
#ifdef BROKEN_BIT
                :: atomic { !started && idle_bit -> got = true }
#else
                :: atomic { !started && idle_bit -> idle_bit = false; got = true }
#endif
                :: atomic { !(!started && idle_bit) -> skip }
                fi;
                if
                :: got ->
                    state = UNSTARTED;
                    atomic {
#ifndef BROKEN_HANDOFF
                        if
                        :: handoff == LETTER -> queued++
                        :: else
                        fi;
#endif
                        handoff = BUSY
                    }
                :: else ->
                    state = ASKED;
#ifdef BROKEN_ASK
                    atomic { got = idle_bit; idle_bit = false };
                    pinned = true;
#else
                    pinned = true;
                    atomic { got = idle_bit; idle_bit = false };
#endif
                    if
                    :: got -> wake()
                    :: else
                    fi
                fi
            :: else
            fi
        fi;
        changes++
    :: else -> break
    od
}

active proctype parent()
{
    bool mine;
    if
    :: atomic { handoff == IDLE -> handoff = LETTER; posted = 1 };
        atomic { mine = idle_bit; idle_bit = false };
        if
        :: mine -> wake()
        :: else
        fi
    :: true
    fi
}

active proctype judge()
{
    timeout;
    assert(handoff != LETTER && ran + queued == posted);
    assert(!pinned);
    assert(!(state == OFFLINE && limit == 1));
    assert(started || (idle_bit == (limit == 1) && (handoff == IDLE) == (limit == 1)))
}
