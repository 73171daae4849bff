/* How wide a library's parallel calls may be. Decides from samples; width.c has the clock and the library.
 *
 * As long as the program's threads keep all processors busy, a call runs in its caller alone: no lock, no waiting for
 * one another. If processors are free, calls are wide: one caller uses all processors, several share them.
 *
 * Either of two observations tells that a wide call is too wide, and narrows it at once:
 *   - several threads call: the processors are divided among them;
 *   - the process's threads are preempted: more threads are ready than there are processors, in this process or in
 *     others. Measured (Linux 6.18, 2 processors), preemptions a millisecond of processor time: 0.00 to 0.09 without
 *     competition, also with jobs that wait for one another; 0.23 and more if other processes compute.
 * While calls are narrow, perhaps no call comes to us. Then two observations together tell that a processor is free:
 *   - the sampler, a thread that preempts no other, ran as soon as it was ready: a processor was idle;
 *   - the process uses less processor time than there are processors. The kernel counts a running thread's time at its
 *     tick (4 ms), so this is an average, and tells how many threads compute. A thread that gets only a part of a
 *     processor counts as one that waits for a processor.
 * The width grows when a processor was free for `patience` samples in a row. If the new width was too large again soon,
 * the patience doubles. */
#ifndef PS_POOLS_WIDTH_POLICY_H
#define PS_POOLS_WIDTH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WIDTH_PATIENCE_MIN = 3, /* in samples */
    WIDTH_PATIENCE_MAX = 64,
    WIDTH_SOON_US = 5000,            /* too wide again within this time: the patience doubles */
    WIDTH_CONTENDED_SOON_US = 50000, /* the same, if preemptions have told so: they are seen later */
    WIDTH_MEMORY_US = 16000,         /* sums are halved when passed_us exceeds this, or cpu_us twice this */
    WIDTH_RESTS = 2,                 /* percent of a processor; at most this: no thread computes */
    WIDTH_COMPUTES = 60,             /* percent; at least this: a thread has a processor to itself */
    WIDTH_CONTENDED_US = 5000,       /* processor time per preemption; less of it means competition */
};

struct width_policy {
    unsigned processors; /* at least 1 */
    unsigned width;      /* from 1 to processors */
    uint64_t cpu_us;     /* processor time and preemptions; older ones count half */
    uint64_t preempted;
    unsigned calm, patience;
    uint64_t used_us, passed_us; /* processor time divided by the width, and wall time; older ones count half */
    uint64_t widened_at_us;
};

struct width_sample {
    uint64_t at_us;     /* the moment when the sample ends */
    uint64_t wall_us;   /* its length; at least 1 */
    uint64_t cpu_us;    /* processor time that the process's threads used during it */
    uint64_t preempted; /* how often one of these threads was preempted */
    unsigned callers;   /* threads that made a parallel call lately */
    bool idle;          /* a processor was idle when the sample was due */
};

static inline void width_policy_init(struct width_policy *p, unsigned processors)
{
    *p = (struct width_policy){.processors = processors, .width = processors, .patience = WIDTH_PATIENCE_MIN};
}

static inline bool width_policy_contended(const struct width_policy *p)
{
    return p->preempted >= 3 && p->preempted * WIDTH_CONTENDED_US > p->cpu_us;
}

static inline void width_policy_narrow(struct width_policy *p, unsigned width, uint64_t now_us, bool contended)
{
    uint64_t limit = contended ? WIDTH_CONTENDED_SOON_US : WIDTH_SOON_US;
    bool soon = now_us - p->widened_at_us < limit && p->widened_at_us != 0;
    unsigned longer = 2 * p->patience < WIDTH_PATIENCE_MAX ? 2 * p->patience : WIDTH_PATIENCE_MAX;
    p->patience = soon ? longer : WIDTH_PATIENCE_MIN;
    p->calm = 0;
    p->width = width;
}

/* Takes a sample; returns the width from now on. */
static inline unsigned width_policy_step(struct width_policy *p, const struct width_sample *s)
{
    p->cpu_us += s->cpu_us;
    p->preempted += s->preempted;
    while (p->cpu_us > 2 * (uint64_t)WIDTH_MEMORY_US) {
        p->cpu_us /= 2;
        p->preempted /= 2;
    }
    bool contended = p->width > 1 && width_policy_contended(p);
    unsigned share = s->callers > 1 ? p->processors / s->callers : p->processors;
    unsigned most = contended || share == 0 ? 1 : share;
    if (p->width > most) {
        width_policy_narrow(p, most, s->at_us, contended);
        return p->width;
    }
    p->used_us += s->cpu_us / p->width;
    p->passed_us += s->wall_us;
    while (p->passed_us > WIDTH_MEMORY_US) {
        p->used_us /= 2;
        p->passed_us /= 2;
    }
    /* A thread counts as computing if it uses half a processor or more. */
    uint64_t computing = (p->used_us + p->passed_us / 2) / p->passed_us;
    if (computing > 1)
        most = p->processors / computing < most ? (unsigned)(p->processors / computing) : most;
    /* A thread that computes but gets only a part of a processor waits for one, whatever the sampler saw. */
    uint64_t used = p->used_us * 100 / p->passed_us;
    bool starved = used > WIDTH_RESTS && used < WIDTH_COMPUTES;
    p->calm = s->idle && !starved && most > p->width ? p->calm + 1 : 0;
    if (p->calm >= p->patience) {
        p->width = most;
        p->cpu_us = p->preempted = 0;
        p->widened_at_us = s->at_us;
        p->calm = 0;
    }
    return p->width;
}

#endif
