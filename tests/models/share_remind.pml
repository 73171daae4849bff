/* A process that lends processors, and its regions, which remind it to ask for them (publish_wanted and share_open in
 * src/psthreads/park/share.c, quota_park_remind in quota_park.c).
 *
 * The root opens REGIONS regions, the watchdog looks LOOKS times. There are two processors: outside of a region the
 * process wants one, in a region two. In the code `due` also becomes true after 100 ms; here it does not, so no region
 * is helped by that. The members of a region are there before the root says so. (In the code they come a little later;
 * for SHARE_HOLD_NS a look does not shrink what is wanted.)
 * Checked: a region that lasts until a look has begun and ended has what it wants. A region that opens while no look is
 * under way has it at once. So a reminder that is lost to a look costs its region the time until the next look, and
 * costs later regions nothing. Sequentially consistent: `lends` and `due` are, and `wanted` is written before `lends`.
 *   BROKEN_ORDER   the watchdog writes `wanted` behind `lends` and `due`
 *   BROKEN_ONCE    a look makes a reminder due only if the process did not lend before
 *   BROKEN_FENCE   the root reads `lends` before its store to `due` is visible
 *   BROKEN_COUNT   a look believes what is wanted, and does not count */
#ifndef REGIONS
#define REGIONS 3
#endif
#ifndef LOOKS
#define LOOKS 4
#endif

byte wanted = 2, demand = 1; /* demand: what a look counts */
bool lends, due;
byte begun, ended; /* looks */

inline look_at_wish(known)
{
    if
    :: known && wanted < 2 -> wanted = 2
    :: else
    fi
}

active proctype root()
{
    byte n, seen;
    bool quiet, known;
    do
    :: n == REGIONS -> break
    :: n < REGIONS ->
        n++;
        demand = 2;
        atomic { seen = begun; quiet = begun == ended }
        if
        :: due ->
#ifdef BROKEN_FENCE
            known = lends;
            due = false;
#else
            due = false;
            known = lends;
#endif
            look_at_wish(known)
        :: !due
        fi;
        atomic { assert(!quiet || begun != seen || wanted == 2) }
        if
        :: true /* a short region */
        :: atomic { seen = begun };
            if
            :: ended > seen -> assert(wanted == 2)
            :: ended == LOOKS /* none comes any more */
            fi
        fi;
        demand = 1
    od
}

active proctype watchdog()
{
    byte n, published, own = 2;
    do
    :: begun == LOOKS -> break
    :: begun < LOOKS ->
        begun++;
        published = wanted;
#ifdef BROKEN_COUNT
        n = (published > own -> published : 1);
#else
        n = demand;
        n = (published > n && published > own -> published : n);
#endif
        if
        :: own = n
        :: n < own /* SHARE_HOLD_NS have not passed */
        fi;
#ifdef BROKEN_ORDER
        lends = own < 2;
        due = (own < 2 -> true : due);
        wanted = own;
#else
        wanted = own;
#ifdef BROKEN_ONCE
        due = (own < 2 && !lends -> true : due);
        lends = own < 2;
#else
        lends = own < 2;
        if
        :: own < 2 -> due = true
        :: else
        fi;
#endif
#endif
        ended++
    od
}
