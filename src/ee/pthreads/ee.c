/* Entities are kernel threads: the papers' baseline under the same OpenMP core (psthreads-2009 section 3, OMPi's POSIX
 * EELIB).
 *
 * Each member of a team except member 0 has a kernel thread of its own, a worker. The team takes it from one pool, or
 * makes it when the pool is empty. An inner region returns its workers at the join; the team block of an outermost
 * region keeps them for its next region. A kernel thread is its own carrier; entities never move.
 *
 * A worker sleeps on its `order` word. The team's parent changes it from NONE to MEMBER, the thread that calls a helper
 * to ASSIST, ee_quiesce to END. The worker sets it back to NONE (acquire). When the worker has carried the order out,
 * it subtracts itself from `left`. From then on the parent may give it another order, even before the worker looks
 * again: the word keeps the order.
 *
 * Helpers. A member's `end` decides which thread reports the member's end to the OpenMP core (member_end.h). A worker
 * exchanges its member's `end` before it subtracts itself from `left`. The parent exchanges member 0's `end` when it
 * waits in the join. So a member that ends need not look at `notified`.
 *
 * Orderings. fork -> member: the order's store (seq_cst, so also release), the worker's acquire exchange. member ->
 * join: `left` is counted down acq_rel and read acquire. Sleep: the sleeper announces itself (seq_cst: `asleep` of a
 * worker, `sleepers` of a barrier, `waiters` of ee_wait), then looks at the condition. The waker changes the condition
 * (seq_cst), then looks for sleepers. One of the two sees the other (Dekker); a change after the sleeper's look is seen
 * by the kernel in the futex word. The parent announces itself in `left` itself (PARENT_ASLEEP).
 *
 * Failure: if the system refuses a kernel thread, the region is smaller; that is reported once. */
#include "ee.h"

#include "check.h"
#include "cpu.h"
#include "debug_layout.h"
#include "kernel_threads.h"
#include "member_end.h"
#include "os.h"
#include "places.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum order { ORDER_NONE, ORDER_MEMBER, ORDER_ASSIST, ORDER_END };

struct team;
struct member;

struct worker {
    /* what to do; written by the thread that gives the order, set back by the worker */
    PS_LINE_ALIGNED _Atomic uint32_t order;
    _Atomic uint32_t asleep; /* written by the worker; 1: it may be parked on `order` */
    struct team *team;       /* team and member of the order; written before `order` */
    struct member *member;
    struct worker *next; /* the next worker in the pool */
    os_thread thread;
};

struct member {
    struct team *team;
    struct worker *worker; /* of members 1 .. n-1; member 0 runs on the parent's kernel thread */
    /* place that it is bound to, from 1; 0: none; written by the parent while no region is open */
    uint32_t place;
    _Atomic uint32_t end; /* decides which thread reports its end: member_end.h */
};

struct team {
    /* The fields up to born_in are written by the parent between regions. */
    const struct ee_team_ops *ops;
    char *members;
    size_t stride;
    uint32_t n_max, n, region, reserved;
    bool keeps_workers;
    void *parent_local;
    uint32_t parent_place;
    uint32_t born_in; /* the fork_generation to which the team's workers belong */
    /* The number of orders (MEMBER, ASSIST) that workers have not finished, with the bits PARENT_ASLEEP and
     * PARENT_WANTED. The worker that brings it to PARENT_ASLEEP wakes the parent by the address only, since the block
     * may be gone by then. The thread that calls member 0 as a helper sets PARENT_WANTED and clears PARENT_ASLEEP. */
    PS_LINE_ALIGNED _Atomic uint32_t left;
    PS_LINE_ALIGNED _Atomic uint32_t arrivals_left;
    _Atomic uint32_t phase;
    _Atomic uint32_t flag;     /* futex word of the barrier: each opening and each notification changes it */
    _Atomic uint32_t sleepers; /* members that may be parked on flag */
    _Atomic uint32_t notified; /* 1: the region has tasks, so no member waits in the barrier; 0 at the fork */
};
#define PARENT_ASLEEP 0x80000000u
#define PARENT_WANTED 0x40000000u
_Static_assert(sizeof(struct team) <= sizeof(struct ee_team), "ee_team is too small");
_Static_assert(sizeof(struct member) <= sizeof(struct ee_member), "ee_member is too small");

static struct team *worker_team(struct ee_team *team) { return (struct team *)(void *)team; }
static struct member *worker_team_member(struct team *team, unsigned id)
{
    return (struct member *)(void *)(team->members + id * team->stride);
}

/* The kernel thread's entity and carrier. Plain thread-local variables suffice, because entities do not move. */
static __thread struct ee_running entity __attribute__((tls_model("initial-exec")));
static __thread struct kernel_thread kernel_thread __attribute__((tls_model("initial-exec")));
extern __thread struct ee_carrier *ee_here __attribute__((tls_model("initial-exec"), visibility("hidden")));
__thread struct ee_carrier *ee_here; /* read by ee_local_inline */

static struct ee_config config;
static unsigned num_procs = 1;
static pthread_key_t root_key;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *pool;          /* idle workers; under pool_lock */
static uint32_t fork_generation = 1; /* grows by one in each forked child */
static _Atomic uint32_t num_busy;    /* workers that belong to teams */

static PS_NOINLINE void become_carrier(void)
{
    kernel_thread.carrier.running = &entity;
    ee_here = &kernel_thread.carrier;
    kernel_threads_add(&kernel_thread);
}

static inline void become_entity(void *value)
{
    entity.local = value;
    if (PS_UNLIKELY(ee_here == NULL))
        become_carrier();
}

/* clang-format off */
static const struct ps_debug_layout layout = {PS_DEBUG_HEAD, .field = {
    PS_DEBUG_ADDRESS(kernel_threads_all), PS_DEBUG_ADDRESS(num_procs),
    PS_DEBUG_MEMBER(ps_list, next), PS_DEBUG_MEMBER(kernel_thread, link), PS_DEBUG_MEMBER(kernel_thread, tid),
    PS_DEBUG_MEMBER(kernel_thread, itself), PS_DEBUG_MEMBER(ee_carrier, running), PS_DEBUG_MEMBER(ee_running, local),
    {"", 0},
}};
/* clang-format on */
const struct ps_debug_layout *const ee_debug_layout = &layout;

/* --- spinning --- */

#define SPINS_FREE 20000  /* limit while each kernel thread has a processor */
#define SPINS_CROWDED 100 /* limit while there are more kernel threads than processors */

static unsigned spin_limit(void)
{
    if (config.wait_policy == EE_WAIT_PASSIVE)
        return 0;
    if (config.spin_count != UINT64_MAX)
        return config.spin_count > 1u << 30 ? 1u << 30 : (unsigned)config.spin_count;
    unsigned crowd = ps_load_relaxed(&num_busy) + 1;
    unsigned factor = config.wait_policy == EE_WAIT_ACTIVE ? 50 : 1;
    return crowd > num_procs ? SPINS_CROWDED : SPINS_FREE * factor;
}

/* Spins while *word == value, up to the limit. Returns whether *word changed. */
static bool spin_while(_Atomic uint32_t *word, uint32_t value)
{
    for (unsigned i = 0, limit = spin_limit(); i < limit; i++) {
        if (ps_load_acquire(word) != value)
            return true;
        cpu_pause();
    }
    return ps_load_acquire(word) != value;
}

/* --- configuration --- */

static void root_thread_ends(void *value)
{
    if (config.root_exit && value)
        config.root_exit(value);
    kernel_threads_remove(&kernel_thread);
    places_forget();
}

void ee_init(const struct ee_config *wanted)
{
    static _Atomic uint32_t done;
    if (ps_xchg_acq_rel(&done, 1))
        return;
    config = *wanted;
    num_procs = config.num_vps ? config.num_vps : os_num_procs();
    if (!config.stack_bytes)
        config.stack_bytes = os_thread_default_stack();
    pthread_key_create(&root_key, root_thread_ends);
}

unsigned ee_num_vps(void) { return num_procs; }
bool ee_private_storage(void) { return false; }

/* --- the current entity --- */

void *ee_local(void) { return entity.local; }

static __thread bool is_worker __attribute__((tls_model("initial-exec")));
void ee_set_local(void *value)
{
    if (!entity.local && value && !is_worker)
        pthread_setspecific(root_key, value); /* root_thread_ends hands this value to root_exit */
    become_entity(value);
}

/* --- places --- */

void ee_members_bind(struct ee_team *team, unsigned first, unsigned end, int place)
{
    for (unsigned id = first; id < end; id++)
        worker_team_member(worker_team(team), id)->place = (uint32_t)(place + 1);
}
void ee_team_bind(PS_UNUSED struct ee_team *team, PS_UNUSED int place, PS_UNUSED bool scattered) {}

/* --- workers --- */

/* Called with m's identity. Runs tasks as m until m is a helper again. */
static void assist_as(struct team *team, struct member *m)
{
    member_end_assist(team->ops, (struct ee_member *)(void *)m);
}

static void worker_run(struct worker *w, enum order order)
{
    struct team *team = w->team;
    struct member *m = w->member;
    places_follow(m->place);
    if (order == ORDER_MEMBER) {
        become_entity(m);
        team->ops->body((struct ee_member *)(void *)m);
    }
    if (order == ORDER_ASSIST || member_end_return(&m->end, team->region))
        assist_as(team, m);
    if (ps_sub_acq_rel(&team->left, 1) == (PARENT_ASLEEP | 1))
        os_wake(&team->left, 1);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    is_worker = true;
    os_thread_name("omp-worker");
    for (;;) {
        enum order order = ps_xchg_acquire(&w->order, ORDER_NONE);
        if (order == ORDER_END)
            break;
        if (order != ORDER_NONE) {
            worker_run(w, order);
            continue;
        }
        if (spin_while(&w->order, ORDER_NONE))
            continue;
        ps_store_seq(&w->asleep, 1);
        if (ps_load_seq(&w->order) == ORDER_NONE)
            os_park(&w->order, ORDER_NONE, OS_FOREVER);
        ps_store_relaxed(&w->asleep, 0);
    }
    /* Waits for the thread that gave the order: while that thread may still look at w, it holds pool_lock. */
    pthread_mutex_lock(&pool_lock);
    pthread_mutex_unlock(&pool_lock);
    kernel_threads_remove(&kernel_thread);
    places_forget();
    free(w);
    return NULL;
}

static void give_order(struct worker *w, enum order order)
{
    ps_store_seq(&w->order, order);
    if (ps_load_seq(&w->asleep))
        os_wake(&w->order, 1);
}

static struct worker *worker_new(void)
{
    static _Atomic uint32_t said;
    struct worker *w = aligned_alloc(PS_CACHE_LINE, sizeof *w);
    int err = w ? 0 : ENOMEM;
    if (w) {
        memset(w, 0, sizeof *w);
        uint32_t place = places_here;
        /* A new kernel thread inherits the mask of its maker, so the maker unbinds itself meanwhile. */
        places_follow(0);
        err = os_thread_start(&w->thread, worker_main, w, config.stack_bytes, false);
        places_follow(place);
    }
    if (!err) {
        os_thread_detach(w->thread);
        return w;
    }
    free(w);
    if (!ps_xchg_acq_rel(&said, 1))
        ps_warn("the system refuses another kernel thread (%s): regions are smaller than asked for", strerror(err));
    return NULL;
}

static struct worker *worker_get(void)
{
    pthread_mutex_lock(&pool_lock);
    struct worker *w = pool;
    if (w)
        pool = w->next;
    pthread_mutex_unlock(&pool_lock);
    if (!w)
        w = worker_new();
    if (w)
        ps_add_relaxed(&num_busy, 1);
    return w;
}

static void workers_put(struct team *team)
{
    if (team->reserved <= 1)
        return;
    pthread_mutex_lock(&pool_lock);
    for (unsigned id = 1; id < team->reserved; id++) {
        struct member *m = worker_team_member(team, id);
        m->worker->next = pool;
        pool = m->worker;
        m->worker = NULL;
    }
    pthread_mutex_unlock(&pool_lock);
    ps_sub_relaxed(&num_busy, team->reserved - 1);
    team->reserved = 1;
}

/* --- teams --- */

void ee_team_init(struct ee_team *t, const struct ee_team_ops *ops, void *members, size_t stride, unsigned n_max)
{
    struct team *team = worker_team(t);
    *team = (struct team){.ops = ops,
                          .members = members,
                          .stride = stride,
                          .n_max = n_max,
                          .region = 1,
                          .reserved = 1,
                          .born_in = fork_generation};
    for (unsigned id = 0; id < n_max; id++)
        *worker_team_member(team, id) = (struct member){.team = team};
}

void ee_team_fini(struct ee_team *t)
{
    if (worker_team(t)->born_in == fork_generation)
        workers_put(worker_team(t));
}

/* Not possible: a team takes its kernel threads from the pool, in any order. */
bool ee_team_succeed(struct ee_team *larger, struct ee_team *t, unsigned id)
{
    (void)larger, (void)t, (void)id;
    return false;
}

unsigned ee_team_reserve(struct ee_team *t, unsigned n)
{
    struct team *team = worker_team(t);
    if (team->born_in != fork_generation) { /* the child of a fork: the team's workers stayed in the parent process */
        team->born_in = fork_generation;
        team->reserved = 1;
    }
    while (team->reserved < n) {
        struct worker *w = worker_get();
        if (!w)
            break;
        worker_team_member(team, team->reserved++)->worker = w;
    }
    return team->reserved < n ? team->reserved : n;
}

void ee_team_fork(struct ee_team *t, unsigned n, bool outermost)
{
    struct team *team = worker_team(t);
    team->n = n;
    team->region += 2;
    team->keeps_workers = outermost;
    team->parent_local = entity.local;
    ps_store_relaxed(&team->left, n - 1);
    ps_store_relaxed(&team->arrivals_left, n);
    ps_store_relaxed(&team->notified, 0);
    for (unsigned id = 1; id < n; id++) {
        struct member *m = worker_team_member(team, id);
        m->worker->team = team;
        m->worker->member = m;
        give_order(m->worker, ORDER_MEMBER);
    }
    become_entity(worker_team_member(team, 0));
    team->parent_place = places_here;
    places_follow(worker_team_member(team, 0)->place);
}

/* Called by the parent. Spins until the workers have finished all orders, or member 0 is called as a helper, or the
 * limit is reached. */
static void spin_for_workers(struct team *team)
{
    for (unsigned i = 0, limit = spin_limit(); i < limit; i++) {
        uint32_t left = ps_load_acquire(&team->left);
        if (left == 0 || (left & PARENT_WANTED))
            return;
        cpu_pause();
    }
}

/* Called by the parent before it sleeps. If PARENT_WANTED is set, clears it; else sets PARENT_ASLEEP. Does neither if
 * `left` is 0. Returns what `left` was before. */
static uint32_t begin_to_sleep(struct team *team)
{
    uint32_t left = ps_load_seq(&team->left), next;
    do
        next = left & PARENT_WANTED ? left & ~PARENT_WANTED : left | PARENT_ASLEEP;
    while (left != 0 && !ps_cas_seq(&team->left, &left, next));
    return left;
}

/* Waits until the workers have finished all orders. Assists whenever member 0 is called as a helper. */
static void wait_for_workers(struct team *team)
{
    struct member *self = worker_team_member(team, 0);
    for (bool mine = member_end_return(&self->end, team->region);;) {
        if (mine)
            assist_as(team, self);
        spin_for_workers(team);
        uint32_t left = begin_to_sleep(team);
        if (left == 0)
            return;
        mine = left & PARENT_WANTED;
        if (mine)
            continue;
        while ((left = ps_load_acquire(&team->left)) > PARENT_ASLEEP)
            os_park(&team->left, left, OS_FOREVER);
        if (left == PARENT_ASLEEP)
            return;
    }
}

void ee_team_join(struct ee_team *t)
{
    struct team *team = worker_team(t);
    if (ps_load_acquire(&team->left) != 0)
        wait_for_workers(team);
    ps_store_relaxed(&team->left, 0);
    become_entity(team->parent_local);
    places_follow(team->parent_place);
    if (!team->keeps_workers)
        workers_put(team);
}

/* --- barrier --- */

uint32_t ee_barrier_phase(struct ee_team *t) { return ps_load_relaxed(&worker_team(t)->phase); }
static bool arrive_in_barrier(struct team *team) { return ps_sub_acq_rel(&team->arrivals_left, 1) == 1; }

static void raise_flag(struct team *team)
{
    ps_add_seq(&team->flag, 1);
    if (ps_load_seq(&team->sleepers) != 0)
        os_wake(&team->flag, INT32_MAX);
}

bool ee_barrier_release(struct ee_team *t)
{
    struct team *team = worker_team(t);
    ps_store_relaxed(&team->arrivals_left, team->n);
    ps_store_seq(&team->phase, ps_load_relaxed(&team->phase) + 1);
    raise_flag(team);
    return false;
}

static enum ee_await await(struct team *team, uint32_t phase)
{
    for (unsigned i = 0, limit = spin_limit();; i++) {
        if (ps_load_acquire(&team->phase) != phase)
            return EE_RELEASED;
        if (ps_load_seq(&team->notified))
            return EE_NOTIFIED;
        if (i < limit) {
            cpu_pause();
            continue;
        }
        uint32_t flag = ps_load_seq(&team->flag);
        ps_add_seq(&team->sleepers, 1);
        if (ps_load_seq(&team->phase) == phase && !ps_load_seq(&team->notified))
            os_park(&team->flag, flag, OS_FOREVER);
        ps_sub_seq(&team->sleepers, 1);
    }
}

enum ee_await ee_barrier_meet(struct ee_team *t, unsigned id, uint32_t phase, bool counted)
{
    (void)id;
    (void)counted;
    return arrive_in_barrier(worker_team(t)) ? EE_LAST : await(worker_team(t), phase);
}

enum ee_await ee_barrier_await(struct ee_team *t, unsigned id, uint32_t phase)
{
    (void)id;
    return await(worker_team(t), phase);
}

void ee_team_notify(struct ee_team *t)
{
    struct team *team = worker_team(t);
    ps_store_seq(&team->notified, 1);
    raise_flag(team);
    for (unsigned id = 0; id < team->n; id++) {
        struct member *m = worker_team_member(team, id);
        if (member_end_notify(&m->end, team->region) && team->ops->idle((struct ee_member *)(void *)m))
            ee_team_help(t, id);
    }
}

void ee_team_help(struct ee_team *t, unsigned id)
{
    struct team *team = worker_team(t);
    if (id != 0) {
        /* The join cannot end before this addition: the caller counts in `left`, or is the parent, or has a task
         * without which the region cannot end (ee.h). */
        ps_add_seq(&team->left, 1);
        give_order(worker_team_member(team, id)->worker, ORDER_ASSIST);
        return;
    }
    uint32_t left = ps_load_seq(&team->left);
    while (!ps_cas_seq(&team->left, &left, (left & ~PARENT_ASLEEP) | PARENT_WANTED))
        continue;
    if (left & PARENT_ASLEEP)
        os_wake(&team->left, 1);
}

/* Nothing to do: each entity has a stack of its own. */
void ee_team_call_first(struct ee_team *t) { (void)t; }

/* --- waiting on a word --- */

/* For each hash of a word's address: how many entities may be parked on such words. If 0, ee_wake needs no system
 * call. */
#define WAIT_BUCKETS 256
static struct {
    PS_LINE_ALIGNED _Atomic uint32_t waiters;
} buckets[WAIT_BUCKETS];

static _Atomic uint32_t *waiters_of(const _Atomic uint32_t *word)
{
    return &buckets[((uintptr_t)word >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 56].waiters;
}

void ee_wait(_Atomic uint32_t *word, uint32_t expected)
{
    if (spin_while(word, expected))
        return;
    _Atomic uint32_t *waiters = waiters_of(word);
    ps_add_seq(waiters, 1);
    if (ps_load_seq(word) == expected)
        os_park(word, expected, OS_FOREVER);
    ps_sub_seq(waiters, 1);
}

void ee_wake(_Atomic uint32_t *word, unsigned n)
{
    ps_fence_seq(); /* orders the caller's change of *word before the load of the waiters */
    if (ps_load_seq(waiters_of(word)) != 0)
        os_wake(word, n > INT32_MAX ? INT32_MAX : (int)n);
}

void ee_yield(void) { os_yield(); }
void ee_take_turn(void) {}
void ee_offer(void) {}
bool ee_carrier_wanted(void) { return false; }

/* --- fork and rest --- */

void ee_after_fork_in_child(void)
{
    pthread_mutex_init(&pool_lock, NULL);
    pool = NULL;
    is_worker = false;
    fork_generation++;
    ps_store_relaxed(&num_busy, 0);
    memset(buckets, 0, sizeof buckets);
    kernel_threads_after_fork_in_child(ee_here != NULL ? &kernel_thread : NULL);
}

int ee_thread_number(void) { return os_thread_id(); }

void ee_quiesce(void)
{
    pthread_mutex_lock(&pool_lock);
    struct worker *w = pool;
    pool = NULL;
    while (w) {
        struct worker *next = w->next;
        give_order(w, ORDER_END);
        w = next;
    }
    /* While pool_lock is held each w is valid: a worker that ends takes the lock before it frees itself. */
    pthread_mutex_unlock(&pool_lock);
}
