/* Two processes that share processors by words which each writes in its own slot (src/psthreads/park/share.c,
 * src/psthreads/data/share_table.h).
 *
 * Each process joins, and a root of one of them changes CHANGES times what its process wants. Process 1 may be killed
 * at any step; the kernel then marks its slot as left. A watchdog reads all slots, and sleeps until `change` is another
 * than before it read. There are two processors. A process is allowed both if it is the only one, or if the other one
 * wants none; else one.
 * Checked, when nothing can move any more: what each process is allowed follows from what is in the slots. No two
 * processes have one slot. (The watchdog's look after a time, which finds a process that was killed, is modelled by a
 * look for each death.) Sequentially consistent: owner and change are, and a slot's words are written before `change`.
 * With LOST, no process is told of what a root wants, as if each wake-up for it were lost. Then what each process is
 * allowed is right when each watchdog has looked once more, after a time.
 *   BROKEN_SEEN    `change` is read behind the slots
 *   BROKEN_ORDER   `change` is counted up before the slot is written
 *   BROKEN_CLAIM   a slot is looked at, and then taken by a store
 *   BROKEN_LEAVE   the kernel does not mark the slot of one that was killed
 *   BROKEN_QUIET   the wish of a root is published without a change
 *   BROKEN_TIME    (with LOST) a watchdog sleeps without a limit of time */
#ifndef CHANGES
#define CHANGES 1
#endif
#define NONE 255

byte owner[2], wanted[2], change, deaths;
bool late; /* the time has passed after which watchdogs look again */
byte allowed[3], slot_of[3] = NONE; /* by process, from 1 */
bool dead[3], joined[3]; /* dead: process 1 may be killed at any step */

/* Process 1 is killed, or is not. */
proctype killer()
{
    if
    :: true
    :: atomic {
        dead[1] = true;
#ifndef BROKEN_LEAVE
        owner[0] = (owner[0] == 1 -> 0 : owner[0]);
        owner[1] = (owner[1] == 1 -> 0 : owner[1]);
#endif
        deaths++
    }
    fi
}

inline announce(slot, value)
{
#ifdef BROKEN_ORDER
    change++;
    wanted[slot] = value
#else
    wanted[slot] = value;
    change++
#endif
}

/* A root of the process: it opens regions and ends them. */
proctype root(byte me)
{
    byte n;
    {
        joined[me];
        do
        :: n < CHANGES ->
            n++;
            if
#if defined(BROKEN_QUIET) || defined(LOST)
            :: wanted[slot_of[me]] = 0
            :: wanted[slot_of[me]] = 2
#else
            :: announce(slot_of[me], 0)
            :: announce(slot_of[me], 2)
#endif
            fi
        :: n == CHANGES -> break
        od
    }
    unless { dead[me] }
}

proctype watchdog(byte me)
{
    byte at, seen, seen_deaths, other, others_wish;
    bool seen_late;
    {
        do
#ifdef BROKEN_CLAIM
        :: owner[at] == 0 -> owner[at] = me; break
#else
        :: atomic { owner[at] == 0 -> owner[at] = me }; break
#endif
        :: owner[at] != 0 -> at = 1 - at
        od;
        slot_of[me] = at;
        announce(at, 2);
        joined[me] = true;
        do
        ::
#ifndef BROKEN_SEEN
            seen = change;
#endif
            seen_deaths = deaths;
            seen_late = late;
            other = owner[1 - at];
            others_wish = wanted[1 - at];
            allowed[me] = (other == 0 || others_wish == 0 -> 2 : 1);
#ifdef BROKEN_SEEN
            seen = change;
#endif
end_asleep:
#ifdef BROKEN_TIME
            change != seen || deaths != seen_deaths
#else
            change != seen || deaths != seen_deaths || late != seen_late
#endif
        od
    }
    unless { dead[me] }
}

/* Both have done what they do, and both watchdogs sleep or have ended. */
active proctype checks()
{
    run watchdog(1);
    run watchdog(2);
    if
    :: run root(1)
    :: run root(2)
    fi;
    run killer();
    timeout;
#ifdef LOST
    late = true;
    timeout;
#endif
    assert(dead[1] || slot_of[1] != slot_of[2]);
    assert(dead[1] == (owner[1 - slot_of[2]] == 0));
    assert(allowed[2] == (dead[1] || wanted[1 - slot_of[2]] == 0 -> 2 : 1));
    assert(dead[1] || allowed[1] == (wanted[slot_of[2]] == 0 -> 2 : 1))
}
