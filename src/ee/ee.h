/* The entities contract (psthreads-2009 section 3: ORT and EELIB): what the OpenMP core needs of threads.
 *
 * The implementation is chosen when the runtime is linked: src/ee/psthreads (entities are user-level threads),
 * src/ee/pthreads (entities are kernel threads), src/ee/manycore (a fixed thread on each core, without a system). The
 * core (src/ort) sees this header only. Another implementation defines every function below but those marked "For
 * such entities alone" (entities with memory by clusters: manycore), and on x86-64 the variable ee_here.
 *
 * Words. An *entity* carries one OpenMP thread. A *root* is the entity of a kernel thread that the runtime did not make
 * (the program's initial thread, any pthread that calls an OpenMP routine). A *member* is the entity of a thread in a
 * team: its storage is given by the core, in one block with the team. A *carrier* is what runs entities: a virtual
 * processor or a kernel thread.
 *
 * An entity may change its carrier in any call marked [switches]; never elsewhere. Therefore nothing that belongs to
 * the carrier (native thread-local variables of the runtime itself) may be kept across such a call. No call here fails
 * unless it says so. */
#ifndef PS_EE_H
#define PS_EE_H

#include "atomic.h"
#include "compiler.h"
#ifdef EE_PORT /* a header: what a target has inline of its own (ee_local_inline, ee_barrier_pass, ee_barrier_heed) */
#include EE_PORT
#endif

/* --- configuration --- */

enum ee_wait_policy { EE_WAIT_DEFAULT, EE_WAIT_ACTIVE, EE_WAIT_PASSIVE };

struct ee_config {
    unsigned num_vps;   /* 0: one per processor that the process may use */
    size_t stack_bytes; /* of a member's stack; 0: default */
    enum ee_wait_policy wait_policy;
    uint64_t spin_count; /* GOMP_SPINCOUNT: iterations of a waiting loop before it blocks; UINT64_MAX: not set */
    /* Called when a root's kernel thread ends, on that kernel thread, with what the core kept for it by ee_set_local.
     * NULL: the core is not told. */
    void (*root_exit)(void *local);
    /* Writes what the running entity is ("OpenMP thread 3 of level 2"), async-signal-safe; for reports. */
    void (*describe)(char *buf, size_t bytes);
    /* Tells a debugger where to find what an entity's pointer (ee_local) leads to. */
    const struct ps_debug_layout *debug_layout;
    /* Whether members of outermost regions begin with rounding and traps of the region's opener, as in libomp, or with
     * what they had at their last region's end, as in libgomp. NULL: the latter. */
    const bool *floats_of_opener;
};

/* Where a debugger finds the entities: a table of their own, by which it goes from a kernel thread to its pointer. Data
 * of each implementation that a debugger knows. */
extern const struct ps_debug_layout *const ee_debug_layout;

/* Idempotent, thread-safe; starts no kernel thread yet. */
void ee_init(const struct ee_config *config);
/* Carriers that can run at once (vps; for kernel threads: processors). */
unsigned ee_num_vps(void);
/* Whether a member's native thread-local variables are its own wherever it runs; false: they are its carrier's. Starts
 * what ee_num_vps starts. */
bool ee_private_storage(void);
/* Called in a forked child: forgets every carrier but the caller. The caller's entity becomes a fresh root with the
 * same local pointer. */
void ee_after_fork_in_child(void);
/* Stops all idle kernel threads of the runtime, gives back stacks and unused thread-local storage
 * (omp_pause_resource). They restart at need. */
void ee_quiesce(void);

/* Returns the number by which the system knows the calling entity (gettid): no two entities that exist at once have the
 * same. */
int ee_thread_number(void);

/* --- the current entity --- */

/* Returns the core's pointer that follows the entity wherever it runs. NULL for a kernel thread that is no entity yet;
 * for a member it begins as the address of its ee_member. Costs a call and two loads. */
void *ee_local(void);
/* Sets it. Makes the calling kernel thread a root where it is no entity yet. */
void ee_set_local(void *local);

/* Called where the caller is in no region, and has asked whether it is: it may be about to open one. Waits where roots
 * take turns with this kind of entities. [does not switch] */
void ee_take_turn(void);

/* ee_local without the call.
 * Each implementation has this layout: ee_here is the calling kernel thread's carrier (NULL: it is none). A carrier
 * begins with the address of the entity that it runs (NULL: none). An implementation defines ee_here as
 *   __thread struct ee_carrier *ee_here; with tls_model("initial-exec") and visibility("hidden"). */
struct ee_running {
    unsigned char own[40];
    void *local;
};
struct ee_carrier {
    struct ee_running *running;
};
#if defined(__x86_64__)
static PS_ALWAYS_INLINE void *ee_local_inline(void)
{
    struct ee_carrier *here; /* volatile: a call that switches may have come between this and the last time */
    __asm__ volatile("movq ee_here@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(here));
    struct ee_running *running = PS_LIKELY(here != NULL) ? here->running : NULL;
    return PS_LIKELY(running != NULL) ? running->local : NULL;
}
#elif !defined(EE_PORT)
static PS_ALWAYS_INLINE void *ee_local_inline(void) { return ee_local(); }
#endif

/* --- teams --- */

#ifndef EE_MEMBER_BYTES /* smaller in a build for a target with smaller entities */
#define EE_MEMBER_BYTES 256
#define EE_TEAM_BYTES 256
#endif
struct ee_member {
    PS_LINE_ALIGNED unsigned char opaque[EE_MEMBER_BYTES];
};
struct ee_team {
    alignas(PS_CACHE_LINE) unsigned char opaque[EE_TEAM_BYTES];
};

/* What the core gives for its teams; one constant object. */
struct ee_team_ops {
    /* Runs member m's share of the region; called with ee_local() == m. [may switch] */
    void (*body)(struct ee_member *m);
    /* Runs explicit tasks of the team in the name of m, whose body has returned and whose identity the caller has;
     * returns when it finds none. ee_local() is what m had when its body returned. [may switch] */
    void (*assist)(struct ee_member *m);
    /* Gives the core the identity of m, which is a helper: its body has returned, no thread runs tasks in its name, and
     * nothing is kept in its thread. The core returns it by ee_team_help. True: the identity is the caller's again,
     * since there is a task: assist. Only in a region that was notified of tasks. [does not switch] */
    bool (*idle)(struct ee_member *m);
    /* Whether some task of the region is ready. Async-signal-safe. NULL: this cannot be told. */
    bool (*any)(struct ee_member *m);
    /* Tells where in the program the open region is: the same address for all regions of one construct. NULL: it is not
     * told. */
    const void *(*place)(struct ee_member *first);
    /* Returns storage for member id near the carrier group `near`, from a multiple of PS_CACHE_LINE on; NULL: no
     * memory. Called by entities with memory by clusters when they decide where the member runs next. `members` as
     * given to ee_team_init. The pointer may be NULL: no such function. */
    struct ee_member *(*near)(void *members, unsigned id, int near);
    /* For such entities alone. Called in place of body in a region that ee_team_again opened, for a member that ran in
     * the last region on this carrier; the member's share is fn(data). */
    void (*again)(struct ee_member *m, void (*fn)(void *), void *data);
    /* For ee_team_run_again. ended: all members are done, and one has made a task. otherwise: there is no region
     * yet. */
    void (*ended)(struct ee_member *first);
    void (*otherwise)(struct ee_team *team, void (*fn)(void *), void *data);
};
/* For such entities alone. ee_memory_near: memory near a group of carriers, not zeroed; NULL: none there. ee_is_near:
 * whether p is such memory. */
#define EE_NEAR_HERE (-1) /* near the caller */
#define EE_NEAR_ANY (-2)
void *ee_memory_near(int near, size_t bytes);
void *ee_memory_beside(const void *p, size_t bytes); /* as p, or anywhere */
bool ee_is_near(const void *p, int near);
/* For such entities alone. Forks as many members as the team's last region had; only fn and data are different. They
 * may be sent with the order to start, so that members need not look at the team. */
void ee_team_again(struct ee_team *team, void (*fn)(void *), void *data);
/* For such entities alone. The shortest path, for a region that differs from the last one in fn and data alone; the
 * last one has been joined. ee_team_lasts, after that join: whether there is such a path for this team.
 * ee_team_run_again is then the whole region from ee_team_reserve to the join. The call runs ops->again for member 0 as
 * well, and ops->ended if there were tasks. If the team cannot have its carriers now, it calls ops->otherwise and does
 * nothing else. [switches] */
bool ee_team_lasts(struct ee_team *team);
/* For such entities alone. The caller's next region is of `team`; its last one was of another team. */
void ee_team_turn(struct ee_team *team);
void ee_team_run_again(struct ee_team *team, void (*fn)(void *), void *data);

/* Called once for a team block, before its first fork. members: n_max objects that each begin with an ee_member,
 * `stride` bytes apart. stride 0: members is a table of pointers to them, which `near` fills. The block may be forked
 * again and again (hot team) with any n <= n_max. */
void ee_team_init(struct ee_team *team, const struct ee_team_ops *ops, void *members, size_t stride, unsigned n_max);
/* Before the block's memory is reused for something else; no fork is open. */
void ee_team_fini(struct ee_team *team);
/* Lets member id of `team`, which is about to end, go on as member id of `larger`: whatever it has in the C library and
 * the kernel then belongs to that member. No region of either is open, and `larger` has had none. false: this is not
 * possible. */
bool ee_team_succeed(struct ee_team *larger, struct ee_team *team, unsigned id);

/* Binding. Places are sets of processors: place p has cpu[first[p]] .. cpu[first[p + 1] - 1]; both arrays stay. Called
 * once, before anything is bound. false: no memory, nothing is ever bound. */
bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu);
#define EE_NO_PLACE (-1)
/* ee_member_bind: member id is to run on processors of that place only. Then ee_team_bind: the place of all members, or
 * EE_NO_PLACE and whether they have different ones.
 * Both are called before ee_team_reserve, with no region of the team open, and hold until they are called anew; a team
 * that was never bound need not be told. Member 0 runs on its parent's kernel thread if the parent is a root; that one
 * is bound from fork to join and has its own mask again afterwards. */
void ee_member_bind(struct ee_team *team, unsigned id, int place);
void ee_team_bind(struct ee_team *team, int place, bool scattered);

/* Asks for a region of n threads: returns how many there can be, 1 <= result <= n (the system may refuse kernel
 * threads, or memory for stacks and blocks). Must be followed by ee_team_fork with exactly the result, unless it is
 * 1. */
unsigned ee_team_reserve(struct ee_team *team, unsigned n);

/* Opens the region: members 1 .. n-1 will each run ops->body once, on any carrier, and not necessarily at the same
 * time. A member runs at once where a carrier is idle. All are certain to run only when the caller waits, in join, a
 * barrier or ee_wait. The caller is member 0 from here on: ee_local() is members[0], and it runs its share itself.
 * outermost: no region encloses this one on this entity. [does not switch] */
void ee_team_fork(struct ee_team *team, unsigned n, bool outermost);

/* Member 0 has done its share: waits until all have; while it waits it runs members that no carrier took, as calls on
 * its own stack, and ops->assist as member 0. On return the caller is the entity that forked, with its ee_local() of
 * before. [switches] Everything that members did happens before the return. */
void ee_team_join(struct ee_team *team);

/* The region has tasks. Members that wait in the barrier return from it with EE_NOTIFIED. Until the region ends
 * ee_barrier_await answers EE_NOTIFIED at once instead of waiting: the core itself knows better what its members wait
 * for. Each member becomes a helper (ops->idle) when its body has returned, on any thread; so does member 0 where it
 * waits in the join. Caller: an unfinished member of the team, once a region. [does not switch] */
void ee_team_notify(struct ee_team *team);
/* Calls member id back, whose identity ops->idle gave to the core: some carrier calls ops->assist for the member, then
 * ops->idle again. The join waits for that. Caller: an unfinished member, or a member that assists. Or a thread outside
 * of the team that has a ready task of the region not yet queued, so that the region cannot end. [does not switch] */
void ee_team_help(struct ee_team *team, unsigned id);
/* For a member that may yield in a loop until a task has run that it may not run itself, and for which no helper comes.
 * If the caller runs as a call on the stack of member 0's entity, member 0 cannot go on before the caller returns: it
 * becomes a helper on another stack. [does not switch] */
void ee_team_call_first(struct ee_team *team);

/* --- barrier: of the team's members, counting other work as well --- */
/*
 * The barrier opens when all n members have come (a member whose explicit tasks are not finished comes later: see
 * src/ort/task).
 *   switch (ee_barrier_meet(team, id, phase, counted)) {
 *   case EE_LAST: ee_barrier_release(team); break;
 *   case EE_NOTIFIED: do run_tasks(); while (ee_barrier_await(team, id, phase) == EE_NOTIFIED); break;
 *   case EE_RELEASED: break; }
 */
enum ee_await { EE_RELEASED, EE_NOTIFIED, EE_LAST };

/* The number of the phase that the next arrival belongs to: read by a member before it arrives. Where no member is told
 * that it was the last, the number may stay the same from barrier to barrier. */
uint32_t ee_barrier_phase(struct ee_team *team);
/* Opens the barrier: next phase, every member in ee_barrier_await of this phase returns EE_RELEASED. True: others want
 * the caller's carrier first; ee_yield as soon as it may switch. */
bool ee_barrier_release(struct ee_team *team);
/* Member id arrives, and waits as in ee_barrier_await. EE_LAST: it was the last, and has to call ee_barrier_release.
 * counted: one member has to be told that it is the last; else the barrier may open without telling any member. All
 * members of a barrier say the same. [switches] */
enum ee_await ee_barrier_meet(struct ee_team *team, unsigned id, uint32_t phase, bool counted);
/* Member id waits until `phase` is over, or until the region is notified (EE_NOTIFIED). Spins only where each
 * member runs on a carrier of its own, and not for long; else blocks. [switches] */
enum ee_await ee_barrier_await(struct ee_team *team, unsigned id, uint32_t phase);

#ifndef EE_PORT
/* Meets the whole barrier at once, where the entities can tell by themselves that the caller's region has no tasks and
 * is not cancellable. True: the barrier is over. False is always right. */
static PS_ALWAYS_INLINE bool ee_barrier_pass(void) { return false; }
/* The caller's implicit task gets a child: until its next barrier is over, the caller passes none by
 * ee_barrier_pass. */
static PS_ALWAYS_INLINE void ee_barrier_heed(void) {}
#endif

/* --- waiting on a word (a futex of entities) --- */

/* Waits while *word == expected: spins for about two context switches' time, then blocks the entity (its carrier runs
 * others). Returns when woken or when *word is seen to differ; may return without reason. No wake-up is lost: a change
 * of *word followed by ee_wake is seen. word may be in the program's memory (an omp_lock_t). [switches] */
void ee_wait(_Atomic uint32_t *word, uint32_t expected);
/* Wakes up to n entities that wait on word (UINT_MAX: all). Cheap where none waits: one fence and a load. [does not
 * switch] */
void ee_wake(_Atomic uint32_t *word, unsigned n);
/* Lets another entity run on this carrier, if there is one. If not, or now and then, lets other kernel threads have the
 * processor. [switches] */
void ee_yield(void);
/* Lets another entity run on this carrier, if there is one; nothing else. [switches] */
void ee_offer(void);
/* Whether an entity is ready that can run only on the caller's carrier, and has been kept waiting there before. If so,
 * call ee_yield. */
bool ee_carrier_wanted(void);

#endif
