/* The entities contract (psthreads-2009 section 3: ORT and EELIB): what the OpenMP core needs of threads.
 *
 * The implementation is chosen when the runtime is linked: src/ee/psthreads (entities are user-level threads),
 * src/ee/pthreads (entities are kernel threads), src/ee/manycore (one fixed thread on each core, no operating system).
 * The core (src/ort) sees this header only. A new implementation defines every function below, except those marked
 * "Manycore only", which serve entities whose memory is divided by clusters. Where there is PS_READ_TLS (compiler.h) it
 * defines the variable ee_here too.
 *
 * Words. An *entity* carries one OpenMP thread. A *root* is the entity of a kernel thread that the runtime did not make
 * (the program's initial thread, any pthread that calls an OpenMP routine). A *member* is the entity of a thread in a
 * team; the OpenMP core allocates it, in one block with the team (on the manycore near the processor core that runs
 * it). A *carrier* is what runs entities: a virtual processor, a kernel thread, or on the manycore a core.
 *
 * An entity may change its carrier in any call marked [switches] or [may switch], and in no other. So the runtime must
 * not keep anything that belongs to the carrier (addresses of its own native thread-local variables) across such a
 * call. No call here fails unless its comment says so. */
#ifndef PS_EE_H
#define PS_EE_H

#include "atomic.h"
#include "compiler.h"
/* A build for a target may define EE_PORT as the name of a header. That header has ee_local_inline, ee_barrier_pass and
 * ee_barrier_heed inline. */
#ifdef EE_PORT
#include EE_PORT
#endif

/* --- configuration --- */

enum ee_wait_policy { EE_WAIT_DEFAULT, EE_WAIT_ACTIVE, EE_WAIT_PASSIVE };

struct ee_config {
    unsigned num_vps;   /* 0: one for each processor that the process may use */
    size_t stack_bytes; /* size of a member's stack; 0: the default */
    enum ee_wait_policy wait_policy;
    /* GOMP_SPINCOUNT: how often a waiting loop iterates before the entity blocks; UINT64_MAX: not set */
    uint64_t spin_count;
    /* Called when a root's kernel thread ends, on that kernel thread. `local` is what the core gave to ee_set_local
     * there. NULL: the core is not told. */
    void (*root_exit)(void *local);
    /* Writes into buf what the running entity is ("OpenMP thread 3 of level 2"), for reports. Async-signal-safe. */
    void (*describe)(char *buf, size_t bytes);
    /* A debugger's table of the structures that an entity's pointer (ee_local) leads to. */
    const struct ps_debug_layout *debug_layout;
    /* Tells with which floating-point rounding and traps the members of an outermost region begin. If *floats_of_opener
     * is true, with those of the thread that opened the region, as in libomp. If it is false, or the pointer is NULL,
     * each member begins with those that it had at the end of its last region, as in libgomp. */
    const bool *floats_of_opener;
};

/* The implementation's own table for debuggers, by which a debugger goes from a kernel thread to its entity's pointer.
 * Implementations that debuggers know define it. */
extern const struct ps_debug_layout *const ee_debug_layout;

/* May be called by any thread and more than once; later calls do nothing. Starts no kernel thread yet. */
void ee_init(const struct ee_config *config);
/* Returns the number of carriers that can run at once: vps; for kernel threads, processors. */
unsigned ee_num_vps(void);
/* Returns whether a member has native thread-local variables of its own, wherever it runs. False: it uses those of its
 * carrier. May start the runtime, as ee_num_vps may. */
bool ee_private_storage(void);
/* Called in a forked child: forgets every carrier except the caller's. The caller's entity becomes a fresh root with
 * the same local pointer. */
void ee_after_fork_in_child(void);
/* Stops the runtime's idle kernel threads, unless other roots may need them. Frees unused stacks and thread-local
 * storage (omp_pause_resource). The runtime starts kernel threads again when it needs them. */
void ee_quiesce(void);

/* Returns the number by which the system knows the calling entity (gettid). Entities that run on one kernel thread have
 * different numbers, unless they have no storage of their own (ee_private_storage). [may switch] */
int ee_thread_number(void);

/* --- the current entity --- */

/* Returns the pointer that the core keeps for the calling entity, wherever the entity runs. A member's pointer is at
 * first the address of its ee_member. NULL: the calling kernel thread is no entity yet. */
void *ee_local(void);
/* Sets the calling entity's pointer. A calling kernel thread that is no entity yet becomes a root. */
void ee_set_local(void *local);

/* Called by a thread in no region that may be about to open one. Some implementations let roots take turns; there the
 * call waits for the caller's turn. [does not switch] */
void ee_take_turn(void);

/* ee_local_inline is ee_local without the call. Where PS_READ_TLS is, each implementation has this layout. ee_here
 * points to the calling kernel thread's carrier, or is NULL if the kernel thread is no carrier. A carrier begins with
 * the address of the entity that it runs, or NULL. An implementation defines ee_here as
 *   __thread struct ee_carrier *ee_here; with tls_model("initial-exec") and visibility("hidden"). */
struct ee_running {
    unsigned char own[40];
    void *local;
};
struct ee_carrier {
    struct ee_running *running;
};
#ifdef PS_READ_TLS
static PS_ALWAYS_INLINE void *ee_local_inline(void)
{
    struct ee_carrier *here;
    PS_READ_TLS(here, ee_here);
    struct ee_running *running = PS_LIKELY(here != NULL) ? here->running : NULL;
    return PS_LIKELY(running != NULL) ? running->local : NULL;
}
#elif !defined(EE_PORT)
static PS_ALWAYS_INLINE void *ee_local_inline(void) { return ee_local(); }
#endif

/* --- teams --- */

#ifndef EE_MEMBER_BYTES /* A build for a target with smaller entities defines smaller sizes. */
#define EE_MEMBER_BYTES 256
#define EE_TEAM_BYTES 256
#endif
struct ee_member {
    PS_LINE_ALIGNED unsigned char opaque[EE_MEMBER_BYTES];
};
struct ee_team {
    alignas(PS_CACHE_LINE) unsigned char opaque[EE_TEAM_BYTES];
};

/* Functions of the core that the entities call. The core has one constant object, and gives it to ee_team_init. */
struct ee_team_ops {
    /* Runs member m's share of the region. Called as m: ee_local() == m. [may switch] */
    void (*body)(struct ee_member *m);
    /* Runs explicit tasks of the team as member m, whose body has returned. The caller has m's identity, which
     * ops->idle gives to the core and ee_team_help gives back. Returns when it finds no task. ee_local() is what m had
     * when its body returned. [may switch] */
    void (*assist)(struct ee_member *m);
    /* Gives m's identity to the core, when m has become a helper: its body has returned, no thread runs tasks as m, and
     * no thread uses the memory of m's entity. The core gives the identity back by ee_team_help. True: a task is ready,
     * so the caller has the identity again at once and must call assist. Called only in a region that was notified of
     * tasks. [does not switch] */
    bool (*idle)(struct ee_member *m);
    /* Returns whether a task of the region is ready. Async-signal-safe. The pointer may be NULL: then the entities do
     * not know. */
    bool (*any)(struct ee_member *m);
    /* Returns an address that tells where in the program the open region is. All regions of one construct have the same
     * address. NULL: unknown. */
    const void *(*place)(struct ee_member *first);
    /* Manycore only: called when the entities decide that the n members from `id` on run next in cluster `near`. Makes
     * `members`, which is what ee_team_init was given, point to storage for them in the memory of that cluster, aligned
     * to PS_CACHE_LINE. Returns how many members have storage: fewer than n if there is no memory. The pointer may be
     * NULL: no such function. */
    unsigned (*near)(void *members, unsigned id, unsigned n, int near);
    /* Manycore only: called once before member m, whose storage `near` has returned, first runs in `team`; by the
     * member's own core, or by the parent. */
    void (*settle)(struct ee_member *m, struct ee_team *team, unsigned id);
    /* Manycore only: as `idle`, but does not look for ready tasks. ee_team_notify calls it for the members whose bodies
     * have returned; the core looks for all of them afterwards. */
    void (*rest)(struct ee_member *m);
    /* Manycore only: called in place of body in a region that ee_team_again opened, for a member that also ran in the
     * last region on this carrier. The member's share is fn(data). */
    void (*again)(struct ee_member *m, void (*fn)(void *), void *data);
    /* Manycore only: called by ee_team_run_again. `ended`: all members are done, and tasks were made in this region or
     * in an enclosing one. `otherwise`: the short path was not possible, and no region has been opened yet. */
    void (*ended)(struct ee_member *first);
    void (*otherwise)(struct ee_team *team, void (*fn)(void *), void *data);
};
/* Manycore only. ee_memory_near returns memory, not zeroed, of the cluster `near`; NULL: that cluster has none left.
 * ee_is_near returns whether p is memory of that cluster. */
#define EE_NEAR_HERE (-1) /* the cluster of the caller */
#define EE_NEAR_ANY (-2)  /* any cluster, or the main memory */
void *ee_memory_near(int near, size_t bytes);
/* As ee_memory_near, but of the EE_ZEROS_BYTES that each cluster has ready from the start: zeroed, never given back,
 * and got by one atomic operation. NULL: they are used up. */
void *ee_zeros_near(int near, size_t bytes);
void *ee_memory_beside(const void *p, size_t bytes); /* in the cluster of p, else anywhere */
bool ee_is_near(const void *p, int near);
/* Manycore only. Forks as many members as the team's last region had; only fn and data are different. The order to
 * start may carry fn and data, so that members need not read the team. */
void ee_team_again(struct ee_team *team, void (*fn)(void *), void *data);
/* Manycore only. The shortest path, for a region that differs from the team's last one in fn and data alone.
 * ee_team_lasts is called after the join of that last region; it returns whether the team has this path. If so,
 * ee_team_run_again is the whole next region, from ee_team_reserve to the join. The call runs ops->again for member 0
 * as well, and calls ops->ended if tasks were made in this region or in an enclosing one. If the path is not possible
 * now (a carrier of the team is taken, or the caller has learnt of tasks), it calls ops->otherwise and does nothing
 * else. [switches] */
bool ee_team_lasts(struct ee_team *team);
/* Manycore only. Called before a region: the caller's next region is of `team`, while its last region was of another
 * team. */
void ee_team_turn(struct ee_team *team);
void ee_team_run_again(struct ee_team *team, void (*fn)(void *), void *data);

/* Called once for a team block, before its first fork. members: n_max objects, `stride` bytes apart, each of which
 * begins with an ee_member. stride 0: members is a table of pointers to such objects, which `near` fills. The block may
 * be forked again and again (hot team) with any n <= n_max. */
void ee_team_init(struct ee_team *team, const struct ee_team_ops *ops, void *members, size_t stride, unsigned n_max);
/* Called before the block's memory is reused for something else. No region of the team is open. May run the program's
 * destructors. [may switch] */
void ee_team_fini(struct ee_team *team);
/* Makes member id of `larger` the successor of member id of `team`, which is about to end. The successor gets
 * everything that the C library and the kernel keep for this member. Neither team has an open region, and `larger` has
 * had none at all. Returns false if this is not possible. */
bool ee_team_succeed(struct ee_team *larger, struct ee_team *team, unsigned id);

/* Defines the places for binding. A place is a set of processors: place p has cpu[first[p]] .. cpu[first[p + 1] - 1];
 * `cpu` NULL, on bare metal alone: place p has the processors first[p] .. first[p + 1] - 1.
 * The caller keeps both arrays for good. Called once, before anything is bound. Returns false if n is 0 or there is no
 * memory; then nothing is ever bound. */
bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu);
#define EE_NO_PLACE (-1)
/* ee_members_bind: the members from `first` up to `end` run only on processors of `place` (on the manycore: on a core
 * in the cluster of the place's first core, if one is idle there). ee_team_bind is called after all calls of
 * ee_members_bind. Its `place` is the place of all members, or EE_NO_PLACE; in this case `scattered` tells whether
 * members have different places. Both are called before ee_team_reserve, while the team has no open region, and hold
 * until the next such call. A team that was never bound needs neither. If the parent is a root, member 0 runs on the
 * parent's kernel thread. That kernel thread is bound from fork to join, and then has its own mask again. */
void ee_members_bind(struct ee_team *team, unsigned first, unsigned end, int place);
void ee_team_bind(struct ee_team *team, int place, bool scattered);

/* Asks for a region of n threads. Returns how many threads the region can have, 1 <= result <= n; the system may refuse
 * kernel threads, or memory for stacks and blocks. The caller must call ee_team_fork with exactly the result, unless
 * that is 1. */
unsigned ee_team_reserve(struct ee_team *team, unsigned n);

/* Opens the region: each of the members 1 .. n-1 will run ops->body once, on any carrier, not necessarily all at the
 * same time. A member may run at once if a carrier is idle. That all members run is certain only once the caller waits,
 * in the join, a barrier or ee_wait. From the call on the caller is member 0: ee_local() is members[0], and the caller
 * runs its share itself. outermost: no region of this entity encloses the new one. [does not switch] */
void ee_team_fork(struct ee_team *team, unsigned n, bool outermost);

/* Called by member 0 when its share is done: waits until all members are done. While it waits, it may run members that
 * no carrier took, as calls on its own stack, and it runs ops->assist as member 0 when tasks are ready. On return the
 * caller is once more the entity that it was before the fork, with that entity's ee_local(). Everything that members
 * did happens before the return. [switches] */
void ee_team_join(struct ee_team *team);

/* Called once for a region, by an unfinished member of the team: tells the entities that the region has tasks. Members
 * that wait in the barrier return from it with EE_NOTIFIED. Until the region ends, ee_barrier_await returns EE_NOTIFIED
 * at once: members then wait in the core, which knows when a task is ready. A member becomes a helper when its body has
 * returned, and member 0 when it waits in the join: then one thread, in most cases the member's own, calls ops->idle
 * for it. [does not switch] */
void ee_team_notify(struct ee_team *team);
/* Calls member id, a helper, back to work: its body has returned, and ops->idle has given its identity to the core.
 * Some carrier calls ops->assist for the member, then ops->idle again. The join waits for that. The region must not end
 * during the call, so the caller is an unfinished member, or a member that assists, or a thread outside of the team
 * that holds a ready task of the region which is not queued yet. [does not switch] */
void ee_team_help(struct ee_team *team, unsigned id);
/* Called by a member that may yield in a loop until a certain task has run. The member may not run this task itself,
 * and no helper comes for it. If the caller runs as a call on the stack of member 0's entity, member 0 cannot go on
 * before the caller returns; so member 0 becomes a helper on another stack. [does not switch] */
void ee_team_call_first(struct ee_team *team);

/* --- barrier: of the team's members, counting other work as well --- */
/* The barrier opens when all n members have arrived. A member whose explicit tasks are not finished arrives later; see
 * src/ort/task. Usage:
 *   switch (ee_barrier_meet(team, id, phase, counted)) {
 *   case EE_LAST: ee_barrier_release(team); break;
 *   case EE_NOTIFIED: do run_tasks(); while (ee_barrier_await(team, id, phase) == EE_NOTIFIED); break;
 *   case EE_RELEASED: break; } */
enum ee_await { EE_RELEASED, EE_NOTIFIED, EE_LAST };

/* Returns the number of the barrier's present phase. A member reads it before it arrives, and passes it to
 * ee_barrier_meet. If no member of a barrier is told that it was the last, the number may stay the same for the next
 * barrier. */
uint32_t ee_barrier_phase(struct ee_team *team);
/* Opens the barrier: the next phase begins, and every member in ee_barrier_await of the old phase returns EE_RELEASED.
 * True: other entities want the caller's carrier first, so the caller must call ee_yield as soon as it may switch. */
bool ee_barrier_release(struct ee_team *team);
/* Member id arrives, and waits as in ee_barrier_await. EE_LAST: the caller was the last member, and must call
 * ee_barrier_release. counted: one member must be told that it is the last; otherwise the barrier may open without
 * telling any member. All members of a barrier pass the same value. [switches] */
enum ee_await ee_barrier_meet(struct ee_team *team, unsigned id, uint32_t phase, bool counted);
/* Member id waits until `phase` is over (EE_RELEASED), or until the region is notified of tasks (EE_NOTIFIED). If each
 * member runs on a carrier of its own, the member first spins for a limited time; then it blocks. (The manycore, where
 * cores run one entity each, spins on.) [switches] */
enum ee_await ee_barrier_await(struct ee_team *team, unsigned id, uint32_t phase);

#ifndef EE_PORT
/* Meets and passes the whole barrier, if the entities know by themselves that the caller's region has no tasks and
 * cannot be cancelled. True: the barrier is over. False is always a correct answer: the caller then calls
 * ee_barrier_meet. */
static PS_ALWAYS_INLINE bool ee_barrier_pass(void) { return false; }
/* Called when the caller's implicit task gets a child. Until its next barrier is over, ee_barrier_pass returns false to
 * the caller. */
static PS_ALWAYS_INLINE void ee_barrier_heed(void) {}
#endif

/* --- waiting on a word (a futex of entities) --- */

/* Waits while *word == expected: spins for a limited time, then blocks the entity, so that its carrier can run others.
 * (An implementation whose carriers run one entity each may spin on.) Returns when the entity is woken or sees *word
 * differ, and sometimes without reason. No wake-up is lost: if *word is changed and then ee_wake called, the entity
 * wakes. word may be in the program's memory (an omp_lock_t). [switches] */
void ee_wait(_Atomic uint32_t *word, uint32_t expected);
/* Wakes up to n entities that wait on word (UINT_MAX: all). If none waits, it costs one fence and a load. [does not
 * switch] */
void ee_wake(_Atomic uint32_t *word, unsigned n);
/* Lets another entity run on this carrier. If no other is ready, and also from time to time, it yields the processor to
 * other kernel threads. [switches] */
void ee_yield(void);
/* If another entity is ready on this carrier, lets it run. Otherwise returns at once, without a system call.
 * [switches] */
void ee_offer(void);
/* Returns whether an entity is ready that can run only on the caller's carrier, and that has already been kept waiting
 * there. The caller should then call ee_yield. */
bool ee_carrier_wanted(void);

#endif
