/* PSTHREADS_DUMP=PATH: the state of every vp and thread (dump.c) is written to PATH
 *   - when PATH.request appears (touch PATH.request); PATH.request is removed when PATH is complete;
 *   - by a deadlock report (deadlock.c).
 * PATH may contain %p, which stands for the process's number, for programs of several processes. An existing file is
 * replaced in one step (rename).
 * No signal is used. A kernel thread, made only if the variable is set, sleeps in inotify on the folder. psrun dump PID
 * shows the same state of any process, without the variable and without that kernel thread. But the system must let
 * psrun read the other process's memory.
 *
 * States: `path` is set once, before the kernel thread is made, and constant afterwards. The thread that writes a dump
 * sets `writing` (compare-and-swap). A forked child does not have the kernel thread. If PATH has a %p, the child has a
 * file of its own, and makes the kernel thread at its first outermost region. For this the child's fork handler sets
 * dump_request_owed, and the root that opens the region clears it by an exchange. Without a %p only the deadlock report
 * writes in the child.
 * Failures: no folder, no inotify, no kernel thread: one line, and no dumps on request. */
#include "dump_request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "check.h"
#include "debug_layout.h"
#include "life.h"
#include "os.h"

#define STACK_BYTES ((size_t)128 * 1024)

static char path[PATH_MAX - 32]; /* PATH, with its %p; empty: PSTHREADS_DUMP is not set */
static int watch = -1;
static _Atomic uint32_t running, writing;
_Atomic uint32_t dump_request_owed;

extern const struct ps_debug_layout ps_debug_layout;
struct dump_process dump_this_process(void)
{
    return (struct dump_process){
        .pid = getpid(), .layout = (uintptr_t)&ps_debug_layout, .openmp = (uintptr_t)ps_life.settings.debug_layout};
}

static void real_path(char *to, size_t bytes, const char *suffix)
{
    const char *mark = strstr(path, "%p");
    if (mark)
        snprintf(to, bytes, "%.*s%d%s%s", (int)(mark - path), path, getpid(), mark + 2, suffix);
    else
        snprintf(to, bytes, "%s%s", path, suffix);
}

static void write_dump_line(void *context, const char *line)
{
    char text[600];
    int n = snprintf(text, sizeof text, "%s\n", line);
    ssize_t written = write(*(int *)context, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
    (void)written; /* on a full disk the dump ends early */
}

void dump_request_write(void)
{
    static char whole[PATH_MAX], part[PATH_MAX];
    uint32_t no = 0;
    if (!path[0] || !ps_cas_acquire(&writing, &no, 1))
        return;
    real_path(whole, sizeof whole, "");
    real_path(part, sizeof part, ".part");
    int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        ps_warn("PSTHREADS_DUMP: %s cannot be written (%s): no dump", part, strerror(errno));
    } else {
        const struct dump_process here = dump_this_process();
        int err = dump_state(&here, write_dump_line, &file);
        if (err)
            ps_warn("PSTHREADS_DUMP: the state cannot be read (%s): no dump", strerror(err));
        close(file);
        if (rename(part, whole) != 0)
            ps_warn("PSTHREADS_DUMP: %s cannot be written (%s): no dump", whole, strerror(errno));
    }
    ps_store_release(&writing, 0);
}

static void *wait_for_requests(void *arg)
{
    char events[4096], request[PATH_MAX];
    (void)arg;
    os_thread_name("psthreads-dump");
    real_path(request, sizeof request, ".request");
    do {
        if (access(request, F_OK) != 0)
            continue;
        dump_request_write();
        unlink(request);
    } while (read(watch, events, sizeof events) > 0 || errno == EINTR);
    return NULL;
}

/* Starts the kernel thread that watches the folder of PATH; writes one line if that fails. */
static void watch_requests(void)
{
    char folder[PATH_MAX];
    os_thread thread;
    real_path(folder, sizeof folder, "");
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    watch = inotify_init1(IN_CLOEXEC);
    int err = watch < 0 || inotify_add_watch(watch, slash ? folder : ".", IN_CREATE | IN_MOVED_TO) < 0 ? errno : 0;
    if (!err)
        err = os_thread_start(&thread, wait_for_requests, NULL, STACK_BYTES, true);
    if (err) {
        ps_warn("PSTHREADS_DUMP=%s: requests cannot be watched for (%s); a deadlock will be written there", path,
                strerror(err));
        return;
    }
    os_thread_detach(thread);
    ps_store_release(&running, 1);
}

void dump_request_start(void)
{
    const char *wish = os_env_trusted("PSTHREADS_DUMP");
    if (!wish || !*wish || path[0])
        return;
    if (strlen(wish) >= sizeof path - 32) {
        ps_warn("PSTHREADS_DUMP: a path of %zu bytes is too long: no dumps", strlen(wish));
        return;
    }
    strcpy(path, wish);
    watch_requests();
}

void dump_request_pay(void)
{
    if (ps_xchg_acq_rel(&dump_request_owed, 0))
        watch_requests();
}

unsigned dump_request_runs(void) { return ps_load_acquire(&running); }

void dump_request_after_fork_in_child(void)
{
    ps_store_relaxed(&dump_request_owed, ps_load_relaxed(&running) && strstr(path, "%p") != NULL);
    if (watch >= 0)
        close(watch); /* the descriptor is shared with the parent: reading here would take the parent's events */
    watch = -1;
    ps_store_relaxed(&running, 0);
    ps_store_relaxed(&writing, 0);
}
