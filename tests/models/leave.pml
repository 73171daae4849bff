/* A handler is left by a jump while its thread T waits for a lock (src/psthreads/leave.h, address_wait.c). T makes the
 * jump once, and does nothing else; no wake-up is lost, and T is never readied twice.
 *
 * A holder frees the lock and wakes one of those that wait on its word. T waits, and another thread O. T's context is
 * saved, and its kernel thread P visits it: a handler runs, and is left. With OWN the thread waits on P instead.
 * The lock's word: 0 free, 2 taken and perhaps waited for.
 * Checked: T does not wait in the bucket when it jumps; it has not run behind its wait before; what the bucket gives is
 * readied once. All come to their ends (invalid end state): O has had the lock.
 *   BROKEN_HAND    T does not hand on the wake that it has used up
 *   BROKEN_BUCKET  P readies T without a look whether it is still in the bucket
 *   BROKEN_READY   P takes T out, and does not ready it
 *   BROKEN_VISIT   P ends its visit before it redirects the context
 *   BROKEN_TAKES   (OWN) the part that may be left takes the wake
 *   BROKEN_BLOCK   (OWN) T does not block signals between the two steps of its wait
 *   BROKEN_LEAVE   (OWN) T does not wait for a wake that is on its way */

#define T 0
#define O 1
#define NOBODY 255

byte word = 2;
bool bucket_locked;
chan queue = [2] of { byte };
bool token[2]; /* readied; with OWN: pinned */
bool saved, visited, running, redirected, hand_on;
bool in_bucket; /* T */
bool heard, point, left, ran, over;

inline lock_bucket() { atomic { !bucket_locked -> bucket_locked = true } }
inline unlock_bucket() { bucket_locked = false }
inline ready(t) { atomic { assert(!token[t]); token[t] = true } }

inline wake_one()
{
    lock_bucket();
    taken = NOBODY;
    if
    :: queue?[_] -> queue?taken; if :: taken == T -> in_bucket = false :: else fi
    :: else
    fi;
    unlock_bucket();
    if
    :: taken != NOBODY -> assert(taken != T || !left); ready(taken)
    :: else
    fi
}

inline free_lock()
{
    atomic { old = word; word = 0 };
    if
    :: old == 2 -> wake_one()
    :: else
    fi
}

/* `same`: it is in the bucket. */
inline publish(t)
{
    lock_bucket();
    same = word == 2;
    if
    :: same -> atomic { queue!t; if :: t == T -> in_bucket = true :: else fi }
    :: else
    fi;
    unlock_bucket()
}

inline give_up()
{
    lock_bucket();
    if
    :: queue??[eval(T)] -> atomic { queue??eval(T); in_bucket = false }; found = true
    :: else -> found = false
    fi;
    unlock_bucket()
}

inline jump(hands_on)
{
    assert(!in_bucket && !ran && !left);
    left = true;
#ifndef BROKEN_HAND
    if
    :: hands_on -> wake_one()
    :: else
    fi;
#endif
    over = true
}

active proctype holder()
{
    byte old, taken;
    free_lock()
}

active proctype other()
{
    byte old, taken;
    bool same;
    do
    :: atomic { old = word; word = 2 };
       if
       :: old == 0 -> break
       :: else ->
          publish(O);
          if
          :: same -> atomic { token[O] -> token[O] = false }
          :: else
          fi
       fi
    od;
    free_lock()
}

#ifndef OWN
/* T, and each vp that continues its context */
active proctype thread()
{
    byte old, taken;
    bool same;
    do
    :: atomic { old = word; word = 2 };
       if
       :: old == 0 -> break
       :: else ->
          publish(T);
          if
          :: same ->
             running = false; /* its vp leaves it, and saves the context */
             saved = true;
             atomic { token[T] -> token[T] = false }; /* a vp takes it out of a queue */
             running = true;                          /* claims it */
             !visited;
             saved = false;
             if
             :: redirected -> jump(hand_on); goto end
             :: else -> ran = true
             fi
          :: else
          fi
       fi
    od;
    free_lock();
    over = true;
end:
    skip
}

/* P: each step of a visit; the claim and the visit see one another (directed.pml). */
active proctype P()
{
    bool found;
    do
    :: over -> break
    :: atomic { saved && !running -> visited = true };
       if
       :: ran -> visited = false; break /* it waits once more: not this handler's matter */
       :: else
       fi;
#ifdef BROKEN_VISIT
       visited = false;
#endif
       assert(saved);
       redirected = true;
#ifdef BROKEN_BUCKET
       found = true;
#else
       give_up();
#endif
       if
#ifndef BROKEN_READY
       :: found -> ready(T)
#else
       :: found -> skip
#endif
       :: else -> hand_on = true
       fi;
       visited = false;
       break
    od
}
#else
bool wanted; /* a handler comes, at any moment at which it may */

active proctype sender() { wanted = true }

inline wait_on_point()
{
    point = true;
    do
#ifdef BROKEN_TAKES
    :: atomic { token[T] -> token[T] = false }; taken_there = true;
       if
       :: wanted -> wanted = false; leaves = true
       :: skip
       fi;
       break
#else
    :: token[T] ->
       if
       :: wanted -> wanted = false; leaves = true
       :: skip
       fi;
       break
#endif
    :: wanted -> wanted = false; leaves = true; break
    od;
    point = false
}

active proctype thread()
{
    byte old, taken;
    bool same, leaves, found, taken_there, woken;
    do
    :: atomic { old = word; word = 2 };
       if
       :: old == 0 -> break
       :: else ->
          publish(T);
#ifdef BROKEN_BLOCK
          if
          :: wanted -> wanted = false; jump(false); goto end
          :: skip
          fi;
#endif
          if
          :: same ->
             woken = false;
             do
             :: woken -> break
             :: else ->
                taken_there = false;
                wait_on_point();
                if
                :: taken_there && !leaves -> woken = true
                :: else -> atomic { if :: token[T] -> token[T] = false; woken = true :: else fi }
                fi;
                if
                :: leaves && !woken ->
                   give_up();
                   if
                   :: found -> jump(false); goto end
                   :: else ->
#ifdef BROKEN_LEAVE
                      jump(true); goto end
#else
                      skip
#endif
                   fi
                :: else
                fi
             od;
             if
             :: leaves -> assert(!token[T]); jump(true); goto end
             :: else
             fi
          :: else
          fi
       fi
    od;
    free_lock();
    over = true;
end:
    assert(!in_bucket)
}
#endif
