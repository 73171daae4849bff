/* Vps whose threads block in the kernel, and the spares that work meanwhile (src/psthreads/park/blocking.h, search.c).
 *
 * Vps block once each, with work behind them, and come back when that is done. A spare works as long as no more
 * spares work than vps are blocked; then it counts itself off, looks once more, and stands by. How many stand by is a
 * number here (standby.pml has the list). The watchdog starts the second spare where one was asked for and none stood
 * by. All work is there before a vp blocks: what comes later is the watchdog's to see, and left out. Checked: no vp
 * stays blocked (invalid end state otherwise).
 *
 *   BROKEN_AGAIN    a spare stands by without the second look
 *   BROKEN_COUNT    a vp looks how many spares work, and then counts itself among the blocked
 *   BROKEN_ASK      where no spare stands by, none is asked for */

#ifndef VPS
#define VPS 1
#endif
#define ITEMS 2

byte blocked, work = ITEMS, done;
byte spares = 1;  /* at work; one is, and about to be through */
byte standing_by;     /* and told by no thread so far */
byte told = 1;    /* told, and not gone on yet */
byte unborn = 1;
bool asked;

/* `mine`: the caller has not counted itself. */
inline call_for_blocked(mine)
{
    bool none;
    if
    :: spares + 1 <= blocked + mine ->
       atomic {
           none = standing_by == 0;
           if
           :: none
           :: else -> standing_by--; spares++; told++
           fi
       }
#ifndef BROKEN_ASK
       if
       :: none -> asked = true
       :: else
       fi
#endif
    :: else
    fi
}

active [VPS] proctype vp()
{
#ifdef BROKEN_COUNT
    call_for_blocked(1);
    blocked++;
#else
    blocked++;
    call_for_blocked(0);
#endif
    done == ITEMS;
    blocked--
}

active [2] proctype spare()
{
    bool some;
end:
    do
    :: atomic { told > 0 -> told-- };
again:
       some = false;
       if
       :: spares <= blocked ->
          atomic {
              some = work > 0;
              work = (some -> work - 1 : work)
          }
       :: else
       fi;
       if
       :: some -> done++; goto again
       :: else -> spares--
       fi;
#ifndef BROKEN_AGAIN
       if
       :: spares + 1 <= blocked && work > 0 -> spares++; goto again
       :: else
       fi;
#endif
       standing_by++
    od
}

active proctype watchdog()
{
end:
    do
    :: asked ->
       asked = false;
       atomic {
           if
           :: spares + 1 <= blocked && work > 0 ->
              if
              :: standing_by > 0 -> standing_by--; spares++; told++
              :: standing_by == 0 && unborn > 0 -> unborn--; spares++; told++
              :: else
              fi
           :: else
           fi
       }
    od
}
