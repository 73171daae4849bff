/* The serial-region predictor: finds regions whose members are so short that the parent runs all of them sooner alone
 * than with the help of other vps.
 *
 * A member that another vp takes costs some hundred nanoseconds, because cache lines move there and back. A member that
 * its parent calls costs 20. So if each member of an outermost region takes less than the difference, help makes the
 * region slower, even with a vp for each member. Each team learns this for itself, in three states:
 *   WATCHED  Members are offered to other vps, and each region is timed. `left` counts short regions down. The times of
 *            the last PS_SERIAL_TRIES short regions, which must come in a row, are added up. Then: TRIED.
 *   TRIED    The parent runs PS_SERIAL_TRIES regions alone, and adds up their times. If the sum is less than 9/8 of
 *            WATCHED's: ALONE. Else, or after a long region (its members may wait for each other): WATCHED, twice as
 *            long.
 *   ALONE    The parent runs the regions alone. It times one in PS_SERIAL_SAMPLE, and each that follows a slow one. If
 *            two timed regions in a row take twice as long as those of TRIED: WATCHED, twice as long. After
 *            PS_SERIAL_CALM regions: WATCHED.
 * If the number of members changes, each state is followed by WATCHED.
 * In TRIED and ALONE the parent makes no handoffs, and vp->closed keeps thieves other than spares away from its queue.
 * But each thief peeks into the queue every ten microseconds or so. If it finds the region of its last peek still open,
 * it takes members and opens the queue to all thieves (peek_at in sources.c). Then the parent's next fork begins
 * WATCHED. So bodies that begin to have real work wait some twenty microseconds for help, once.
 * Caller: the parent, at fork and join; each team has a state of its own. Cost: about 15 instructions; for a timed
 * region two readings of the cycle counter, and 25 more. Rejected: a bound on the time alone, since it would depend on
 * how far apart the processors are. Leaving ALONE at the first slow region: there is an interrupt each millisecond.
 * Claims from both ends, so that members stay where they ran last: no gain (bench/notes/regions.md). */
#ifndef PS_SERIAL_PREDICTOR_H
#define PS_SERIAL_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

#define PS_SERIAL_TRIES 16
#define PS_SERIAL_DOUBLINGS 8
#define PS_SERIAL_PAID 256                /* if a team ran more regions alone than this, its next try comes soon */
#define PS_SERIAL_CALM 4096               /* after this many regions run alone, members are offered again */
#define PS_SERIAL_SAMPLE 8                /* ALONE: one region in eight is timed, at least; divides PS_SERIAL_CALM */
#define PS_SERIAL_MOST_MEMBERS (1u << 16) /* no prediction for larger teams: their cycles might not fit into `sum` */

/* Values of vp->closed. PS_CLOSED: thieves other than spares leave the vp's queue alone, except for a peek now and
 * then. CALLED_OFF: a thief has opened the queue to all thieves again; the parent sees this at its next fork. */
enum { PS_CLOSED_NOT, PS_CLOSED, PS_CLOSED_CALLED_OFF };

enum { PS_SERIAL_WATCHED, PS_SERIAL_TRIED, PS_SERIAL_ALONE };

struct ps_serial_predictor {
    /* The time of the open region's fork in cpu_cycles, if the region is timed. */
    uint64_t began;
    uint32_t n; /* number of members in the last region */
    /* In cycles. WATCHED: the sum of the times of the regions that ended while `left` was at most PS_SERIAL_TRIES.
     * TRIED: the sum for the regions of this state so far. ALONE: the sum of TRIED. */
    uint32_t sum;
    /* The sum of WATCHED: what PS_SERIAL_TRIES regions took when their members were offered. */
    uint32_t offered;
    uint16_t left; /* how many more regions (WATCHED: short ones) until the state changes */
    uint8_t state : 2;
    uint8_t slow : 1; /* ALONE: the last region was slow */
    /* WATCHED begins with `left` set to 2 * PS_SERIAL_TRIES, doubled this many times. */
    uint8_t doublings : 5;
};

/* Begins the state WATCHED: members are offered to other vps again. */
static inline void ps_serial_watch(struct ps_serial_predictor *c)
{
    c->state = PS_SERIAL_WATCHED;
    c->left = (uint16_t)(2 * PS_SERIAL_TRIES << c->doublings);
    c->sum = 0;
    c->slow = 0;
}

/* Begins WATCHED after TRIED or ALONE, because running alone did not pay or a thief has opened the queue. If the team
 * ran more than PS_SERIAL_PAID regions alone, running alone has paid, and the next try comes soon. Else the next try
 * comes after twice as many regions as the last one. */
static inline void ps_serial_failed(struct ps_serial_predictor *c)
{
    if (c->state == PS_SERIAL_ALONE && c->left < PS_SERIAL_CALM - PS_SERIAL_PAID)
        c->doublings = 0;
    else if (c->doublings < PS_SERIAL_DOUBLINGS)
        c->doublings++;
    ps_serial_watch(c);
}

/* Called in WATCHED for a region that took too long, perhaps because it was interrupted. Delays the next try by a few
 * regions. If times are added up already, the sum begins anew, since its regions must come in a row. */
static inline void ps_serial_long(struct ps_serial_predictor *c)
{
    if (c->left > PS_SERIAL_TRIES) {
        c->left += c->left <= 2 * PS_SERIAL_TRIES << c->doublings ? 4 : 0;
    } else {
        c->left = PS_SERIAL_TRIES + 4;
        c->sum = 0;
    }
}

/* Begins a region of n members. Returns true if the parent has to run all of it alone. called_off: during the last
 * region a thief has opened the parent's queue (PS_CLOSED_CALLED_OFF). */
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

/* Returns true if the parent has to time the region that ps_serial_begin has begun. Otherwise counts the region as one
 * that was not slow. */
static inline bool ps_serial_timed(struct ps_serial_predictor *c)
{
    if (c->state != PS_SERIAL_ALONE || c->slow || c->left % PS_SERIAL_SAMPLE == 1)
        return true;
    c->left--;
    return false;
}

/* Notes, in ALONE, that the region was slow. Only the second slow region in a row ends ALONE: a single one may have
 * been interrupted. */
static inline void ps_serial_slow(struct ps_serial_predictor *c)
{
    if (c->slow)
        ps_serial_failed(c);
    else
        c->slow = 1;
}

/* Notes that the timed region took `cycles`. In WATCHED and TRIED, a region of more than `most` cycles is too long to
 * be run alone. */
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
