/* Stopping the library: only its kernel threads, for a while (ps_quiesce); all of it (psthread_finalize); and the end
 * of a process whose initial thread has ended. */
#include "life.h"
#include "run.h"

#include "children.h"
#include "current.h"
#include "deadlock.h"
#include "dedicated.h"
#include "dump_request.h"
#include "home.h"
#include "idle.h"
#include "inherited.h"
#include "lone_root.h"
#include "os.h"
#include "psthread.h"
#include "quota_park.h"
#include "scheduler.h"
#include "standby.h"
#include "thread.h"
#include "timer.h"
#include "uth.h"
#include "watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Wakes the guest vps that kernel threads of the library carry (spares), so that they see that `stopping` is set. */
static void wake_stand_ins(void)
{
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned id = ps_rt.num_vps; id < vps; id++)
        if (ps_load_acquire(vp_attached(ps_vp_at(id))) == PS_ATTACHED_OURS)
            idle_wake_this(ps_vp_at(id));
}

static void stop_workers(void)
{
    ps_store_seq(&ps_rt.stopping, 1);
    quota_park_end();
    for (unsigned id = 1; id < ps_rt.num_vps; id++) {
        struct vp *vp = ps_vp_at(id);
        idle_wake_this(vp); /* a worker that never started is REFUSED from now on */
        uint32_t state;
        while ((state = ps_load_acquire(&vp_worker(vp)->started)) < PS_WORKER_RUNS)
            os_yield(); /* another thread has taken the vp out of the idle set, and is starting the worker */
        if (state != PS_WORKER_RUNS)
            continue;
        os_thread_join(vp_worker(vp)->kernel_thread);
        life_forget_worker();
    }
    watchdog_stop();
    timer_stop();
    wake_stand_ins();
    standby_stop(); /* spares that run find no work, and end */
    watchdog_may_start();
}

static void restart_workers(void)
{
    for (unsigned id = 1; id < ps_rt.num_vps; id++) {
        struct vp *vp = ps_vp_at(id);
        ps_store_relaxed(&vp_worker(vp)->started, PS_WORKER_NONE);
        idle_forget_search(vp);
    }
    quota_park_restart();
    ps_store_seq(&ps_rt.stopping, 0);
}

/* Stops the library's kernel threads, unless there are other roots. A kernel thread that becomes a root meanwhile sets
 * `attached` in its vp, then reads `quiescing`. This function sets `quiescing`, then reads which vps are attached (all
 * four seq_cst). So one of the two sees the other: either nothing is stopped here, or the new root waits for
 * start_lock. */
void ps_quiesce(void)
{
    if (!ps_load_acquire(&ps_life.started))
        return;
    home_come_outside();
    struct vp *vp = ps_vp_attach();
    pthread_mutex_lock(&ps_life.start_lock);
    ps_store_seq(&ps_rt.quiescing, 1);
    if (!life_other_roots(vp)) {
        stop_workers();
        restart_workers();
        if (ps_dedicated_count() > 0)
            watchdog_be_there(); /* starts the watchdog again now, so that no dedicated thread has to do it */
    }
    ps_store_seq(&ps_rt.quiescing, 0);
    pthread_mutex_unlock(&ps_life.start_lock);
    uth_cache_trim(&vp_run(vp)->stacks, 0);
    uth_tls_drain(&vp_run(vp)->blocks);
    if (vp_run(vp)->tls == vp_run(vp)->own_tls) /* not while this kernel thread is in another block than its own */
        uth_tls_trim();
}

static uint64_t sum(size_t counter)
{
    uint64_t n = 0;
    unsigned vps = ps_load_acquire(&ps_rt.table_size);
    for (unsigned i = 0; i < vps; i++)
        n += ps_load_acquire((_Atomic uint64_t *)(void *)((char *)&vp_run(ps_vp_at(i))->counts + counter));
    return n;
}

static bool all_ended(void)
{
    /* `ended` is read first: a thread may submit another one before it ends, never afterwards. */
    uint64_t ended = sum(offsetof(struct ps_thread_counts, ended));
    return ended == sum(offsetof(struct ps_thread_counts, submitted));
}

/* The current thread runs other threads until every thread that was submitted has ended. It is a root, or in a forked
 * child the thread that forked while it ran as a call (join.c). */
void ps_wait_for_all(struct vp *vp)
{
    if (sum(offsetof(struct ps_thread_counts, made)) == sum(offsetof(struct ps_thread_counts, submitted)))
        /* no thread waits to be submitted, so the caller's children all end, and the caller may block for them */
        children_wait_and_sweep(vp_run(vp)->current);
    /* Threads may still run whose parents did not wait for them. */
    for (int64_t pause_ns = LIFE_FIRST_PAUSE_NS; !all_ended();) {
        if (ps_yield()) {
            pause_ns = LIFE_FIRST_PAUSE_NS;
            continue;
        }
        os_park(vp_wake_word(vp), 0, pause_ns);
        pause_ns = pause_ns < LIFE_LONGEST_PAUSE_NS ? pause_ns * 2 : pause_ns;
    }
}

int psthread_finalize(void)
{
    if (!ps_load_acquire(&ps_life.started))
        return EPERM;
    home_come_outside();
    struct vp *vp = ps_vp_attach(); /* another call may have started the library, without making this thread a root */
    if ((ps_life.starter ? vp != ps_life.starter : vp_run(vp)->id != 0) || vp_run(vp)->current != &vp_run(vp)->root)
        return EPERM;
    ps_wait_for_all(vp);
    home_come_outside();
    while (ps_load_acquire(&ps_watchdog.spares) > ps_load_acquire(&ps_watchdog.standing) || ps_dedicated_count() > 0)
        os_yield(); /* dedicated threads and spares end by themselves: no work is left for them */
    if (life_other_roots(vp))
        return EBUSY;
    stop_workers();
    pthread_mutex_lock(&ps_life.start_lock);
    life_detach_root(vp, false);
    uth_cache_drain(&vp_run(vp)->stacks); /* frees this vp's stacks, and those that other vps have given back */
    uth_overflow_drain();
    pthread_setspecific(ps_life.root_key, NULL);
    pthread_key_delete(ps_life.root_key);
    ps_descriptors_release_all();
    life_forget_vps();
    ps_life.starter = NULL;
    ps_store_release(&ps_life.started, 0);
    pthread_mutex_unlock(&ps_life.start_lock);
    return 0;
}

/* --- the end of the process --- */

/* A process whose initial thread has ended by pthread_exit ends with its last thread, as POSIX requires. The C library
 * ends the process when its last kernel thread ends. But the library's own kernel threads do not end: they sleep. So
 * the last root that ends waits for all threads, then stops the library's kernel threads. The last root may be the
 * initial thread. The kernel threads start again if a thread still calls the library.
 *
 * A destructor of the initial thread sets main_ended. main_ended and `attached` are seq_cst: if the initial thread and
 * another root end at the same time, one of them sees that it is the last. A child that was forked by a thread that is
 * not a root has no root. There the vp that finds nothing to do, and that no thread could ever wake (deadlock.c), ends
 * the process. */
static pthread_key_t main_key;

/* Stops the library's kernel threads if no root is left. The caller carries no vp. Ends the process if the caller and
 * the kernel thread for dumps are the last ones: the kernel thread for dumps sleeps, and would keep the process. */
static void stop_kernel_threads(void)
{
    pthread_mutex_lock(&ps_life.start_lock);
    ps_store_seq(&ps_rt.quiescing, 1);
    bool last = ps_load_acquire(&ps_life.started) && !life_other_roots(NULL);
    if (last) {
        stop_workers();
        restart_workers();
    }
    ps_store_seq(&ps_rt.quiescing, 0);
    pthread_mutex_unlock(&ps_life.start_lock);
    if (!last && ps_life.forked)
        idle_wake_this(ps_life.forked); /* this vp then looks again whether any thread is left (deadlock.c) */
    unsigned ours = 1 + dump_request_runs();
    if (last && ours > 1 && os_count_kernel_threads() - os_main_thread_gone() == ours)
        ps_end_process();
}

void life_end_last_root(struct vp *vp)
{
    bool last = ps_load_seq(&ps_life.main_ended) && !life_other_roots(vp);
    if (last)
        ps_wait_for_all(vp); /* afterwards no thread is left that could submit another */
    life_detach_root(vp, !last);
    if (ps_load_seq(&ps_life.main_ended))
        stop_kernel_threads();
}

/* The destructor of main_key: notes that the initial thread ends. If the initial thread carries a vp, it is still a
 * root, and life_root_ended, the destructor of root_key, ends this root. If it carries none, and no root is left, it
 * becomes a root here, and ends as the last one. So the process ends with its last thread. */
static void main_thread_ended(void *arg)
{
    (void)arg;
    ps_store_seq(&ps_life.main_ended, 1);
    if (!ps_vp() && ps_load_acquire(&ps_life.started) && !life_other_roots(NULL))
        life_end_last_root(ps_vp_attach());
}

__attribute__((constructor)) static void watch_main(void)
{
    if (pthread_key_create(&main_key, main_thread_ended) == 0 && os_thread_id() == (int)getpid())
        pthread_setspecific(main_key, &main_key);
}
