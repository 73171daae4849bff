/* The serial-region predictor: members so short that the parent runs them all sooner by itself than together with
 * others.
 *
 * A member that another vp takes costs some hundred nanoseconds, because cache lines move there and back. A member that
 * its parent calls costs 20. So where each member of an outermost region takes less than the difference, help makes the
 * region slower, even with a vp for each member. A team learns it:
 *   WATCHED  regions are offered, and timed. After `left` short ones, the last PS_SERIAL_TRIES of them in a row and
 *            added up:
 *   TRIED    the parent runs as many alone. If help gains less than an eighth of that: ALONE. Else WATCHED, for twice
 *            as long as before; so too if one of them has become long, since its members may wait for each other
 *   ALONE    until two in a row take twice as long as those that were tried, or the size changes, or a thief calls it
 *            off; and after a few thousand regions in any case: WATCHED. Only one in PS_SERIAL_SAMPLE is timed, and the
 *            one behind a slow one
 * Alone means: no handoffs, and the parent's vp asks thieves to leave its queue alone (vp->closed). Thieves look all
 * the same every ten microseconds or so. A thief that finds the region of its last look still open takes members, and
 * calls the closing off for all thieves (sources.c). So bodies that begin to have real work wait for help some twenty
 * microseconds, once. While a parent runs regions alone, one after the other, thieves neither park nor stand back for
 * other kernel threads, as if they had work. An idle vp parks only when all queues are empty, as ever, and an insertion
 * wakes a vp where none searches. So there is always a vp that looks.
 *
 * Does: the arithmetic. Callers: the parent, at fork and join; the state is the team's. Cost: about 15 instructions;
 * where a region is timed two readings of the cycle counter, and 25 more.
 * Rejected: a limit on the time alone (what help is worth depends on how far apart the processors are). An end of ALONE
 * at the first slow region (there is an interrupt every millisecond). Claims from both ends, so that members stay where
 * they ran last (no gain, bench/notes/regions.md). */
#ifndef PS_SERIAL_PREDICTOR_H
#define PS_SERIAL_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

#define PS_SERIAL_TRIES 16
#define PS_SERIAL_DOUBLINGS 8
#define PS_SERIAL_PAID 256                /* regions run alone that are worth a failure afterwards */
#define PS_SERIAL_CALM 4096               /* regions run alone after which offering is looked at again */
#define PS_SERIAL_SAMPLE 8                /* divides PS_SERIAL_CALM */
#define PS_SERIAL_MOST_MEMBERS (1u << 16) /* their cycles fit into `sum` */

/* Whether thieves are to leave a vp's queue alone, but for a peek now and then. */
enum { PS_CLOSED_NOT, PS_CLOSED, PS_CLOSED_CALLED_OFF };

enum { PS_SERIAL_WATCHED, PS_SERIAL_TRIED, PS_SERIAL_ALONE };

struct ps_serial_predictor {
    uint64_t began;   /* cpu_cycles at the fork of the open region, where that is timed */
    uint32_t n;       /* members of the regions that were seen last */
    uint32_t sum;     /* cycles: of the last regions before the state changes; ALONE: of those that were tried */
    uint32_t offered; /* the sum where they were offered */
    uint16_t left;    /* regions until the state changes */
    uint8_t state : 2;
    uint8_t slow : 1; /* ALONE: the last region was */
    uint8_t doublings : 5;
};

static inline void ps_serial_watch(struct ps_serial_predictor *c)
{
    c->state = PS_SERIAL_WATCHED;
    c->left = (uint16_t)(2 * PS_SERIAL_TRIES << c->doublings);
    c->sum = 0;
    c->slow = 0;
}

/* ALONE has ended early, or was not begun: moves the next try further away, unless this one has paid meanwhile. */
static inline void ps_serial_failed(struct ps_serial_predictor *c)
{
    if (c->state == PS_SERIAL_ALONE && c->left < PS_SERIAL_CALM - PS_SERIAL_PAID)
        c->doublings = 0;
    else if (c->doublings < PS_SERIAL_DOUBLINGS)
        c->doublings++;
    ps_serial_watch(c);
}

/* WATCHED: a region took too long, or was interrupted. Moves the next try back, and begins the sum anew, since the
 * regions whose times are added up must come in a row. */
static inline void ps_serial_long(struct ps_serial_predictor *c)
{
    if (c->left > PS_SERIAL_TRIES) {
        c->left += c->left <= 2 * PS_SERIAL_TRIES << c->doublings ? 4 : 0;
    } else {
        c->left = PS_SERIAL_TRIES + 4;
        c->sum = 0;
    }
}

/* Begins a region of n members; true: the parent has to run it alone. called_off: thieves found that the last region
 * should not have been run alone. */
static inline bool ps_serial_begin(struct ps_serial_predictor *c, uint32_t n, bool called_off)
{
    if (c->n != n) {
        c->n = n;
        c->doublings = 0;
        ps_serial_watch(c);
    } else if (called_off && c->state != PS_SERIAL_WATCHED) {
        ps_serial_failed(c);
    }
    return c->state != PS_SERIAL_WATCHED;
}

/* Whether the region that ps_serial_begin has begun is to be timed. If not, it counts as one that was not slow. */
static inline bool ps_serial_timed(struct ps_serial_predictor *c)
{
    if (c->state != PS_SERIAL_ALONE || c->slow || c->left % PS_SERIAL_SAMPLE == 1)
        return true;
    c->left--;
    return false;
}

/* Notes that the open region was slow. ALONE ends with the second slow region in a row, since one may have been
 * interrupted. */
static inline void ps_serial_slow(struct ps_serial_predictor *c)
{
    if (c->slow)
        ps_serial_failed(c);
    else
        c->slow = 1;
}

/* Notes that the region took `cycles`; with more than `most` its members take too long to be run alone. */
static inline void ps_serial_end(struct ps_serial_predictor *c, uint64_t cycles, uint64_t most)
{
    if (c->state == PS_SERIAL_ALONE && cycles > c->sum / (PS_SERIAL_TRIES / 2)) {
        ps_serial_slow(c);
        return;
    }
    if (c->state != PS_SERIAL_ALONE && cycles > most) {
        if (c->state == PS_SERIAL_TRIED)
            ps_serial_failed(c);
        else
            ps_serial_long(c);
        return;
    }
    c->slow = 0;
    if (c->state != PS_SERIAL_ALONE && c->left <= PS_SERIAL_TRIES)
        c->sum += (uint32_t)cycles;
    if (--c->left > 0)
        return;
    if (c->state == PS_SERIAL_WATCHED) {
        c->state = PS_SERIAL_TRIED;
        c->left = PS_SERIAL_TRIES;
        c->offered = c->sum;
        c->sum = 0;
    } else if (c->state == PS_SERIAL_ALONE) {
        c->doublings = 0;
        ps_serial_watch(c);
    } else if (c->sum < c->offered + c->offered / 8) {
        c->state = PS_SERIAL_ALONE;
        c->left = PS_SERIAL_CALM;
    } else {
        ps_serial_failed(c);
    }
}

#endif
