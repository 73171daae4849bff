/* psthread.h - many user-level threads on few kernel threads (virtual processors).
 *
 * The interface follows POSIX threads where it can (psthreads-2009 section 2; balder-threads-2004 for monitors and
 * work-queues). A thread runs until it waits, yields or ends. Calls that can fail return 0 or a positive errno value.
 * "Blocks" means: the calling thread waits and its virtual processor (vp) runs other threads; no kernel thread is held.
 * Every function may be called from any psthread and from any pthread (which becomes a thread of the library at its
 * first call), unless said otherwise. None is async-signal-safe. There are no cancellation points: a thread is never
 * ended by another one. In a psthread, pthread_exit and calls that act on the kernel thread (pthread_cancel,
 * pthread_setschedparam and the like) must not be used. "Checked build": configured with -DPS_CHECKED=ON; the library
 * as it is installed does not find the errors so marked.
 * fork() in any thread: in the child that thread is alone, as POSIX has it, and the library goes on there. An object
 * that another thread used at the fork, held or waited at must be initialised anew before any other use. */
#ifndef PSTHREAD_H
#define PSTHREAD_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define PSTHREAD_VERSION_MAJOR 0
#define PSTHREAD_VERSION_MINOR 1
#define PSTHREAD_VERSION_PATCH 0

/* --- the library --- */

#define PSTHREAD_STACK_MIN 16384u /* bytes: the smallest stack */
#define PSTHREAD_NO_SPARES (~0u)  /* for max_spares: none */

typedef struct psthread_config {
    unsigned num_vps; /* the caller's own counted; 0: PSTHREADS_NUM_VPS, else one per usable core */
    /* Bytes of a thread's stack, PSTHREAD_STACK_MIN to 64 GiB; 0: PSTHREADS_STACKSIZE (KiB), else 256 KiB. */
    size_t stack_size;
    unsigned num_levels; /* groups: number of levels given in group_size, at most 8; 0: discovered */
    /* [num_levels] vps in a group, innermost first, none larger than num_vps (psthreads-2009 figure 2). */
    const unsigned *group_size;
    int global_queue; /* not 0: there is a global queue for coarse threads (PSTHREAD_VP_GLOBAL) */
    /* Kernel threads that may be lent while a thread holds its vp (spins, or sits in a system call) and others wait
     * behind it; 0: 2000. PSTHREAD_NO_SPARES: none, so that num_vps bounds what runs at once and a thread that spins
     * for another may spin for ever. */
    unsigned max_spares;
} psthread_config_t;

/* Starts the library; config NULL: all defaults. Optional: the first other call starts it with the defaults.
 * EBUSY: it runs already; EINVAL: a value that makes no sense; EAGAIN/ENOMEM: the system refuses. */
int psthread_init(const psthread_config_t *config);
/* Waits for all threads that were enqueued (blocks), stops the vps and gives all memory back, also that of threads that
 * were never enqueued. EPERM: not called by the kernel thread that started the library, or it does not run. EBUSY:
 * another kernel thread of the program's that has called the library has neither ended nor called psthread_detach_self;
 * the library goes on then. */
int psthread_finalize(void);
/* Takes the calling kernel thread out of the library: waits for the threads that it has made (blocks), runs its keys'
 * destructors. Its next call makes it a thread of the library again. EPERM: the caller is a psthread, or is the one
 * that called psthread_init. */
int psthread_detach_self(void);
/* Number of vps. */
unsigned psthread_num_vps(void);
/* The vp that runs the caller, from 0; may change across any call that blocks. */
unsigned psthread_vp_self(void);

/* --- threads --- */

typedef struct psthread *psthread_t; /* a thread */

typedef struct psthread_attr {
    size_t stack_size; /* bytes, PSTHREAD_STACK_MIN to 64 GiB; 0: the library's */
    unsigned flags;    /* PSTHREAD_ATTR_... */
} psthread_attr_t;

#define PSTHREAD_ATTR_DETACHED 1u /* recycled when it ends; may not be joined */
#define PSTHREAD_ATTR_NOSTACK 2u  /* a work descriptor (nthlib-2004 section 2): runs as a call, may not block */
#define PSTHREAD_ATTR_DEFAULT \
    {                         \
        0, 0                  \
    } /* the library's stack size, no flags */

/* Makes a thread that will run fn(arg); it is not submitted. A thread that is not detached is kept until it is joined
 * or its parent's psthread_waitall returns. Does not block. ENOMEM. attr NULL: defaults. EINVAL: unknown flags, a
 * senseless stack_size. */
int psthread_create(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg);
/* The same, extended (hence _ex) for direct reuse (psthreads-2009 figure 4): the descriptor is the caller's. *thread
 * NULL: as psthread_create, but the descriptor stays when the thread ends, to be given again. *thread not NULL: that
 * descriptor, whose last thread has ended, becomes the new thread. Such threads are not joined: psthread_waitall waits
 * for them, and psthread_free gives the descriptor back. EBUSY: it has not ended. */
int psthread_create_ex(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg);
/* Gives back a descriptor of psthread_create_ex. EBUSY: its thread has not ended. EINVAL: made otherwise. */
int psthread_free(psthread_t thread);
/* Gives back a thread that was made and will not be submitted. EBUSY: it was submitted. EINVAL: made by
 * psthread_create_ex. */
int psthread_discard(psthread_t thread);

#define PSTHREAD_VP_ANY (-1)    /* outer-level threads: dealt cyclically; others: the queue of the vp that enqueues */
#define PSTHREAD_VP_GLOBAL (-2) /* the global queue; EINVAL where there is none */
#define PSTHREAD_FRONT 0        /* the end of a queue that its vp takes from */
#define PSTHREAD_BACK 1         /* the end that thieves take from */
/* Submits a made thread to the queue of virtual processor vp: outer-level threads (made by a thread that no other
 * psthread made) at the back, inner-level ones at the front (psthreads-2009 section 2.2). EINVAL: no such vp, or
 * submitted already. */
int psthread_enqueue(psthread_t thread, int vp);
int psthread_enqueue_at(psthread_t thread, int vp, int end); /* the same, at the end given */
/* Makes a thread and submits it to the front of the caller's vp's queue, for divide and conquer. Where no other vp
 * would take it, it runs before psthread_spawn returns, as a call on the caller's stack. Where none has taken it, the
 * thread that joins it calls it. So fn must not wait for what the caller does afterwards, nor count on __thread and
 * thread_local variables of its own: a call has its caller's. In all else it is a thread as any other, and is joined or
 * detached as one. ENOMEM, EINVAL as psthread_create. */
int psthread_spawn(psthread_t *thread, const psthread_attr_t *attr, void *(*fn)(void *), void *arg);

/* Waits until every thread that the caller has made (and that any thread submits) has ended; their descriptors are
 * recycled (those of psthread_create_ex stay). Blocks. */
int psthread_waitall(void);
/* Waits until thread has ended; *result gets what it returned. Blocks. EDEADLK: oneself, ESRCH: ended and joined before
 * (as far as can be seen), EINVAL: detached, or another joins it. */
int psthread_join(psthread_t thread, void **result);
/* The same, at once: EBUSY where it has not ended. */
int psthread_tryjoin(psthread_t thread, void **result);
/* The same, until deadline_ns (psthread_now) at most: ETIMEDOUT; the thread may be joined still. */
int psthread_timedjoin(psthread_t thread, void **result, uint64_t deadline_ns);
/* It is recycled when it ends, and may not be joined any more. ESRCH, EINVAL as for psthread_join. */
int psthread_detach(psthread_t thread);
/* Ends the caller; C++ destructors of its functions run. In a foreign kernel thread it is pthread_exit; in a piece of a
 * work-queue it ends the piece, in a key's destructor the destructor. Where main ends so, the process ends when all
 * threads that were enqueued have. */
void psthread_exit(void *result) __attribute__((noreturn));
/* Lets another ready thread run; the caller goes to the back of its vp's queue, where it is no psthread to the
 * front. */
void psthread_yield(void);
psthread_t psthread_self(void); /* the calling thread */
/* Names the calling thread, for `psrun dump`, reports and gdb. ERANGE: longer than PSTHREAD_NAME_MAX bytes, cut. */
#define PSTHREAD_NAME_MAX 31
int psthread_setname(const char *name);
/* Its name, "" where it has none. ERANGE: it does not fit. */
int psthread_getname(char *name, size_t bytes);
/* Nesting level: 0 for foreign threads, 1 for what they make, and so on. */
unsigned psthread_level(void);

/* --- time --- */

/* Nanoseconds of the clock that deadlines are given in: CLOCK_MONOTONIC. PSTHREAD_NEVER as a deadline: none. A deadline
 * that has passed lets a call try, and not wait. A thread that tries again and again gives way: each 64th try that
 * fails, by a deadline or a try function, yields as psthread_yield does. A kernel thread of the library's keeps the
 * time; it starts with the first wait that has a deadline. */
#define PSTHREAD_NEVER UINT64_MAX
uint64_t psthread_now(void);
/* Waits until deadline_ns. Blocks. */
int psthread_sleep(uint64_t deadline_ns);

/* --- barrier (psthreads-2009 section 2.3: with ids; nthlib-2004: hybrid) --- */

typedef struct psthread_barrier *psthread_barrier_t; /* a barrier */
/* For `count` threads with ids 0 .. count-1. ENOMEM, EINVAL (count 0). */
int psthread_barrier_init(psthread_barrier_t *barrier, unsigned count);
/* EBUSY: threads wait in it. */
int psthread_barrier_destroy(psthread_barrier_t barrier);
#define PSTHREAD_BARRIER_SERIAL (-1) /* returned to exactly one of the threads */
/* Waits until all ids have come. Blocks. EINVAL: id out of range (the checked build also: id twice). */
int psthread_barrier_wait(psthread_barrier_t barrier, unsigned id);

/* --- mutex, spin lock, condition variable, once (static initialisers: all zero) --- */

typedef struct psthread_mutex {
    uint64_t opaque[4];
} psthread_mutex_t;
#define PSTHREAD_MUTEX_INITIALIZER \
    {                              \
        {                          \
            0                      \
        }                          \
    }                                                /* a mutex that is free */
int psthread_mutex_init(psthread_mutex_t *mutex);    /* free */
int psthread_mutex_destroy(psthread_mutex_t *mutex); /* EBUSY: locked */
/* Test-and-test-and-set for about two context switches, then blocks (balder-threads-2004 figure 2).
 * EDEADLK: the caller holds it (checked build). */
int psthread_mutex_lock(psthread_mutex_t *mutex);
int psthread_mutex_trylock(psthread_mutex_t *mutex); /* EBUSY; never waits for the mutex */
/* ETIMEDOUT: it could not be had until deadline_ns (psthread_now). Blocks. EDEADLK (checked build). */
int psthread_mutex_timedlock(psthread_mutex_t *mutex, uint64_t deadline_ns);
/* EPERM: no thread holds it, or another one does (checked build). A thread that polls gives way: each 64th unlock, and
 * each 64th trylock that fails, yields as psthread_yield does. */
int psthread_mutex_unlock(psthread_mutex_t *mutex);

/* For critical sections of a few instructions: the holder must not block. Waiting threads keep their vp. */
typedef struct psthread_spin {
    uint32_t opaque[1];
} psthread_spin_t;
#define PSTHREAD_SPIN_INITIALIZER \
    {                             \
        {                         \
            0                     \
        }                         \
    }                                             /* a spin lock that is free */
int psthread_spin_init(psthread_spin_t *lock);    /* free */
int psthread_spin_lock(psthread_spin_t *lock);    /* spins until it is free, then holds it */
int psthread_spin_trylock(psthread_spin_t *lock); /* EBUSY */
int psthread_spin_unlock(psthread_spin_t *lock);  /* the caller holds it */

typedef struct psthread_cond {
    uint64_t opaque[4];
} psthread_cond_t;
#define PSTHREAD_COND_INITIALIZER \
    {                             \
        {                         \
            0                     \
        }                         \
    }                                             /* a condition variable without waiters */
int psthread_cond_init(psthread_cond_t *cond);    /* no waiters */
int psthread_cond_destroy(psthread_cond_t *cond); /* EBUSY: threads wait */
/* Blocks. EPERM: as psthread_mutex_unlock. May return without reason, as POSIX's. */
int psthread_cond_wait(psthread_cond_t *cond, psthread_mutex_t *mutex);
/* The same; ETIMEDOUT: deadline_ns (psthread_now) came first. The caller holds the mutex again in any case. */
int psthread_cond_timedwait(psthread_cond_t *cond, psthread_mutex_t *mutex, uint64_t deadline_ns);
int psthread_cond_signal(psthread_cond_t *cond);    /* wakes one thread that waits */
int psthread_cond_broadcast(psthread_cond_t *cond); /* wakes all threads that wait */

typedef struct psthread_once_word {
    uint32_t opaque[1];
} psthread_once_t;
#define PSTHREAD_ONCE_INIT \
    {                      \
        {                  \
            0              \
        }                  \
    } /* not run yet */
/* Runs fn once in the process; others wait until it has returned (block). If it throws a C++ exception or calls
 * psthread_exit, it has not run: another thread that waits, or comes, runs it. */
int psthread_once(psthread_once_t *once, void (*fn)(void));

/* --- semaphore, read-write lock (static initialisers: all zero) --- */

typedef struct psthread_sem {
    uint64_t opaque[1];
} psthread_sem_t;
#define PSTHREAD_SEM_VALUE_MAX 0x7fffffffu                  /* the largest value */
int psthread_sem_init(psthread_sem_t *sem, unsigned value); /* EINVAL: above PSTHREAD_SEM_VALUE_MAX */
int psthread_sem_destroy(psthread_sem_t *sem);              /* EBUSY: threads wait */
/* Takes one off the value; where that is 0, waits until it is not. Blocks. */
int psthread_sem_wait(psthread_sem_t *sem);
int psthread_sem_trywait(psthread_sem_t *sem);                         /* EAGAIN; never waits */
int psthread_sem_timedwait(psthread_sem_t *sem, uint64_t deadline_ns); /* ETIMEDOUT */
int psthread_sem_post(psthread_sem_t *sem);                            /* EOVERFLOW; never waits */
int psthread_sem_getvalue(psthread_sem_t *sem, unsigned *value);       /* the value at some moment of the call */

typedef struct psthread_rwlock {
    uint64_t opaque[2];
} psthread_rwlock_t;
#define PSTHREAD_RWLOCK_INITIALIZER \
    {                               \
        {                           \
            0                       \
        }                           \
    }                                                 /* a lock that is free */
int psthread_rwlock_init(psthread_rwlock_t *lock);    /* free */
int psthread_rwlock_destroy(psthread_rwlock_t *lock); /* EBUSY: locked, or threads wait */
/* Many may hold it for reading, or one for writing. Writers that wait go before readers that come: so a thread that
 * holds it for reading must not take it for reading again. Block. EAGAIN: 2^30 readers. */
int psthread_rwlock_rdlock(psthread_rwlock_t *lock);
int psthread_rwlock_wrlock(psthread_rwlock_t *lock);
int psthread_rwlock_tryrdlock(psthread_rwlock_t *lock);                         /* EBUSY; never waits */
int psthread_rwlock_trywrlock(psthread_rwlock_t *lock);                         /* EBUSY; never waits */
int psthread_rwlock_timedrdlock(psthread_rwlock_t *lock, uint64_t deadline_ns); /* ETIMEDOUT */
int psthread_rwlock_timedwrlock(psthread_rwlock_t *lock, uint64_t deadline_ns); /* ETIMEDOUT */
int psthread_rwlock_unlock(psthread_rwlock_t *lock);                            /* EPERM: no thread holds it */

/* --- keys --- */

typedef unsigned psthread_key_t;         /* a value of each thread's own */
#define PSTHREAD_KEYS_MAX 128            /* keys that may exist at once */
#define PSTHREAD_DESTRUCTOR_ITERATIONS 4 /* rounds of destructors at a thread's end */
/* EAGAIN: PSTHREAD_KEYS_MAX keys exist. The destructor is called for values that are not NULL when a thread ends. */
int psthread_key_create(psthread_key_t *key, void (*destructor)(void *));
int psthread_key_delete(psthread_key_t key);                     /* EINVAL */
int psthread_setspecific(psthread_key_t key, const void *value); /* EINVAL, ENOMEM */
void *psthread_getspecific(psthread_key_t key);                  /* NULL: none was set */

/* --- monitor (balder-threads-2004 section 2, figure 2) --- */

/* Mutual exclusion with waiting inside: enter and leave, wait until notified. */
typedef struct psthread_monitor {
    uint64_t opaque[8];
} psthread_monitor_t;
#define PSTHREAD_MONITOR_INITIALIZER \
    {                                \
        {                            \
            0                        \
        }                            \
    }                                                      /* a monitor that is free */
int psthread_monitor_init(psthread_monitor_t *monitor);    /* free */
int psthread_monitor_destroy(psthread_monitor_t *monitor); /* EBUSY */
int psthread_monitor_enter(psthread_monitor_t *monitor);   /* blocks */
int psthread_monitor_leave(psthread_monitor_t *monitor);   /* EPERM: as psthread_mutex_unlock */
/* Inside the monitor: leaves it, waits for a notify, enters again. Blocks. EPERM: as psthread_mutex_unlock. */
int psthread_monitor_wait(psthread_monitor_t *monitor);
int psthread_monitor_notify(psthread_monitor_t *monitor);     /* one thread that waits goes on */
int psthread_monitor_notify_all(psthread_monitor_t *monitor); /* all threads that wait go on */

/* --- work-queue (balder-threads-2004 section 2; the workqueueing model: nthlib-2004 section 3.3) --- */

/* A loop's iterations, or any numbered work, handed out in chunks to threads that ask. */
typedef struct psthread_workqueue *psthread_workqueue_t;
int psthread_workqueue_init(psthread_workqueue_t *queue);   /* ENOMEM */
int psthread_workqueue_destroy(psthread_workqueue_t queue); /* EBUSY: work is left or runs */
/* Submits fn(arg) to be run by some thread as a work descriptor or, if it may block, with stack != 0 as a thread. Does
 * not block. ENOMEM. EINVAL: fn NULL. */
int psthread_workqueue_add(psthread_workqueue_t queue, void (*fn)(void *), void *arg, int stack);
/* Waits until everything added so far, and what that added, has run; runs work itself while it waits. Blocks. EDEADLK:
 * called in a piece of this queue's work. */
int psthread_workqueue_wait(psthread_workqueue_t queue);

/* --- file descriptors --- */

/* poll, with its array, its result and its errno, until deadline_ns: the number of entries with something in revents;
 * 0: the deadline came first; -1. Blocks: no kernel thread is held. A descriptor that is closed while a thread waits
 * for it wakes none. */
int psthread_poll(struct pollfd *fds, nfds_t n, uint64_t deadline_ns);
/* The system's calls of these names, with their results and errno; where they would wait the thread blocks, for as long
 * as SO_RCVTIMEO and SO_SNDTIMEO of a socket allow. A descriptor that several threads use at once is to be nonblocking
 * (O_NONBLOCK), and one to be connected; else a call may hold its vp. With MSG_DONTWAIT a call does not wait. */
ssize_t psthread_read(int fd, void *to, size_t bytes);
ssize_t psthread_write(int fd, const void *from, size_t bytes);
ssize_t psthread_recv(int fd, void *to, size_t bytes, int flags);
ssize_t psthread_recvfrom(int fd, void *to, size_t bytes, int flags, struct sockaddr *address, socklen_t *length);
ssize_t psthread_send(int fd, const void *from, size_t bytes, int flags);
ssize_t psthread_sendto(int fd, const void *from, size_t bytes, int flags, const struct sockaddr *address,
                        socklen_t length);
int psthread_accept(int fd, struct sockaddr *address, socklen_t *length);
int psthread_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int psthread_connect(int fd, const struct sockaddr *address, socklen_t length);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
