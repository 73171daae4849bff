/* The library's life, from start to stop: what is shared by the files that start it (runtime.c, workers.c), make vps
 * (vps.c), attach roots (roots.c), stop it (stop.c), and serve a forked child (fork.c). Private to these, but for the
 * settings.
 *
 * start_lock guards start and stop. The lock is a pthread mutex, because any kernel thread may come. The lock is held
 * during a fork, so a thread that has to start a kernel thread for others does not take it. slot_lock guards the making
 * of slots. Its holder makes one and nothing else: no fork waits for it. What a child finds half made, it makes
 * anew. */
#ifndef PS_LIFE_H
#define PS_LIFE_H

#include "atomic.h"
#include "compiler.h"
#include "runtime.h"

#include <pthread.h>

struct vp;

struct life {
    pthread_mutex_t start_lock, slot_lock;
    _Atomic uint32_t started; /* release: what start_locked has written comes before */
    pthread_key_t root_key;   /* its destructor detaches a root */
    struct vp *starter; /* the root that called psthread_init; NULL: another call came first, vp 0 is its root's */
    /* Used in a child that no root forked: the vp of its first kernel thread. The vp may be a worker's, and is never
     * left. */
    struct vp *forked;
    _Atomic uint32_t main_ended; /* 1: the process's initial thread has ended (stop.c) */
    struct ps_settings settings;
};
extern struct life ps_life __attribute__((visibility("hidden")));

/* Claims a free slot, and makes it where needed: id 0, or a guest's, from id `first` on. NULL: there are too many, or
 * no memory. */
struct vp *life_claim_slot(unsigned first, uint32_t attached);
/* Slot id's vp; NULL: no memory. Caller: has slot_lock, or start_lock. */
struct vp *life_make_vp(unsigned id, bool is_guest);
/* Forgets all vps. Caller: has start_lock; no kernel thread carries one. */
void life_forget_vps(void);
/* Notes that one of the library's kernel threads has ended. */
static inline void life_forget_worker(void) { ps_sub_seq(&ps_rt.num_kernel_threads, 1); }

/* Does another root use the library? Spares end by themselves. */
bool life_other_roots(const struct vp *self);
/* In handlers of fork in a child: returns the signal mask that the thread that forked had; one of these handlers
 * restores it. */
uint64_t life_mask_of_forker(void);
/* Makes the calling kernel thread, which carries no vp, a root; starts the library at need. */
struct vp *life_attach_root(void);
/* Detaches the calling kernel thread, which is no root any more. wait: true where the threads that it has made are to
 * end first; else the caller knows that none of them runs. */
void life_detach_root(struct vp *vp, bool wait);
/* The destructor of root_key. */
void life_root_ended(void *arg);
/* The same, where the root may be the process's last. */
void life_end_last_root(struct vp *vp);

/* How long a thread sleeps that looks again and again whether others are done: twice as long each time. */
#define LIFE_FIRST_PAUSE_NS INT64_C(20000)
#define LIFE_LONGEST_PAUSE_NS INT64_C(1000000)

#endif
