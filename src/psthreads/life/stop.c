/* Stopping the library: its kernel threads for a while (ps_quiesce), all of it (psthread_finalize), and the end of a
 * process whose initial thread has ended. */
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

/* `stopping` is set. */
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
        idle_wake_this(vp); /* one that was never started is refused from now on */
        uint32_t state;
        while ((state = ps_load_acquire(&vp_worker(vp)->started)) < PS_WORKER_RUNS)
            os_yield(); /* another thread has taken its bit just now */
        if (state != PS_WORKER_RUNS)
            continue;
        os_thread_join(vp_worker(vp)->kernel_thread);
        life_forget_worker();
    }
    watchdog_stop();
    timer_stop();
    wake_stand_ins();
    standby_stop(); /* those at work find nothing, and end */
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

/* A root that comes meanwhile sets `attached` in its vp, then reads `quiescing`. The caller sets `quiescing`, then
 * looks which vps are attached (all seq_cst). One of the two sees the other: either nothing is stopped, or the root
 * waits at start_lock. */
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
            watchdog_be_there(); /* before one of these starts it */
    }
    ps_store_seq(&ps_rt.quiescing, 0);
    pthread_mutex_unlock(&ps_life.start_lock);
    uth_cache_trim(&vp_run(vp)->stacks, 0);
    uth_tls_drain(&vp_run(vp)->blocks);
    if (vp_run(vp)->tls == vp_run(vp)->own_tls) /* the kernel thread's own thread pointer */
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
    uint64_t ended = sum(
        offsetof(struct ps_thread_counts, ended)); /* first: a thread may submit another before it ends, never after */
    return ended == sum(offsetof(struct ps_thread_counts, submitted));
}

/* The caller, a root, lets others run until every thread that was submitted has ended. */
void ps_wait_for_all(struct vp *vp)
{
    if (sum(offsetof(struct ps_thread_counts, made)) == sum(offsetof(struct ps_thread_counts, submitted)))
        children_wait_and_sweep(vp_run(vp)->current); /* no thread is left that was not submitted: it blocks properly */
    for (int64_t pause_ns = LIFE_FIRST_PAUSE_NS; !all_ended();) { /* threads whose parents did not wait for them */
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
    struct vp *vp = ps_vp_attach(); /* the library may have been started by a call that needs no thread */
    if ((ps_life.starter ? vp != ps_life.starter : vp_run(vp)->id != 0) || vp_run(vp)->current != &vp_run(vp)->root)
        return EPERM;
    ps_wait_for_all(vp);
    home_come_outside();
    while (ps_load_acquire(&ps_watchdog.spares) > ps_load_acquire(&ps_watchdog.standing) || ps_dedicated_count() > 0)
        os_yield(); /* nothing is left for them */
    if (life_other_roots(vp))
        return EBUSY;
    stop_workers();
    pthread_mutex_lock(&ps_life.start_lock);
    life_detach_root(vp, false);
    uth_cache_drain(&vp_run(vp)->stacks); /* what all have left */
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

/* --- the process's end --- */

/* A process whose initial thread has ended by pthread_exit ends with its last thread, as POSIX has it: the C library
 * sees to that where kernel threads end. The library's own kernel threads do not end: they sleep. So the last root that
 * ends after the initial thread, or the initial thread if it is the last, waits for all threads. Then it stops the
 * library's kernel threads; they start again if a thread still calls.
 *
 * main_ended is set by a destructor of the initial thread's; it and `attached` are seq_cst: of the initial thread and
 * another root that ends, one sees that it is the last. In a child forked by a thread that is not a root there is no
 * root at all. The vp that finds nothing to do, and that could never be woken (deadlock.c), ends the process. */
static pthread_key_t main_key;

/* The caller carries no vp. */
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
        idle_wake_this(ps_life.forked); /* it looks again whether any thread is left: deadlock.c */
    unsigned ours = 1 + dump_request_runs();
    if (last && ours > 1 && os_count_kernel_threads() - os_main_thread_gone() == ours)
        ps_end_process();
}

void life_end_last_root(struct vp *vp)
{
    bool last = ps_load_seq(&ps_life.main_ended) && !life_other_roots(vp);
    if (last)
        ps_wait_for_all(vp); /* and no thread is left that could submit another */
    life_detach_root(vp, !last);
    if (ps_load_seq(&ps_life.main_ended))
        stop_kernel_threads();
}

/* As a root it comes back in life_root_ended. */
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
