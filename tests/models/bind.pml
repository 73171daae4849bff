/* Members bound to places (src/psthreads/ready/bind.h, bind.c, with idle.c and watchdog_tick.c): what is ready in a
 * place's queue comes to run, on a kernel thread that stands in that place.
 *
 * Vp v is at home in place v; with GUEST one more vp, a guest's, looks into every place's queue. ITEMS inserters make
 * one member ready each, in any place. What runs a member keeps its kernel thread until all have run, as members do
 * that wait for one another without a scheduling point. So a second member of a place whose home is held needs another
 * vp. Only the watchdog can send one there: it opens the places' queues to every vp, and starts a spare where no vp is
 * idle. Checked: each member runs in its place, and when nothing can move any more all have run.
 *
 * Sections under a queue's lock are one step, since they touch no other queue; bits, `open` and wake words are
 * sequentially consistent in the source too. The watchdog's clock is left out: a home that holds its processor is seen
 * at any moment. Its rounds are counted: two for a member must do (in the source it comes again and again).
 *   REFUSED        the system refuses the kernel thread of vp 1, which is only known when a thread wakes it
 *   BROKEN_LOOK    a vp that parks does not look into its places' queues again
 *   BROKEN_ORDER   it looks, and then says that it parks
 *   BROKEN_EARLY   the inserter looks for a vp to wake before it inserts
 *   BROKEN_ARM     an inserter that finds no vp to wake does not arm the watchdog
 *   BROKEN_OPEN    the watchdog starts a spare or wakes a vp, but does not open the queues
 *   BROKEN_LOST    a refused home leaves the queues closed, and the watchdog does not take it for stuck
 *   BROKEN_MIGRATE a vp that takes a member of another place does not move there */
#ifndef PLACES
#define PLACES 2
#endif
#ifndef ITEMS
#define ITEMS 2
#endif
#ifdef GUEST
#define VPS (PLACES + 1)
#else
#define VPS PLACES
#endif
#define SPARE VPS
#define NOWHERE 255

byte queue[PLACES];
bool bit_of[VPS], wake_word[VPS], held[VPS], refused[VPS];
bool open, armed, spare_wanted;
byte ran;

inline wake_taken(v)
{
#ifdef REFUSED
    if
    :: v == 1 ->
#ifndef BROKEN_LOST
        open = true;
        refused[1] = true;
#endif
        got = false
    :: else -> wake_word[v] = true
    fi
#else
    wake_word[v] = true
#endif
}

inline try_wake(v)
{
    atomic { got = bit_of[v]; bit_of[v] = false };
    if
    :: got -> wake_taken(v)
    :: else
    fi
}

/* Any parked vp: got = true. */
inline wake_anybody()
{
    got = false;
    do
    :: v < VPS && !got -> try_wake(v); v++
    :: atomic { else -> v = 0; break }
    od
}

inline wake_for(p)
{
    try_wake(p);
#ifdef GUEST
    if
    :: !got -> try_wake(PLACES)
    :: else
    fi;
#endif
    if
    :: !got && open -> wake_anybody()
    :: else
    fi;
#ifndef BROKEN_ARM
    if
    :: !got -> armed = true
    :: else
    fi
#endif
}

/* Runs one member of the place in which it was found: found = true. */
inline take_any(every)
{
    found = NOWHERE;
    do
    :: atomic {
           p < PLACES && found == NOWHERE ->
           if
           :: (every || open || p == me) && queue[p] > 0 -> queue[p]--; found = p
           :: else
           fi;
           p++
       }
    :: atomic { else -> p = 0; break }
    od
}

inline run_it()
{
#ifdef BROKEN_MIGRATE
    if
    :: here == NOWHERE -> here = found
    :: else
    fi;
#else
    here = found;
#endif
    atomic {
        assert(here == found); found = NOWHERE; here = NOWHERE; ran++;
        if :: me < VPS -> held[me] = true :: else fi
    };
    ran == ITEMS
}

/* Is there something for this vp? some = true. */
inline look(every)
{
    some = false;
    do
    :: atomic { p < PLACES && !some -> some = (every || open || p == me) && queue[p] > 0; p++ }
    :: atomic { else -> p = 0; break }
    od
}

inline park(every)
{
#ifdef BROKEN_ORDER
    look(every);
    bit_of[me] = !some;
#else
    bit_of[me] = true;
    look(every);
#endif
#ifdef BROKEN_LOOK
    some = false;
#endif
    got = false;
    if
    :: some -> atomic { got = bit_of[me]; bit_of[me] = false }
    :: else
    fi;
#ifdef BROKEN_ORDER
    got = some;
#endif
    if
    :: atomic { got -> got = false; some = false }
    :: else ->
end_asleep:
        atomic { wake_word[me] -> wake_word[me] = false; some = false }
    fi
}

/* Its kernel thread stands at home from the start: what ran there before. */
proctype vp(byte me; bool every)
{
    byte found, p, here;
    bool got, some;
    here = me;
    do
    :: take_any(every);
       if
       :: found != NOWHERE -> run_it(); break
       :: else -> park(every)
       fi
    od
}

proctype spare(byte me)
{
    byte found, p, here = NOWHERE;
end_unused:
    do
    :: atomic { spare_wanted -> spare_wanted = false };
       take_any(true);
       if
       :: found != NOWHERE -> run_it(); break
       :: else
       fi
    od
}

proctype inserter()
{
    byte q, v;
    bool got;
    select(q : 0 .. PLACES - 1);
#ifdef BROKEN_EARLY
    wake_for(q);
    queue[q]++
#else
    queue[q]++;
    wake_for(q)
#endif
}

/* A place with something ready and a home that cannot come. */
#define starves(p) (queue[p] > 0 && (held[p] || refused[p]))

proctype watchdog()
{
    byte v, rounds;
    bool got;
end_calm:
    do
    :: atomic { armed && (starves(0) || starves(1)) && rounds < 2 * ITEMS -> rounds++ };
#ifndef BROKEN_OPEN
       open = true;
#endif
       wake_anybody();
       if
       :: !got && !spare_wanted -> spare_wanted = true
       :: else -> got = false
       fi;
       /* the next look is a tick later: a vp that was woken or started has had its look */
       atomic { queue[0] + queue[1] == 0 || ((starves(0) || starves(1)) && !spare_wanted) -> skip }
    od
}

proctype judge()
{
    timeout -> assert(ran == ITEMS)
}

init {
    byte k;
    atomic {
        for (k : 0 .. PLACES - 1) {
#ifdef REFUSED
            if
            :: k == 1 -> bit_of[1] = true
            :: else -> run vp(k, false)
            fi
#else
            run vp(k, false)
#endif
        }
#ifdef GUEST
        run vp(PLACES, true);
#endif
        run spare(SPARE);
        for (k : 1 .. ITEMS) { run inserter() }
        run watchdog();
        run judge()
    }
}
