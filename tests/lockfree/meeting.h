/* Two kernel threads that do something at the same moment, again and again: one leads (begun), the other follows
 * (ended). */
#ifndef PS_TESTS_MEETING_H
#define PS_TESTS_MEETING_H

#include "atomic.h"
#include "os.h"

#define MEETINGS 100000
#define MEETINGS_NS UINT64_C(5000000000) /* a busy machine, where each yield takes long, comes to fewer */
#define NO_MORE UINT32_MAX

/* False: there will be no more. */
static inline bool wait_for(_Atomic unsigned *word, unsigned number)
{
    for (unsigned looks = 1;; looks++) {
        unsigned now = ps_load_acquire(word);
        if (now == number || now == NO_MORE)
            return now == number;
        if (looks % 1024 == 0)
            os_yield();
    }
}

#endif
