/* The operating-system contract. src/os/linux and topology.c implement it; src/os/posix has another park and wake,
 * src/os/bare a part of the contract without a system.
 *
 * Unless its comment says otherwise, a function that can fail returns 0 or a positive errno value, and any thread may
 * call it at any time. */
#ifndef PS_OS_H
#define PS_OS_H

#include "atomic.h"
#include "compiler.h"

/* --- memory --- */

size_t os_page_size(void); /* bytes */

/* Returns fresh zeroed memory straight from the system, page-aligned; NULL if there is none. Never calls malloc. */
void *os_map(size_t bytes);
void os_unmap(void *p, size_t bytes);
/* Keeps pages of os_map in main memory until they are unmapped. ENOMEM, EPERM, EAGAIN: the system does not allow the
 * process to lock so much. */
int os_memory_lock(void *p, size_t bytes);
/* Says on which memory nodes untouched pages of os_map are placed. interleaved: spread over the nodes that the process
 * may use; otherwise on the node of the thread that touches a page first. high_bandwidth: on nodes of high bandwidth
 * until these are full. Does nothing where the system cannot do it. */
void os_memory_place(void *p, size_t bytes, bool interleaved, bool high_bandwidth);
/* Returns whether there are memory nodes of high bandwidth (topology.h). The first call reads some files. */
bool os_memory_high_bandwidth(void);

/* Maps a stack of at least `bytes` usable bytes (rounded up to pages) with one inaccessible guard page below it.
 * Returns the lowest usable byte, with the usable size in *usable; or NULL. No page of the stack is touched, so none is
 * resident yet. */
void *os_stack_map(size_t bytes, size_t *usable);
void os_stack_unmap(void *stack, size_t usable);
/* A stack may hold code if an object of the process asks for that (PT_GNU_STACK). os_stacks_look looks at the loaded
 * objects, and returns true if it finds such an object for the first time. From then on os_stacks_hold_code returns
 * true, and stacks are mapped so that they may hold code. os_stack_protect gives this right to a stack that exists. */
bool os_stacks_look(void);
bool os_stacks_hold_code(void);
void os_stack_protect(void *stack, size_t usable);
/* Returns whether no page of the range is in main memory: for each page, no thread has touched it yet, or the system
 * has moved it to swap space. Makes a system call for each page. */
bool os_memory_untouched(const void *p, size_t bytes);
/* Tells the system that the stack's contents are not needed, except its top `keep` bytes. The mapping stays. */
void os_stack_idle(void *stack, size_t usable, size_t keep);

/* Returns how many bytes of address space the process may still map (RLIMIT_AS); SIZE_MAX: no limit. Reads a file if
 * there is a limit. */
size_t os_memory_left(void);
/* Returns how many mappings a process may have; SIZE_MAX: unknown. Reads a file. */
size_t os_mappings_max(void);
/* Returns how many mappings a stack costs: 0 if guards can be marks in the page table, else 2. The first stacks cost 2
 * in any case (linux/memory.c). */
unsigned os_stack_mappings(void);
/* Called after `bytes` of memory were refused. Returns which limit was reached, as words for a report. Reads files. */
const char *os_memory_limit(size_t bytes);

/* --- kernel threads --- */

/* Starts a kernel thread, which calls start(arg). With block_signals start() begins with all signals blocked. EAGAIN:
 * the system refuses a kernel thread. *out is a handle: every started thread must be joined or detached by it.
 * stack_bytes 0: the system's default. Once os_objects_init has been called, a fork waits while the thread begins or
 * ends, if a sanitizer's allocator has no fork handlers (fork_gate.c). */
typedef uintptr_t os_thread;
int os_thread_start(os_thread *out, void *(*start)(void *), void *arg, size_t stack_bytes, bool block_signals);
/* Returns whether the calling code runs inside of os_thread_start. The runtime's pthread_create, which stands before
 * the C library's, and fork handlers (fork_gate.c) call this function. */
bool os_thread_is_starting(void);
/* A signal mask for kernel threads that are started with all signals blocked. os_signals_keep stores it, before such a
 * kernel thread is started. os_signals_deferred returns it to that kernel thread. */
void os_signals_keep(uint64_t mask);
uint64_t os_signals_deferred(void);
void os_thread_join(os_thread t);
void os_thread_detach(os_thread t);
/* Returns the kernel's number (tid) of the calling kernel thread. Must not be cached across fork. */
int os_thread_id(void);
struct os_usage {
    uint64_t cpu_ns; /* processor time used */
    uint64_t slices; /* how often the kernel thread was given a processor; 0: not known */
    bool sleeping;   /* the kernel thread sleeps in the kernel now */
};
/* Returns the usage of kernel thread `tid` of this process. ESRCH, ENOSYS. */
int os_thread_usage(int tid, struct os_usage *u);
/* Returns only the processor time, exact up to now and without /proc. ESRCH, ENOSYS. */
int os_thread_cpu_ns(int tid, uint64_t *cpu_ns);
/* Returns the highest address of the calling kernel thread's own stack, and how many bytes it may grow down. False:
 * unknown. */
bool os_thread_stack(uintptr_t *top, size_t *bytes);
/* Returns the stack size of a thread for which the program gives none: that of the C library's threads (`ulimit -s`,
 * pthread_setattr_default_np), at most 4 GB. If `ulimit -s` is unlimited, at least 64 MB, as in libomp; glibc would
 * take 2. */
size_t os_thread_default_stack(void);
/* Unregisters the area for restartable sequences of the calling kernel thread: the kernel writes to it no more. */
void os_rseq_forget(void *area, size_t bytes, unsigned signature);
/* Copies memory of process `pid`, which may be this one, without a lock. A bad address gives EFAULT, not a fault.
 * EPERM, ESRCH. */
int os_read_memory(int pid, uintptr_t address, void *to, size_t bytes);
/* fstat and stat by system calls: the C library has these functions only since glibc 2.33. Return 0 or a negative errno
 * value. No cancellation points. */
struct stat;
int os_fstat(int fd, struct stat *about);
int os_stat(const char *path, struct stat *about);
/* Returns how many kernel threads this process has, the program's and the runtime's; 0: unknown. */
unsigned os_count_kernel_threads(void);
/* These three read, set and exchange the signal mask of the calling kernel thread, as the kernel keeps it. */
uint64_t os_signal_mask(void);
void os_set_signal_mask(uint64_t mask);
uint64_t os_swap_signal_mask(uint64_t mask); /* sets the mask, and returns the mask before */
/* Returns the signals that the calling kernel thread blocks and that are pending for it or for the process. */
uint64_t os_signals_pending(void);
/* For a handler: returns whether the signal with this siginfo_t was sent to a thread or to the process. TO_EITHER: the
 * siginfo_t does not tell; timers, files and senders of a value send such signals. FAULT: an instruction of the thread
 * has caused the signal. POKE: os_signal_poke has sent it. */
enum os_signal_sent { OS_SIGNAL_FAULT, OS_SIGNAL_TO_THREAD, OS_SIGNAL_TO_EITHER, OS_SIGNAL_TO_PROCESS, OS_SIGNAL_POKE };
enum os_signal_sent os_signal_sent(int number, const void *info);
/* Sends a signal to the process, with this siginfo_t. Returns false if the kernel refuses. The receiver calls
 * os_signal_as_sent, which restores the original siginfo_t. */
bool os_signal_again(int number, const void *info);
void os_signal_as_sent(void *info);
/* Sends a signal with this siginfo_t to one kernel thread of this process. Returns false if the kernel refuses. */
#define OS_SIGNAL_BYTES 128 /* size of a siginfo_t */
bool os_signal_to_thread(int tid, int number, const void *info);
/* os_signal_poke sends a signal that carries only the number `by` of the sender. A handler reads it by
 * os_signal_poked_by. */
void os_signal_poke(int tid, int number, unsigned by);
unsigned os_signal_poked_by(const void *info);
/* Takes one pending signal out of `numbers` (signal 1 is bit 0), which the calling kernel thread blocks. Signals that
 * are pending for this kernel thread come before those for the process. Returns its number, and its siginfo_t in *info;
 * returns 0 if none is pending. Does not wait. */
int os_take_signal(uint64_t numbers, void *info);
/* Read and write the signal mask that the end of a handler restores. frame: the handler's ucontext_t. */
uint64_t os_frame_mask(const void *frame);
void os_frame_set_mask(void *frame, uint64_t mask);
/* Returns whether the address is on the calling kernel thread's alternate signal stack. */
bool os_on_alternate_stack(uintptr_t address);
/* All signals that a program may block. The C library sends the others to its kernel threads, and waits until they are
 * handled: 32 and 33, and except in glibc also 34 (SIGRTMIN in glibc). */
#if defined(__GLIBC__)
#define OS_ALL_SIGNALS (~(UINT64_C(3) << 31))
#else
#define OS_ALL_SIGNALS (~(UINT64_C(7) << 31))
#endif
/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV: signals that an instruction of a thread may cause. */
#define OS_FAULT_SIGNALS UINT64_C(0x4d8)
/* sigaltstack(2) for the calling kernel thread. Both arguments are stack_t; either may be NULL. Returns 0 or a positive
 * errno value. */
int os_alternate_stack(const void *stack, void *before);
/* Returns whether the process's initial kernel thread has ended while others go on. The system still counts it then.
 * Reads a file. */
bool os_main_thread_gone(void);
/* Names the calling kernel thread (the system keeps 15 bytes); NULL: the program's name. */
void os_thread_name(const char *name);
/* Returns the calling kernel thread's list of robust mutexes, which the kernel handles when that thread ends; NULL:
 * unknown. os_set_robust_list sets the list. */
void *os_robust_list(void);
void os_set_robust_list(void *head);

/* From now on the C library's handler of its own signal (for setuid and the like in all kernel threads) is called
 * between these two functions; leave gets the result of enter. Called after the first pthread_create. Does nothing
 * where the C library has no such signal. */
void os_library_signal_between(void *(*enter)(void), void (*leave)(void *));

/* The first caller runs fn; other callers return when fn has ended. If a process forks while fn runs, the next caller
 * in the child runs fn again. */
typedef int os_once_flag;
#define OS_ONCE_INIT 0
void os_once(os_once_flag *flag, void (*fn)(void));
/* From now on a fork calls `before`, then `after` in the parent and `in_child` in the child. Does nothing on systems
 * without fork. */
void os_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void));

/* --- loaded objects --- */

/* os_objects_visit is dl_iterate_phdr, but never runs in the midst of a fork. Returns false if it was not called,
 * because it would hang in this forked child (objects.c). visit must not call os_objects_visit. If a caller holds a
 * lock that its own fork handler also takes, it calls os_objects_init before it registers that handler. */
struct dl_phdr_info;
void os_objects_init(void);
/* Visits the names of the libraries that loaded objects need (DT_NEEDED), in the order in which the objects were
 * loaded, the program's first. A name is visited once for each object that needs it. Called only in constructors and
 * destructors of libraries: the dynamic linker runs these, so it can be asked without precautions. */
void os_needed_visit(void (*visit)(const char *file, void *arg), void *arg);
bool os_objects_visit(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg);
/* Returns whether some loaded object takes a function of this name from another object. Reads the tables of all
 * objects. */
bool os_objects_want(const char *name);
/* Fills in each symbol whose address is NULL, from the symbol table in the file of the loaded library with this
 * DT_SONAME. */
struct os_symbol {
    const char *name;
    void *address;
};
void os_file_symbols(const char *library, struct os_symbol *symbols, unsigned n);
/* Returns the object that contains this address, and where it is mapped. Takes no lock. NULL: no object, or glibc is
 * older than 2.35. */
struct link_map *os_object_at(const void *address, const void **start);

/* --- park and wake --- */

#define OS_FOREVER (-1)

/* Sleeps while *word == expected, until a wake, a signal or timeout_ns (OS_FOREVER: none). May return spuriously, so
 * the caller looks again. Returns 0, ETIMEDOUT, EINTR or EAGAIN (*word differed). Only threads of this process can wake
 * it. */
int os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
/* Wakes up to n kernel threads that sleep on word. Returns how many it has woken. */
int os_wake(_Atomic uint32_t *word, int n);
/* Lets another kernel thread run on this processor. */
void os_yield(void);
/* Makes the system call `number`. Returns the kernel's result, -errno on a failure. Keeps errno. */
long os_system_call(long number, long a, long b, long c, long d, long e, long f);

/* --- memory that processes share --- */

/* Maps the file NAME-UID, which the processes of one user share (linux/shared_file.c); read-only without `make`. With
 * `make` an empty file gets its size, and consists of zeroes. EINVAL: the file is not as it should be; *wrong says in
 * words why. ENOENT: there is no file, or an empty one. Other errno values: the file cannot be opened, or there is no
 * memory. */
int os_shared_file(const char *name, size_t bytes, bool make, void **map, const char **wrong);
/* os_word_hold takes a word that is 0 or OS_WORD_LEFT. The caller is one of the library's kernel threads. While the
 * caller holds the word, the word is the caller's number. When the caller ends, in whatever way, the kernel stores
 * OS_WORD_LEFT. Returns false if another kernel thread has the word, or the system cannot do this. h must stay in its
 * place as long as the kernel thread lives. */
#define OS_WORD_LEFT UINT32_C(0x40000000)
struct os_word_holder {
    void *head; /* the kernel reads head, offset and pending */
    intptr_t offset;
    void *pending;
    void *before; /* the list of robust mutexes that the kernel thread had before */
};
bool os_word_hold(struct os_word_holder *h, _Atomic uint32_t *word);
void os_word_leave(struct os_word_holder *h, _Atomic uint32_t *word); /* gives the word back before the holder ends */
/* Called by the holder when another thread has written to the word: ends the hold, and does not write the word. */
void os_word_forget(struct os_word_holder *h);
/* Sleeps while both words have the expected values. `shared` is shared with other processes, or NULL. If the system
 * cannot wait on two words, returns after at most OS_SHARED_LOOK_NS, so that the caller reads `shared`. os_wake_shared
 * wakes the threads of all processes that sleep on a shared word. */
#define OS_SHARED_LOOK_NS INT64_C(10000000)
void os_park_both(_Atomic uint32_t *word, uint32_t expected, _Atomic uint32_t *shared, uint32_t of_shared,
                  int64_t timeout_ns);
void os_wake_shared(_Atomic uint32_t *word);
/* Returns the processor time that the process has used. */
uint64_t os_process_cpu_ns(void);
/* Returns a number of the namespace in which the process's number is valid; 0: unknown. Processes of one container have
 * the same. */
uint32_t os_pid_space(void);

/* --- a fence for all kernel threads --- */

/* Makes a sequentially consistent fence in every running kernel thread of the process. So a thread whose accesses are
 * paired with the caller's needs only a compiler barrier. Returns false if the system refuses: then no fence was made.
 * Costs about 2 us, and interrupts the other kernel threads. */
bool os_fence_all(void);
/* Returns whether a fast path may rely on os_fence_all. Cheap. If the library was loaded into a process with several
 * kernel threads, the answer is false at first. Then one later call must register the process with the kernel, which
 * takes some milliseconds: the first os_fence_all, or one of the first several hundred calls of this function. */
bool os_fence_all_ready(void);

/* --- time --- */

uint64_t os_now_ns(void); /* nanoseconds of the monotonic clock */

/* --- processors --- */

/* A set of processors, by the system's numbers. */
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
/* Without memcmp, whose accesses a program's thread sanitizer would see. */
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

/* Returns the processors on which the calling kernel thread may run (its affinity mask, online processors only). */
int os_affinity_get(struct os_cpuset *out);
/* Returns the affinity mask of kernel thread tid of this process. The other two set a mask. All return 0 or an errno
 * value. */
int os_affinity_of(int tid, struct os_cpuset *out);
int os_affinity_set(const struct os_cpuset *set);
int os_affinity_set_of(int tid, const struct os_cpuset *set);
/* Gives kernel thread tid (0: the caller) its mask `own` back, after the caller has set another mask to move the
 * thread. If `own` is all processors of the process's control group, the kernel thread follows later changes of that
 * group. */
void os_affinity_give_back(int tid, const struct os_cpuset *own);
/* Returns the scheduling policy, the nice value and the real-time priority of the calling kernel thread. False:
 * unknown. */
struct os_scheduling {
    int policy, nice, priority;
};
bool os_scheduling(struct os_scheduling *own);
/* Returns the affinity mask that the process had when this library was loaded, less what os_affinity_narrow has taken
 * away. A kernel thread that is bound later does not change it. */
void os_affinity_at_start(struct os_cpuset *out);
/* Takes processors away from the process: only those in `set` stay in the mask at the start (above) and in the caller's
 * own mask. Called before the first call of os_affinity_at_start. EINVAL: no processor would be left. */
int os_affinity_narrow(const struct os_cpuset *set);
/* Returns the CPU-time quota of the process's cgroup (v2 or v1, the tightest of all levels), in processors, rounded up;
 * 0: no limit. Reads the files at each call. */
unsigned os_cpu_quota(void);
/* Returns how long the processors in the set were busy since the system's start, in ns, summed up; not counted are
 * programs that are nice. Counts in steps of some 10 ms. 0: unknown. Reads a file. */
uint64_t os_busy_ns(const struct os_cpuset *of);
/* Returns the quota that the first call of os_num_procs or of this function has found. */
unsigned os_cpu_quota_at_start(void);
/* Returns how many processors are worth using at once, by affinity mask, quota, and the share of an MPI rank
 * (os_ranks); at least 1. Reads the files of the quota, some tens of microseconds, but not the topology. */
unsigned os_num_procs(void);
/* The ranks of the same MPI job on this machine, as their launcher reports them (linux/ranks.c). size 0: this process
 * is no rank. */
struct os_ranks {
    unsigned rank, size;
    unsigned processors; /* number of processors that the launcher may use */
    /* true: the launcher has bound each rank to processors of its own; false: processors are dealt evenly */
    bool bound;
};
void os_ranks(struct os_ranks *out);
/* Returns how many of `usable` processors this rank should use. quota: the quota of all ranks together; 0: none. */
unsigned os_rank_share(unsigned usable, unsigned quota);
/* Returns the processor on which the caller runs now, by the C library. The thread pointer must be that of the thread
 * that runs. */
int os_current_cpu(void);
/* Returns the processor on which the caller runs now, by a system call: any kernel thread may call it, in any block. */
int os_cpu_here(void);
/* Returns how often the calling kernel thread was preempted. */
uint64_t os_times_preempted(void);

/* --- topology (src/os/topology.c) --- */

/* Levels of sharing, innermost first. For each of n processors, in the order of os_topology.cpu, a level has the number
 * of the processor's group. Groups of a level may differ in size. Each group is a union of groups of the level before.
 * A level that would repeat the one before is left out. The last level is always the whole machine. */
#define OS_MAX_LEVELS 8
struct os_topology_level {
    const char *kind;   /* "smt", "l2", "l3", "numa", "package", "machine" */
    uint16_t *group_of; /* [n] */
    unsigned num_groups;
};
/* Kinds of sharing, whether or not a kind makes a level of its own. */
enum os_sharing { OS_SHARING_SMT, OS_SHARING_L2, OS_SHARING_L3, OS_SHARING_NUMA, OS_SHARING_PACKAGE, OS_NUM_SHARINGS };
#define OS_LEVEL_ALONE (-1) /* each processor is a group of its own */
struct os_topology {
    unsigned n; /* number of processors */
    /* [n]: the system's numbers, in an order in which neighbours share most. NULL: the numbers are 0 to n - 1, every
     * level has groups of neighbours, all of the same size, and group_of is NULL too (src/os/bare). */
    unsigned *cpu;
    unsigned num_levels;
    struct os_topology_level level[OS_MAX_LEVELS];
    /* For each kind of sharing: the number of the level that has the groups of this kind. If no level has, that of the
     * nearest finer level; OS_LEVEL_ALONE if there is none. */
    int8_t sharing_level[OS_NUM_SHARINGS];
};
/* Reads the machine, restricted to the affinity mask of the process at its start. ENOENT: the system tells nothing;
 * *out is valid then, and the machine is one group. */
int os_topology_read(struct os_topology *out);
void os_topology_free(struct os_topology *t);

/* --- environment --- */

/* As getenv, but returns NULL for an empty value, too. */
const char *os_env(const char *name);
/* Returns the first character of the text that is no blank (isspace). */
const char *os_skip_blanks(const char *text);
/* As os_env, but returns NULL in a process that has more rights than the user that started it (set-user-id, file
 * capabilities). For variables that name files or make code be loaded. */
const char *os_env_trusted(const char *name);
/* Returns whether the variable is set and its value is not empty, 0, no, off or false. */
bool os_env_switch(const char *name);
/* Warns of each variable whose name begins with prefix and is not one of names[n]; suggests the most similar name.
 * Names that build tools set (PREFIX_ROOT and the like) get no warning. */
void os_env_check_names(const char *prefix, const char *const *names, unsigned n);
/* In the warnings of the next two functions `instead` completes "...; using <instead> instead".
 * Reads a whole unsigned number from min to max; blanks may stand before and after it. If the variable is missing,
 * returns false and leaves *out alone. If the value is unreadable or out of range, does the same, and writes one line,
 * with variable, value and `instead`. */
bool os_env_unsigned(const char *name, unsigned long min, unsigned long max, unsigned long *out, const char *instead);
/* Reads a size with a unit B, K, M, G, T, P or E, in any case, perhaps with a B after the unit; blanks may stand around
 * the number and after the unit. A bare number is in units of `default_unit` bytes. Otherwise as os_env_unsigned. */
bool os_env_size(const char *name, size_t default_unit, size_t *out_bytes, const char *instead);

#endif
