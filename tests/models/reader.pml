/* The reader (src/os/linux/reader.c; the functions named below are there): callers have it read while it begins and
 * ends.
 *
 * Two callers ask READS times each. The starter begins the reader and ends it, ROUNDS times.
 * With FORK there is a forked child instead, with one thread. It finds any values in its memory, for a thread may fork
 * at any moment; of its parent's kernel threads none is there. It asks, begins a reader of its own, asks, and ends that
 * one. With FORGETS it may have its parent's number, and calls os_reader_forget first. Without it, it is a child of the
 * system call, with a number of its own. A child of vfork asks as this one does at first, and does no more.
 * Futexes: `on_taken` and `on_order` are the sets of kernel threads that are parked on the two words. A wake takes one
 * of them out, whichever; nothing else ends a park.
 * Checked: what a caller asks for has been read, once, by a kernel thread of its process, when reader_call returns. No
 * process waits for ever (invalid end state).
 *   BROKEN_ARG     the caller stores ASKED, then what is to be read
 *   BROKEN_ASK     the caller does not wake the reader
 *   BROKEN_EARLY   the caller wakes the reader, then stores ASKED
 *   BROKEN_AWAIT   the caller parks once, and does not look again
 *   BROKEN_LOOK    the caller does not look again at `process` with `taken` held
 *   BROKEN_TAKE    callers do not take turns
 *   BROKEN_GIVE    the next caller is not woken
 *   BROKEN_MASK    the caller blocks no signals
 *   BROKEN_SELF    the reader asks itself
 *   BROKEN_IDLE    the reader stores IDLE before it reads
 *   BROKEN_TOLD    the reader does not wake the caller
 *   BROKEN_ORDER   os_reader_begin sets `process` before `order`
 *   BROKEN_END     os_reader_end does not hold `taken`
 *   BROKEN_NUMBER  callers look whether any process has a reader
 *   BROKEN_FORGET  a child with the parent's number does not clear `process`
 *   BROKEN_FREE    os_reader_begin leaves `taken` as it is, in a child of the system call */
#ifndef READS
#define READS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define IDLE 0
#define ASKED 1
#define ENDS 2

#define PARENT 1 /* processes */
#define CHILD 2

#define A 1 /* kernel threads, each with a bit */
#define B 2
#define READER 4
#define STARTER 8

/* struct reader */
bool taken;
byte order;
byte process;         /* 0: none has a reader */
byte used_in, number; /* getpid() */
bool exists, runs;    /* `thread` is to be joined; it has not returned */
byte asks;            /* fn and arg: the kernel thread that asks */

byte on_taken, on_order;
byte read; /* the kernel threads whose wishes have been read */

#ifdef BROKEN_NUMBER
#define IS_HERE (process != 0)
#else
#define IS_HERE (process == number)
#endif

/* os_park and os_wake */
inline park(queue, word, value)
{
    atomic {
        if
        :: word == value -> queue = queue | me
        :: else
        fi
    };
    (!(queue & me))
}

inline wake_one(queue)
{
    atomic {
        if
        :: queue & A -> queue = queue & ~A
        :: queue & B -> queue = queue & ~B
        :: queue & READER -> queue = queue & ~READER
        :: queue & STARTER -> queue = queue & ~STARTER
        :: queue == 0
        fi
    }
}

inline take_reader()
{
    do
    :: atomic { !taken -> taken = true; break } /* an exchange */
    :: atomic { taken -> skip };
       park(on_taken, taken, true)
    od
}

inline give_reader_back()
{
    taken = false;
#ifndef BROKEN_GIVE
    wake_one(on_taken)
#endif
}

inline run_fn(wisher)
{
    assert(!(read & wisher));
    read = read | wisher
}

inline reader_call()
{
    if
    :: !IS_HERE -> run_fn(me)
    :: IS_HERE ->
       /* all signals are blocked from here on */
#ifndef BROKEN_TAKE
       take_reader();
#endif
#ifdef BROKEN_LOOK
       reads = true;
#else
       reads = IS_HERE; /* with `taken` held */
#endif
#ifdef BROKEN_MASK
       if
       :: take_reader() /* a handler asks */
       :: true
       fi;
#endif
       if
       :: reads ->
#ifdef BROKEN_ARG
          order = ASKED;
          asks = me;
#else
          asks = me;
#ifdef BROKEN_EARLY
          wake_one(on_order);
#endif
          order = ASKED;
#endif
#if !defined(BROKEN_ASK) && !defined(BROKEN_EARLY)
          wake_one(on_order);
#endif
#ifdef BROKEN_AWAIT
          if
          :: order == ASKED -> park(on_order, order, ASKED)
          :: else
          fi
#else
          do
          :: order == ASKED -> park(on_order, order, ASKED)
          :: order != ASKED -> break
          od
#endif
       :: !reads
       fi;
#ifndef BROKEN_TAKE
       give_reader_back();
#endif
       if
       :: !reads -> run_fn(me)
       :: reads
       fi
    fi;
    atomic {
        assert(read & me);
        read = read & ~me;
        reads = false
    }
}

/* read_for_others */
proctype reader()
{
    byte me = READER;
    do
    :: order == ENDS -> break
    :: order == IDLE -> park(on_order, order, IDLE)
    :: order == ASKED ->
#ifdef BROKEN_IDLE
       order = IDLE;
#endif
#ifdef BROKEN_SELF
       if
       :: take_reader() /* fn asks as well: it would wait for its own order */
       :: true
       fi;
#endif
       run_fn(asks);
#ifndef BROKEN_IDLE
       order = IDLE;
#endif
#ifndef BROKEN_TOLD
       wake_one(on_order)
#endif
    od;
    runs = false
}

inline os_reader_begin()
{
    if
    :: IS_HERE
    :: else ->
#ifndef BROKEN_FREE
       if
       :: used_in != number -> taken = false
       :: else
       fi;
#endif
       used_in = number;
#ifdef BROKEN_ORDER
       process = number;
#endif
       order = IDLE;
       atomic { exists = true; runs = true; run reader() };
#ifndef BROKEN_ORDER
       process = number
#endif
    fi
}

inline os_reader_end()
{
    if
    :: !exists
    :: exists ->
#ifndef BROKEN_END
       take_reader();
#endif
       process = 0;
       order = ENDS;
       wake_one(on_order);
#ifndef BROKEN_END
       give_reader_back();
#endif
       (!runs); /* os_thread_join */
       exists = false
    fi
}

#ifdef FORK
/* child_reads of tests/os/reader_test.c */
active proctype child()
{
    byte me = STARTER;
    bool reads;
    if
    :: used_in = PARENT; process = PARENT
    :: used_in = PARENT
    :: true
    fi;
    if
    :: exists = true
    :: true
    fi;
    if
    :: used_in == PARENT -> taken = true
    :: true
    fi;
    if
    :: order = ASKED
    :: order = ENDS
    :: true
    fi;
    number = CHILD;
#ifdef FORGETS
    if
    :: number = PARENT /* each in a namespace of its own */
    :: true
    fi;
    /* os_reader_forget */
#ifndef BROKEN_FORGET
    process = 0;
#endif
    taken = false;
    exists = false;
#endif
    reader_call();
    os_reader_begin();
    reader_call();
    os_reader_end()
}
#else
proctype caller(byte me)
{
    byte round;
    bool reads;
    do
    :: round < READS -> reader_call(); round++
    :: round == READS -> break
    od
}

active proctype starter()
{
    byte round, me = STARTER;
    number = PARENT;
    run caller(A);
    run caller(B);
    do
    :: round < ROUNDS -> os_reader_begin(); os_reader_end(); round++
    :: round == ROUNDS -> break
    od
}
#endif
