/* Doacross nests for entry points which do not tell the core what loop hands out the iterations. (doacross.c serves
 * entry points that do.)
 *
 * The loop may be static, without any state of the team. So a nest has one bit for each iteration, numbered in the
 * order of the nest. A member sets the bit when it posts the iteration. A member that waits long sleeps on the bit's
 * word.
 *
 * The member that comes first makes the nest. The others find the nest through the construct's slot, which each member
 * leaves as soon as it has the nest. The last member that leaves the nest frees it. Shared fields: `bits` is written by
 * fetch-or (acq_rel) and read with acquire. `left` is lowered by acq_rel subtractions, so the last member has seen that
 * no other member reads the nest any more.
 * Failures: no memory ends the program with one line.
 * Cost: an allocation for a nest; a read-modify-write and a fence for a post. OpenMP 5.2 section 15.9.6. */
#ifndef PS_ORT_DOACROSS_NEST_H
#define PS_ORT_DOACROSS_NEST_H

#include "ort.h"
#include "race.h"

struct ort_nest {
    _Atomic uint32_t left; /* number of the members that have not left */
    _Atomic uint32_t bits[];
};

/* Called once by each member of a team of two or more: returns the team's nest. iterations > 0. [switches] */
struct ort_nest *ort_nest_enter(struct ort_thread *t, uint64_t iterations);
/* ort_nest_wait returns when the iteration has been posted. If it is not posted yet, and under a thread sanitizer
 * always, it calls ort_nest_wait_long, which waits, and tells the sanitizer. [both switch] */
void ort_nest_wait_long(struct ort_nest *nest, uint64_t iteration);
static PS_ALWAYS_INLINE void ort_nest_wait(struct ort_nest *nest, uint64_t iteration)
{
    if (PS_UNLIKELY(!(ps_load_acquire(&nest->bits[iteration / 32]) >> iteration % 32 & 1) || ps_race_enabled()))
        ort_nest_wait_long(nest, iteration);
}
/* Posts the iteration, and wakes the members that wait for it. */
void ort_nest_post(struct ort_nest *nest, uint64_t iteration);
/* Called once by each member, when it neither waits nor posts any more. */
void ort_nest_leave(struct ort_nest *nest);

#endif
