/* Parking of virtual processors (src/psthreads/vp/idle.h, idle.c): no wake-up is lost, and each piece of work wakes
 * a vp that can run it.
 *
 * ITEMS inserters make one piece of work ready each, in any queue. Checked: when nothing can move any more, all work
 * was taken, no vp is counted as searching and every vp as parked. Unless WEAK is defined, a piece of work keeps its
 * vp until all were taken. So it is not enough that some vp comes to the work by and by. Each insertion must find a vp
 * of its own while others are busy (work conservation).
 *
 * Everything is sequentially consistent here, as the operations on the word, the bits and the pinned slot are in the
 * source, with one exception: the inserter's load of the word is relaxed. This load may come before the insertion can
 * be seen, but not before the queue was locked; so the model makes it inside the locked section or after it, as it
 * happens. Other sections under a queue's lock are one step, since they touch that queue alone. A thief may find the
 * lock held and pass the queue over.
 *   PINNED         one more piece of work, which vp 0 alone may run (needs WEAK)
 *   BROKEN_LOOK    a vp that parks does not look at the queues again
 *   BROKEN_ORDER   it looks, and then says that it parks
 *   BROKEN_LAST    the last searcher that found work does not look for more
 *   BROKEN_EARLY   the inserter reads the word before it locks the queue
 *   BROKEN_LOCK    the last look does not take the queues' locks
 *   BROKEN_PINNED  the last look passes the pinned slot over */
#ifndef VPS
#define VPS 2
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifdef PINNED
#define ALL (ITEMS + 1)
#else
#define ALL ITEMS
#endif

byte queue[VPS];     /* number of entries */
bool locked[VPS];    /* by an inserter */
byte searching, parked;
bool bit_of[VPS], wake_word[VPS], pinned[VPS];
byte taken;

inline bit_take(v) { atomic { got = bit_of[v]; bit_of[v] = false } }
inline wake_taken(v) { atomic { searching++; parked-- }; wake_word[v] = true }

inline wake_one(near)
{
    bit_take(near);
    if
    :: got -> wake_taken(near)
    :: else ->
        do
        :: atomic {
               pick = 0;
               do
               :: pick < VPS && !bit_of[pick] -> pick++
               :: else -> break
               od
           };
           if
           :: pick == VPS -> break
           :: else ->
               bit_take(pick);
               if
               :: got -> wake_taken(pick); break
               :: else
               fi
           fi
        od
    fi;
    pick = 0
}

/* Some work that anybody could take: some = true. */
inline look_everywhere()
{
    some = false;
#ifndef BROKEN_PINNED
    some = pinned[me];
#endif
    i = 0;
    do
#ifdef BROKEN_LOCK
    :: i < VPS && !some -> some = queue[i] > 0; i++
#else
    :: i < VPS && !some -> atomic { !locked[i] -> some = queue[i] > 0 }; i++
#endif
    :: else -> break
    od;
    i = 0
}

/* Own pinned context, own queue, then the others' (each may be passed over): found = true. */
inline take_any()
{
    found = false;
    atomic { if :: pinned[me] -> pinned[me] = false; found = true :: else fi };
    i = 0;
    do
    :: i < VPS && !found ->
        if
        :: atomic { queue[(me + i) % VPS] > 0 && !locked[(me + i) % VPS] -> queue[(me + i) % VPS]--; found = true }
        :: atomic { queue[(me + i) % VPS] == 0 || i > 0 -> skip }
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

inline park()
{
#ifdef BROKEN_ORDER
    look_everywhere();
    if
    :: some
    :: else ->
        atomic { searching--; parked++ };
        bit_of[me] = true;
end_asleep_o:
        atomic { wake_word[me] -> wake_word[me] = false }
    fi
#else
    atomic { searching--; parked++ };
    bit_of[me] = true;
#ifdef BROKEN_LOOK
    some = false;
#else
    look_everywhere();
#endif
    got = false;
    if
    :: some -> bit_take(me)
    :: else
    fi;
    if
    :: got -> atomic { searching++; parked-- }
    :: else ->
end_asleep:
        atomic { wake_word[me] -> wake_word[me] = false }
    fi
#endif
}

proctype vp(byte me)
{
    bool got, some, found;
    byte i, pick;
    do
    :: take_any();
       if
       :: found
       :: else ->
           searching++;
           do
           :: take_any();
              if
              :: found -> break
              :: else -> park()
              fi
           od;
           /* search_end */
           atomic { searching--; some = searching == 0 && parked != 0 };
#ifndef BROKEN_LAST
           if
           :: some ->
               look_everywhere();
               if
               :: some -> wake_one(me)
               :: else
               fi
           :: else
           fi
#endif
       fi;
       atomic { found = false; some = false; got = false; taken++ };
#ifndef WEAK
       taken == ALL
#endif
    od
}

proctype inserter()
{
    byte q, pick, s, p;
    bool got;
    atomic { select(q : 0 .. VPS - 1) };
#ifdef BROKEN_EARLY
    atomic { s = searching; p = parked };
    atomic { !locked[q] -> locked[q] = true };
    atomic { queue[q]++; locked[q] = false };
#else
    atomic { !locked[q] -> locked[q] = true };
    if
    :: atomic { s = searching; p = parked }; atomic { queue[q]++; locked[q] = false }
    :: atomic { queue[q]++; locked[q] = false }; atomic { s = searching; p = parked }
    fi;
#endif
    if
    :: p != 0 && s == 0 -> wake_one(q)
    :: else
    fi
}

proctype pinner()
{
    bool got;
    pinned[0] = true;
    bit_take(0);
    if
    :: got -> wake_taken(0)
    :: else
    fi
}

proctype judge()
{
    timeout -> assert(taken == ALL && searching == 0 && parked == VPS)
}

init {
    byte k;
    atomic {
        for (k : 0 .. VPS - 1) { run vp(k) }
        for (k : 1 .. ITEMS) { run inserter() }
#ifdef PINNED
        run pinner();
#endif
        run judge()
    }
}
