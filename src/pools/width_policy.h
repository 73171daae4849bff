/* How wide a library's parallel calls may be: decided from samples, without a clock or the library (width.c has those).
 *
 * As long as the program's threads fill the processors, a call runs in its caller alone: no lock, no waiting for one
 * another. Where processors are free, calls are wide. In between they share the processors.
 *
 * Two things tell that a wide call is too wide, and both do at once:
 *   - several threads call: the processors are divided among them;
 *   - the process's threads are preempted: more threads are ready than there are processors, in this process or in
 *     others. Measured (Linux 6.18, 2 processors): 0.00 to 0.09 a millisecond of processor time where none competes,
 *     also with jobs that wait for one another; 0.23 and more where one or more other processes
 *     compute.
 * In a narrow state no call may reach us. Then two things together tell that a processor is free:
 *   - a thread that preempts no other was run as soon as it was ready: a processor was idle;
 *   - the process uses less processor time than there are processors. The kernel counts the time of a running thread at
 *     its tick (4 ms), so this is an average, and tells how many threads compute. A thread that gets a part of a
 *     processor only is taken for one that others keep from it.
 * The width grows when a processor was free for `patience` samples without a break. A width that was too large again at
 * once makes the patience longer. */
#ifndef PS_POOLS_WIDTH_POLICY_H
#define PS_POOLS_WIDTH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WIDTH_PATIENCE_MIN = 3, /* samples */
    WIDTH_PATIENCE_MAX = 64,
    WIDTH_SOON_US = 5000,            /* narrow again within this time: it was too wide */
    WIDTH_CONTENDED_SOON_US = 50000, /* the same, where preemptions tell: they come slowly */
    WIDTH_MEMORY_US = 16000,         /* of processor time, over which preemptions are counted */
    WIDTH_RESTS = 2,                 /* percent of a processor: no thread computes */
    WIDTH_COMPUTES = 60,             /* one has a processor to itself */
    WIDTH_CONTENDED_US = 5000,       /* of processor time a preemption: fewer is contention */
};

struct width_policy {
    unsigned processors; /* at least 1 */
    unsigned width;      /* 1 .. processors */
    uint64_t cpu_us;     /* older time counts half */
    uint64_t preempted;
    unsigned calm, patience;
    uint64_t used_us, passed_us; /* processor time a job's width, and wall time; older ones count half */
    uint64_t widened_at_us;
};

struct width_sample {
    uint64_t at_us;     /* when it ends */
    uint64_t wall_us;   /* how long it was; at least 1 */
    uint64_t cpu_us;    /* processor time that the process's threads used in it */
    uint64_t preempted; /* how often one of them was taken from a processor */
    unsigned callers;   /* threads that made a parallel call lately */
    bool idle;          /* a processor had nothing else to do when the sample was due */
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

/* The width from now on. */
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
    /* A thread counts as one that computes from half a processor on. */
    uint64_t computing = (p->used_us + p->passed_us / 2) / p->passed_us;
    if (computing > 1)
        most = p->processors / computing < most ? (unsigned)(p->processors / computing) : most;
    /* A thread that computes and does not get a processor to itself waits for one, whatever the sampler saw. */
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
