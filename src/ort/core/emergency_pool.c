/* See emergency_pool.h. */
#include "emergency_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "race.h"
#include "spin.h"

#define UNITS (ORT_EMERGENCY_BYTES / ORT_EMERGENCY_UNIT)
_Static_assert(ORT_EMERGENCY_UNIT % PS_CACHE_LINE == 0 && UNITS % 64 == 0, "whole lines, whole words of bits");

static alignas(ORT_EMERGENCY_UNIT) unsigned char units[UNITS][ORT_EMERGENCY_UNIT];
static uint64_t used[UNITS / 64], last[UNITS / 64];
static size_t lowest, left = UNITS;
static struct ps_spin lock;

static bool unit_is_set(const uint64_t *bits, size_t u) { return bits[u / 64] >> (u % 64) & 1; }
static void set(uint64_t *bits, size_t u) { bits[u / 64] |= UINT64_C(1) << (u % 64); }
static void clear(uint64_t *bits, size_t u) { bits[u / 64] &= ~(UINT64_C(1) << (u % 64)); }

/* Returns the number of the first of n free units side by side; UNITS: there are none. */
static size_t find_units_locked(size_t n)
{
    size_t run = 0;
    for (size_t u = lowest; u < UNITS; u++) {
        if (used[u / 64] == UINT64_MAX) {
            run = 0;
            u |= 63;
        } else if (unit_is_set(used, u)) {
            run = 0;
        } else if (++run == n) {
            return u + 1 - n;
        }
    }
    return UNITS;
}

static void *take_units_locked(size_t n, size_t keep)
{
    size_t first = left >= keep && left - keep >= n ? find_units_locked(n) : UNITS;
    if (first == UNITS)
        return NULL;
    for (size_t u = first; u < first + n; u++) {
        set(used, u);
        clear(last, u);
    }
    set(last, first + n - 1);
    left -= n;
    if (first == lowest)
        lowest = first + n;
    return units[first];
}

void *ort_emergency_pool_take(size_t bytes, size_t keep)
{
    if (bytes > ORT_EMERGENCY_BYTES)
        return NULL;
    size_t n = bytes == 0 ? 1 : (bytes + ORT_EMERGENCY_UNIT - 1) / ORT_EMERGENCY_UNIT;
    ps_spin_lock(&lock);
    void *p = take_units_locked(n, (keep + ORT_EMERGENCY_UNIT - 1) / ORT_EMERGENCY_UNIT);
    ps_spin_unlock(&lock);
    return p;
}

bool ort_emergency_pool_give(void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)units;
    if (PS_LIKELY(at >= sizeof units))
        return false;
    size_t first = at / ORT_EMERGENCY_UNIT, u = first;
    ps_spin_lock(&lock);
    for (bool end = false; !end; u++) {
        PS_ASSERT(u < UNITS && unit_is_set(used, u));
        end = unit_is_set(last, u);
        clear(used, u);
    }
    left += u - first;
    if (first < lowest)
        lowest = first;
    ps_spin_unlock(&lock);
    return true;
}

void ort_emergency_pool_after_fork_in_child(void) { ps_spin_init(&lock); }

void *ort_mem_get(size_t bytes)
{
    void *p = malloc(bytes);
    return PS_LIKELY(p != NULL) ? p : ort_emergency_pool_take(bytes, ORT_EMERGENCY_KEEP);
}

void *ort_mem_zeroed(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (PS_UNLIKELY(p == NULL) && (p = ort_emergency_pool_take(bytes, ORT_EMERGENCY_KEEP)) != NULL)
        memset(p, 0, bytes);
    return p;
}

void *ort_mem_aligned(size_t align, size_t bytes)
{
    void *p = aligned_alloc(align, (bytes + align - 1) & ~(align - 1));
    if (PS_UNLIKELY(p == NULL) && align <= ORT_EMERGENCY_UNIT)
        p = ort_emergency_pool_take(bytes, ORT_EMERGENCY_KEEP);
    return p;
}

void ort_mem_free(void *p)
{
    if (PS_LIKELY(!ort_emergency_pool_give(p)))
        ps_race_free(p);
}
