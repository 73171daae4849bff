/* A vp that is woken elsewhere than on its waker's processor (src/psthreads/park/wake_spread.h, wake_spread.c): it runs
 * under its own mask alone.
 *
 * Two wakers wake a vp that parks SLEEPS times, each time as they like: as it is, or elsewhere. Checked: the mask is
 * the vp's own as it goes on, and stays so until it parks again. It is awake in the end, with its own mask. The
 * wakers, each of which has to have the vp's bit, never change the mask at one time.
 *
 * Sequentially consistent. That a vp takes its bit back, and why no wake-up is lost, is park.pml's.
 *   BROKEN_WAIT    the vp does not wait for its waker
 *   BROKEN_SET     the waker says that it moves the vp after it has woken it
 *   BROKEN_CLEAR   the waker says that it is done before it gives the mask back
 *   BROKEN_BIT     a waker does not take the bit */
#ifndef SLEEPS
#define SLEEPS 3
#endif

bool bit_of, wake_word, moved, moving, narrow;
byte changing;

inline wake_elsewhere()
{
    moved = true;
#ifndef BROKEN_SET
    moving = true;
#endif
    changing++;
    assert(changing == 1);
    narrow = true;
    wake_word = true;
#ifdef BROKEN_SET
    moving = true;
#endif
#ifdef BROKEN_CLEAR
    moving = false;
#endif
    narrow = false;
    changing--;
#ifndef BROKEN_CLEAR
    moving = false;
#endif
}

active [2] proctype waker()
{
end_waits:
    do
    :: atomic { bit_of ->
#ifndef BROKEN_BIT
            bit_of = false
#endif
        }
        if
        :: wake_word = true
        :: wake_elsewhere()
        fi
    od
}

active proctype vp()
{
    byte slept;
    do
    :: slept < SLEEPS ->
        bit_of = true;
        atomic { wake_word -> wake_word = false };
        if
        :: moved ->
            moved = false;
#ifndef BROKEN_WAIT
            !moving
#endif
        :: else
        fi;
        assert(!narrow); /* it goes on */
        assert(!narrow);
        slept++
    :: else -> break
    od;
    assert(!narrow && !moving && changing == 0)
}
