/* How processes divide the processors among them: decided from what each claims, without a clock or memory.
 *
 * Each process calls this with the same claims, and reads its own line of the answer.
 *   1. Equipartition: each processor is divided among the processes that may use it, by weight.
 *   2. A process that wants less than its part gets what it wants; the rest is divided anew among the others.
 *   3. Parts become whole processors: each process takes as many as its part has, and then those with the largest
 *      fractions take one more, as long as one is left that they may use. No processor is dealt twice.
 *   4. A process that got none runs one kernel thread all the same. The kernel's scheduler makes room for it.
 * A process wants at least 0. Equal processes that do not come out even: the earlier ones have one more.
 *
 * Integers only, so that all processes come to the same answer. Cost: the processes times the processors, once or twice
 * (at worst as often as there are processes): some microseconds for 8 processes on 64 processors.
 * The rule is the equipartition of nthlib-2004's CPU manager; lending is LeWI (Garcia et al., ICPP 2009). */
#ifndef PS_SHARE_POLICY_H
#define PS_SHARE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARE_CPU_WORDS 16 /* processors 0 .. 1023 */
#define SHARE_CPUS (64 * SHARE_CPU_WORDS)
#define SHARE_SLOTS 256
#define SHARE_WEIGHT_MOST 1000

struct share_claim {
    uint32_t weight;                /* 1 .. SHARE_WEIGHT_MOST */
    uint32_t wanted;                /* processors that it could use now; SHARE_CPUS at most */
    uint64_t cpus[SHARE_CPU_WORDS]; /* that it may use */
    /* The answer, and what leads there. */
    uint32_t allowed;
    uint32_t part; /* in parts of SHARE_ONE */
    bool settled;
};

#define SHARE_ONE (UINT32_C(1) << 16)

/* What is left of each processor, in parts of SHARE_ONE; the weights of those that divide it. */
struct share_room {
    uint32_t left[SHARE_CPUS], weights[SHARE_CPUS];
};

static inline bool share_may_use(const struct share_claim *c, unsigned cpu)
{
    return c->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* What claim c gets of a processor that it shares with the others that are not settled. */
static inline uint32_t share_part(const struct share_room *room, const struct share_claim *c, unsigned cpu)
{
    return (uint32_t)((uint64_t)room->left[cpu] * c->weight / room->weights[cpu]);
}

static inline void share_weigh(struct share_room *room, const struct share_claim *c, unsigned n, unsigned cpus)
{
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        room->weights[cpu] = 0;
        for (unsigned i = 0; i < n; i++)
            room->weights[cpu] += !c[i].settled && share_may_use(&c[i], cpu) ? c[i].weight : 0;
    }
}

/* Step 2, once. Returns whether some process has got what it wants. */
static inline bool share_settle(struct share_room *room, struct share_claim *c, unsigned n, unsigned cpus)
{
    bool any = false, now[SHARE_SLOTS];
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

/* Gives c a processor that is left and that the fewest others may use. room->weights is their number here. */
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

/* The claim with the largest fraction that has not been dealt yet, of equal ones the one with the fewest processors.
 * NULL: there is none. */
static inline struct share_claim *share_next(struct share_claim *c, unsigned n)
{
    struct share_claim *best = NULL;
    for (unsigned i = 0; i < n; i++)
        if (c[i].part && (!best || c[i].part > best->part || (c[i].part == best->part && c[i].allowed < best->allowed)))
            best = &c[i];
    return best;
}

/* Sets `allowed` of all n claims, on processors 0 .. cpus-1. */
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
        c[i].part += cpus; /* what the divisions have cut off: three thirds are one */
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
