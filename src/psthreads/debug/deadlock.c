/* The deadlock report: threads wait, and nothing can ever wake them.
 *
 * Caller: a vp that has parked and found nothing (idle.c), before it sleeps. Cost: one look at each vp's bit in the
 * idle set, when the vp has nothing else to do. The look ends at the first vp that is not parked. While a root runs,
 * its vp is not parked.
 *
 * Invariant: a report is made only if nothing is left that could ready a thread, or make a kernel thread that could.
 * deadlock_look proves this in four steps. Two things may still ready a thread: the handler of a later signal, although
 * it may call next to nothing of OpenMP; and a debugger. So the vps sleep after the report as they would without it.
 *
 * A program that keeps foreign kernel threads gets no report; psrun dump shows what its threads wait for. If the
 * process's initial thread has ended and no thread waits, nothing will ever happen: then the process is ended
 * (ps_end_process).
 *
 * Shared: `said`, by compare-and-swap. Failure: without /proc there is no report.
 * Rejected: the watchdog looks (it sleeps when nothing is ready, as it should); a count of waiting threads (every wait
 * would pay for it). */
#include "deadlock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "dump.h"
#include "dump_request.h"
#include "idle.h"
#include "life.h"
#include "os.h"
#include "quota_park.h"
#include "sources.h"
#include "timer.h"
#include "vp.h"
#include "watchdog.h"

#define RETRIES 4
#define FIRST_RETRY_NS INT64_C(100000000) /* each later wait is ten times as long */
#define LINES_MAX 100

static _Atomic uint32_t said;

static void report_line(void *context, const char *line)
{
    unsigned *lines = context;
    if (++*lines <= LINES_MAX)
        ps_warn("%s", line);
}

static void count_line(void *context, const char *line) { (void)context, (void)line; }

static void *exit_now(void *arg)
{
    (void)arg;
    exit(0);
}

/* Returns how many threads were made and not submitted yet. A forked child counts from the fork on. */
static unsigned count_never_enqueued(void)
{
    int64_t n = 0;
    for (unsigned i = 0; i < ps_load_acquire(&ps_rt.table_size); i++)
        if (ps_vp_at(i)) {
            const struct ps_thread_counts *counts = &vp_run(ps_vp_at(i))->counts;
            n += (int64_t)(ps_load_relaxed(&counts->made) - ps_load_relaxed(&counts->submitted));
        }
    return n > 0 ? (unsigned)n : 0;
}

static void report_head(unsigned waiting)
{
    static const char why[] = "and no kernel thread is left that could wake one (said once)";
    unsigned made = count_never_enqueued();
    if (waiting == 1)
        ps_warn("deadlock: the one thread that has begun waits, %s", why);
    else
        ps_warn("deadlock: all %u threads that have begun wait, %s", waiting, why);
    if (made == 1)
        ps_warn("1 thread was made and never enqueued");
    else if (made)
        ps_warn("%u threads were made and never enqueued", made);
}

void ps_end_process(void)
{
    os_thread t;
    /* On a kernel thread that carries no vp: handlers of exit may call anything there. */
    if (os_thread_start(&t, exit_now, NULL, 0, false) != 0)
        exit_now(NULL);
    os_thread_detach(t);
}

/* Here a vp counts as parked if its bit in the idle set is set. Some vps sleep outside of the
 * idle set: dedicated ones, those of lone roots, spares that stand by, homes that stand aside. Such a vp counts as
 * parked if its `sleeps` is set and it runs no handler of the program. A handler adds 1 to `parks` at its end. The four
 * steps:
 *   1. Every attached vp is parked, and none searches.
 *   2. Nothing is ready: every queue is empty (read under its lock), every handoff slot, every pinned slot.
 *   3. As 1, and ps_idle.parks has the value that it had before 1.
 *   4. The process has no kernel threads except those that carry attached vps, those of offline vps, the watchdog, the
 *      kernel thread for dumps, and the poller. The watchdog and the kernel thread for dumps ready nothing. The poller
 *      had nothing to wait for before 1: otherwise it could have readied a thread since 2.
 * A vp's bit is cleared by the thread that wakes the vp, or by the vp itself when it has found work. Only a vp that
 * parks sets the bit of an attached vp, or `sleeps`, and only for itself; it first adds 1 to `parks`. So between 1 and
 * 3 no vp stopped being parked, and during 2 no vp ran anything but this look. This includes roots: the bit of a root's
 * vp is set while the root waits in the runtime and its vp has found nothing.
 * If only 4 fails, a foreign kernel thread may still act: nothing is reported. But a kernel thread may just be ending,
 * so this vp looks again up to RETRIES times. */
int64_t deadlock_look(struct vp *vp, unsigned looks)
{
    unsigned carried, again, lines = 0, poller_idles = timer_poller_idles();
    uint64_t parks = ps_load_seq(&ps_idle.parks);
    (void)vp;
    if (!idle_all_parked(&carried) || ps_load_relaxed(&said) || ps_load_seq(&ps_rt.stopping) ||
        vp_look_for_all(PS_EVERYWHERE) || !idle_all_parked(&again) || again != carried ||
        ps_load_seq(&ps_idle.parks) != parks)
        return -1;
    bool main_ended = ps_load_seq(&ps_life.main_ended);
    unsigned kernel_threads = os_count_kernel_threads() - (main_ended && os_main_thread_gone()),
             ours = carried + quota_park_count() + watchdog_runs() + dump_request_runs() + poller_idles;
    if (kernel_threads != ours) {
        int64_t wait_ns = FIRST_RETRY_NS;
        for (unsigned i = 0; i < looks; i++)
            wait_ns *= 10;
        return kernel_threads > ours && looks < RETRIES ? wait_ns : -1;
    }
    uint32_t no = 0;
    if (!ps_cas_acq_rel(&said, &no, 1))
        return -1;
    const struct dump_process here = dump_this_process();
    unsigned waiting = dump_waiting(&here, count_line, NULL);
    if (waiting == 0) {
        ps_store_release(&said, 0);
        if (main_ended)
            ps_end_process();
        return -1;
    }
    report_head(waiting);
    dump_waiting(&here, report_line, &lines);
    if (lines > LINES_MAX)
        ps_warn("... and %u more", lines - LINES_MAX);
    dump_request_write();
    return -1;
}
