/* Batches of a dynamic loop's chunks (src/ort/core/batch.h): each chunk is begun once, and no member leaves while
 * another holds one that has not begun.
 *
 * MEMBERS claim CHUNKS chunks, 1 to BATCH at a time, rob each other when `next` is used up, and leave. A chunk that a
 * member has in hand counts as begun; what its body does is no concern here, but a member may be slow between any
 * two steps. Left out: the loop's last chunk, members in other loops, the sequence's end (it is a number that never
 * comes back). Of the sequence only that it changes is modelled: a thief's compare-and-swap compares the batch's
 * number. HELD: claiming is over; two of three members hold what they have not begun of HELD chunks and of the rest.
 *   BROKEN_CLAIM   a member does not say CLAIMING before it claims
 *   BROKEN_BIT     its bit is set only behind the claim
 *   BROKEN_COUNT   a robbery is not counted
 *   BROKEN_ROB     a robber does not say CLAIMING
 *   BROKEN_BASE    the swap does not compare the sequence: it is a robbery from a newer batch with the older one's base
 *                  */
#ifdef HELD
#define MEMBERS 3
#else
#define MEMBERS 2
#endif
#ifndef CHUNKS
#define CHUNKS 5
#endif
#ifndef BATCH
#define BATCH 4
#endif

/* a word: first, end, batch; CLAIMING is first > end */
byte first[MEMBERS], end[MEMBERS], batch[MEMBERS], base[MEMBERS];
byte next, moves, holders;
byte begun[CHUNKS];

#define BIT(m) (1 << (m))

inline begin(c)
{
    begun[c]++;
    assert(begun[c] == 1)
}
inline say_claiming()
{
    if :: !(holders & BIT(id)) -> holders = holders | BIT(id) :: else fi;
    d_step { batch[id]++; first[id] = 1; end[id] = 0 }
}
inline hold(from, count)
{
    base[id] = from;
    d_step {
        if :: first[id] <= end[id] -> batch[id]++ :: else fi; /* of the broken variants */
        first[id] = 1; end[id] = count
    }
}
inline take_own()
{
    do
    :: atomic { first[id] < end[id] -> c = base[id] + first[id]; first[id]++; begin(c); c = 0 }
    :: atomic { first[id] >= end[id] -> break }
    od
}

inline claim_all()
{
    do
    :: take_own();
       if :: k = 1 :: k = BATCH fi;
       if
       :: k > 1 ->
#if defined(BROKEN_CLAIM)
           holders = holders | BIT(id)
#elif defined(BROKEN_BIT)
           d_step { batch[id]++; first[id] = 1; end[id] = 0 }
#else
           say_claiming()
#endif
       :: else
       fi;
       atomic {
           got = next;
           if
           :: next < CHUNKS ->
               next = next + k;
               begin(got);
               if :: got + k > CHUNKS -> k = CHUNKS - got :: else fi
           :: else
           fi
       };
       if
       :: got >= CHUNKS -> break
       :: got < CHUNKS && first[id] == end[id] && k == 1
       :: else ->
#ifdef BROKEN_BIT
           holders = holders | BIT(id);
#endif
           hold(got, k)
       fi
    od;
    skip;
    d_step { first[id] = 0; end[id] = 0; got = 0; k = 0 }
}

inline rob()
{
    claiming = false;
    do
    :: atomic {
           f = first[v]; e = end[v]; b = batch[v]; t = (e - f + 1) / 2;
           if
           :: f == e -> break
           :: f > e -> again = true; break
           :: else
           fi
       };
       from = base[v];
       if
       :: t > 1 && !claiming ->
#ifndef BROKEN_ROB
           say_claiming();
#else
           holders = holders | BIT(id);
#endif
#ifndef BROKEN_COUNT
           moves++;
#endif
           claiming = true
       :: else
       fi;
       atomic {
           if
#ifdef BROKEN_BASE
           :: first[v] == f && end[v] == e ->
#else
           :: first[v] == f && end[v] == e && batch[v] == b ->
#endif
               end[v] = e - t;
               took = true;
               c = from + e - t;
               begin(c);
               break
           :: else
           fi
       }
    od;
    if
    :: claiming && took -> hold(c, t)
    :: claiming && !took -> d_step { first[id] = 0; end[id] = 0 }
    :: else
    fi;
    d_step { f = 0; e = 0; b = 0; t = 0; from = 0; c = 0; claiming = false }
}

#ifdef HELD
init
{
    d_step {
        batch[0] = 1; first[0] = 1; end[0] = HELD; begun[0] = 1;
        batch[1] = 1; first[1] = 1; end[1] = CHUNKS - HELD; base[1] = HELD; begun[HELD] = 1;
        holders = 3
    }
    atomic { run member(0); run member(1); run member(2) }
}
proctype member(byte id)
{
    byte c, k, got, v, f, e, b, from, seen_moves, seen_holders, t;
    bool claiming, again, took, over;
#else
active [MEMBERS] proctype member()
{
    byte id = _pid, c, k, got, v, f, e, b, from, seen_moves, seen_holders, t;
    bool claiming, again, took, over;
    claim_all();
#endif
    do
    :: over -> break
    :: else ->
       take_own();
       if :: holders & BIT(id) -> holders = holders & ~BIT(id) :: else fi;
       atomic { took = false; seen_moves = moves };
       atomic { seen_holders = holders & ~BIT(id); again = false; v = 0 };
       do
       :: v < MEMBERS && !took ->
           if
           :: seen_holders & BIT(v) -> rob()
           :: else
           fi;
           v++
       :: else -> break
       od;
       atomic {
           over = !took && !again && moves == seen_moves;
           seen_moves = 0; seen_holders = 0; v = 0
       }
    od;

    /* leaves */
    skip;
    d_step {
        c = 0;
        do
        :: c == CHUNKS -> break
        :: else -> assert(begun[c] == 1); c++
        od;
        c = 0
    }
}
