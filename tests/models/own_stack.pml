/* A member that has a dedicated kernel thread D begins there in each region, on a stack U that it keeps
 * (src/psthreads/vp/own_stack.h), whichever thread begins it.
 *
 * A parent opens REGIONS regions with this member. Where it sees that the member has D, it begins the member there. Or
 * a vp claims it, does the same or runs it, goes on with the team for a while, and drops its references. In some region
 * the member asks for the bounds of its stack, on a stack that is its own (FIRST) or is not (NEXT). Or another thread
 * dedicates D to it, at any moment. A member may wait in the middle of its body, until another thread readies it. At
 * its end it may become a helper, which begins as the member does. At the end the parent retires D and takes U.
 * `pinned` is D's slot: BEGINS, the member without a stack; GOES_ON, the member's saved context. Checked: once it has
 * asked the member runs on the same stack. No thread is pinned to D while another is. No two threads run in the
 * member's name at once. The vp does not look at a closed region. U is given back when D has left it. Each region ends
 * (invalid end state).
 *   BROKEN_REFER    the vp has no reference of its own while it goes on
 *   BROKEN_HELP     the member counts itself out before it begins as its helper
 *   BROKEN_KEEP     that the member has D is written after it has counted itself out, where it asks
 *   BROKEN_WAKE     D takes `wake` back after it has looked at `pinned`
 *   BROKEN_SLEEPS   D looks at `pinned`, then says that it sleeps
 *   BROKEN_PIN      D, which has a stack for the member now, does not pin it to itself again
 *   BROKEN_BACK     the parent gives U back before D has ended
 *   BROKEN_LOOP     the member of state FIRST ends in the frame below it, as others do */
#ifndef REGIONS
#define REGIONS 3
#endif

#define NOTHING 0
#define BEGINS 1
#define GOES_ON 2

#define NATIVE 0 /* where D stands */
#define ON_U 1
#define GONE 2

byte left;       /* of the team: references, and the member's assistant */
bool open;       /* a region is */
bool claim;      /* the member is to be claimed */
bool queued;     /* the member's assistant is in a queue */
byte pinned;     /* D's */
bool sleeps, wake, ends; /* D's */
byte stands = NATIVE;
bool dedicated, own;  /* of the member's block: it has D, and U */
bool asked, runs; /* the member has asked; it runs */
bool waits;       /* the member waits for a thread to ready it */
bool took_over;   /* FIRST: D has gone to U with the member */
bool helped;        /* the member was a helper in this region */
bool given_back;

inline pin(what)
{
    atomic { assert(pinned == NOTHING); pinned = what };
    if
    :: sleeps -> wake = true
    :: else
    fi
}

/* It may look again as often as it likes before that: it spins. */
inline await_pinned()
{
    do
    :: pinned != NOTHING || ends -> break
    :: else ->
#ifdef BROKEN_SLEEPS
        if
        :: pinned == NOTHING -> sleeps = true; wake
        :: else -> sleeps = true
        fi;
        sleeps = false;
        wake = false
#else
        sleeps = true;
#ifdef BROKEN_WAKE
        wake = false;
#endif
        if
        :: pinned == NOTHING -> wake /* parked, where it is 0 */
        :: else
        fi;
        sleeps = false;
#ifndef BROKEN_WAKE
        wake = false
#endif
#endif
    od
}

/* its reference, or that of its assistant */
inline count_out() { atomic { assert(left > 0 && open); left-- } }

inline body_begins(here)
{
    atomic { assert(!runs && open); assert(!asked || here); runs = true }
}

/* The member is called on U, by D's loop. */
inline call_on_U()
{
    body_begins(true);
    if
    :: true -> /* it waits: D waits below it */
        waits = true;
        await_pinned();
        atomic { assert(pinned == GOES_ON); pinned = NOTHING }
    :: true
    fi;
    end_on_U()
}

inline end_on_U()
{
    runs = false;
    if
    :: !helped -> /* its identity becomes a helper's */
        helped = true;
#ifdef BROKEN_HELP
        count_out();
        atomic { left++; assert(pinned == NOTHING); pinned = BEGINS }
#else
        atomic { assert(pinned == NOTHING); pinned = BEGINS }
#endif
    :: true ->
#ifdef BROKEN_KEEP
        count_out();
        dedicated = true
#else
        count_out()
#endif
    fi
}

proctype own_thread()
{
    byte t;
    /* on its native stack, or with the member on the stack that becomes U */
    do
    :: stands == NATIVE ->
        if
        :: atomic { took_over -> stands = ON_U };
            end_on_U(); /* FIRST */
#ifdef BROKEN_LOOP
            stands = NATIVE
#else
            skip
#endif
        :: atomic { !took_over && (pinned != NOTHING || ends) -> t = pinned; pinned = NOTHING };
            if
            :: t == NOTHING -> break
            :: t == BEGINS -> /* NEXT: it gets U */
                assert(dedicated && !own);
                own = true;
#ifndef BROKEN_PIN
                pinned = t;
#endif
                stands = ON_U
            fi
        fi
    :: stands == ON_U ->
        await_pinned();
        atomic { t = pinned; pinned = NOTHING };
        if
        :: t == NOTHING -> stands = NATIVE; break
        :: t == BEGINS -> call_on_U()
        :: t == GOES_ON -> assert(false)
        fi
    od;
    assert(!given_back);
    stands = GONE
}

/* The vp runs the member, or its helper: it ends, and may become a helper. */
inline end_here()
{
    runs = false;
    if
    :: !helped ->
        helped = true;
        if
        :: dedicated -> pin(BEGINS)
        :: else -> queued = true
        fi
    :: true -> count_out()
    fi
}

proctype vp()
{
end:
    do
    :: atomic { queued -> queued = false };
        body_begins(false);
        end_here()
    :: atomic { claim -> claim = false };
        if
        :: dedicated ->
#ifndef BROKEN_REFER
            left++;
#endif
            pin(BEGINS);
            assert(open); /* may another one be claimed? */
#ifndef BROKEN_REFER
            count_out()
#endif
        :: else ->
            body_begins(false);
            if
            :: !asked -> /* it asks, and is dedicated */
                asked = true;
#ifndef BROKEN_KEEP
                dedicated = true;
#endif
                if
                :: own = true; took_over = true /* with this stack it goes on on D */
                :: runs = false; count_out() /* goes on on D, and comes home */
                fi
            :: true -> end_here()
            fi
        fi
    od
}

proctype readier()
{
end:
    do
    :: atomic { waits -> waits = false }; pin(GOES_ON)
    od
}

proctype dedicator() { dedicated = true }

proctype parent()
{
    byte region;
    for (region : 1 .. REGIONS) {
        atomic { left = 1; open = true; helped = false };
        if
        :: dedicated -> pin(BEGINS)
        :: claim = true
        fi;
        atomic { left == 0 -> open = false }
    };
    ends = true;
    wake = true;
#ifndef BROKEN_BACK
    stands == GONE;
#endif
    given_back = true
}

init
{
    atomic { run own_thread(); run vp(); run readier(); run parent(); run dedicator() }
}
