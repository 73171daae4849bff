/* Answers of interrupts' handlers: see answer.h. */
#include "answer.h"

#include "os.h"

#define MOST_IN_A_ROW 32 /* handlers inside another one's answer */

static unsigned slot_of(int tid)
{
    return (unsigned)tid % (sizeof((struct ps_answer *)0)->by / sizeof((struct ps_answer *)0)->by[0]);
}

bool ps_answers_already(struct ps_answer *answer)
{
    int tid = os_thread_id();
    unsigned slot = slot_of(tid);
    if (ps_load_relaxed(&answer->by[slot].tid) != tid)
        return false;
    /* The outer one takes it back when this one returns. So many in a row: it is gone (siglongjmp). */
    return ps_add_seq(&answer->by[slot].again, 1) < MOST_IN_A_ROW;
}

void ps_answer(struct ps_answer *answer, uint32_t what, bool again)
{
    int tid = os_thread_id();
    unsigned slot = slot_of(tid);
    ps_store_seq(&answer->by[slot].tid, tid);
    do {
        ps_store_seq(&answer->by[slot].again, 0);
        ps_store_release(&answer->word, what);
        os_wake(&answer->word, 1);
    } while (again && ps_load_seq(&answer->by[slot].again));
    ps_store_seq(&answer->by[slot].tid, 0);
}
