/* See reserve.h. */
#include "reserve.h"

#include "atomic.h"
#include "compiler.h"

#include <stdint.h>

_Static_assert(ORT_RESERVE_CELLS == 64, "a bit of `taken` a cell");

static PS_LINE_ALIGNED unsigned char cells[ORT_RESERVE_CELLS][ORT_RESERVE_CELL];
static _Atomic uint64_t taken;

void *ort_reserve_take(size_t bytes, unsigned most)
{
    uint64_t now = ps_load_relaxed(&taken), free_bit;
    do {
        if (bytes > ORT_RESERVE_CELL || (unsigned)__builtin_popcountll(now) >= most || ~now == 0)
            return NULL;
        free_bit = ~now & (now + 1); /* the lowest that is not set */
    } while (!ps_cas_acquire(&taken, &now, now | free_bit));
    return cells[__builtin_ctzll(free_bit)];
}

bool ort_reserve_give(void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)cells;
    if (at >= sizeof cells)
        return false;
    ps_and_acq_rel(&taken, ~(UINT64_C(1) << at / ORT_RESERVE_CELL));
    return true;
}
