/* How a kernel thread waits for a spin lock that is held. See spin.h. */
#include "spin.h"
#include "cpu.h"
#include "os.h"

#if !PS_PORTABLE

/* So many looks take some microseconds: longer than a critical section, unless the holder is preempted. */
#define LOOKS_BEFORE_YIELD 300
#define MOST_PAUSES 16 /* between two looks at the lock */

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
