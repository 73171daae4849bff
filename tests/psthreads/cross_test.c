/* Two members wait in a barrier of a team that is bound to one place; as they are about to leave their stacks the
 * barrier opens, and each is taken, out of the place's queue, by the other's vp. Neither vp may then wait on its
 * member's stack until the other one is saved. */
#include "bind.h"
#include "current.h"
#include "os.h"
#include "psthread.h"
#include "sync_support.h"
#include "team.h"
#include "team_support.h"
#include "work.h"

enum { MEMBERS = 3, ROUNDS = 20 };

static struct team {
    struct ps_team t;
    struct member {
        PS_LINE_ALIGNED struct ps_member m;
    } member[MEMBERS];
} team;

/* The members 1 and 2, that wait, in this order. */
static struct {
    _Atomic(struct vp *) vp; /* on which it is about to wait; NULL: it is not */
    struct vp *behind;       /* on which it goes on: either */
    _Atomic bool begins, looks, taken;
} waits[2];
static _Atomic bool open;

static void until(_Atomic bool *event)
{
    while (!ps_load_acquire(event))
        usleep(100);
}

struct ps_work __real_ps_bind_visit(struct vp *vp, enum ps_visit visit);
struct ps_work __wrap_ps_bind_visit(struct vp *vp, enum ps_visit visit);
struct ps_work __wrap_ps_bind_visit(struct vp *vp, enum ps_visit visit)
{
    unsigned i = vp == ps_load_acquire(&waits[1].vp);
    if (visit != PS_TAKE || vp != ps_load_acquire(&waits[i].vp))
        return __real_ps_bind_visit(vp, visit);
    ps_store_relaxed(&waits[i].vp, NULL);
    ps_store_release(&waits[i].looks, true);
    until(i ? &waits[0].taken : &open);
    struct ps_work w = __real_ps_bind_visit(vp, visit);
    CHECK(ps_work_thread(w) == &team.member[2 - i].m.thread); /* the other one */
    ps_store_release(&waits[i].taken, true);
    until(&waits[1].taken);
    return w;
}

static void body(struct ps_member *m)
{
    unsigned id = m->id;
    if (id == 0) {
        until(&waits[1].looks);
        team_barrier(&team.t, 0);
        ps_store_release(&open, true);
        until(&waits[1].taken);
        return;
    }
    struct vp *vp = ps_vp();
    ps_store_release(&waits[id - 1].begins, true);
    until(id == 1 ? &waits[1].begins : &waits[0].looks); /* on another vp */
    ps_store_release(&waits[id - 1].vp, vp);
    team_barrier(&team.t, id);
    waits[id - 1].behind = ps_vp();
}
static void assist(struct ps_member *m) { (void)m; }

static void each_is_taken_by_the_others_vp(void **state)
{
    (void)state;
    static const struct ps_team_ops ops = {.body = body, .assist = assist};
    static unsigned cpus[OS_MAX_CPUS];
    struct os_cpuset mask;
    unsigned first[2] = {0};
    psthread_config_t config = {.num_vps = MEMBERS, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(os_affinity_get(&mask) == 0);
    for (unsigned c = 0; c < OS_MAX_CPUS; c++)
        if (os_cpuset_has(&mask, c))
            cpus[first[1]++] = c;
    CHECK(psthread_init(&config) == 0);
    assert_true(ps_bind_places(1, first, cpus));
    ps_vp_attach();
    ps_team_init(&team.t, &ops, team.member, sizeof team.member[0], MEMBERS);
    for (unsigned i = 0; i < MEMBERS; i++)
        ps_member_bind(&team.member[i].m, 0);
    ps_team_bind(&team.t, PS_NO_PLACE, true);
    for (int i = 0; i < ROUNDS; i++) {
        memset(waits, 0, sizeof waits);
        ps_store_relaxed(&open, false);
        ps_team_fork(&team.t, MEMBERS, true);
        body(&team.member[0].m);
        ps_team_join(&team.t);
        assert_non_null(waits[0].behind);
        assert_non_null(waits[1].behind);
    }
    ps_team_fini(&team.t);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_taken_by_the_others_vp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
