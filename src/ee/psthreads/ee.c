/* Entities are user-level threads: the contract of ee.h mapped onto src/psthreads.
 *
 * An ee_team is a ps_team, an ee_member is a ps_member, and a carrier is a vp. This file decides how many members get a
 * stack (ee_team_reserve), how long a vp searches for work (ee_init), and when a yield also yields the kernel thread
 * (ee_yield). */
#include "ee.h"

#include "address_wait.h"
#include "bind.h"
#include "check.h"
#include "current.h"
#include "dedicated.h"
#include "os.h"
#include "root_fairness.h"
#include "run.h"
#include "runtime.h"
#include "scheduler.h"
#include "team.h"
#include "tls.h"
#include "uth.h"

#include <stdio.h>

_Static_assert(sizeof(struct ps_team) <= sizeof(struct ee_team), "ee_team is too small for a ps_team");
_Static_assert(sizeof(struct ps_member) <= sizeof(struct ee_member), "ee_member is too small for a ps_member");
_Static_assert(offsetof(struct ps_member, thread) == 0, "a member begins with its thread");

static struct ps_team *scheduler_team(struct ee_team *team) { return (struct ps_team *)(void *)team; }

/* --- configuration --- */

#define ACTIVE_SEARCH_NS UINT64_C(100000000)
#define PAUSE_NS 15 /* assumed length of one iteration of a spin count */
#define YIELDS_TO_SYSTEM 16

/* Returns the size of a stack that leaves `bytes` free below a member that runs as a call. Before such a call up to 1 /
 * UTH_CALL_SHARE of the stack may be in use, and each member is promised `bytes`. */
static size_t with_share(size_t bytes) { return bytes + bytes / (UTH_CALL_SHARE - 1) + 1; }

void ee_init(const struct ee_config *config)
{
    static _Atomic uint32_t done;
    if (ps_xchg_acq_rel(&done, 1))
        return;
    struct ps_settings s = {
        .num_vps = config->num_vps,
        .stack_bytes = with_share(config->stack_bytes ? config->stack_bytes : os_thread_default_stack()),
        .search_ns = UINT64_MAX,
        .passive = config->wait_policy == EE_WAIT_PASSIVE,
        .root_exit = config->root_exit,
        .describe = config->describe,
        .debug_layout = config->debug_layout,
        .max_spares = PS_MAX_SPARES,
        .stack_variable = "OMP_STACKSIZE",
        .floats_of_opener = config->floats_of_opener,
    };
    if (config->spin_count != UINT64_MAX)
        s.search_ns = config->spin_count > UINT64_MAX / PAUSE_NS - 1 ? UINT64_MAX - 1 : config->spin_count * PAUSE_NS;
    else if (config->wait_policy == EE_WAIT_PASSIVE)
        s.search_ns = 0;
    else if (config->wait_policy == EE_WAIT_ACTIVE)
        s.search_ns = ACTIVE_SEARCH_NS;
    ps_configure(&s);
}

unsigned ee_num_vps(void)
{
    ps_start();
    return ps_rt.num_vps;
}
bool ee_private_storage(void)
{
    ps_start();
    return uth_tls_enabled();
}

/* psthreads may have called ps_after_fork_in_child already: only the first call in a child does anything */
void ee_after_fork_in_child(void) { ps_after_fork_in_child(); }

int ee_thread_number(void) { return ps_number_of_caller(); }

void ee_quiesce(void) { ps_quiesce(); }

extern const struct ps_debug_layout ps_debug_layout; /* defined in psthreads/debug */
const struct ps_debug_layout *const ee_debug_layout = &ps_debug_layout;

/* --- the current entity --- */

_Static_assert(offsetof(struct vp_run, current) == offsetof(struct ee_carrier, running) &&
                   offsetof(struct psthread, local) == offsetof(struct ee_running, local),
               "ee_local_inline reads them");
void *ee_local(void) { return ps_local(); }
void ee_set_local(void *local) { ps_self()->local = local; }

void ee_take_turn(void) { root_fairness_take(); }

/* --- teams --- */

void ee_team_init(struct ee_team *team, const struct ee_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    /* ee_team_ops begins with the functions of ps_team_ops, which differ only in the name of the member's type.
     * psthreads does not use the later functions, which are for the manycore only. */
    _Static_assert(offsetof(struct ee_team_ops, near) == sizeof(struct ps_team_ops),
                   "ee_team_ops has ps_team_ops first");
    ps_team_init(scheduler_team(team), (const struct ps_team_ops *)(const void *)ops, members, stride, n_max);
}
void ee_team_fini(struct ee_team *team) { ps_team_fini(scheduler_team(team)); }
bool ee_team_succeed(struct ee_team *larger, struct ee_team *team, unsigned id)
{
    return ps_team_succeed(scheduler_team(larger), scheduler_team(team), id);
}

/* Stacks for the members of a team, where the address space is limited.
 *
 * Each member that waits needs a stack, and a team that is open cannot shrink any more. So if there is a limit, stacks
 * for all members are mapped before the team opens. Otherwise the first members might use up the memory (the C
 * library's arenas, 64 MiB each) that later members need for their stacks. All stacks together get half of the memory;
 * the other half is the program's. reserve_stacks asks whether there is a limit when a team has more members than
 * ps_team.roomy.
 *
 * Under a limit an account is kept. `promised` counts the stacks that the open teams may need, n - 1 for a team of n.
 * They are added by compare-and-swap before the fork, and the parent subtracts them after the join. Besides, each vp
 * may need one stack for its loop (loops()). Stacks are promised only as long as `promised` and the loops together do
 * not exceed the stacks that exist. So a thread that waits for a stack waits until some loop ends. A team that finds
 * fewer stacks has fewer members, at least one, which needs no stack. Thread-local blocks need no account: they stay
 * with a team's members from region to region, and each member has its own before the fork. From the first smaller team
 * on no vp keeps idle stacks for itself. Relaxed: the account is only a number.
 * The account does not include threads of psthread_create, spares, and regions that were open when the limit was set.
 * These get smaller stacks, or wait until one is free. */
/* A team of n members, n <= MANY_MEMBERS, that has found no limit does not ask again for its later regions of at most n
 * members (ps_team.roomy is n). */
#define MANY_MEMBERS 64
#define MANY_STACKS 4096 /* any kernel's limit of mappings allows this many */

static _Atomic size_t promised;
static _Atomic bool limited; /* a limit was seen; never cleared */

static size_t loops(void) { return ps_load_relaxed(&ps_rt.table_size) + 1; }

/* Adds up to `wanted` stacks to `promised`, as many as exist and are not promised yet. Returns how many it added. */
static size_t promise(size_t wanted)
{
    size_t before = ps_load_relaxed(&promised), granted;
    do {
        size_t all = uth_mapped(), used = before + loops();
        granted = all > used ? all - used : 0;
        granted = granted < wanted ? granted : wanted;
    } while (!ps_cas_relaxed(&promised, &before, before + granted));
    return granted;
}

/* Takes a thread-local block for each member that has a promised stack; the blocks stay with the members. If there are
 * fewer blocks, the other stacks are no longer promised. Returns how many members may begin. */
static size_t with_blocks(struct ps_team *team)
{
    unsigned n = ps_team_take_tls(team, team->promised + 1);
    ps_sub_relaxed(&promised, team->promised + 1 - n);
    team->promised = n - 1;
    return n;
}

/* Returns how many of n members can begin. All of them but member 0 need a stack, which is then promised to the team.
 * SIZE_MAX: all, since there is no limit. */
static size_t stacks_that_fit(struct ps_team *team, unsigned n)
{
    size_t left, bytes = uth_default_stack_bytes();
    if (!ps_load_relaxed(&limited) && os_memory_left() == SIZE_MAX)
        return SIZE_MAX;
    ps_store_relaxed(&limited, true);
    team->promised = (uint32_t)promise(n - 1);
    if (team->promised == n - 1)
        return with_blocks(team);
    if ((left = os_memory_left()) == SIZE_MAX)
        left = SIZE_MAX / 2; /* the limit has been lifted: no limit on new stacks */
    size_t wanted = ps_load_relaxed(&promised) + loops() + n - 1 - team->promised, all = uth_mapped();
    size_t fresh = left > all * bytes ? (left - all * bytes) / 2 / bytes : 0;
    if (wanted > all)
        uth_add(wanted - all < fresh ? wanted - all : fresh);
    team->promised += (uint32_t)promise(n - 1 - team->promised);
    if (team->promised < n - 1)
        uth_scarce();
    return with_blocks(team);
}

/* Returns how many stacks the system can map for the process. A quarter of the mappings is left to the program. */
static size_t stacks_that_map(void)
{
    size_t most = os_mappings_max();
    unsigned each = os_stack_mappings();
    return most == SIZE_MAX || each == 0 ? SIZE_MAX : most / 4 * 3 / each;
}

static PS_NOINLINE unsigned reserve_stacks(struct ps_team *team, unsigned n)
{
    static _Atomic uint32_t said;
    size_t fit = stacks_that_fit(team, n), map = n > MANY_STACKS ? stacks_that_map() : SIZE_MAX;
    if (fit >= n && map >= n) {
        if (n <= MANY_MEMBERS && fit == SIZE_MAX)
            team->roomy = (uint8_t)n;
        return n;
    }
    const char *what = fit < map ? "memory" : "room in the system's table of mappings (vm.max_map_count)";
    fit = fit < map ? fit : map;
    fit = fit > 1 ? fit : 1;
    if (!ps_xchg_acq_rel(&said, 1))
        ps_warn("no %s for the stacks of %u threads (%zu KiB each): going on with %zu (said once)", what, n,
                uth_default_stack_bytes() / 1024, fit);
    return (unsigned)fit;
}

unsigned ee_team_reserve(struct ee_team *team, unsigned n)
{
    /* Members cannot have thread-local storage of their own, and two on one kernel thread would see each other's
     * variables. So each region has one thread. */
    if (PS_UNLIKELY(ps_load_relaxed(&uth_tls_missing)))
        return 1;
    return PS_LIKELY(n <= scheduler_team(team)->roomy) ? n : reserve_stacks(scheduler_team(team), n);
}
bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu)
{
    ps_start();
    return ps_bind_places(n, first, cpu);
}
void ee_members_bind(struct ee_team *team, unsigned first, unsigned end, int place)
{
    for (unsigned id = first; id < end; id++)
        ps_member_bind(ps_team_member(scheduler_team(team), id), place);
}
void ee_team_bind(struct ee_team *team, int place, bool scattered)
{
    ps_team_bind(scheduler_team(team), place, scattered);
}

void ee_team_fork(struct ee_team *team, unsigned n, bool outermost)
{
    ps_team_fork(scheduler_team(team), n, outermost);
}
void ee_team_join(struct ee_team *team)
{
    ps_team_join(scheduler_team(team));
    if (PS_UNLIKELY(scheduler_team(team)->promised != 0)) {
        ps_sub_relaxed(&promised, scheduler_team(team)->promised);
        scheduler_team(team)->promised = 0;
    }
}
void ee_team_notify(struct ee_team *team) { ps_team_notify(scheduler_team(team)); }
void ee_team_help(struct ee_team *team, unsigned id) { ps_team_help(scheduler_team(team), id); }
void ee_team_call_first(struct ee_team *team) { ps_team_call_first(scheduler_team(team)); }

/* --- barrier --- */

uint32_t ee_barrier_phase(struct ee_team *team) { return ps_team_barrier_phase(scheduler_team(team)); }
bool ee_barrier_release(struct ee_team *team) { return ps_team_barrier_release(scheduler_team(team)); }
_Static_assert((int)PS_MET_RELEASED == EE_RELEASED && (int)PS_MET_CALLED == EE_NOTIFIED && (int)PS_MET_LAST == EE_LAST,
               "ps_met is ee_await by another name");
enum ee_await ee_barrier_meet(struct ee_team *team, unsigned id, uint32_t phase, bool counted)
{
    return (enum ee_await)ps_team_barrier_meet(scheduler_team(team), id, phase, counted);
}
enum ee_await ee_barrier_await(struct ee_team *team, unsigned id, uint32_t phase)
{
    return ps_team_barrier_await(scheduler_team(team), id, phase) ? EE_RELEASED : EE_NOTIFIED;
}

/* --- waiting on a word --- */

void ee_wait(_Atomic uint32_t *word, uint32_t expected) { ps_wait_on(word, expected); }
void ee_wake(_Atomic uint32_t *word, unsigned n) { ps_wake_on(word, n); }
/* An entity that calls this in a loop waits for another thread. That thread may be on another vp, which goes on only if
 * the system lets its kernel thread run. So every YIELDS_TO_SYSTEM-th call also yields the kernel thread. */
void ee_yield(void)
{
    struct vp *vp = ps_vp();
    bool stand_back = vp != NULL && ++vp_run(vp)->yields % YIELDS_TO_SYSTEM == 0;
    if (!ps_yield() || stand_back)
        os_yield();
}
void ee_offer(void) { ps_yield(); }
bool ee_carrier_wanted(void) { return ps_root_wanted(); }
