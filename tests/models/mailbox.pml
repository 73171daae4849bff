/* A vp's mailbox (src/psthreads/mail.h, team.c, idle.c): a member that is mailed is run once, by the vp or by the
 * parent that takes it back; a mail that nobody takes back is not slept over.
 *
 * The parent mails a member for each of REGIONS regions, if the mailbox is open, then joins: it waits, or (IMPATIENT)
 * may take the mail back and run the member itself. Somebody else puts ITEMS things into the vp's queue, which the vp
 * may take only with its mailbox closed.
 *   BROKEN_LOOK    the vp does not look at its mailbox again after it has said that it parks
 *   BROKEN_OPEN    the vp takes from its queue with the mailbox open
 *   BROKEN_TAKE    the vp takes its mail by load and store
 *   BROKEN_WAKE    who mails looks whether the vp is parked before it mails */
#ifndef REGIONS
#define REGIONS 2
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
#define BUSY 0
#define IDLE 1 /* and 2 + r: the member of region r */

byte mail = IDLE, queue;
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
        m = mail;
        if
        :: m > IDLE ->
#ifdef BROKEN_TAKE
            mail = BUSY;
            found = true;
#else
            atomic {
                if
                :: mail == m -> mail = BUSY; found = true
                :: else
                fi
            };
#endif
            if
            :: found -> run_it(m - 2); mail = IDLE
            :: else
            fi
        :: else ->
            if
            :: queue > 0 ->
#ifndef BROKEN_OPEN
                atomic {
                    if
                    :: mail == IDLE -> mail = BUSY; found = true
                    :: else
                    fi
                };
#else
                found = true;
#endif
                if
                :: found -> queue--; items_run++; mail = IDLE
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
            was = queue > 0 || mail > IDLE;
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
    bool mailed, was;
    for (r : 0 .. REGIONS - 1) {
#ifdef BROKEN_WAKE
        wake_this();
#endif
        atomic {
            mailed = mail == IDLE;
            if
            :: mailed -> mail = 2 + r
            :: else
            fi
        };
        if
        :: mailed ->
#ifndef BROKEN_WAKE
            wake_this();
#endif
            do
            :: ran[r] == 1 -> break
#ifdef IMPATIENT
            :: atomic { mail == 2 + r -> mail = IDLE }; run_it(r); break
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
