/* A root is released from its kernel thread, its home, and comes home again (src/psthreads/ready/home.h).
 *
 * R is the root's storage, and at first the one of home's loop. E is a storage for home's loop only. The root opens
 * REGIONS regions, in each of which it waits WAITS times, and joins a member that home runs. The member may spin until
 * the root has gone on. A worker X runs the root while that is away. A visitor, the root's dedicated kernel thread,
 * comes into R below the root's saved context, for a signal. A handler on home needs no process of its own: it is home,
 * which stays a while where it is. In home's loop in R it runs as the root. Stores of home's are seen late, in order:
 * `buffer`. They are seen when home makes a read-modify-write, or publishes the root by one; and at the fence for all
 * kernel threads.
 *
 * Checked: of home, X and the visitor one at most has its thread pointer in R. The root ends on home, bound to it, in
 * R. Its wake-ups are not lost, and no thread waits for ever (invalid end state).
 *
 * Why it holds.
 * 1. Home's loop is in R or in E. Home leaves a block in this order: run.tls = NULL, then the load of run.own_tp. The
 *    releaser: run.own_tp = E, fence, load of run.tls. If the load finds a member's block, then home's next store of
 *    NULL comes behind the fence, and so does its load of own_tp: home goes to E. If home has loaded the old own_tp,
 *    its NULL is seen behind the fence: nothing is released. The loop in R takes the pinned root itself, since it holds
 *    nothing. Home enters a block in this order: the thread pointer, then run.tls. So a block in run.tls tells that
 *    home has left R. own_tp stays E's for good: what was found free once stays free, for all later releases and
 *    visitors.
 * 2. If run.tls is NULL, home may be in R or in E. Home itself says when it is in E, before it parks: was_out, for
 *    good.
 * 3. One thread has the root: it is in the slot, or in a queue, or with the one that took it out by exchange. So the
 *    releaser may look at home in peace, clear uth.vp, and enqueue; in this order, for the thread that takes the root
 *    next reads uth.vp, or binds it anew. Meanwhile home may have found the slot empty, and may be parked: a refused
 *    release pins the root as a waker does, store first, then the look whether home is parked.
 * 4. The root may be readied, and even released, while home or X is still about to leave its stack. A kernel thread
 *    that leaves goes into another storage first, and then clears uth.running. The one that takes the root waits for
 *    that.
 * 5. The visitor sets uth.visited, fences, and reads uth.running. A carrier sets running, then reads visited. One of
 *    the two sees the other. So no carrier enters R beside the visitor, and home's loop is not there by 1 and 2.
 * 6. The root that comes home binds its context before it is pinned. Home is in a block of the root's own regions at
 *    most, and these have ended: home leaves it without the root's help. So the root comes home without a release. If
 *    it is released on its way all the same, it finds itself away, and goes on so, or tries again where it has to be
 *    home. AGAIN: how often that is done to it here.
 *
 *   BROKEN_FENCE    the releaser makes no fence
 *   BROKEN_OWN      it changes run.own_tp when it has looked
 *   BROKEN_LOOK     it does not look at home behind the fence
 *   BROKEN_UNDO     a refused release gives run.own_tp back
 *   BROKEN_TAKE     the releaser takes the root out of the slot when it has looked, by a store
 *   BROKEN_BOUND    it enqueues the root before it clears uth.vp
 *   BROKEN_WAKE     a refused release does not wake home
 *   BROKEN_LEAVE    home reads run.own_tp, and then writes run.tls
 *   BROKEN_ENTER    home writes run.tls, and then changes its thread pointer
 *   BROKEN_OUT      home says that it is in E where run.own_tp is E's
 *   BROKEN_RUNNING  a kernel thread that leaves the root clears uth.running while it is in R
 *   BROKEN_SAVED    a kernel thread that takes the root does not wait for uth.running
 *   BROKEN_AWAIT    a carrier does not wait for a visitor
 *   BROKEN_VISIT    the visitor makes no fence
 *   BROKEN_FREE     the visitor does not look at home
 *   BROKEN_AGAIN    the root does not look whether it has come home
 *   BROKEN_TREE     home runs a thread that is not of the root's regions, and that spins for what the root does next */
#ifndef REGIONS
#define REGIONS 2
#endif
#ifndef WAITS
#define WAITS 1
#endif
#ifndef AGAIN
#define AGAIN 1
#endif
#ifndef VISITS
#define VISITS 1
#endif

#define NONE 0
#define R 1
#define E 2
#define M 3
#define OWN 4 /* X's own storage, the visitor's */

#define HOME 1
#define X 2

/* where the thread pointers are */
byte home_tp = R, x_tp = OWN, p_tp = OWN;

/* home's */
bool own_is_E;        /* run.own_tp */
bool leaves;          /* that has been seen by home: vp_home.leaves */
byte tls = R;         /* run.tls */
bool was_out;         /* vp_home.was_out */
bool parked, wake_word;
bool pinned;

/* the root's context */
bool running = true, visited, comes;
byte vp = HOME;
bool queued;

/* the root's program */
#define RUNS 0
#define JOINS 1
#define RETURNS 2
byte phase = RETURNS, waits, regions = REGIONS;
bool waiting, joining, member, member_returned, over;

/* home's stores that no other thread sees yet */
#define TLS 0
#define RUNNING 1
chan buffer = [4] of { byte, byte };

inline apply(var, value)
{
    if
    :: var == TLS -> tls = value
    :: var == RUNNING -> running = value
    fi;
    var = 0;
    value = 0
}
inline flush()
{
    do
    :: buffer ? var, value -> apply(var, value)
    :: empty(buffer) -> break
    od
}
inline fence() { atomic { flush() } }

inline enter_R(tp) { atomic { tp = R; assert((home_tp == R) + (x_tp == R) + (p_tp == R) == 1) } }

inline wake_home() { atomic { if :: parked -> parked = false; wake_word = true :: else fi } }
inline pin() { pinned = true; wake_home() }
inline ready()
{
    if
    :: vp == HOME -> pin()
    :: else -> queued = true
    fi
}

/* What `on` has stored is seen by those that see what it publishes next. */
inline publishes(on)
{
    if
    :: on == HOME -> flush()
    :: else
    fi
}

/* The root runs on the kernel thread `on`, until it goes it. */
inline root_runs(on)
{
    goes = false;
    do
    :: goes || over -> break
    :: !goes && phase == RUNS && waits > 0 ->
        atomic { publishes(on); waits--; waiting = true };
        goes = true
    :: !goes && phase == RUNS && waits == 0 ->
        phase = JOINS;
        atomic {
            publishes(on);
            if
            :: member_returned
            :: else -> joining = true; goes = true
            fi
        }
    :: !goes && phase == JOINS && on == HOME -> /* the region has ended */
        vp = HOME;
        comes = false;
        assert(home_tp == R);
        phase = RETURNS
    :: !goes && phase == JOINS && on != HOME ->
        if
#ifdef BROKEN_AGAIN
        :: comes -> comes = false; phase = RETURNS
#else
        :: comes && regions > 0 -> comes = false; phase = RETURNS /* released on its way: it goes on, away */
#endif
        :: else -> comes = true; vp = HOME; pin(); goes = true
        fi
    :: !goes && phase == RETURNS && !over ->
        if
        :: regions > 0 ->
            regions--;
            waits = WAITS;
            member_returned = on != HOME; /* others have run it */
            member = on == HOME;
            phase = RUNS
        :: else ->
            assert(on == HOME && vp == HOME);
            over = true
        fi
    od
}

inline leave_block()
{
#ifdef BROKEN_LEAVE
    e = own_is_E;
    buffer ! TLS, NONE;
#else
    buffer ! TLS, NONE;
    e = own_is_E;
#endif
    if
    :: e -> home_tp = E
    :: else -> enter_R(home_tp)
    fi;
    e = false
}
inline enter_member()
{
#ifdef BROKEN_ENTER
    buffer ! TLS, M;
    home_tp = M
#else
    home_tp = M;
    buffer ! TLS, M
#endif
}
/* Home has taken the root, and goes on with it. */
inline resume()
{
    if
#ifndef BROKEN_SAVED
    :: running || visited -> /* it hands the root back */
        if
        :: vp == HOME -> pinned = true
        :: else -> queued = true
        fi
    :: !running && !visited ->
#else
    :: true ->
#endif
        buffer ! RUNNING, true;
#ifndef BROKEN_AWAIT
        !visited;
#endif
        enter_R(home_tp);
        buffer ! TLS, R;
        at = R
    fi
}

active proctype home()
{
    byte at = R, var, value;
    bool goes, e, joins;
    do
    :: at == R ->
        root_runs(HOME);
        if
        :: over -> break
        :: atomic { !over && pinned -> flush(); pinned = false } /* readied before it left */
        :: !over && member ->
            member = false;
            enter_member();
            buffer ! RUNNING, false;
            at = M
        :: !over && !pinned ->
#ifdef BROKEN_RUNNING
            buffer ! RUNNING, false;
            leave_block();
#else
            leave_block();
            buffer ! RUNNING, false;
#endif
            at = E
        fi
    :: at == M ->
        if
        :: true
        :: phase != RUNS /* it spins for the root */
        fi;
        atomic { member_returned = true; joins = joining; joining = false };
        if
        :: joins -> ready()
        :: else
        fi;
        joins = false;
        if
        :: atomic { pinned && !running && !visited -> flush(); pinned = false }; resume()
        :: leave_block()
        fi;
        if
        :: at == M -> at = E
        :: else
        fi
    :: at == E -> /* its loop, in E or in R */
        if
        :: atomic { pinned -> flush(); pinned = false }; resume()
        :: atomic { queued -> flush(); queued = false }; resume()
        :: member -> member = false; enter_member(); at = M
#ifdef BROKEN_TREE
        :: enter_member(); over; break /* a foreign member that spins for what the root does later */
#endif
        :: !pinned && !member ->
            if
#ifdef BROKEN_OUT
            :: own_is_E -> was_out = true
#else
            :: home_tp == E -> was_out = true
#endif
            :: else
            fi;
            atomic { flush(); parked = true };
            if
            :: pinned ->
                if
                :: atomic { parked -> parked = false }
                :: atomic { wake_word -> wake_word = false }
                fi
            :: else -> atomic { wake_word -> wake_word = false }
            fi
        fi
    od
}

active proctype worker()
{
    bool goes;
    byte var, value;
end:
    do
    :: atomic { queued -> queued = false };
        if
#ifndef BROKEN_SAVED
        :: running || visited -> queued = true
        :: !running && !visited ->
#else
        :: true ->
#endif
            running = true;
#ifndef BROKEN_AWAIT
            !visited;
#endif
            enter_R(x_tp);
            root_runs(X);
#ifdef BROKEN_RUNNING
            running = false;
            x_tp = OWN
#else
            x_tp = OWN;
            running = false
#endif
        fi
    od
}

active proctype readier()
{
end:
    do
    :: atomic { waiting -> waiting = false }; ready()
    od
}

/* home_storage_free: free = home is in the block of a member, or in E, and will not be in R but for the root. */
inline look_at_home()
{
    if
    :: leaves
    :: else ->
#ifndef BROKEN_OWN
        own_is_E = true;
#endif
#ifndef BROKEN_FENCE
        fence();
#endif
        leaves = true
    fi;
    home_is = tls;
    free = (home_is == NONE -> was_out : home_is == M);
#ifdef BROKEN_OWN
    own_is_E = true;
#endif
#ifdef BROKEN_LOOK
    free = true
#endif
}

active proctype watchdog()
{
    bool free;
    byte home_is, var, value, again;
    do
    :: over -> break
    :: pinned && tls != NONE ->
#ifdef BROKEN_TAKE
        if
        :: pinned ->
#else
        if
        :: atomic { pinned -> pinned = false };
#endif
            look_at_home();
            if
            :: free && (!comes || again < AGAIN) ->
                again = (comes -> again + 1 : again);
#ifdef BROKEN_TAKE
                pinned = false;
#endif
#ifdef BROKEN_BOUND
                queued = true;
                vp = NONE
#else
                vp = NONE;
                queued = true
#endif
            :: else ->
#ifdef BROKEN_UNDO
                own_is_E = false;
                leaves = false;
#endif
#ifdef BROKEN_WAKE
                pinned = true
#else
                pin()
#endif
            fi
        :: else
        fi;
        free = false;
        home_is = NONE
    od
}

active proctype visitor()
{
    bool free;
    byte home_is, var, value, visits;
    do
    :: visits < VISITS ->
        visits++;
        if
        :: !running ->
            visited = true;
#ifndef BROKEN_VISIT
            fence();
#endif
            if
            :: !running ->
#ifdef BROKEN_FREE
                free = true;
#else
                look_at_home();
#endif
                if
                :: free -> enter_R(p_tp); p_tp = OWN
                :: else
                fi
            :: else
            fi;
            free = false;
            home_is = NONE;
            visited = false
        :: over
        fi
    :: else -> break
    od
}

active proctype memory()
{
    byte var, value;
end:
    do
    :: atomic { buffer ? var, value -> apply(var, value) }
    od
}
