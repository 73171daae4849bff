/* The operating-system contract. Only src/os/linux makes futex, mmap, sched_* and cgroup calls.
 *
 * Functions that can fail return 0 or a positive errno value unless said otherwise. All are thread-safe. */
#ifndef PS_OS_H
#define PS_OS_H

#include "atomic.h"
#include "compiler.h"

/* --- memory --- */

size_t os_page_size(void); /* bytes */

/* Returns fresh zeroed memory straight from the system, page-aligned; NULL where there is none. Never calls malloc. */
void *os_map(size_t bytes);
void os_unmap(void *p, size_t bytes);
/* Keeps pages that os_map gave in main memory until they are unmapped. ENOMEM, EPERM, EAGAIN: as much may not be
 * locked. */
int os_memory_lock(void *p, size_t bytes);
/* Spreads untouched pages that os_map gave over the memory nodes that the process may use, or leaves them to the node
 * of the thread that touches them first. high_bandwidth: to nodes of high bandwidth alone, until they are full. A wish:
 * nothing happens where the system cannot do it. */
void os_memory_place(void *p, size_t bytes, bool interleaved, bool high_bandwidth);
/* Whether there are memory nodes of high bandwidth (topology.h). The first call reads some files. */
bool os_memory_high_bandwidth(void);

/* Maps a stack of at least `bytes` usable bytes (rounded up to pages) with one inaccessible guard page below it.
 * *usable gets the usable size. Returns the lowest usable byte, or NULL. The stack is not touched: no page is resident
 * yet. */
void *os_stack_map(size_t bytes, size_t *usable);
void os_stack_unmap(void *stack, size_t usable);
/* Stacks may hold code where an object of the process asks for that (PT_GNU_STACK). os_stacks_look looks for one that
 * was loaded since. True: there is one; stacks that are mapped from now on may hold code, and os_stack_protect allows
 * it to those that exist. */
bool os_stacks_look(void);
bool os_stacks_hold_code(void);
void os_stack_protect(void *stack, size_t usable);
/* Whether no page there is in memory: no thread has written to it since it was mapped. */
bool os_memory_untouched(const void *p, size_t bytes);
/* Tells the system that the stack's content is not needed below its top `keep` bytes; the mapping stays. */
void os_stack_idle(void *stack, size_t usable, size_t keep);

/* Bytes of address space that the process may still map (RLIMIT_AS); SIZE_MAX: as many as it likes. Reads a file
 * where it is limited. */
size_t os_memory_left(void);
/* Mappings that a process may have; SIZE_MAX: unknown. Reads a file. */
size_t os_mappings_max(void);
/* How many mappings each further stack costs: 2, or 0 where guards are marks in the page table. */
unsigned os_stack_mappings(void);
/* Returns, in words for a report, the limit that was reached when `bytes` were refused. Reads files. */
const char *os_memory_limit(size_t bytes);

/* --- kernel threads --- */

/* Starts a kernel thread. With block_signals, start() begins with all signals blocked. EAGAIN where the system refuses
 * one. The handle is for os_thread_join; every started thread must be joined or detached. stack_bytes 0 means the
 * system's default. Under a sanitizer no fork comes while the thread begins or ends (fork_gate.c), once
 * os_objects_init has been called. */
typedef uintptr_t os_thread;
int os_thread_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes, bool block_signals);
/* Whether os_thread_start has called the caller, which stands in the C library's place. */
bool os_thread_is_starting(void);
/* os_signals_keep keeps a signal mask for later, and os_signals_deferred returns it. One caller at a time, before the
 * kernel thread that asks is started. */
void os_signals_keep(uint64_t mask);
uint64_t os_signals_deferred(void);
void os_thread_join(os_thread t);
void os_thread_detach(os_thread t);
/* Returns the number by which the system knows the calling kernel thread. Never cached across fork. */
int os_thread_id(void);
struct os_usage {
    uint64_t cpu_ns; /* processor time used */
    uint64_t slices; /* how often it was given a processor; 0: not known */
    bool sleeping;   /* in the kernel, now */
};
/* Of kernel thread `tid` of this process. ESRCH, ENOSYS. */
int os_thread_usage(int tid, struct os_usage *u);
/* Gives the processor time alone, up to this moment and without /proc. ESRCH, ENOSYS. */
int os_thread_cpu_ns(int tid, uint64_t *cpu_ns);
/* Gives where the calling kernel thread's own stack begins (its highest address) and how far down it may grow. False:
 * unknown. */
bool os_thread_stack(uintptr_t *top, size_t *bytes);
/* Returns the size of a thread's stack where the thread's maker does not say: that of the C library's threads (`ulimit
 * -s`, pthread_setattr_default_np), at most 4 GB. Without a limit it is 64 MB, as in libomp; glibc's would be 2. */
size_t os_thread_default_stack(void);
/* Unregisters the area for restartable sequences of the calling kernel thread: the kernel no longer writes to it. */
void os_rseq_forget(void *area, size_t bytes, unsigned signature);
/* Copies memory of process `pid` (this one too), without a lock and without a fault: EFAULT, EPERM, ESRCH. */
int os_read_memory(int pid, uintptr_t address, void *to, size_t bytes);
/* fstat and stat, by the kernel's calls: the C library's are functions of glibc 2.33 and later. 0, or a negative errno
 * value. No cancellation point. */
struct stat;
int os_fstat(int fd, struct stat *about);
int os_stat(const char *path, struct stat *about);
/* How many kernel threads this process has, its own and the runtime's; 0: unknown. */
unsigned os_count_kernel_threads(void);
/* The signal mask of the calling kernel thread, as the kernel keeps it. */
uint64_t os_signal_mask(void);
void os_set_signal_mask(uint64_t mask);
uint64_t os_swap_signal_mask(uint64_t mask); /* the same; returns what it was */
/* Returns the signals that are pending for the calling kernel thread or the process, and that the calling kernel thread
 * blocks. */
uint64_t os_signals_pending(void);
/* For a handler: tells the receiver of the signal with this siginfo_t. FAULT: the thread itself, an instruction of
 * which caused it. TO_EITHER: thread or process, which is not told: a timer or a file sent it, or it has a value. POKE:
 * os_signal_poke sent it. */
enum os_signal_sent { OS_SIGNAL_FAULT, OS_SIGNAL_TO_THREAD, OS_SIGNAL_TO_EITHER, OS_SIGNAL_TO_PROCESS, OS_SIGNAL_POKE };
enum os_signal_sent os_signal_sent(int number, const void *info);
/* Sends a signal to the process, with this siginfo_t. False: refused. The receiver calls os_signal_as_sent, which
 * restores the siginfo_t of the signal that was sent at first. */
bool os_signal_again(int number, const void *info);
void os_signal_as_sent(void *info);
/* Sends it to one kernel thread of this process, from any of them. */
#define OS_SIGNAL_BYTES 128 /* a siginfo_t */
bool os_signal_to_thread(int tid, int number, const void *info);
/* os_signal_poke sends nothing but a number of the sender's (`by`), which a handler reads by os_signal_poked_by. */
void os_signal_poke(int tid, int number, unsigned by);
unsigned os_signal_poked_by(const void *info);
/* Takes one of the signals `numbers` (bits from 0), which the calling kernel thread blocks: one that is pending for
 * this kernel thread or, if there is none, for the process. Returns its number, and *info is its siginfo_t; 0: none was
 * pending. Does not wait. */
int os_take_signal(uint64_t numbers, void *info);
/* The mask that a handler's frame, a ucontext_t, restores. */
uint64_t os_frame_mask(const void *frame);
void os_frame_set_mask(void *frame, uint64_t mask);
/* Whether the address is on the calling kernel thread's alternate stack. */
bool os_on_alternate_stack(uintptr_t address);
/* All signals that a program may block. The C library sends its kernel threads the others, and waits for them: 32 and
 * 33, and outside of glibc also 34 (in glibc that is SIGRTMIN). */
#if defined(__GLIBC__)
#define OS_ALL_SIGNALS (~(UINT64_C(3) << 31))
#else
#define OS_ALL_SIGNALS (~(UINT64_C(7) << 31))
#endif
/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV: signals that an instruction of the thread's may cause. */
#define OS_FAULT_SIGNALS UINT64_C(0x4d8)
/* sigaltstack(2) for the calling kernel thread; 0 or a positive errno value. Both arguments are stack_t; either may be
 * NULL. */
int os_alternate_stack(const void *stack, void *before);
/* Whether the process's initial kernel thread has ended while others go on: the system still counts it then. Reads a
 * file. */
bool os_main_thread_gone(void);
/* Names the calling kernel thread (15 bytes at most are kept); NULL: as the program. */
void os_thread_name(const char *name);
/* The list of robust mutexes that the kernel looks through when the calling kernel thread ends; NULL: it cannot be
 * told. os_set_robust_list sets it. */
void *os_robust_list(void);
void os_set_robust_list(void *head);

/* The C library's handler of its own signal (setuid and its like for all kernel threads) is called between these two
 * from now on; leave gets what enter returned. After the first pthread_create; nothing where there is no such
 * signal. */
void os_library_signal_between(void *(*enter)(void), void (*leave)(void *));

/* The first caller runs fn; the others return when fn has run. A fork in the middle leaves the child with a flag that
 * is still to be done. */
typedef int os_once_flag;
#define OS_ONCE_INIT 0
void os_once(os_once_flag *flag, void (*fn)(void));
/* From now on a fork calls `before`, then `after` in the parent and `in_child` in the child. Does nothing on systems
 * without fork. */
void os_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void));

/* --- loaded objects --- */

/* dl_iterate_phdr, but never in the middle of a fork. false: it was not called, because it would hang in this forked
 * child (objects.c). visit must not call it again. A caller that holds a lock which its own fork handler takes calls
 * os_objects_init before it registers that handler. */
struct dl_phdr_info;
void os_objects_init(void);
/* Visits the names by which loaded objects ask for their libraries, in the order of loading (the program's first). A
 * name comes as often as objects have it. Only in constructors and destructors of libraries: the dynamic linker, which
 * runs those, is asked without precautions. */
void os_needed_visit(void (*visit)(const char *file, void *arg), void *arg);
bool os_objects_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg);
/* Whether some loaded object wants a function of this name from another object. Reads all their tables. */
bool os_objects_want(const char *name);
/* Fills in addresses that are NULL, from the symbol table in the file of the loaded library with this DT_SONAME. */
struct os_symbol {
    const char *name;
    void *address;
};
void os_file_symbols(const char *library, struct os_symbol *symbols, unsigned n);
/* The object that has this address, and where it is mapped, without a lock; NULL: none, or glibc is older than 2.35. */
struct link_map *os_object_at(const void *address, const void **start);

/* --- park and wake --- */

#define OS_FOREVER (-1)

/* Sleeps while *word == expected, until a wake, a signal or timeout_ns (OS_FOREVER: none). May return without reason:
 * the caller looks again. Returns 0, ETIMEDOUT, EINTR or EAGAIN (word differed). Private to the process. */
int os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
/* Wakes up to n kernel threads that sleep on word. Returns how many. */
int os_wake(_Atomic uint32_t *word, int n);
/* Lets another kernel thread run on this processor. */
void os_yield(void);
/* The program's own system call by number: the kernel's result. */
long os_system_call(long number, long a, long b, long c, long d, long e, long f);

/* --- memory that processes share --- */

/* Maps the file NAME-UID, which the processes of one user share (linux/shared_file.c); read-only without `make`. An
 * empty file gets its size, and is zeroes then. EINVAL: the file is not as it should be; *wrong says it in words. Other
 * errno values: the file, or memory for it, cannot be had. */
int os_shared_file(const char *name, size_t bytes, bool make, void **map, const char **wrong);
/* os_word_hold takes a word that is 0 or OS_WORD_LEFT for the calling kernel thread, one of the library's. Until that
 * ends the word is its number. Then, in whatever way it ends, the kernel stores OS_WORD_LEFT. False: another has the
 * word, or the system cannot do this. The holder stays in its place as long as the kernel thread lives. */
#define OS_WORD_LEFT UINT32_C(0x40000000)
struct os_word_holder {
    void *head; /* these three are the kernel's */
    intptr_t offset;
    void *pending;
    void *before;
};
bool os_word_hold(struct os_word_holder *h, _Atomic uint32_t *word);
void os_word_leave(struct os_word_holder *h, _Atomic uint32_t *word); /* the same, before it ends */
void os_word_forget(struct os_word_holder *h);                        /* another has written to the word */
/* Sleeps on two words at once; the second is shared with other processes, or NULL. Where the system cannot, it looks at
 * the second every OS_SHARED_LOOK_NS. os_wake_shared wakes all processes that sleep on a shared word. */
#define OS_SHARED_LOOK_NS INT64_C(10000000)
void os_park_both(_Atomic uint32_t *word, uint32_t expected, _Atomic uint32_t *shared, uint32_t of_shared,
                  int64_t timeout_ns);
void os_wake_shared(_Atomic uint32_t *word);
/* Processor time that the process has used. */
uint64_t os_process_cpu_ns(void);

/* --- a fence for all kernel threads --- */

/* Makes a sequentially consistent fence in each kernel thread of the process, wherever it is just now. With it the
 * other side of a pair needs only a compiler barrier. False: refused, no fence was made. About 2 us; interrupts the
 * others. */
bool os_fence_all(void);
/* Whether a fast path may rely on os_fence_all. Cheap. Where the library was loaded into a process with several kernel
 * threads, the answer is no at first: the first fence, or one of the first some hundred questions, takes some
 * milliseconds to arrange it. */
bool os_fence_all_ready(void);

/* --- time --- */

uint64_t os_now_ns(void); /* monotonic */

/* --- processors --- */

/* A set of processors by the system's numbers. */
#define OS_MAX_CPUS 4096
struct os_cpuset {
    uint64_t bits[OS_MAX_CPUS / 64];
};
static inline void os_cpuset_zero(struct os_cpuset *s)
{
    for (unsigned i = 0; i < OS_MAX_CPUS / 64; i++)
        s->bits[i] = 0;
}
static inline void os_cpuset_add(struct os_cpuset *s, unsigned cpu) { s->bits[cpu / 64] |= UINT64_C(1) << cpu % 64; }
/* Without memcmp, which a program's thread sanitizer sees. */
static inline bool os_cpuset_equal(const struct os_cpuset *a, const struct os_cpuset *b)
{
    uint64_t differ = 0;
    for (unsigned i = 0; i < OS_MAX_CPUS / 64; i++)
        differ |= a->bits[i] ^ b->bits[i];
    return differ == 0;
}
static inline void os_cpuset_remove(struct os_cpuset *s, unsigned cpu)
{
    s->bits[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
}
static inline bool os_cpuset_has(const struct os_cpuset *s, unsigned cpu)
{
    return cpu < OS_MAX_CPUS && (s->bits[cpu / 64] >> cpu % 64 & 1);
}
static inline unsigned os_cpuset_count(const struct os_cpuset *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < OS_MAX_CPUS / 64; i++)
        n += (unsigned)__builtin_popcountll(s->bits[i]);
    return n;
}

/* Gives the processors that the calling kernel thread may run on (its affinity mask, online ones). */
int os_affinity_get(struct os_cpuset *out);
/* Those of a kernel thread of this process. */
int os_affinity_of(int tid, struct os_cpuset *out);
int os_affinity_set(const struct os_cpuset *set);
int os_affinity_set_of(int tid, const struct os_cpuset *set);
/* Gives kernel thread tid (0: the caller), which was moved by its mask, the mask `own` again. If that was all of the
 * process's processors, the kernel thread follows the process also where these change. */
void os_affinity_give_back(int tid, const struct os_cpuset *own);
/* Gives nice value, policy, and priority of a real-time policy, of the calling kernel thread. False: they cannot be
 * told. */
struct os_scheduling {
    int policy, nice, priority;
};
bool os_scheduling(struct os_scheduling *own);
/* Gives the mask that the process had when this library was loaded: what the program was given, whatever was bound
 * since. */
void os_affinity_at_start(struct os_cpuset *out);
/* Takes processors away from the process: the mask at the start (above), and the caller's own, keep what is in `set`.
 * Called before the first call of os_affinity_at_start. EINVAL: nothing would be left. */
int os_affinity_narrow(const struct os_cpuset *set);
/* Returns the CPU-time quota of the process's cgroup (v2 or v1, the tightest of all levels), in processors rounded up;
 * 0: no limit. Read anew at each call. */
unsigned os_cpu_quota(void);
/* What the first call of os_num_procs or of this found. */
unsigned os_cpu_quota_at_start(void);
/* Processors worth using at once: affinity mask, quota, and the share of an MPI rank (os_ranks); at least 1. Reads no
 * topology, but the quota's files: some tens of microseconds. */
unsigned os_num_procs(void);
/* The ranks of the same MPI job on this machine, as their launcher tells them (linux/ranks.c); size 0: this is no
 * rank. */
struct os_ranks {
    unsigned rank, size;
    unsigned processors; /* that the launcher may use */
    bool bound; /* each rank has processors of its own, by the launcher's binding; else they are dealt evenly */
};
void os_ranks(struct os_ranks *out);
/* Returns how many of `usable` processors this rank is to use. quota: that of all ranks together; 0: none. */
unsigned os_rank_share(unsigned usable, unsigned quota);
/* Returns the processor that runs the caller now. Called in the name of the thread that runs. */
int os_current_cpu(void);
/* The same for any kernel thread, anywhere: a system call. */
int os_cpu_here(void);
/* Returns how often the calling kernel thread had to leave its processor to another one. */
uint64_t os_times_preempted(void);

/* --- topology (src/os/topology.c) --- */

/* Levels of sharing, innermost first. A level lists, for each of n processors in the order of os_topology.cpu, the
 * number of the group that it is in. Groups of a level need not be of equal size. Each group is a union of groups of
 * the level before. Levels that would repeat the one before are left out; the last level is always the whole
 * machine. */
#define OS_MAX_LEVELS 8
struct os_topology_level {
    const char *kind;   /* "smt", "l2", "l3", "numa", "package", "machine" */
    uint16_t *group_of; /* [n] */
    unsigned num_groups;
};
/* What is shared, whether or not it makes a level of its own. */
enum os_sharing { OS_SHARING_SMT, OS_SHARING_L2, OS_SHARING_L3, OS_SHARING_NUMA, OS_SHARING_PACKAGE, OS_NUM_SHARINGS };
#define OS_LEVEL_ALONE (-1) /* each processor is a group of its own */
struct os_topology {
    unsigned n;    /* processors */
    unsigned *cpu; /* [n]: the system's number of each, in the machine's logical order (neighbours share most) */
    unsigned num_levels;
    struct os_topology_level level[OS_MAX_LEVELS];
    int8_t sharing_level
        [OS_NUM_SHARINGS]; /* number of the level that has the groups of each (or the nearest below), OS_LEVEL_ALONE */
};
/* Reads the machine (restricted to the affinity mask of the process at its start). ENOENT where the system tells
 * nothing: *out is valid then, and the machine is one group. */
int os_topology_read(struct os_topology *out);
void os_topology_free(struct os_topology *t);

/* --- environment --- */

/* getenv, but NULL for an empty or missing value. */
const char *os_env(const char *name);
/* Behind the blanks that the text begins with (isspace). */
const char *os_skip_blanks(const char *text);
/* As os_env, but NULL in a process that has more rights than the user that started it (set-user-id, file capabilities).
 * For variables that load code or name files. */
const char *os_env_trusted(const char *name);
/* Whether the variable is set to anything but nothing, 0, no, off or false. */
bool os_env_switch(const char *name);
/* Says each variable whose name begins with prefix and is none of names[n], with the name that it resembles most. */
void os_env_check_names(const char *prefix, const char *const *names, unsigned n);
/* In the lines that follow, `instead` completes "...; using <instead> instead".
 * Parses a whole unsigned number in [min, max]; leading and trailing blanks allowed. Missing: false, *out untouched.
 * Unreadable or out of range: false, *out untouched, and one line that names variable, value and `instead`. */
bool os_env_unsigned(const char *name, unsigned long min, unsigned long max, unsigned long *out, const char *instead);
/* Reads a size with unit B, K, M, G, T (any case, perhaps with a B behind it, blanks allowed); a bare number counts in
 * `default_unit` bytes. */
bool os_env_size(const char *name, size_t default_unit, size_t *out_bytes, const char *instead);

#endif
