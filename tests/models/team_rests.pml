/* A thread's dedicated kernel thread D stands in the thread's block in two cases: while no region of its team is open,
 * and while the member's body has returned in this one (src/psthreads/vp/vp_tls.c, ps_team_rests; thread_signal.h). No
 * other thread is in the block then, and D looks at no team that has been given back.
 *
 * The opener opens REGIONS regions, each by a store of `left` that may lie in its store buffer, and runs the member.
 * The member begins by a look whether it has a kernel thread of its own (ps_dedicate_again). Where it has none it
 * enters its block; else it is D's to run, and waits until D has left. When its body has returned it sets done_in,
 * which a helper takes, and enters the block in the same way. The end of both is seen by all. `done` stands for done_in
 * == region; so it is cleared with the store of `left`, behind that of the region's number. Before the last region a
 * larger team takes the block over, and the first team is given back. A sender starts D at any moment. D looks LOOKS
 * times. Checked: D and the member are not in the block at once; D reads `left` of a team that is there.
 *
 * Why it holds. A vp that begins as the member in a region that opens later, or as its helper, sees uth_tls.dedicated:
 * D has set `dedicated` and cleared `cached` before it looks. D's fence makes a parent that has not been seen to open
 * its region (`left`) see both, and a vp that claims a member comes after the parent. The fence makes a thread that has
 * not been seen to take the identity (done_in) see both as well.
 *
 *   BROKEN_FENCE    D has no fence for all kernel threads before it reads `left`
 *   BROKEN_KNOWN    D is known to the thread only after its look
 *   BROKEN_COUNT    D counts itself among the lookers when it has read which team it is
 *   BROKEN_GIVE     the team is given back without a look at the lookers */
#ifndef REGIONS
#define REGIONS 3
#endif
#ifndef LOOKS
#define LOOKS 2
#endif

byte left[2], done[2], buffered[2]; /* of the two teams; buffered: a store of 1 that is not seen yet */
bool given_back[2];
byte team;    /* of the block */
byte lookers;
bool dedicated;   /* the thread knows its dedicated kernel thread */
byte in_block;
bool p_inside;
bool pinned; /* the member's context, to D */

inline be_inside()
{
    atomic { in_block++; assert(in_block == 1 && !p_inside) };
    in_block--
}

inline flush()
{
    atomic {
        if
        :: buffered[0] -> buffered[0] = 0; left[0] = 1; done[0] = 0
        :: else
        fi;
        if
        :: buffered[1] -> buffered[1] = 0; left[1] = 1; done[1] = 0
        :: else
        fi
    }
}

inline begin_as_member()
{
    own = dedicated;
    if
    :: own -> pinned = true; !pinned /* D has run it */
    :: else -> be_inside()
    fi
}

active proctype store_buffer()
{
end:
    do
    :: atomic { buffered[0] || buffered[1] -> flush() }
    od
}

active proctype opener()
{
    byte r, t;
    bool own;
    do
    :: r < REGIONS ->
        if
        :: r == REGIONS - 1 -> /* to a larger one: a store that all see (seq_cst) */
            flush();
            team = 1;
#ifndef BROKEN_GIVE
            lookers == 0;
#endif
            given_back[0] = true;
            t = 1
        :: else
        fi;
        buffered[t] = 1;
        begin_as_member();
        flush();
        done[t] = 1;
        done[t] = 0; /* by compare-and-swap */
        begin_as_member();
        left[t] = 0;
        r++
    :: else -> break
    od
}

active proctype p()
{
    byte looks, t;
    bool rests;
#ifndef BROKEN_KNOWN
    dedicated = true;
#endif
end:
    do
    :: pinned -> be_inside(); pinned = false
    :: looks < LOOKS ->
        looks++;
#ifdef BROKEN_COUNT
        t = team;
        lookers++;
#else
        lookers++;
        t = team;
#endif
#ifndef BROKEN_FENCE
        flush();
#endif
        atomic {
            assert(!given_back[t]);
            rests = left[t] == 0 || done[t]
        };
        lookers--;
        if
        :: rests ->
            atomic { assert(in_block == 0); p_inside = true };
            p_inside = false
        :: else
        fi;
        dedicated = true
    od
}
