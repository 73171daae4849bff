/* Member 0 has a helper while its parent, a root, is suspended below a member (src/psthreads/team/recall.h): nothing
 * else is in the parent's block when the assistant or the parent is, and nothing waits for ever.
 *
 * The member asks for member 0 up to ASKS times, and then its body returns. The root's vp runs what is pinned to it:
 * the assistant, or the root's own context when that has come home. The assistant may block once in the middle, and is
 * pinned again by the thread that readies it. That the member becomes dedicated is left out: it stands on a kernel
 * thread of its own from the start. With INNER the parent is a member of an outer team: any vp runs it, and the
 * assistant. Checked: the block has one user at a time; one thing at a time is pinned to the root's vp; nothing sleeps
 * for ever (invalid end state).
 *   BROKEN_WAIT     the member goes home without a look at first_helper
 *   BROKEN_SWAP     the member stores itself into first_helper, whatever is there
 *   BROKEN_READY    the assistant stores 0, and readies no member
 *   BROKEN_EARLY    the assistant gives the identity back before it has left the block
 *   BROKEN_TWICE    the member asks while there is a helper */
#ifndef ASKS
#define ASKS 2
#endif

#define NO_THREAD 0
#define HELPER 1
#define AWAITED 2

#define NOTHING 0
#define ASSISTANT 1
#define BLOCKED 2 /* the assistant, which has been readied */
#define ROOT 3

byte first_helper = NO_THREAD, pinned = NOTHING, in_block;
bool member_ready, blocks, home, ended;

inline pin(what)
{
    atomic {
        assert(pinned == NOTHING);
        pinned = what
    }
}

active proctype member()
{
    byte asked = 0;
    do
    :: asked < ASKS ->
        asked++;
#ifdef BROKEN_TWICE
        first_helper = HELPER;
        pin(ASSISTANT)
#else
        if
        :: first_helper == NO_THREAD ->
            first_helper = HELPER;
            pin(ASSISTANT)
        :: else -> skip
        fi
#endif
    :: break
    od;
#ifndef BROKEN_WAIT
    if
    :: first_helper == NO_THREAD -> skip
    :: else ->
#ifdef BROKEN_SWAP
        first_helper = AWAITED;
        member_ready
#else
        bool swapped = false;
        atomic {
            if
            :: first_helper == HELPER -> first_helper = AWAITED; swapped = true
            :: else -> skip
            fi
        }
        if
        :: swapped -> member_ready
        :: else -> skip
        fi
#endif
    fi;
#endif
#ifdef INNER
    home = true
#else
    pin(ROOT) /* the context goes home */
#endif
}

inline give_back()
{
#ifdef BROKEN_READY
    first_helper = NO_THREAD
#else
    byte was;
    atomic { was = first_helper; first_helper = NO_THREAD }
    if
    :: was == AWAITED -> member_ready = true
    :: else -> skip
    fi
#endif
}

inline assist_on()
{
#ifdef BROKEN_EARLY
    give_back();
    in_block--
#else
    in_block--;
    give_back()
#endif
}

active proctype root_vp()
{
    byte what;
    do
    :: pinned != NOTHING ->
        atomic { what = pinned; pinned = NOTHING }
        if
        :: what == ASSISTANT ->
            in_block++;
            assert(in_block == 1);
            if
            :: blocks = true /* the block stays its own: others run here meanwhile */
            :: assist_on()
            fi
        :: what == BLOCKED -> assist_on()
        :: what == ROOT ->
            assert(in_block == 0);
            ended = true
        fi
    :: ended && pinned == NOTHING -> break
    od
}

#ifdef INNER
active proctype parent()
{
    home;
    assert(in_block == 0);
    ended = true
}
#endif

/* Readies the assistant that has blocked. */
active proctype somebody()
{
end:
    do
    :: blocks ->
        blocks = false;
        pin(BLOCKED)
    :: ended -> break
    od
}
