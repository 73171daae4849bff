/* PSTHREADS_DUMP: a state dump of this process into a file. See dump_request.c. */
#ifndef PS_DUMP_REQUEST_H
#define PS_DUMP_REQUEST_H

#include "atomic.h"
#include "dump.h"

/* Returns the calling process's number and tables, for dump.h. */
struct dump_process dump_this_process(void);

/* Reads PSTHREADS_DUMP and begins to wait for requests. Called when the library starts; does nothing if an earlier
 * start has set the path. */
void dump_request_start(void);
/* Writes a dump into the file, if PSTHREADS_DUMP is set. Callers: any kernel thread; does nothing while another one
 * writes. */
void dump_request_write(void);
/* Returns the number of kernel threads that wait for requests: 0 or 1. */
unsigned dump_request_runs(void);
/* Called in a forked child, which has no kernel thread that waits for requests. If PATH has a %p, the child starts one
 * later (dump_request_pay). */
void dump_request_after_fork_in_child(void);
/* Called now and then by a root that is about to open an outermost region: in a forked child, starts the kernel thread
 * that waits for requests. dump_request_owed is 1 if the child still needs it. */
extern _Atomic uint32_t dump_request_owed;
void dump_request_pay(void);
static inline void dump_request_look(void)
{
    if (PS_UNLIKELY(ps_load_relaxed(&dump_request_owed)))
        dump_request_pay();
}

#endif
