/* Beginnings and ends: long chains of orphans, what a thread and a team's member leave behind, a start that needed no
 * thread, a stack that is not to be had, a child forked on a spare. */
#include "current.h"
#include "fault.h"
#include "psthread.h"
#include "runtime.h"
#include "sync_support.h"
#include "team.h"
#include "uth.h"
#include "vp.h"
#include "vp_tls.h"
#include "watchdog.h"

static void with_vps(unsigned n)
{
    psthread_config_t config = {.num_vps = n, .max_spares = 100};
    CHECK(psthread_init(&config) == 0);
}

static psthread_t submit(void *(*fn)(void *), void *arg, int end)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, fn, arg) == 0);
    CHECK(psthread_enqueue_at(t, 0, end) == 0);
    return t;
}

/* --- orphans --- */

#if defined(__SANITIZE_THREAD__)
#define CHAIN 20000 /* each thread is a fiber there, which takes a millisecond */
#else
#define CHAIN 300000
#endif

static _Atomic unsigned chain_length;
static void *makes_the_next(void *arg)
{
    if (ps_add_relaxed(&chain_length, 1) + 1 < CHAIN)
        submit(makes_the_next, arg, PSTHREAD_FRONT);
    return NULL;
}

static void long_chains_of_orphans_go(void **state)
{
    (void)state;
    with_vps(1);
    ps_store_relaxed(&chain_length, 0);
    submit(makes_the_next, NULL, PSTHREAD_BACK);
    while (ps_load_relaxed(&chain_length) < CHAIN)
        psthread_yield();
    psthread_waitall();
    assert_int_equal(psthread_finalize(), 0);
}

/* --- start and stop --- */

static void a_start_without_threads_can_be_stopped(void **state)
{
    (void)state;
    CHECK(psthread_num_vps() >= 1);
    assert_int_equal(psthread_finalize(), 0);
}

static long pages_mapped(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return pages;
}

static void *sleeps(void *arg)
{
    usleep(4000);
    return arg;
}

static void visiting_orders_are_given_back(void **state)
{
    (void)state;
    enum { VPS = 400, ROUNDS = 24 };
    long before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned groups[] = {4};
        psthread_config_t config = {.num_vps = VPS, .num_levels = 1, .group_size = groups};
        CHECK(psthread_init(&config) == 0);
        psthread_t t;
        CHECK(psthread_create(&t, NULL, sleeps, NULL) == 0);
        CHECK(psthread_enqueue(t, 1) == 0);
        psthread_waitall();
        while (!ps_load_acquire(&ps_vp_at(VPS - 1)->thief.victims)) /* by a vp that has found nothing */
            usleep(500);
        CHECK(psthread_finalize() == 0);
        if (round == 3)
            before = pages_mapped();
    }
    long orders = VPS * VPS * 2 / 4096;
    assert_true(pages_mapped() - before < orders * (ROUNDS - 4) / 2);
}

/* --- what a thread leaves --- */

static __thread int own;
static psthread_key_t key;
static _Atomic int seen_by_destructor;

static void destroy(void *value)
{
    ps_store_relaxed(&seen_by_destructor, own);
    (void)value;
}
static void *returns(void *arg)
{
    own = (int)(intptr_t)arg;
    CHECK(psthread_setspecific(key, &own) == 0);
    return NULL;
}
static void *exits(void *arg)
{
    returns(arg);
    psthread_exit(NULL);
}

static void destructors_of_keys_find_the_threads_storage(void **state)
{
    (void)state;
    with_vps(1);
    if (ps_tls_on()) {
        CHECK(psthread_key_create(&key, destroy) == 0);
        submit(returns, (void *)1, PSTHREAD_BACK);
        psthread_waitall();
        assert_int_equal(ps_load_relaxed(&seen_by_destructor), 1);
        submit(exits, (void *)2, PSTHREAD_BACK);
        psthread_waitall();
        assert_int_equal(ps_load_relaxed(&seen_by_destructor), 2);
        CHECK(psthread_key_delete(key) == 0);
    }
    CHECK(psthread_finalize() == 0);
}

/* --- what a member leaves --- */

struct member {
    PS_LINE_ALIGNED struct ps_member m;
};
static _Atomic unsigned values_destroyed, children_ended;

static void count_value(void *value)
{
    (void)value;
    ps_add_relaxed(&values_destroyed, 1);
}
static void *outlives_its_parent(void *arg)
{
    for (int i = 0; i < 20; i++)
        psthread_yield();
    ps_add_relaxed(&children_ended, 1);
    return arg;
}
static void leaves_things(struct ps_member *m)
{
    CHECK(psthread_getspecific(key) == NULL || psthread_getspecific(key) == m);
    CHECK(psthread_setspecific(key, m) == 0);
    submit(outlives_its_parent, NULL, PSTHREAD_BACK);
}
static void no_tasks(struct ps_member *m) { (void)m; }
static const struct ps_team_ops ops = {.body = leaves_things, .assist = no_tasks};

static void members_leave_nothing_behind(void **state)
{
    (void)state;
    enum { N = 5, REGIONS = 3 };
    for (unsigned vps = 1; vps <= 2; vps++) {
        with_vps(vps);
        CHECK(psthread_key_create(&key, count_value) == 0);
        ps_store_relaxed(&values_destroyed, 0);
        ps_store_relaxed(&children_ended, 0);
        struct ps_team *team = aligned_alloc(PS_CACHE_LINE, sizeof *team);
        struct member *members = aligned_alloc(PS_CACHE_LINE, N * sizeof *members);
        ps_team_init(team, &ops, members, sizeof *members, N);
        for (int i = 0; i < REGIONS; i++) {
            ps_team_fork(team, N, true);
            leaves_things(&members[0].m);
            ps_team_join(team);
        }
        assert_int_equal(ps_load_relaxed(&values_destroyed), 0); /* they last as long as the team */
        ps_team_fini(team);
        assert_int_equal(ps_load_relaxed(&values_destroyed), N);
        assert_int_equal(ps_load_relaxed(&children_ended), N * REGIONS);
        memset(members, 0xff, N * sizeof *members);
        free(members);
        free(team);
        CHECK(psthread_key_delete(key) == 0);
        CHECK(psthread_finalize() == 0);
    }
}

/* --- no stack --- */

static _Atomic bool began;
static void *has_a_stack(void *arg)
{
    ps_store_relaxed(&began, true);
    psthread_yield();
    return arg;
}
static psthread_sem_t has_run;
static void *wants_a_stack(void *arg)
{
    CHECK(psthread_sem_post(&has_run) == 0);
    return arg;
}
static void *blocks_without(void *arg)
{
    CHECK(ps_load_relaxed(&began));
    psthread_t t = submit(wants_a_stack, NULL, PSTHREAD_FRONT);
    uth_cache_drain(&ps_vp()->run.stacks);
    fault_arm(FAULT_STACK_MAP, 0, FAULT_ALL_FOLLOWING);
    CHECK(psthread_sem_wait(&has_run) == 0); /* not a join, which might run it as a call */
    fault_disarm_all();
    CHECK(psthread_join(t, NULL) == 0);
    return arg;
}

static void who_has_a_stack_runs_where_there_is_none(void **state)
{
    (void)state;
    with_vps(1);
    CHECK(psthread_sem_init(&has_run, 0) == 0);
    submit(has_a_stack, NULL, PSTHREAD_BACK);
    submit(blocks_without, NULL, PSTHREAD_BACK);
    psthread_waitall();
    assert_true(fault_failures(FAULT_STACK_MAP) > 0);
    CHECK(psthread_finalize() == 0);
}

/* False: the worker had its stack before there were none. */
static bool a_worker_has_stood_aside(void)
{
    with_vps(2);
    psthread_t t;
    while (ps_vp()->run.stacks.stacks.n == 0) { /* one leaves its stack in this vp's cache, unless the worker runs it */
        t = submit(wants_a_stack, NULL, PSTHREAD_BACK);
        psthread_yield(); /* a join may run it as a call, which takes no stack */
        CHECK(psthread_join(t, NULL) == 0);
    }
    fault_arm(FAULT_STACK_MAP, 0, FAULT_ALL_FOLLOWING);
    for (int i = 0; i < 20; i++) {
        CHECK(psthread_create(&t, NULL, wants_a_stack, NULL) == 0);
        CHECK(psthread_enqueue(t, 1) == 0);
        CHECK(psthread_join(t, NULL) == 0);
    }
    for (int i = 0; i < 500 && (!ps_load_acquire(&ps_vp_at(1)->attached) || fault_failures(FAULT_STACK_MAP) == 0); i++)
        usleep(1000);
    bool has = fault_failures(FAULT_STACK_MAP) > 0;
    CHECK(psthread_finalize() == 0);
    fault_disarm_all();
    return has;
}

/* A worker whose loop gets no stack leaves its work to others, and ends when it is told to. */
static void a_worker_without_a_stack_stands_aside(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        if (a_worker_has_stood_aside())
            return;
    skip(); /* on a slow machine it is always there first */
}

/* --- fork on a spare --- */

static _Atomic bool reaped;
static void *spins(void *arg)
{
    while (!ps_load_acquire(&reaped))
        cpu_pause();
    return arg;
}
static void *ends_the_child(void *arg)
{
    (void)arg;
    bool right = ps_load_relaxed(&ps_watchdog.spares) == 0 && !vp_is(ps_vp(), VP_SPARE) &&
                 ps_load_relaxed(&ps_rt.num_kernel_threads) == 0;
    _exit(right ? 42 : 1);
}
static void *forks(void *arg)
{
    CHECK(vp_is(ps_vp(), VP_SPARE));
    pid_t child = fork();
    if (child == 0) {
        ps_after_fork_in_child();
        psthread_t t;
        CHECK(psthread_create(&t, NULL, ends_the_child, NULL) == 0);
        CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0);
        return NULL; /* into the loop of what was a spare */
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    ps_store_release(&reaped, true);
    return arg;
}

static void a_child_of_a_spare_goes_on(void **state)
{
    (void)state;
    with_vps(1);
    ps_store_relaxed(&reaped, false);
    submit(spins, NULL, PSTHREAD_BACK);
    submit(forks, NULL, PSTHREAD_BACK);
    psthread_waitall();
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    setenv("PSTHREADS_TLS", "always", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_chains_of_orphans_go),
        cmocka_unit_test(a_start_without_threads_can_be_stopped),
        cmocka_unit_test(visiting_orders_are_given_back),
        cmocka_unit_test(destructors_of_keys_find_the_threads_storage),
        cmocka_unit_test(members_leave_nothing_behind),
        cmocka_unit_test(who_has_a_stack_runs_where_there_is_none),
        cmocka_unit_test(a_worker_without_a_stack_stands_aside),
        cmocka_unit_test(a_child_of_a_spare_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
