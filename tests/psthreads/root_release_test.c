/* Roots leave their kernel threads and come home (home.h): a root that is ready while a thread holds its home goes on
 * elsewhere, in its own storage, and the home's loop has another one. */
#include "current.h"
#include "home.h"
#include "os.h"
#include "psthread.h"
#include "sync_support.h"
#include "team.h"
#include "vp.h"
#include "watchdog.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIPS 5

static __thread unsigned own;
static psthread_sem_t sem;
static _Atomic bool went_on;

/* False: there are no thread-local blocks here, and roots stay. */
static bool begin(unsigned vps)
{
    psthread_config_t config = {.num_vps = vps, .max_spares = 10};
    CHECK(psthread_init(&config) == 0);
    CHECK(psthread_sem_init(&sem, 0) == 0);
    if (uth_tls_enabled())
        return true;
    CHECK(psthread_finalize() == 0);
    return false;
}

/* On the root's home, which it keeps until the root has gone on. */
static void *holds(void *arg)
{
    CHECK(ps_vp() == ps_vp_at(0) && own == 0);
    ps_store_release(&went_on, false);
    CHECK(psthread_sem_post(&sem) == 0);
    while (!ps_load_acquire(&went_on))
        ;
    return arg;
}

/* The root is away when this returns. */
static void leave(void)
{
    psthread_t t;
    unsigned before = ps_load_relaxed(&ps_watchdog.released);
    CHECK(psthread_create(&t, NULL, holds, NULL) == 0 && psthread_enqueue(t, 0) == 0);
    CHECK(psthread_sem_wait(&sem) == 0);
    CHECK(ps_vp() != ps_vp_at(0));
    while (ps_load_relaxed(&ps_watchdog.released) == before) /* counted behind the release */
        usleep(100);
    ps_store_release(&went_on, true);
    CHECK(psthread_join(t, NULL) == 0);
}

/* Where the root runs: its storage is the same, and no home's loop is in it. */
static void expect_storage(const unsigned *at, unsigned value, bool away)
{
    const struct vp *home = ps_vp_at(0);
    CHECK(&own == at && own == value && cpu_get_tp() == home_block(home)->tp);
    CHECK(uth_tls_current() == (away ? home_block(home) : NULL));
    CHECK(home_number() == (away ? (int)getpid() : 0));
    CHECK(ps_load_relaxed(&vp_run(home)->own_tp) == vp_home(home)->empty->tp);
    CHECK(vp_home(home)->empty->tp != vp_run(home)->kernel_tp && vp_run(home)->kernel_tp == cpu_get_tp());
}

static void a_root_leaves_and_comes_home(void **state)
{
    (void)state;
    if (!begin(1))
        skip();
    const unsigned *at = &own;
    for (unsigned i = 1; i <= TRIPS; i++) {
        own = i;
        leave();
        expect_storage(at, i, ps_vp() != ps_vp_at(0));
        home_come_outside();
        CHECK(ps_vp() == ps_vp_at(0) && os_thread_id() == (int)getpid());
        expect_storage(at, i, false);
    }
    own = 0;
    CHECK(psthread_finalize() == 0);
}

static void a_root_ends_where_it_began(void **state)
{
    (void)state;
    for (int i = 0; i < TRIPS; i++) {
        if (!begin(1))
            skip();
        leave();
        CHECK(psthread_finalize() == 0);
        assert_int_equal(os_thread_id(), getpid());
        assert_null(uth_tls_current());
    }
}

/* The C library tells kernel threads apart by the number in their storage: its recursive locks let the owner's number
 * in. While the root is away its home's loop goes on in other storage. */
static void the_loop_of_a_home_has_a_number_of_its_own(void **state)
{
    (void)state;
    if (!begin(1))
        skip();
    leave();
    const struct uth_tls *loop = vp_home(ps_vp_at(0))->empty;
    CHECK(*loop->tid > 0 && *loop->tid != getpid());
    CHECK(psthread_finalize() == 0);
}

/* Its child's root has the slot of one that was away in the parent, and has never left. */
static void *forks(void *arg)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct vp *vp = ps_vp_attach();
        CHECK(vp == ps_vp_at(0) && vp_home(vp)->leaves == !os_fence_all_ready() && !vp_home(vp)->was_out &&
              !vp_home(vp)->stays);
        CHECK(!os_fence_all_ready() || ps_load_relaxed(&vp->run.own_tp) == vp->run.kernel_tp);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    return arg;
}

static void a_childs_root_has_not_left(void **state)
{
    (void)state;
    pthread_t other;
    if (PS_TSAN || !begin(1))
        skip();
    leave();
    home_come_outside();
    CHECK(vp_home(ps_vp())->leaves);
    CHECK(pthread_create(&other, NULL, forks, NULL) == 0 && pthread_join(other, NULL) == 0);
    CHECK(psthread_finalize() == 0);
}

/* --- the end of a region --- */

static struct ps_team team;
static struct line_of_member {
    PS_LINE_ALIGNED struct ps_member m;
} member[2];
static void nothing(struct ps_member *m) { (void)m; }

/* The root that is released may be taken by its home itself. It is bound to that again at the region's end. */
static void a_root_that_home_takes_is_bound_again(void **state)
{
    (void)state;
    static const struct ps_team_ops ops = {.body = nothing, .assist = nothing};
    if (!begin(1))
        skip();
    struct vp *home = ps_vp();
    ps_team_init(&team, &ops, member, sizeof member[0], 2);
    ps_team_fork(&team, 2, true);
    home->run.uth->vp = NULL; /* as home_release */
    ps_store_relaxed(&ps_rt.roots_leave, true);
    ps_team_join(&team);
    assert_ptr_equal(ps_vp(), home);
    assert_ptr_equal(home->run.uth->vp, home);
    ps_team_fini(&team);
    CHECK(psthread_finalize() == 0);
}

/* --- several roots --- */

static _Atomic unsigned elsewhere;

static void *stays_away_from_other_homes(void *home)
{
    for (int i = 0; i < 10; i++) {
        CHECK(ps_vp() == home || !vp_is_roots(ps_vp()));
        ps_add_relaxed(&elsewhere, ps_vp() != home);
        psthread_yield();
    }
    return NULL;
}

static void *lives(void *arg)
{
    struct vp *home = ps_vp_attach();
    for (unsigned i = 0; i < MANY / 10; i++) {
        psthread_t t[4];
        for (int k = 0; k < 4; k++) {
            CHECK(psthread_create(&t[k], NULL, stays_away_from_other_homes, home) == 0);
            CHECK(psthread_enqueue(t[k], PSTHREAD_VP_ANY) == 0);
        }
        for (int k = 0; k < 4; k++)
            CHECK(psthread_join(t[k], NULL) == 0);
    }
    CHECK(psthread_detach_self() == 0);
    return arg;
}

static void homes_of_several_roots_stand_aside(void **state)
{
    (void)state;
    pthread_t root[3];
    if (!begin(2))
        skip();
    ps_rt.homes_stand_aside = true; /* as below a layer that opens regions */
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&root[i], NULL, lives, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(root[i], NULL) == 0);
    assert_true(ps_load_relaxed(&elsewhere) > 0);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_leaves_and_comes_home),
        cmocka_unit_test(a_root_ends_where_it_began),
        cmocka_unit_test(the_loop_of_a_home_has_a_number_of_its_own),
        cmocka_unit_test(a_childs_root_has_not_left),
        cmocka_unit_test(a_root_that_home_takes_is_bound_again),
        cmocka_unit_test(homes_of_several_roots_stand_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
