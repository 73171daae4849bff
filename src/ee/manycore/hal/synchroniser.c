/* See synchroniser.h. */
#include "synchroniser.h"

BOARD_LOCAL volatile struct masks synchroniser_masks[SLOTS];
static BOARD_LOCAL _Atomic uint32_t pairs_taken;

static uint64_t others_of(const struct team *team, unsigned home)
{
    uint64_t clusters = 0;
    for (unsigned s = 0; s < team->num_spans; s++)
        clusters |= team->spans[s].clusters;
    return clusters & ~(UINT64_C(1) << home);
}

static void set_masks(unsigned slot, const struct team *team, uint32_t version)
{
    synchroniser_masks[slot].team = team;
    synchroniser_masks[slot].version = version;
}

void synchroniser_get(struct team *team, bool outermost)
{
    unsigned home = board_cluster();
    uint64_t others = others_of(team, home);
    if (outermost) {
        const struct team *last = pool_last_root;
        bool before =
            last != NULL && last != team ? last->slots == SLOT_ROOT : synchroniser_masks[SLOT_ROOT_BEFORE].team == team;
        team->slots = before ? SLOT_ROOT_BEFORE : SLOT_ROOT;
    } else if (others == 0) {
        uint32_t taken = ps_load_relaxed(&pairs_taken);
        do {
            if (taken == (1u << PAIRS) - 1)
                return;
        } while (!ps_cas_relaxed(&pairs_taken, &taken, taken | (taken + 1)));
        team->slots = (uint8_t)(SLOT_PAIRS + 2 * __builtin_ctz(~taken));
    } else {
        return;
    }
    set_masks(team->slots, NULL, 0);
}

void synchroniser_give_back(struct team *team)
{
    if (team->slots >= SLOT_PAIRS)
        atomic_fetch_and_explicit((_Atomic uint32_t *)board_global(&pairs_taken, team->home / pool_cores),
                                  ~(1u << (team->slots - SLOT_PAIRS) / 2), memory_order_acq_rel);
    team->slots = 0;
}

/* Called in the parent's cluster: sets the masks of the team's two slots there. */
void synchroniser_set_home(const struct team *team)
{
    unsigned home = board_cluster(), core = board_core(), slot = team->slots;
    uint64_t others = others_of(team, home);
    mc_hws_gather(slot, team->cores[home], others, MC_NOTIFY_CORE(core));
    mc_hws_gather(slot + 1, team->cores[home] | 1u << core, others, MC_NOTIFY_ALL);
    set_masks(slot, team, team->version);
}

/* Called in a cluster other than the root's, for the root's team: sets the masks there. The root is in cluster 0. */
static PS_NOINLINE void set_away(const struct team *team, unsigned slot, uint32_t version)
{
    uint32_t cores = team->cores[board_cluster()];
    mc_hws_gather(slot, cores, 0, MC_NOTIFY_PARENT(0));
    mc_hws_gather(slot + 1, cores, 0, MC_NOTIFY_PARENT(0));
    set_masks(slot, team, version);
}

void hal_told(struct team *team)
{
    const struct known *known = pool_self.known;
    if ((known->slots != SLOT_ROOT && known->slots != SLOT_ROOT_BEFORE) || board_cluster() == 0)
        return;
    if (PS_UNLIKELY(!synchroniser_has_masks(team, known->slots, known->version)))
        set_away(team, known->slots, known->version);
}

void hal_arrive(struct member *m)
{
    unsigned slot = m->slots;
    if (PS_UNLIKELY(slot == 0)) {
        ps_sub_acq_rel(&m->team->left, 1);
        return;
    }
    mc_hws_arrive(slot);
}

static bool slot_shows_tasks(struct team *team)
{
    if (mc_hws_pending() & 1u << SLOT_TASKS) {
        mc_hws_wait(SLOT_TASKS);
        pool_saw_tasks();
    }
    return PS_UNLIKELY(pool_self.sees_tasks) && ps_load_seq(&team->notified);
}
bool hal_sees_tasks(struct team *team) { return slot_shows_tasks(team); }

/* The join of a team without slots, or after the caller was told of tasks: waits for the members, and assists when
 * member 0 is called as a helper. */
static PS_NOINLINE void gather_slowly(struct team *team)
{
    unsigned slot = team->slots;
    bool mine = true;
    while (slot == 0 ? ps_load_acquire(&team->left) != 0
                     : PS_UNLIKELY(slot_shows_tasks(team)) && !(mc_hws_pending() & 1u << slot)) {
        if (slot_shows_tasks(team))
            pool_assist(team, &mine);
        cpu_pause();
    }
    if (slot != 0)
        mc_hws_wait(slot);
}

void hal_gather(struct team *team)
{
    unsigned slot = team->slots;
    if (PS_LIKELY(slot != 0 && !pool_self.sees_tasks && !(mc_hws_pending() & 1u << SLOT_TASKS)))
        mc_hws_wait(slot);
    else
        gather_slowly(team);
}

/* Opens the gate: from now on ee_barrier_pass can pass the barriers of this region, and of later regions that are like
 * it. */
static inline void open_gate(struct team *team, const struct member *m, volatile uint32_t *gate, uint32_t mask)
{
    struct known *known = pool_self.known;
    if (known != NULL && m == known->m) {
        known->gate = gate;
        known->gate_mask = mask;
    } else { /* m is member 0 */
        team->gate = gate;
        team->gate_mask = mask;
    }
    ee_gate = gate;
    ee_gate_mask = mask;
}

enum ee_await hal_barrier_meet(struct team *team, struct member *m, uint32_t phase, bool counted)
{
    unsigned slot = m->slots + 1u;
    m->met = slot != 1 && !counted;
    if (!m->met) {
        enum ee_await came = software_arrive(team);
        return came == EE_LAST ? came : software_await(team, m, phase);
    }
    volatile uint32_t *gate = &MC_HWS(0x140 + 4 * slot);
    uint32_t mask = 1u << slot | 1u << SLOT_TASKS, came = 0, release;
    if (PS_LIKELY(!pool_self.sees_tasks && !ee_gate_arrived))
        came = ee_gate_meet(gate, mask, &release);
    else if (!ee_gate_arrived)
        mc_hws_arrive(slot);
    ee_gate_arrived = false;
    for (;;) {
        if (PS_UNLIKELY(came & 1u << SLOT_TASKS)) {
            mc_hws_wait(SLOT_TASKS);
            pool_saw_tasks();
        } else if (PS_LIKELY(came != 0)) {
            mc_hws_wait(slot);
            if (PS_LIKELY(!pool_self.sees_tasks))
                open_gate(team, m, gate, mask);
            return EE_RELEASED;
        }
        if (PS_UNLIKELY(pool_self.sees_tasks) && ps_load_seq(&team->notified))
            return software_arrive(team);
        came = mc_hws_wait_any(mask);
    }
}

static void take_signal(struct member *m)
{
    if (m->met)
        mc_hws_wait(m->slots + 1u);
    m->met = false;
}

enum ee_await hal_barrier_await(struct team *team, struct member *m, uint32_t phase)
{
    enum ee_await came = software_await(team, m, phase);
    if (came == EE_RELEASED)
        take_signal(m);
    return came;
}

void hal_barrier_release(struct team *team, struct member *m)
{
    software_release(team, m);
    take_signal(m);
}

uint32_t hal_barrier_phase(struct team *team, struct member *m)
{
    return PS_LIKELY(m != NULL && !pool_self.sees_tasks) ? m->phase : ps_load_acquire(&team->phase);
}

void hal_notify(struct team *team)
{
    ps_store_seq(&team->notified, 1);
    pool_saw_tasks();
    for (unsigned s = 0; s < team->num_spans; s++)
        mc_hws_multicast(team->spans[s].clusters, team->spans[s].cores, SLOT_TASKS);
    mc_hws_multicast(UINT64_C(1) << team->home / pool_cores, 1u << team->home % pool_cores, SLOT_TASKS);
}
