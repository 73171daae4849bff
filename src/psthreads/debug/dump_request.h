/* PSTHREADS_DUMP: a state dump of this process into a file. See dump_request.c. */
#ifndef PS_DUMP_REQUEST_H
#define PS_DUMP_REQUEST_H

#include "atomic.h"
#include "dump.h"

/* The calling process, for dump.h. */
struct dump_process dump_this_process(void);

/* Reads PSTHREADS_DUMP and begins to wait for requests. Once, when the library starts. */
void dump_request_start(void);
/* Writes a dump into the file, if one is asked for. Any kernel thread, one at a time: a second caller does nothing. */
void dump_request_write(void);
/* Kernel threads that wait for requests: 0 or 1. */
unsigned dump_request_runs(void);
/* In a forked child: no thread waits there until it uses threads. */
void dump_request_after_fork_in_child(void);
/* Called now and then by a root about to open an outermost region: makes what a forked child still needs. */
extern _Atomic uint32_t dump_request_owed;
void dump_request_pay(void);
static inline void dump_request_look(void)
{
    if (PS_UNLIKELY(ps_load_relaxed(&dump_request_owed)))
        dump_request_pay();
}

#endif
