/* The waiting half of the spin lock; see spin.h. */
#include "spin.h"
#include "cpu.h"
#include "os.h"

#if !PS_PORTABLE

#define LOOKS_BEFORE_YIELD 300 /* some microseconds: longer than any section that is not preempted */
#define MOST_PAUSES 16         /* between two looks */

void ps_spin_lock_slow(struct ps_spin *lock)
{
    unsigned looks = 0, pauses = 1;
    do {
        while (ps_load_relaxed(&lock->word) != 0) {
            if (++looks > LOOKS_BEFORE_YIELD) {
                os_yield();
                continue;
            }
            for (unsigned i = 0; i < pauses; i++)
                cpu_pause();
            if (pauses < MOST_PAUSES)
                pauses *= 2;
        }
    } while (ps_xchg_acquire(&lock->word, 1) != 0);
}

#endif
