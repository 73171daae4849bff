/* How processes divide the processors among them. The division is a function of what each process claims: it reads no
 * clock, and remembers nothing.
 *
 * Each process calls share_divide with the same claims, and takes its own part of the answer.
 *   1. Equipartition: each processor is divided among the processes that may use it, by their weights.
 *   2. A process that wants less than its part gets what it wants. The rest is divided anew among the others.
 *   3. Parts become whole processors. Each process takes as many processors as its part has whole ones. The remaining
 *      processors go one each to the processes with the largest fractions. No processor is dealt twice.
 *   4. A process that got no processor runs one kernel thread all the same. The kernel's scheduler makes room for it.
 * If equal processes cannot get equally many processors, those with smaller slot numbers get one more.
 *
 * All numbers are integers, so that all processes compute the same answer. Cost: a round of the division reads each
 * processor of each process. As a rule there are one or two rounds, at worst one more than there are
 * processes. A division takes some microseconds for 8 processes on 64 processors.
 * The rule is the equipartition of nthlib-2004's CPU manager; lending is LeWI (Garcia et al., ICPP 2009). */
#ifndef PS_SHARE_POLICY_H
#define PS_SHARE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARE_CPU_WORDS 16 /* a bit for each of the processors 0 .. 1023 */
#define SHARE_CPUS (64 * SHARE_CPU_WORDS)
#define SHARE_SLOTS 256
#define SHARE_WEIGHT_MOST 1000
#define SHARE_CLAIMS (SHARE_SLOTS + 1) /* one for each process that shares, and one for all others (share_foreign.h) */

/* What one process claims, and what it gets. The caller sets weight, wanted and cpus; share_divide sets the rest. */
struct share_claim {
    uint32_t weight;                /* 1 .. SHARE_WEIGHT_MOST */
    uint32_t wanted;                /* number of processors that it could use now, 0 .. SHARE_CPUS */
    uint64_t cpus[SHARE_CPU_WORDS]; /* a set of bits: the processors that it may use */
    /* The answer: how many processors the process gets, at least 1. */
    uint32_t allowed;
    /* The process's part of the machine, in units of 1 / SHARE_ONE processor. In step 3 (head of this file) it becomes
     * the fraction that is left of the part without its whole processors; 0 if the fraction is within the error of
     * rounding, or is dealt already. */
    uint32_t part;
    /* The process gets what it wants, and takes no part in further rounds of the division. */
    bool settled;
};

#define SHARE_ONE (UINT32_C(1) << 16)

/* One entry for each processor. In steps 1 and 2 (head of this file), left: how much of the processor is to be divided,
 * in units of 1 / SHARE_ONE; weights: the sum of the weights of the processes that divide it. In step 3, left: not 0
 * while no process has got the processor; weights: the number of processes that may use it. */
struct share_room {
    uint32_t left[SHARE_CPUS], weights[SHARE_CPUS];
};

static inline bool share_may_use(const struct share_claim *c, unsigned cpu)
{
    return c->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* Returns what claim c gets of processor cpu, which it shares with the other claims that are not settled. */
static inline uint32_t share_part(const struct share_room *room, const struct share_claim *c, unsigned cpu)
{
    return (uint32_t)((uint64_t)room->left[cpu] * c->weight / room->weights[cpu]);
}

/* Sets room->weights for the claims that are not settled. */
static inline void share_weigh(struct share_room *room, const struct share_claim *c, unsigned n, unsigned cpus)
{
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        room->weights[cpu] = 0;
        for (unsigned i = 0; i < n; i++)
            room->weights[cpu] += !c[i].settled && share_may_use(&c[i], cpu) ? c[i].weight : 0;
    }
}

/* Makes one round of steps 1 and 2 (head of this file): divides what is left of the processors, and settles the claims
 * that want no more than their part. Returns true if it has settled a claim: then another round is needed. */
static inline bool share_settle(struct share_room *room, struct share_claim *c, unsigned n, unsigned cpus)
{
    bool any = false, now[SHARE_CLAIMS];
    share_weigh(room, c, n, cpus);
    for (unsigned i = 0; i < n; i++) {
        now[i] = false;
        if (c[i].settled)
            continue;
        uint64_t part = 0;
        for (unsigned cpu = 0; cpu < cpus; cpu++)
            part += share_may_use(&c[i], cpu) ? share_part(room, &c[i], cpu) : 0;
        c[i].part = (uint32_t)part;
        any |= now[i] = (uint64_t)c[i].wanted * SHARE_ONE <= part;
    }
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        uint64_t taken = 0;
        for (unsigned i = 0; i < n; i++)
            if (now[i] && c[i].part && share_may_use(&c[i], cpu))
                taken += (uint64_t)share_part(room, &c[i], cpu) * c[i].wanted * SHARE_ONE / c[i].part;
        room->left[cpu] -= (uint32_t)taken;
    }
    for (unsigned i = 0; i < n; i++)
        if (now[i]) {
            c[i].settled = true;
            c[i].part = c[i].wanted * SHARE_ONE;
        }
    return any;
}

/* Step 3 (head of this file): gives c one whole processor that no process has got yet and that c may use. Of several
 * such processors it is the one that the fewest processes may use. Returns false if there is none. */
static inline bool share_take_one(struct share_room *room, struct share_claim *c, unsigned cpus)
{
    unsigned best = cpus;
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        if (room->left[cpu] && share_may_use(c, cpu) && (best == cpus || room->weights[cpu] < room->weights[best]))
            best = cpu;
    if (best == cpus)
        return false;
    room->left[best] = 0;
    c->allowed++;
    return true;
}

/* Returns the claim with the largest fraction (`part`). If several are equal: the one with the fewest processors, then
 * the first one. Returns NULL if all fractions are 0. */
static inline struct share_claim *share_next(struct share_claim *c, unsigned n)
{
    struct share_claim *best = NULL;
    for (unsigned i = 0; i < n; i++)
        if (c[i].part && (!best || c[i].part > best->part || (c[i].part == best->part && c[i].allowed < best->allowed)))
            best = &c[i];
    return best;
}

/* Divides processors 0 .. cpus-1 among n claims: sets `allowed` of each. `room` is memory for the computation. */
static inline void share_divide(struct share_room *room, struct share_claim *c, unsigned n, unsigned cpus)
{
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        room->left[cpu] = SHARE_ONE;
    for (unsigned i = 0; i < n; i++)
        c[i].settled = false;
    while (share_settle(room, c, n, cpus))
        ;
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        room->left[cpu] = 1;
        room->weights[cpu] = 0;
        for (unsigned i = 0; i < n; i++)
            room->weights[cpu] += share_may_use(&c[i], cpu);
    }
    for (unsigned i = 0; i < n; i++) {
        /* each division has rounded down by less than one unit; without this, three thirds of a processor make none */
        c[i].part += cpus;
        c[i].allowed = 0;
        for (unsigned whole = c[i].part / SHARE_ONE; whole && share_take_one(room, &c[i], cpus);)
            whole--;
        c[i].part = c[i].part % SHARE_ONE > 2 * cpus ? c[i].part % SHARE_ONE : 0;
    }
    for (struct share_claim *next; (next = share_next(c, n)) != NULL; next->part = 0)
        share_take_one(room, next, cpus);
    for (unsigned i = 0; i < n; i++)
        c[i].allowed += c[i].allowed == 0;
}

#endif
