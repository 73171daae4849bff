/* The work-stealing deque while its owner is unfenced (src/lockfree/deque.h): no item is taken twice, none is lost, and
 * no thief sleeps through a push.
 *
 * ITEMS items are in it. The owner takes them all, and becomes unfenced whenever it may, TURNS times at most; two
 * thieves try STEALS times each. With SLEEPER there is one item less, the owner pushes it and goes on with a long body;
 * one thief that finds nothing says that it sleeps, looks a last time, and sleeps until it is woken. Then an end state
 * in which it sleeps is an error.
 *
 * Sequentially consistent, but for what it is about. The owner's stores to bottom (and to the word, as it becomes
 * unfenced) go through a buffer. The buffer is emptied at any time, by a fence, by an atomic operation of its own, or
 * by a thief's os_fence_all. The owner's answer is an atomic operation.
 *   BROKEN_FENCE   a thief makes the deque fenced without os_fence_all
 *   BROKEN_LATE    it does not look at the word again behind bottom
 *   BROKEN_TURN    the word has no number of turns
 *   BROKEN_UNFENCED   no fence where the owner becomes unfenced
 *   BROKEN_WORD    a pop reads the word before it lowers bottom
 *   BROKEN_LOOK    (SLEEPER) the last look does not make the deque fenced
 *   BROKEN_SLEEPS  (SLEEPER) an owner that becomes unfenced does not look for sleepers */
#ifndef ITEMS
#define ITEMS 3
#endif
#ifndef TURNS
#define TURNS 2
#endif
#ifndef STEALS
#define STEALS 2
#endif
#ifdef SLEEPER
#define THIEVES 1
#define AT_FIRST (ITEMS - 1)
#else
#define THIEVES 2
#define AT_FIRST ITEMS
#endif

/* the word: 4 * turn + state */
#define FENCED 0
#define UNFENCED 1
#define ANNOUNCED 2
#define STATE(w) ((w) % 4)
#define AS(w, state) ((w) - (w) % 4 + (state))
#ifdef BROKEN_TURN
#define NEXT_TURN 0
#else
#define NEXT_TURN 4
#endif

#define BOTTOM 0
#define WORD 1
chan buffer = [4] of { byte, byte };

byte top, bottom = AT_FIRST, word;
byte taken[ITEMS], turns;
bool sleeps, woken, word_pending;

inline apply()
{
    buffer?what, value;
    if
    :: what == BOTTOM -> bottom = value
    :: else -> word = value; word_pending = false
    fi
}
inline empty_buffer() { d_step { do :: len(buffer) > 0 -> apply() :: else -> break od; what = 0; value = 0 } }
inline take(i) { taken[i]++; assert(taken[i] == 1) }

active proctype processor()
{
    byte what, value;
end:
    do
    :: d_step { nempty(buffer) -> apply(); what = 0; value = 0 }
    od
}

inline owner_watched()
{
    atomic { empty_buffer(); if :: STATE(word) != FENCED -> word = AS(word, FENCED) :: else fi }
}

inline become_unfenced()
{
    turns++;
#ifdef BROKEN_UNFENCED
    atomic { buffer!WORD, word + NEXT_TURN + UNFENCED; word_pending = true; word_next = word + NEXT_TURN + UNFENCED }
#else
    atomic { word = word + NEXT_TURN + UNFENCED; empty_buffer() }
#endif
#if defined(SLEEPER) && !defined(BROKEN_SLEEPS)
    if :: sleeps -> owner_watched() :: else fi
#endif
}

inline read_word() { atomic { if :: word_pending -> w = word_next :: else -> w = word fi } }

active proctype owner()
{
    byte b = AT_FIRST, w, t, what, value, word_next;
#ifdef SLEEPER
    do
    :: turns < TURNS && STATE(word) == FENCED -> become_unfenced()
    :: STATE(word) == ANNOUNCED -> owner_watched()
    :: break
    od;
    b++;
    buffer!BOTTOM, b;
    read_word();
    if
    :: STATE(w) == UNFENCED
    :: else ->
        owner_watched();
        if :: sleeps -> woken = true :: else fi
    fi
#else
    do
    :: turns < TURNS && STATE(word) == FENCED && !word_pending -> become_unfenced()
    :: atomic { STATE(word) == ANNOUNCED -> owner_watched() }
    :: b == 0 || top >= b -> break
    :: b > 0 && top < b ->
        b--;
#ifdef BROKEN_WORD
        read_word();
        buffer!BOTTOM, b;
#else
        buffer!BOTTOM, b;
        read_word();
#endif
        if
        :: STATE(w) == UNFENCED
        :: else -> owner_watched()
        fi;
        t = top;
        if
        :: t < b -> take(b)
        :: t == b ->
            atomic {
                empty_buffer();
                if
                :: top == b -> top = b + 1; take(b)
                :: else
                fi
            };
            b++;
            buffer!BOTTOM, b
        :: else -> b++; buffer!BOTTOM, b
        fi
    od;
    b = 0;
    do
    :: b < ITEMS && taken[b] == 1 -> b++
    :: b == ITEMS -> break
    od
#endif
}

inline make_watched()
{
    do
    :: atomic { STATE(word) == FENCED -> break }
    :: atomic { STATE(word) == UNFENCED -> word = AS(word, ANNOUNCED) }
    :: atomic { STATE(word) == ANNOUNCED -> w = word };
#ifndef BROKEN_FENCE
        atomic { empty_buffer() };
#endif
        atomic {
            if
            :: word == w -> word = AS(word, FENCED)
            :: else
            fi
        }
    od
}

inline steal()
{
    w = word;
    t = top;
    b = bottom;
    got = false;
    if
    :: t >= b
    :: else ->
        if
#ifdef BROKEN_LATE
        :: STATE(w) == FENCED ->
#else
        :: STATE(w) == FENCED && word == w ->
#endif
            atomic {
                if
                :: top == t -> top = t + 1; take(t); got = true
                :: else
                fi
            }
        :: else
        fi
    fi
}

active [THIEVES] proctype thief()
{
    byte w, t, b, n, what, value;
    bool got;
#ifdef SLEEPER
    do
    :: n < AT_FIRST -> make_watched(); steal(); if :: got -> n++ :: else fi
    :: n == AT_FIRST -> break
    od;
    sleeps = true;
#ifndef BROKEN_LOOK
    make_watched();
#endif
    steal();
    if
    :: got
    :: else -> woken
    fi
#else
    do
    :: n < STEALS ->
        n++;
        if
        :: top < bottom && STATE(word) != FENCED -> make_watched()
        :: else
        fi;
        steal()
    :: n == STEALS -> break
    od
#endif
}
