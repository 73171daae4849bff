/* The room's own contract: threads that wait in MPI without a vp.
 *
 *   abi.c       finds MPI's own functions (PMPI_...) and its constants in the process, without being linked to them
 *   engine.c    whether the caller is a thread that can wait, waiting, polling
 *   calls.c     the calls that block, for C
 *   collective.c   the same, collective calls and file access
 *   apart.c     those that have no nonblocking form
 *   message_calls.h, collective_calls.h   parts of calls.c and collective.c, once for each type of counts
 *   fortran.c   Open MPI's Fortran calls (MPICH's call the C ones)
 *   fortran08.c   the calls of the module mpi_f08 that go to PMPI past all of these
 *   fortran_waits.c, fortran_apart.c   of both, the calls that wait for requests, and those without a nonblocking form
 *   tasks.c     TAMPI's interface
 *   tools.c     profilers and others that stand before MPI
 *   spawn.c     processes that a program starts
 *
 * Compiled once for each MPI, with that one's mpi.h. Knows of MPI what the standard says, and of threads
 * psthreads/data/layer.h and ort/core/layer.h; linked to neither: a program without MPI loads this library's code and
 * nothing of MPI. How a call waits: engine.c. */
#ifndef PS_MPI_LAYER_H
#define PS_MPI_LAYER_H

#include <mpi.h>
#include <stdio.h>

#include "atomic.h"
#include "compiler.h"
#include "psthreads/data/layer.h"

/* --- MPI's own functions --- */

/* All are looked up at once when MPI is found, since a look-up waits for the dynamic linker's lock. A function that is
 * not there then (its library is loaded later) is looked up when it is called. */
struct mpi_own {
    const char *name;
    _Atomic(void *) function;
};
void *mpi_own_late(struct mpi_own *own); /* ends the program where there is none */
/* The function of that symbol. */
#define MPI_OWN_SYMBOL(symbol)                                                                       \
    ({                                                                                               \
        static struct mpi_own own_ __attribute__((section("mpi_own"), aligned(8))) = {symbol, NULL}; \
        void *at_ = ps_load_relaxed(&own_.function);                                                 \
        PS_LIKELY(at_ != NULL) ? at_ : mpi_own_late(&own_);                                          \
    })
#define MPI_OWN_NAMED(name) ((__typeof__(&P##name))MPI_OWN_SYMBOL("P" #name))
#define MPI_OWN(name) MPI_OWN_NAMED(name)

enum mpi_mode {
    MPI_UNKNOWN,  /* no call has come yet, or MPI is not initialized */
    MPI_STRAIGHT, /* calls go to MPI as they are */
    MPI_AWARE,    /* MPI_THREAD_MULTIPLE, and not switched off */
};
/* The mode, found out at need; never MPI_UNKNOWN. */
enum mpi_mode mpi_mode_now(void);
extern _Atomic uint32_t mpi_mode_word;
extern bool mpi_collectives; /* blocking collective calls go by their nonblocking forms */
/* MPI's own function `name` of whichever library of this MPI has it; NULL. */
void *mpi_find(const char *name);
/* MPI is about to be finalized: calls go straight from now on. */
void mpi_mode_over(void);
/* A message packed by MPI_Pack. */
MPI_Datatype mpi_packed(void);
MPI_Comm mpi_no_comm(void);
MPI_Info mpi_no_info(void);
MPI_Request mpi_null(void);
bool mpi_op_predefined(MPI_Op op);

static inline bool mpi_aware(void)
{
    uint32_t mode = ps_load_acquire(&mpi_mode_word);
    return PS_LIKELY(mode != MPI_UNKNOWN) ? mode == MPI_AWARE : mpi_mode_now() == MPI_AWARE;
}

/* --- waiting --- */

struct mpi_wait {
    struct mpi_wait *next;
    const struct ps_layer *layer;
    void *thread;
    /* Whether the call would go on now. Called by the thread itself, or by the poller, one at a time. May be called
     * again after it has said yes. */
    bool (*look)(struct mpi_wait *wait);
    /* What it looks at. */
    MPI_Request *request;
    int count, at;
    char *passed_by; /* any: those that are not active */
    int source, tag, flag, error;
    MPI_Comm comm;
    MPI_Message message;
    MPI_Status status;
    /* Used by tasks.c, where no thread waits: the poller calls this instead of making a thread ready. */
    void (*done)(struct mpi_wait *wait);
};

/* Returns the layer that has the caller as a thread; *thread is that thread. NULL: there is none, or the caller may not
 * wait. */
const struct ps_layer *mpi_threads(void **thread);
/* The caller can wait; mode is MPI_AWARE. Fills in layer and thread. */
bool mpi_can_wait(struct mpi_wait *wait);
/* Waits until look says so. */
void mpi_await(struct mpi_wait *wait);
/* wait->done is called when look says so. */
void mpi_watch(struct mpi_wait *wait);
/* Starts the kernel thread that polls where no processor is idle; once, when the mode is MPI_AWARE. */
void mpi_start_watcher(void);
/* Threads and tasks that wait. */
unsigned mpi_waiting(void);
/* No thread polls from now on. */
void mpi_stop_polling(void);
/* Called when requests of tasks are complete (tasks.c): the poller cannot do what is left, but the watcher can. */
void mpi_wake_watcher(void);
bool mpi_tasks_finished(void);
/* Makes the OpenMP runtime run tasks in the order of their making, unless PSTHREADS_MPI_TASK_ORDER=any. */
void mpi_tasks_in_order(void);
void mpi_tasks_complete(void);
/* A test has failed: another thread may run. */
void mpi_tested_in_vain(void);
/* Moves the caller to a kernel thread of its own, if it is a thread of ours: see apart.c. */
void mpi_go_apart(void);
/* Makes threads that wait for a request of the program's test it by turns from now on; see calls.c. */
void mpi_wait_by_turns(void);
bool mpi_by_turns(void);
#ifndef OPEN_MPI
/* A communicator's error handler is set. */
void mpi_note_handler(void);
#endif

/* Waits until the request is complete, or all of them; then MPI's own call does not block. */
void mpi_await_one(MPI_Request *request);
void mpi_await_all(int count, MPI_Request *requests);
/* Waiting until any of the requests is complete. MPI says that a request which is not active (a persistent one before
 * it is started) is complete too, and does not tell the two apart. So the caller tests, and finds none complete. Then
 * mpi_any_begin notes the requests that MPI says are complete, and the caller tests once more. If it finds none again,
 * the noted requests are not active, and mpi_any_wait waits for the others. */
struct mpi_any {
    int count;
    MPI_Request *request;
    char *passed_by, few[64];
};
void mpi_any_begin(struct mpi_any *any, int count, MPI_Request *requests);
void mpi_any_wait(struct mpi_any *any);
void mpi_any_end(struct mpi_any *any);
/* Waits until a request that has just been started is complete, and completes it. */
int mpi_finish(MPI_Request *request, MPI_Status *status);

#endif
