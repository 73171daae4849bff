/* The reader: a kernel thread with a table of open files of its own. What the runtime reads of the system while the
 * program runs is read there. So a program that closes a descriptor and opens a file gets that number, a forked child
 * has no descriptor but the program's, and the program's limit of descriptors is its own.
 *
 * Callers: of reader_call any kernel thread, in a handler too. fn(arg) must not wait for the caller. Of os_reader_begin
 * and os_reader_end the thread that starts, or has joined, the watchdog.
 *
 * `process` is the process that has a reader: set by os_reader_begin, which sets all else before (release), and to 0 by
 * os_reader_end, under `taken`. A child finds another number there: of fork, of vfork, which has this memory, and of
 * the system call. os_reader_forget clears it in a child of fork, whose number may be equal in a namespace of its own.
 * Where there is no reader the caller reads itself. What is asked before the reader runs waits for that.
 * `taken` is held by one caller at a time, all signals blocked: a handler on top, or one that cancels, would wait for
 * the order below it.
 * `order`: IDLE -> ASKED by the caller (release: fn, arg) -> IDLE by the reader (release: the result). ENDS, with
 * `taken` held, is the last. The reader parks on IDLE, the caller on ASKED. Each change is followed by a wake, and a
 * park on a value that has changed returns. So no wake-up is lost. Only one of the two can be parked at a time.
 * tests/models/reader.pml.
 *
 * Cost: two switches of the kernel's for each read, some 10 us. Limit: before Linux 5.9, or where a filter refuses
 * CLOSE_RANGE_UNSHARE, the reader shares the program's table. So it does where that would close copies of files to
 * which closing means something: the kernel copies the first 64 descriptors all the same. Such are message queues
 * (mq_notify ends), files of a network's or a user's file system (data are written back, which may take for ever), and
 * devices but terminals and /dev/null.
 * Rejected: descriptors that stay open, for the program may close or list them; the watchdog itself, for what it starts
 * would have its table; unshare(2), which containers refuse, and which keeps the program's files open. */
#include "reader.h"

#include <linux/major.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "atomic.h"
#include "os.h"
#include "raw.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#define STACK_BYTES ((size_t)256 * 1024) /* the C library takes static TLS from it */
#define EVERY_SIGNAL UINT64_MAX
#define UNSHARE 2 /* CLOSE_RANGE_UNSHARE */
#define ALWAYS_COPIED 64
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { IDLE, ASKED, ENDS };
static struct {
    _Atomic uint32_t taken, order;
    _Atomic int process;
    bool exists; /* `thread` is to be joined; this and the next are the starter's */
    int used_in; /* the process whose callers have used `taken` */
    os_thread thread;
    _Atomic uintptr_t self; /* its pthread_self */
    void (*fn)(void *arg);
    void *arg;
} reader;

static bool is_here(void) { return ps_load_acquire(&reader.process) == (int)getpid(); }

static void take_reader(void)
{
    while (ps_xchg_acq_rel(&reader.taken, 1))
        os_park(&reader.taken, 1, OS_FOREVER);
}

static void give_reader_back(void)
{
    ps_store_release(&reader.taken, 0);
    os_wake(&reader.taken, 1);
}

void reader_call(void (*fn)(void *arg), void *arg)
{
    if (!is_here() || ps_load_relaxed(&reader.self) == (uintptr_t)pthread_self()) {
        fn(arg);
        return;
    }
    uint64_t mask = os_swap_signal_mask(EVERY_SIGNAL);
    take_reader();
    bool reads = is_here();
    if (reads) {
        reader.fn = fn;
        reader.arg = arg;
        ps_store_release(&reader.order, ASKED);
        os_wake(&reader.order, 1);
        while (ps_load_acquire(&reader.order) == ASKED)
            os_park(&reader.order, ASKED, OS_FOREVER);
    }
    give_reader_back();
    os_set_signal_mask(mask);
    if (!reads)
        fn(arg);
}

static bool is_told_of_closing(int file)
{
    /* mqueue, NFS, FUSE, CIFS, SMB2, Lustre, 9P, eCryptfs, OrangeFS */
    static const uint32_t types[] = {0x19800202, 0x6969,     0x65735546, 0xFF534D42, 0xFE534D42,
                                     0x0BD00BD0, 0x01021997, 0xF15F,     0x20030528};
    struct statfs system = {0};
    struct stat status = {0};
    if (raw_call(SYS_fstatfs, file, (long)&system, 0, 0) != 0 || raw_call(SYS_fstat, file, (long)&status, 0, 0) != 0)
        return false;
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((uint32_t)system.f_type == types[i])
            return true;
    unsigned device = major(status.st_rdev);
    bool is_terminal = device == TTY_MAJOR || device == TTYAUX_MAJOR ||
                       (device >= UNIX98_PTY_SLAVE_MAJOR && device < UNIX98_PTY_SLAVE_MAJOR + UNIX98_PTY_MAJOR_COUNT);
    return S_ISCHR(status.st_mode) && device != MEM_MAJOR && !is_terminal;
}

static bool may_unshare(void)
{
    for (int file = 0; file < ALWAYS_COPIED; file++)
        if (is_told_of_closing(file))
            return false;
    return true;
}

static void *read_for_others(void *arg)
{
    (void)arg;
    os_thread_name("psthreads-read");
    if (may_unshare())
        raw_call(SYS_close_range, 0, ~0U, UNSHARE, 0);
    ps_store_relaxed(&reader.self, (uintptr_t)pthread_self());
    for (uint32_t order; (order = ps_load_acquire(&reader.order)) != ENDS;) {
        if (order == IDLE) {
            os_park(&reader.order, IDLE, OS_FOREVER);
            continue;
        }
        reader.fn(reader.arg);
        ps_store_release(&reader.order, IDLE);
        os_wake(&reader.order, 1);
    }
    return NULL;
}

void os_reader_begin(void)
{
    if (RUNNING_ON_VALGRIND || is_here())
        return;
    if (reader.used_in != (int)getpid()) /* a forked child: whatever its parent's was in the middle of */
        ps_store_relaxed(&reader.taken, 0);
    reader.used_in = (int)getpid();
    ps_store_relaxed(&reader.order, IDLE);
    reader.exists = os_thread_start(&reader.thread, read_for_others, NULL, STACK_BYTES, true) == 0;
    if (reader.exists)
        ps_store_release(&reader.process, (int)getpid());
}

void os_reader_end(void)
{
    if (!reader.exists)
        return;
    take_reader();
    ps_store_release(&reader.process, 0);
    ps_store_release(&reader.order, ENDS);
    os_wake(&reader.order, 1);
    give_reader_back();
    os_thread_join(reader.thread);
    reader.exists = false;
}

void os_reader_forget(void)
{
    ps_store_relaxed(&reader.process, 0);
    ps_store_relaxed(&reader.taken, 0);
    reader.exists = false;
}

unsigned reader_runs(void) { return is_here(); }
