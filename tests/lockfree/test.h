/* cmocka wants these first, in this order; and the random numbers of the tests. */
#ifndef PS_LOCKFREE_TEST_H
#define PS_LOCKFREE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* xorshift: the same sequence at every run. */
static inline uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
