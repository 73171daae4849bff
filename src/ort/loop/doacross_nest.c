/* See doacross_nest.h. */
#include "doacross_nest.h"

#include <limits.h>
#include <string.h>

#include "check.h"
#include "emergency_pool.h"
#include "race.h"

static struct ort_nest *make_nest(uint64_t iterations, unsigned members)
{
    struct ort_nest *nest = NULL;
    uint64_t words = iterations / 32 + 1;
    if (words < SIZE_MAX / 8)
        nest = ort_mem_zeroed(sizeof *nest + words * sizeof nest->bits[0]);
    PS_CHECK(nest != NULL, "no memory for a doacross nest of %llu iterations", (unsigned long long)iterations);
    atomic_init(&nest->left, members);
    return nest;
}

struct ort_nest *ort_nest_enter(struct ort_thread *t, uint64_t iterations)
{
    void *mem = (void *)sizeof(struct ort_nest *);
    struct ort_loop_extra extra = {.mem = &mem};
    bool first = ort_ws_enter(t);
    ort_ws_extra(t, &extra, first);
    struct ort_nest *nest;
    if (first) {
        nest = make_nest(iterations, t->team->n);
        memcpy(mem, &nest, sizeof nest);
        ort_ws_ready(t);
    } else {
        memcpy(&nest, mem, sizeof nest);
    }
    ort_ws_leave(t);
    return nest;
}

void ort_nest_wait_long(struct ort_nest *nest, uint64_t iteration)
{
    _Atomic uint32_t *word = &nest->bits[iteration / 32];
    uint32_t bit = UINT32_C(1) << iteration % 32;
    for (uint32_t seen; !((seen = ps_load_acquire(word)) & bit);)
        ee_wait(word, seen);
    ps_race_acquire(word);
}

void ort_nest_post(struct ort_nest *nest, uint64_t iteration)
{
    _Atomic uint32_t *word = &nest->bits[iteration / 32];
    ps_race_release(word);
    ps_or_acq_rel(word, UINT32_C(1) << iteration % 32);
    ee_wake(word, UINT_MAX);
}

void ort_nest_leave(struct ort_nest *nest)
{
    if (ps_sub_acq_rel(&nest->left, 1) == 1)
        ort_mem_free(nest);
}
