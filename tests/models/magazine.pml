/* Magazines and their depot (src/lockfree/magazine.h): free pieces of memory go from owner to owner by batches, or one
 * by one, and none is lost or owned twice.
 *
 * Two owners with a magazine each take and give pieces, ROUNDS times, and drain their magazines at the end. A stranger
 * has no magazine: it takes one piece of the depot and gives it back. num_batches and num_loose are looked at without
 * the lock. Left out: where the depot has nothing a new piece is made.
 * Checked: the owner that takes a piece is its only user; each batch in the depot is one; less than a batch is loose.
 * At the end all pieces stand in the depot.
 *   BROKEN_LOCK    an owner gives a batch without the lock
 *   BROKEN_CUT     the half that stays in the magazine is not cut off the half that goes
 *   BROKEN_LOOSE   loose pieces that make a batch stay among the loose ones as well
 *   BROKEN_HINT    an owner that has seen pieces in the depot does not look again under the lock
 *   BROKEN_SPLIT   a batch that a stranger splits stays in the list of batches
 *   BROKEN_FULL    an owner does not look whether its magazine is full */
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifdef FEW
#define PIECES 5
#else
#define PIECES 6
#endif
#define BATCH 2
#define NIL 0

byte next[PIECES + 1], next_batch[PIECES + 1], user[PIECES + 1];
byte batches, loose, num_loose, num_batches; /* the depot */
byte over;
bool lock;

inline lock_depot() { atomic { !lock -> lock = true } }
inline unlock_depot() { lock = false }

inline take_batch(first)
{
    first = batches;
    if
    :: first != NIL -> batches = next_batch[first]; num_batches--
    :: else
    fi
}

inline give_batch(first)
{
    next_batch[first] = batches;
    batches = first;
    num_batches++
}

inline give_one(p)
{
    d_step {
        next[p] = loose;
        loose = p;
        num_loose++
    };
    if
    :: num_loose == BATCH ->
        give_batch(loose);
#ifndef BROKEN_LOOSE
        loose = NIL;
#endif
        num_loose = 0
    :: else
    fi
}

/* the caller uses p from here on, or no more */
inline begin_use(p)
{
    atomic {
        assert(p != NIL && user[p] == 0);
        user[p] = _pid + 1
    }
}
inline end_use(p)
{
    atomic {
        assert(user[p] == _pid + 1);
        user[p] = 0
    }
}

inline refill()
{
    found = num_batches + num_loose > 0;
    if
    :: found ->
        lock_depot();
        n = BATCH;
        take_batch(free);
        if
        :: free == NIL -> d_step { free = loose; n = num_loose; loose = NIL; num_loose = 0 }
        :: else
        fi;
        unlock_depot();
#ifndef BROKEN_HINT
        found = free != NIL
#endif
    :: else
    fi
}

/* The magazine is full: `p` goes through the half that stays. */
inline spill()
{
    d_step {
        assert(n == 2 * BATCH);
        p = next[free]; /* the last that stays, as BATCH is 2 */
        older = next[p];
#ifndef BROKEN_CUT
        next[p] = NIL;
#endif
        n = BATCH
    };
#ifndef BROKEN_LOCK
    lock_depot();
#endif
    give_batch(older);
#ifndef BROKEN_LOCK
    unlock_depot();
#endif
    older = NIL
}

inline push(q)
{
    d_step { next[q] = free; free = q; n++; q = NIL };
    if
#ifndef BROKEN_FULL
    :: n == 2 * BATCH -> spill()
#endif
    :: else -> assert(n < 2 * BATCH)
    fi;
    p = NIL
}

proctype owner(byte first, pieces, hand)
{
    byte free = first, n = pieces, older, p, a = hand, b, turn;
    bool found;
    for (turn : 1 .. ROUNDS) {
        if
        :: b == NIL ->
            found = true;
            if
            :: free == NIL -> refill()
            :: else
            fi;
            if
            :: found ->
                p = free;
                begin_use(p);
                d_step { free = next[p]; n--; b = a; a = p; p = NIL }
            :: else /* a new one would be made */
            fi
        :: a != NIL -> end_use(a); push(a); d_step { a = b; b = NIL }
        fi
    };
    do
    :: a != NIL -> end_use(a); push(a); d_step { a = b; b = NIL }
    :: else -> break
    od;
    lock_depot();
    do
    :: free != NIL -> d_step { p = free; free = next[p]; n-- }; give_one(p); p = NIL
    :: else -> assert(n == 0); break
    od;
    unlock_depot();
    over++
}

proctype stranger()
{
    byte p, first;
    bool found;
    found = num_batches + num_loose > 0;
    if
    :: found ->
        lock_depot();
        if
        :: loose == NIL ->
#ifdef BROKEN_SPLIT
            first = batches;
#else
            take_batch(first);
#endif
            if
            :: first != NIL -> d_step { loose = first; num_loose = BATCH }
            :: else
            fi
        :: else
        fi;
        p = loose;
        if
        :: p != NIL -> d_step { loose = next[p]; num_loose-- }
        :: else
        fi;
        unlock_depot();
        if
        :: p != NIL ->
            begin_use(p);
            end_use(p);
            lock_depot();
            give_one(p);
            unlock_depot()
        :: else
        fi
    :: else
    fi;
    over++
}

proctype judge()
{
    byte p, b, count, some;
    over == 3;
    d_step {
        b = batches;
        do
        :: b != NIL ->
            assert(count < PIECES); /* no circle */
            some = 0;
            p = b;
            do
            :: p != NIL -> some++; p = next[p]; assert(some <= BATCH)
            :: else -> break
            od;
            assert(some == BATCH);
            count = count + some;
            b = next_batch[b]
        :: else -> break
        od;
        some = 0;
        p = loose;
        do
        :: p != NIL -> some++; p = next[p]; assert(some < BATCH)
        :: else -> break
        od;
        assert(some == num_loose && num_batches * BATCH == count && count + some == PIECES)
    }
}

init
{
    /* The first owner has 3 -> 2 -> 1 in its magazine and uses 4. The depot has a batch, 6 -> 5; with FEW it has 5,
     * which is loose. */
    atomic {
        next[3] = 2;
        next[2] = 1;
        user[4] = _pid + 2;
#ifdef FEW
        loose = 5;
        num_loose = 1;
#else
        next[6] = 5;
        batches = 6;
        num_batches = 1;
#endif
        run owner(3, 3, 4);
        run owner(NIL, 0, NIL);
        run stranger();
        run judge()
    }
}
