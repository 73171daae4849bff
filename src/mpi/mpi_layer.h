/* The contract between the files of this folder: threads that wait in MPI without a vp.
 *
 *   abi.c       finds MPI's own functions (PMPI_...) and constants in the process, without being linked to MPI
 *   engine.c    tells whether the caller is a thread that can wait; waiting and polling
 *   calls.c     C's calls that block
 *   collective.c   C's collective calls and file access that block
 *   apart.c     C's calls that have no nonblocking form
 *   message_calls.h, collective_calls.h   parts of calls.c and collective.c, included once for each type of counts
 *   fortran.c   Open MPI's Fortran calls (MPICH's mpif.h and `use mpi` call the C functions)
 *   fortran08.c   the calls of the module mpi_f08 that call PMPI directly, past all of these
 *   fortran_waits.c, fortran_apart.c   Fortran calls of both MPIs: waits for requests; calls without a nonblocking form
 *   tasks.c     TAMPI's interface
 *   tools.c     profilers and other tools that stand before MPI
 *   spawn.c     processes that a program starts
 *
 * The library is compiled once for each MPI, with that MPI's mpi.h. It reaches the threads through the tables of
 * psthreads/data/layer.h and ort/core/layer.h. It is linked neither to MPI nor to a runtime, so a program without MPI
 * loads this library's code and nothing of MPI. How a call waits: engine.c. */
#ifndef PS_MPI_LAYER_H
#define PS_MPI_LAYER_H

#include <mpi.h>
#include <stdio.h>

#include "atomic.h"
#include "compiler.h"
#include "psthreads/data/layer.h"

/* --- MPI's own functions --- */

/* A cell for the address of one of MPI's own functions. All cells are filled when MPI is found, because a look-up waits
 * for the dynamic linker's lock. A function whose library is loaded later is looked up when it is called. */
struct mpi_own {
    const char *name;
    _Atomic(void *) function;
};
void *mpi_own_late(struct mpi_own *own); /* looks the function up; ends the program if there is none */
/* Returns the address of MPI's function with that symbol. */
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
    MPI_STRAIGHT, /* calls go to MPI unchanged */
    MPI_AWARE,    /* calls wait without a vp: MPI_THREAD_MULTIPLE, and not switched off */
};
/* Returns the mode. If the mode is unknown, finds it out first. While MPI is not initialized, returns MPI_STRAIGHT, and
 * the mode stays unknown. */
enum mpi_mode mpi_mode_now(void);
extern _Atomic uint32_t mpi_mode_word;
extern bool mpi_collectives; /* whether blocking collective calls use their nonblocking forms */
/* Returns the address of the symbol `name` in a library of this MPI, or in the next library that has it; NULL: none has
 * it. */
void *mpi_find(const char *name);
/* Called by MPI_Finalize: from now on calls go to MPI unchanged. */
void mpi_mode_over(void);
/* MPI's constants: the type of a message packed by MPI_Pack, no communicator, no info, no request. mpi_op_predefined
 * returns whether op is an operation that MPI defines. */
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
    /* Returns whether what the thread waits for has come, so that its call would not block now. Called by the thread
     * itself or by the polling thread, never by both at once. May be called again after it has returned true. */
    bool (*look)(struct mpi_wait *wait);
    /* The look functions read these fields, and keep in them what they have found. */
    MPI_Request *request;
    int count, at;
    char *passed_by; /* in a wait for any request: 1 for each request that is not active */
    int source, tag, flag, error;
    MPI_Comm comm;
    MPI_Message message;
    MPI_Status status;
    /* Set by tasks.c, where no thread waits: the polling thread calls it instead of making a thread ready. NULL in all
     * other waits. */
    void (*done)(struct mpi_wait *wait);
};

/* Returns the table of functions (layer) of the runtime of which the caller is a thread, and that thread in *thread.
 * NULL: the caller is no runtime's thread, or may not wait. */
const struct ps_layer *mpi_threads(void **thread);
/* Returns whether the caller can wait, and fills in wait->layer and wait->thread. Called only in mode MPI_AWARE. */
bool mpi_can_wait(struct mpi_wait *wait);
/* Blocks the caller until wait->look returns true. Its vp runs other threads meanwhile. */
void mpi_await(struct mpi_wait *wait);
/* Publishes the wait, and returns at once. When wait->look returns true, the polling thread calls wait->done. */
void mpi_watch(struct mpi_wait *wait);
/* Starts the watcher, the kernel thread that polls when no other thread does. Called once, when the mode becomes
 * MPI_AWARE. */
void mpi_start_watcher(void);
/* Returns the number of published waits: of threads and of tasks. */
unsigned mpi_waiting(void);
/* Called at exit and in MPI_Finalize: no thread polls from now on. */
void mpi_stop_polling(void);
/* mpi_wake_watcher wakes the watcher if it sleeps. Called by the thread that publishes the first wait, and by the
 * polling thread when the requests of a task are complete (tasks.c). mpi_tasks_finished returns whether there are tasks
 * whose requests are complete. The watcher then calls mpi_tasks_complete, which completes them; the polling thread may
 * not. */
void mpi_wake_watcher(void);
bool mpi_tasks_finished(void);
/* Makes the OpenMP runtime run tasks in the order in which they were made (in_order in ort/core/layer.h), unless
 * PSTHREADS_MPI_TASK_ORDER=any. */
void mpi_tasks_in_order(void);
void mpi_tasks_complete(void);
/* Called by a thread whose test has found nothing: lets other threads of its vp run. */
void mpi_tested_in_vain(void);
/* Moves the caller to a kernel thread of its own, if it is a thread of psthreads: see apart.c. */
void mpi_go_apart(void);
/* mpi_wait_by_turns: from now on threads that wait for the program's requests test them by turns; see calls.c.
 * mpi_by_turns returns whether that was called. */
void mpi_wait_by_turns(void);
bool mpi_by_turns(void);
#ifndef OPEN_MPI
/* Called when the program sets a communicator's error handler. */
void mpi_note_handler(void);
#endif

/* mpi_await_one returns when the request is complete, mpi_await_all when all requests are. MPI's own call then does not
 * block. Both return at once if the caller cannot wait; then MPI's own call blocks. */
void mpi_await_one(MPI_Request *request);
void mpi_await_all(int count, MPI_Request *requests);
/* Waiting until any of several requests is complete. MPI calls a request complete also if it is not active (a
 * persistent request before it is started), and does not tell the two apart. So the caller proceeds in steps. It tests,
 * and finds no complete request. Then mpi_any_begin notes the requests that MPI calls complete. The caller tests once
 * more. If it finds none again, the noted requests are not active, and mpi_any_wait waits for the others. mpi_any_end
 * frees the notes. */
struct mpi_any {
    int count;
    MPI_Request *request;
    char *passed_by, few[64];
};
void mpi_any_begin(struct mpi_any *any, int count, MPI_Request *requests);
void mpi_any_wait(struct mpi_any *any);
void mpi_any_end(struct mpi_any *any);
/* Waits until the request is complete, then completes it by MPI's own call. Returns MPI's error code. */
int mpi_finish(MPI_Request *request, MPI_Status *status);

#endif
