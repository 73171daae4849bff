/* The library's life, from start to stop: what the files share that start it (runtime.c, workers.c), make vps (vps.c),
 * attach roots (roots.c), stop it (stop.c), and serve a forked child (fork.c). Other files include this header only to
 * read a field of struct life, or for life_other_roots.
 *
 * start_lock guards start and stop. It is a pthread mutex, because any kernel thread may call. A thread that forks
 * holds it, and may wait meanwhile for the C library's locks. So a thread that may hold such a lock, and starts a
 * kernel thread, does not wait for start_lock. slot_lock guards the table of slots. Its holder makes one slot and does
 * nothing else, except in life_forget_vps, whose caller holds start_lock too. So a fork does not wait for slot_lock.
 * The child makes anew what it finds half made. */
#ifndef PS_LIFE_H
#define PS_LIFE_H

#include "atomic.h"
#include "compiler.h"
#include "runtime.h"

#include <pthread.h>

struct vp;

struct life {
    pthread_mutex_t start_lock, slot_lock;
    _Atomic uint32_t started; /* set with a release store, after all that start_locked has written */
    pthread_key_t root_key;   /* the destructor of this key detaches a root */
    /* The vp of the root that called psthread_init; in a child that a root forked: that root's. NULL: another call
     * started the library, and the root of vp 0 may finalize it. */
    struct vp *starter;
    /* In a child that a thread other than a root forked: the vp of the child's first kernel thread, which always
     * carries it. It may have been a worker's vp. NULL in other processes. */
    struct vp *forked;
    _Atomic uint32_t main_ended; /* 1: the process's initial thread has ended (stop.c), or `forked` is set */
    struct ps_settings settings;
};
extern struct life ps_life __attribute__((visibility("hidden")));

/* Claims a free slot, and sets its vp's field `attached`. If `first` is 0, this is slot 0 or a guest's slot; if `first`
 * is num_vps, a guest's slot. If no such slot is free, makes the vp of a new guest's slot. NULL: there are too many
 * slots, or no memory. */
struct vp *life_claim_slot(unsigned first, uint32_t attached);
/* Makes and returns the vp of slot id; NULL: no memory. Caller: holds slot_lock, or start_lock. */
struct vp *life_make_vp(unsigned id, bool is_guest);
/* Forgets all vps. Caller: holds start_lock; no kernel thread carries a vp. */
void life_forget_vps(void);
/* Counts one of the library's kernel threads off: it has ended, or was refused. */
static inline void life_forget_worker(void) { ps_sub_seq(&ps_rt.num_kernel_threads, 1); }

/* Returns true if a root other than that of self uses the library, or if ps_life.forked is set and is not self. Spares
 * do not count, since they end by themselves. */
bool life_other_roots(const struct vp *self);
/* Called in a child's fork handlers. Returns the signal mask of the thread that forked; one of these handlers sets
 * it again. */
uint64_t life_mask_of_forker(void);
/* Makes the calling kernel thread, which carries no vp, a root. Starts the library first if needed. Returns the
 * root's vp. */
struct vp *life_attach_root(void);
/* Ends the root of vp, whose kernel thread calls. wait: true if the threads that the root has made are to end first. If
 * false, the caller knows that none of them runs. */
void life_detach_root(struct vp *vp, bool wait);
/* The destructor of root_key: ends the root whose vp is arg, at its home. */
void life_root_ended(void *arg);
/* Ends the root of vp. If the process's initial thread has ended and no other root is left, first waits for all
 * threads, and then stops the library's kernel threads. */
void life_end_last_root(struct vp *vp);

/* The pauses of a thread that looks again and again whether others are done: FIRST_PAUSE at first, then twice as
 * long each time, up to LONGEST_PAUSE. */
#define LIFE_FIRST_PAUSE_NS INT64_C(20000)
#define LIFE_LONGEST_PAUSE_NS INT64_C(1000000)

#endif
