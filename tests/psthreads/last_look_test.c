/* A member that looks for tasks a last time, and whose identity helped in between: as an assistant, which had a stack
 * of its own. A member that has returned from its body is held there, while it tells the core that it is free, until
 * the assistant has come and gone; then it gets its identity back, and finds a task that blocks. Its context must be
 * kept where it runs, or somebody else carries it: a root's stack on another kernel thread. */
#include "current.h"
#include "psthread.h"
#include "scheduler.h"
#include "sync_support.h"
#include "team.h"
#include "vp.h"
#include "vp_tls.h"

#define MOST_MEMBERS 4

enum task { NO_TASK, QUICK, BLOCKS };

struct team {
    struct ps_team t;
    struct member {
        PS_LINE_ALIGNED struct ps_member m;
    } member[MOST_MEMBERS];
    void (*body)(struct team *t, unsigned id);
    unsigned held;              /* the member that is held */
    struct uth *stack;          /* on which its body ran */
    _Atomic unsigned task;      /* enum task: to be taken */
    _Atomic bool second_begins; /* of members that wait for one another */
    _Atomic bool interrupted;   /* ps_team_notify has returned: it tells the core of no thread any more */
    _Atomic bool ran, blocked, went_on;
};

/* --- a member is held --- */

static struct {
    _Atomic(struct vp *) vp; /* on which the member returns; set by itself */
    _Atomic bool there, let_go;
    _Atomic bool came_back; /* the assistant has ended */
} hold;

/* The core's part: the member that returned gets its identity back the first time. */
static bool idle(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    struct vp *vp = ps_vp();
    if (m != &t->member[t->held].m)
        return false;
    if (vp != ps_load_acquire(&hold.vp)) {
        ps_store_release(&hold.came_back, true);
        return false;
    }
    if (ps_xchg_acq_rel(&hold.there, true))
        return false;
    while (!ps_load_acquire(&hold.let_go))
        usleep(1000);
    return true;
}

/* The last that the body of t's held member does. */
static void is_held(struct team *t)
{
    struct vp *vp = ps_vp();
    t->stack = vp->run.uth;
    ps_store_release(&hold.vp, vp);
}

static void wait_for(_Atomic bool *event)
{
    while (!ps_load_acquire(event))
        usleep(1000);
}

/* --- a team --- */

static void body(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    t->body(t, m->id);
}

static void assist(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    struct vp *vp = ps_vp();
    CHECK(vp->run.current == &m->thread && m->thread.vp == vp && m->thread.uth == vp->run.uth);
    switch (ps_xchg_acq_rel(&t->task, NO_TASK)) {
    case QUICK:
        CHECK(m == &t->member[t->held].m && vp != hold.vp); /* or it did not help */
        ps_store_release(&t->ran, true);
        break;
    case BLOCKS:
        CHECK(m == &t->member[t->held].m && vp == hold.vp && vp->run.uth == t->stack);
        ps_store_release(&t->blocked, true);
        ps_block(&m->thread, PS_WAIT_WORD, t);
        CHECK(ps_vp()->run.uth == t->stack && m->thread.uth == t->stack);
        ps_store_release(&t->went_on, true);
        break;
    }
}

/* In a member's body. The held one helps and comes back, then it goes on and blocks, is seen to have left its stack,
 * and is readied. */
static void borrow(struct team *t)
{
    struct ps_member *m = &t->member[t->held].m;
    wait_for(&hold.there);
    ps_store_release(&t->task, QUICK);
    ps_team_help(&t->t, t->held);
    while (!ps_load_acquire(&t->ran) || !ps_load_acquire(&hold.came_back))
        if (!ps_yield())
            usleep(1000);
    ps_store_release(&t->task, BLOCKS);
    ps_store_release(&hold.let_go, true);
    wait_for(&t->blocked);
    while (ps_load_acquire(&t->stack->running))
        usleep(1000);
    ps_ready(&m->thread, PS_FRONT);
}

static struct {
    const char *tls; /* PSTHREADS_TLS; decided once in a process */
    unsigned n, held;
    void (*fn)(struct team *t, unsigned id);
} wanted;

#define NO_TLS 77

static void region(void)
{
    static const struct ps_team_ops ops = {body, assist, idle, NULL, NULL};
    static struct team t;
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    setenv("PSTHREADS_TLS", wanted.tls, 1);
    CHECK(psthread_init(&config) == 0);
    if (ps_tls_on() != !strcmp(wanted.tls, "always"))
        _exit(NO_TLS);
    t.body = wanted.fn;
    t.held = wanted.held;
    ps_team_init(&t.t, &ops, t.member, sizeof t.member[0], MOST_MEMBERS);
    struct vp *vp = ps_vp_attach();
    ps_team_fork(&t.t, wanted.n, true);
    CHECK(t.t.handed_off);
    body(&t.member[0].m);
    ps_team_join(&t.t);
    CHECK(ps_vp() == vp && vp->run.current == &vp->run.root && vp->run.uth == &vp->run.native);
    CHECK(ps_load_relaxed(&t.went_on));
    ps_team_fini(&t.t);
    CHECK(psthread_finalize() == 0);
}

/* A region of n members on two vps, of which `held` is held. */
static void try(const char *tls, unsigned n, unsigned held, void (*fn)(struct team *t, unsigned id))
{
    char err[400];
    wanted.tls = tls;
    wanted.n = n;
    wanted.held = held;
    wanted.fn = fn;
    int status = in_child(region, err, sizeof err);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_TLS) {
        print_message("threads have no storage of their own here\n");
        skip();
    }
    if (status != 0)
        fail_msg("%s", err);
}

/* --- on a vp's loop --- */

static void second_returns(struct team *t, unsigned id)
{
    if (id == t->held) {
        wait_for(&t->second_begins);
        is_held(t);
        return;
    }
    ps_team_notify(&t->t);
    ps_store_release(&t->second_begins, true);
    borrow(t);
}

static void by_a_vp(void **state)
{
    (void)state;
    try("never", 2, 1, second_returns);
}
static void by_a_vp_with_storage(void **state)
{
    (void)state;
    try("always", 2, 1, second_returns);
}

/* --- the parent, before it runs others as calls --- */

static void parent_returns(struct team *t, unsigned id)
{
    if (id == t->held) {
        wait_for(&t->second_begins);
        is_held(t);
    } else if (id == 1) {
        ps_team_notify(&t->t);
        ps_store_release(&t->second_begins, true);
        borrow(t);
    }
}

static void by_the_parent(void **state)
{
    (void)state;
    try("never", 3, 0, parent_returns); /* else the identity of member 0 does not help */
}

/* --- a member that the parent has run as a call --- */

static void called_returns(struct team *t, unsigned id)
{
    if (id == t->held) {
        CHECK(ps_vp()->run.uth == &ps_vp()->run.native && ps_vp()->run.id == 0);
        ps_store_release(&t->second_begins, true);
        wait_for(&t->interrupted);
        is_held(t);
    } else if (id == 1) {
        wait_for(&t->second_begins); /* a parent that joins later would not run others */
        ps_team_notify(&t->t);
        ps_store_release(&t->interrupted, true);
        borrow(t);
    }
}

static void by_the_parent_for_another(void **state)
{
    (void)state;
    try("always", 4, 2, called_returns); /* else the identity of member 0 would help first */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_a_vp),
        cmocka_unit_test(by_a_vp_with_storage),
        cmocka_unit_test(by_the_parent),
        cmocka_unit_test(by_the_parent_for_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
