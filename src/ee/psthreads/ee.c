/* Entities are user-level threads: the contract of ee.h mapped onto src/psthreads.
 *
 * Nothing is decided here: ee_team is a ps_team, ee_member a ps_member, a carrier is a vp. */
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
#define PAUSE_NS 15 /* what one iteration of a spin count is taken for */
#define YIELDS_TO_SYSTEM 16

/* Returns the size of a stack that has `bytes` left below its share: members may be run as calls on a stack that is in
 * use up to its share, and each is promised `bytes`. */
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

void ee_after_fork_in_child(void) { ps_after_fork_in_child(); /* once, whichever handler comes first */ }

int ee_thread_number(void) { return ps_number_of_caller(); }

void ee_quiesce(void) { ps_quiesce(); }

extern const struct ps_debug_layout ps_debug_layout; /* psthreads/debug */
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
    /* The two tables of functions begin alike but for the name of the member's type; memory is not by clusters here. */
    _Static_assert(offsetof(struct ee_team_ops, near) == sizeof(struct ps_team_ops),
                   "ee_team_ops has ps_team_ops first");
    ps_team_init(scheduler_team(team), (const struct ps_team_ops *)(const void *)ops, members, stride, n_max);
}
void ee_team_fini(struct ee_team *team) { ps_team_fini(scheduler_team(team)); }
bool ee_team_succeed(struct ee_team *larger, struct ee_team *team, unsigned id)
{
    return ps_team_succeed(scheduler_team(larger), scheduler_team(team), id);
}

/* Members that wait need a stack each, and a team that is open cannot shrink any more. So where the address space is
 * limited, stacks for all of them are mapped before the team opens. Else the first members might take the memory (the C
 * library's arenas, 64 MiB each) that later members need for their stacks. All stacks together get half of the memory,
 * the other half is the program's. Whether there is a limit is asked when a team first has so many members.
 *
 * Under a limit an account is kept. `promised` counts the stacks that the open teams may need, n - 1 for a team of n.
 * The stacks are taken by compare-and-swap before the fork, and given back by the parent after the join. Besides, each
 * vp may need one stack for its loop (LOOPS). `promised` and the loops together never exceed the stacks that exist. So
 * a thread that waits for a stack waits for a loop to end. A team that finds fewer stacks is smaller: of one member at
 * least, which needs none. Thread-local blocks stay with a team's members from region to region, so they are no sum:
 * each member has its own before the fork. From the first such team on no vp keeps idle stacks for itself. Relaxed: the
 * account is only a number.
 * The account does not know threads that the program makes with psthread_create, spares, and regions that were open
 * when the limit was set. These take smaller stacks, or wait until one is free. */
#define MANY_MEMBERS 64
#define MANY_STACKS 4096 /* so many fit under any kernel's limit of mappings */

static _Atomic size_t promised;
static _Atomic bool limited; /* a limit was seen */

static size_t loops(void) { return ps_load_relaxed(&ps_rt.table_size) + 1; }

/* Promises n - 1 more stacks, or as many of them as exist; returns how many. */
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

/* Keeps, of the stacks promised to the team, those for which the member has a block; the blocks stay with the members.
 * Returns how many members may begin. */
static size_t with_blocks(struct ps_team *team)
{
    unsigned n = ps_team_take_tls(team, team->promised + 1);
    ps_sub_relaxed(&promised, team->promised + 1 - n);
    team->promised = n - 1;
    return n;
}

/* How many of n members get a stack, which are promised to the team; SIZE_MAX: all, since there is no limit. */
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
        left = SIZE_MAX / 2; /* lifted: maps what it wants */
    size_t wanted = ps_load_relaxed(&promised) + loops() + n - 1 - team->promised, all = uth_mapped();
    size_t fresh = left > all * bytes ? (left - all * bytes) / 2 / bytes : 0;
    if (wanted > all)
        uth_add(wanted - all < fresh ? wanted - all : fresh);
    team->promised += (uint32_t)promise(n - 1 - team->promised);
    if (team->promised < n - 1)
        uth_scarce();
    return with_blocks(team);
}

/* Returns how many stacks the system maps for a process; a quarter of the mappings is left to the program. */
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
    if (PS_UNLIKELY(
            ps_load_relaxed(&uth_tls_missing))) /* two members on one kernel thread would see one another's variables */
        return 1;
    return PS_LIKELY(n <= scheduler_team(team)->roomy) ? n : reserve_stacks(scheduler_team(team), n);
}
bool ee_places(unsigned n, const unsigned *first, const unsigned *cpu)
{
    ps_start();
    return ps_bind_places(n, first, cpu);
}
void ee_member_bind(struct ee_team *team, unsigned id, int place)
{
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
/* Threads that yield to one another wait for another thread. That thread may be on another vp, which goes on only if
 * the system lets its kernel thread run. So every so many yields this kernel thread yields as well. */
void ee_yield(void)
{
    struct vp *vp = ps_vp();
    bool stand_back = vp != NULL && ++vp_run(vp)->yields % YIELDS_TO_SYSTEM == 0;
    if (!ps_yield() || stand_back)
        os_yield();
}
void ee_offer(void) { ps_yield(); }
bool ee_carrier_wanted(void) { return ps_root_wanted(); }
