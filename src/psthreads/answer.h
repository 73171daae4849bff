/* What the handler of an interrupt (os_interrupt) answers to the thread that asked for it and waits: the watchdog
 * (preempt.c), or the sender of a signal to one thread (directed.c).
 *
 * An answer wakes the asker. The asker may send the next interrupt before this kernel thread has come back from waking
 * it. Where another program has this kernel thread's processor, that may happen each time. If each handler then
 * answered inside the one before, handlers would fill a small stack. So a handler that finds its kernel thread
 * answering only asks for the answer to be given again. If another kernel thread has taken the slot meanwhile, a
 * handler may nest once more.
 *
 * One struct ps_answer for each kind of question, so an interrupt of another kind may nest once. Zeroed memory is its
 * initial state.
 *   word      what was asked and answered, as numbers of the asker's; 0 stands for "asked". The asker sets 0 and waits
 *             on it; the handler stores the answer (release) and wakes.
 *   by.tid    The kernel thread whose handler answers, 0: none. Written and read on that kernel thread alone, but for
 *             one with the same slot.
 *   by.again  Counted up by handlers inside that one, set to 0 by it. */
#ifndef PS_ANSWER_H
#define PS_ANSWER_H

#include "atomic.h"
#include "compiler.h"

struct ps_answer {
    _Atomic uint32_t word;
    struct {
        _Atomic int tid;
        _Atomic uint32_t again;
    } by[64];
};

/* In the handler, first: the kernel thread is about to answer, in a handler below. There is nothing to be done, then:
 * return. */
bool ps_answers_already(struct ps_answer *answer);
/* Answers. again: to handlers inside this one as well; else what they ask for is not answered. */
void ps_answer(struct ps_answer *answer, uint32_t what, bool again);

#endif
