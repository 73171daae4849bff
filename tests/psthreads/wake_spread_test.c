/* Where a vp is woken: when a waker tries another processor than its own, and that no thread runs under another
 * mask than the worker's own, the program's included. */
#include "wake_spread.h"

#include "idle.h"
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "sync_support.h"
#include "vp.h"

#define MOVES 20 /* each waits for the worker to sleep */

static void tries_in_vain_become_rare(void)
{
    struct ps_wake_tries t = {0};
    uint64_t now = 1, rest = PS_WAKE_TRIES_LEAST_NS;
    ps_wake_tries_in_vain(&t, now);
    CHECK(ps_wake_tries_now(&t, now)); /* one may be an accident */
    for (unsigned i = 0; i < 20; i++) {
        CHECK(ps_wake_tries_now(&t, now));
        ps_wake_tries_in_vain(&t, now);
        CHECK(!ps_wake_tries_now(&t, now) && !ps_wake_tries_now(&t, now + rest - 1));
        now += rest;
        rest = rest * 2 < PS_WAKE_TRIES_MOST_NS ? rest * 2 : PS_WAKE_TRIES_MOST_NS;
    }
    CHECK(rest == PS_WAKE_TRIES_MOST_NS);
    ps_wake_tries_paid(&t);
    ps_wake_tries_in_vain(&t, now);
    CHECK(ps_wake_tries_now(&t, now));
    ps_wake_tries_in_vain(&t, now);
    now += PS_WAKE_TRIES_LEAST_NS;
    CHECK(!ps_wake_tries_now(&t, now - 1) && ps_wake_tries_now(&t, now));
}

/* The waker is slow. */
void __real_os_affinity_give_back(int tid, const struct os_cpuset *own);
void __wrap_os_affinity_give_back(int tid, const struct os_cpuset *own);
void __wrap_os_affinity_give_back(int tid, const struct os_cpuset *own)
{
    usleep(500);
    __real_os_affinity_give_back(tid, own);
}

static struct os_cpuset mask, seen;
static _Atomic bool ran;
static void *look(void *arg)
{
    CHECK(os_affinity_get(&seen) == 0);
    ps_store_release(&ran, true);
    return arg;
}

/* On the worker alone: the caller waits outside of the library. */
static void run_on_worker(void)
{
    psthread_t t;
    ps_store_release(&ran, false);
    CHECK(psthread_create(&t, NULL, look, NULL) == 0);
    CHECK(psthread_enqueue(t, 1) == 0);
    while (!ps_load_acquire(&ran))
        os_yield();
    CHECK(psthread_join(t, NULL) == 0);
}

static void await_sleep(void)
{
    while (!(ps_load_seq(&ps_idle.bits[0]) & 2))
        os_yield();
}

static bool same(const struct os_cpuset *a, const struct os_cpuset *b) { return memcmp(a, b, sizeof *a) == 0; }

/* The worker has slept on the caller's processor, as far as it knows, each time. */
static void threads_run_under_the_own_mask(struct vp *worker)
{
    struct os_cpuset after;
    for (unsigned moves = 0; moves < MOVES && os_cpuset_count(&mask) > 1;) {
        await_sleep();
        uint64_t before = worker->wake_spread.woken_at_ns;
        worker->wake_spread.tries = (struct ps_wake_tries){0};
        worker->wake_spread.slept_on = os_cpu_here();
        run_on_worker();
        moves += worker->wake_spread.woken_at_ns != before;
        CHECK(same(&seen, &mask));
    }
    CHECK(os_affinity_of(ps_load_relaxed(&worker->run.tid), &after) == 0);
    CHECK(same(&after, &mask));
}

/* The worker sleeps, and no thread wakes it but the caller, which has been moved to cpu. */
static void a_mask_is_given_back(struct vp *worker, const struct os_cpuset *of_program, unsigned cpu)
{
    int tid = ps_load_relaxed(&worker->run.tid);
    struct os_cpuset own, now;
    worker->wake_spread.tries = (struct ps_wake_tries){0};
    worker->wake_spread.slept_on = (int)cpu;
    CHECK(os_affinity_set_of(tid, of_program) == 0);
    bool moves = ps_wake_spread_begin(worker, &own);
    CHECK(moves == (os_cpuset_has(of_program, cpu) && os_cpuset_count(of_program) > 1));
    CHECK(os_affinity_of(tid, &now) == 0);
    if (moves) {
        CHECK(!os_cpuset_has(&now, cpu) && os_cpuset_count(&now) == os_cpuset_count(of_program) - 1);
        CHECK(same(&own, of_program));
        ps_wake_spread_end(worker, &own);
        ps_wake_spread_reset(worker);
    } else {
        CHECK(!os_cpuset_has(of_program, cpu) || worker->wake_spread.tries.in_a_row > 0);
    }
    CHECK(os_affinity_of(tid, &now) == 0);
    CHECK(same(&now, of_program));
}

/* The worker sleeps elsewhere, as far as it knows. The system has woken it on its waker's processor the last time. */
static void a_worker_that_is_pulled_is_woken_elsewhere(struct vp *worker, unsigned cpu)
{
    int tid = ps_load_relaxed(&worker->run.tid);
    struct os_cpuset own, before;
    CHECK(os_affinity_of(tid, &before) == 0 && os_affinity_set_of(tid, &mask) == 0);
    worker->wake_spread.tries = (struct ps_wake_tries){0};
    worker->wake_spread.slept_on = (int)cpu + 1;
    worker->wake_spread.pulled = 0;
    CHECK(!ps_wake_spread_begin(worker, &own) && worker->wake_spread.woken_from == (int)cpu);
    ps_wake_spread_woken(worker); /* by the caller, which is on that processor */
    CHECK(worker->wake_spread.pulled > 0);
    unsigned left = worker->wake_spread.pulled;
    bool moves = ps_wake_spread_begin(worker, &own);
    CHECK(moves == (os_cpuset_count(&mask) > 1) && worker->wake_spread.pulled == left - moves);
    if (moves) {
        ps_wake_spread_end(worker, &own);
        ps_wake_spread_reset(worker);
    }
    CHECK(os_affinity_set_of(tid, &before) == 0);
}

int main(void)
{
    tries_in_vain_become_rare();
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    run_on_worker(); /* it starts */
    struct vp *worker = ps_vp_at(1);
    CHECK(os_affinity_of(ps_load_relaxed(&worker->run.tid), &mask) == 0);
    threads_run_under_the_own_mask(worker);
    await_sleep();
    struct os_cpuset here, less = mask;
    unsigned cpu = 0;
    while (!os_cpuset_has(&mask, cpu))
        cpu++;
    os_cpuset_zero(&here);
    os_cpuset_add(&here, cpu);
    CHECK(os_affinity_set(&here) == 0);
    a_mask_is_given_back(worker, &mask, cpu);
    a_mask_is_given_back(worker, &here, cpu);
    a_worker_that_is_pulled_is_woken_elsewhere(worker, cpu);
    for (unsigned last = OS_MAX_CPUS; last-- > cpu;) /* one that the program has narrowed */
        if (os_cpuset_has(&less, last)) {
            os_cpuset_remove(&less, last);
            break;
        }
    if (os_cpuset_count(&less) > 0)
        a_mask_is_given_back(worker, &less, cpu);
    CHECK(os_affinity_set(&mask) == 0);
    CHECK(psthread_finalize() == 0);
    return 0;
}
