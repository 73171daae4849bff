/* What goes on first behind a team's barrier on a vp: the opener, or, where its vp's root was once stuck there, the
 * root. One vp: no other thread takes a member, and the order is that of the queue. */
#include "current.h"
#include "psthread.h"
#include "scheduler.h"
#include "sync_support.h"
#include "team.h"
#include "team_support.h"
#include "vp.h"

#define MEMBERS 3
#define BARRIERS 20

struct team {
    struct ps_team t;
    struct member {
        PS_LINE_ALIGNED struct ps_member m;
    } member[MEMBERS];
    unsigned order[BARRIERS][MEMBERS], came[BARRIERS];
};

static void body(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    for (unsigned b = 0; b < BARRIERS; b++) {
        team_barrier(&t->t, m->id);
        t->order[b][t->came[b]++] = m->id;
    }
}
static void assist(struct ps_member *m) { (void)m; }

/* How often the root was the first one behind a barrier; every member passed each of them once. */
static unsigned root_led(bool root_first)
{
    static const struct ps_team_ops ops = {.body = body, .assist = assist};
    static struct team t;
    psthread_config_t config = {.num_vps = 1};
    unsigned led = 0;
    CHECK(psthread_init(&config) == 0);
    memset(&t, 0, sizeof t);
    ps_self();
    ps_store_relaxed(&ps_vp()->root_first, root_first);
    ps_team_init(&t.t, &ops, t.member, sizeof t.member[0], MEMBERS);
    ps_team_fork(&t.t, MEMBERS, true);
    body(&t.member[0].m);
    ps_team_join(&t.t);
    ps_team_fini(&t.t);
    for (unsigned b = 0; b < BARRIERS; b++) {
        unsigned seen = 0;
        for (unsigned i = 0; i < MEMBERS; i++)
            seen |= 1U << t.order[b][i];
        CHECK(t.came[b] == MEMBERS && seen == (1U << MEMBERS) - 1);
        led += t.order[b][0] == 0;
    }
    CHECK(psthread_finalize() == 0);
    return led;
}

static void the_opener_goes_on(void **state)
{
    (void)state;
    assert_true(root_led(false) < BARRIERS);
}

static void a_root_that_was_stuck_goes_first(void **state)
{
    (void)state;
    assert_int_equal(root_led(true), BARRIERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_opener_goes_on),
        cmocka_unit_test(a_root_that_was_stuck_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
