/* A region's members by handoff: what becomes of handoffs that no thread reads, and of a handoff that comes together
 * with a root; which inner regions make some. Kernel threads that are late are made by holding them: where one starts
 * (os_thread_start), or where it wakes up (os_park). */
#include "current.h"
#include "os.h"
#include "psthread.h"
#include "runtime.h"
#include "scheduler.h"
#include "sync_support.h"
#include "team.h"
#include "vp.h"

#include <pthread.h>

static struct {
    _Atomic bool hold_starts;
    os_thread *out;
    void *(*entry)(void *);
    void *arg;
    size_t stack_bytes;
    bool block_signals;
} held;

int __real_os_thread_start(os_thread *out, void *(*entry)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*entry)(void *), void *arg, size_t stack_bytes, bool block_signals);
int __wrap_os_thread_start(os_thread *out, void *(*entry)(void *), void *arg, size_t stack_bytes, bool block_signals)
{
    if (!ps_load_acquire(&held.hold_starts) || entry != vp_worker_main) /* not the watchdog's */
        return __real_os_thread_start(out, entry, arg, stack_bytes, block_signals);
    held.out = out;
    held.entry = entry;
    held.arg = arg;
    held.stack_bytes = stack_bytes;
    held.block_signals = block_signals;
    return 0;
}
static void let_it_start(void)
{
    ps_store_release(&held.hold_starts, false);
    CHECK(__real_os_thread_start(held.out, held.entry, held.arg, held.stack_bytes, held.block_signals) == 0);
}

/* A kernel thread about to sleep on this word stays there until the word is let go; then it does not sleep at all. */
static _Atomic(_Atomic uint32_t *) held_word;
static _Atomic bool at_held_word;

int __real_os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
int __wrap_os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
int __wrap_os_park(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    if (word != ps_load_acquire(&held_word))
        return __real_os_park(word, expected, timeout_ns);
    ps_store_release(&at_held_word, true);
    while (word == ps_load_acquire(&held_word))
        usleep(1000);
    return 0;
}

/* --- a team of two --- */

struct team {
    struct ps_team t;
    struct member {
        PS_LINE_ALIGNED struct ps_member m;
    } member[2];
    void (*second)(struct team *t); /* what member 1 does */
    _Atomic unsigned runs;
    bool by_handoff; /* member 1 ran on another vp than the parent's */
};

static void body(struct ps_member *m)
{
    struct team *t = (struct team *)(void *)m->team;
    ps_add_relaxed(&t->runs, 1);
    if (m->id == 1)
        t->second(t);
}
static void assist(struct ps_member *m) { (void)m; }

static void team_init(struct team *t, void (*second)(struct team *t))
{
    static const struct ps_team_ops ops = {.body = body, .assist = assist};
    memset(t, 0, sizeof *t);
    t->second = second;
    ps_team_init(&t->t, &ops, t->member, sizeof t->member[0], 2);
}

/* Runs a region; true: member 1 had been handed off. */
static bool region(struct team *t)
{
    ps_team_fork(&t->t, 2, true);
    bool handed_off = t->t.handed_off;
    body(&t->member[0].m);
    ps_team_join(&t->t);
    return handed_off;
}

/* --- handoffs that no thread reads --- */

/* On a vp of its own: until the parent is out of patience, and has found its handoff read if there was some. */
static void sees_where(struct team *t)
{
    t->by_handoff = ps_vp()->run.id == 1;
    while (t->by_handoff && !(ps_load_acquire(&t->t.left) & PS_TEAM_WAITING))
        usleep(1000);
}

static void unread_handoffs_are_not_made_again_at_once(void **state)
{
    (void)state;
    static struct team t;
    psthread_config_t config = {.num_vps = 2, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    ps_rt.predicts_serial = false; /* which these are */
    team_init(&t, sees_where);
    ps_store_release(&held.hold_starts, true);
    unsigned regions = 0;
    for (unsigned unread = 1; unread <= PS_UNREAD_MOST + 1; unread++) {
        assert_true(region(&t)); /* offered to a vp whose kernel thread does not come */
        unsigned pause = (1u << (unread < PS_UNREAD_MOST ? unread : PS_UNREAD_MOST)) - 1;
        for (unsigned i = 0; i < pause; i++)
            assert_false(region(&t));
        regions += 1 + pause;
        assert_int_equal(ps_load_relaxed(&t.runs), 2 * regions);
        assert_false(t.by_handoff);
    }
    let_it_start();
    assert_int_equal(t.t.unread, PS_UNREAD_MOST);
    while (!region(&t) || !t.by_handoff) /* a vp that does run is found again, now or after some pauses */
        continue;
    assert_int_equal(t.t.unread, 0);
    ps_team_fini(&t.t);
    CHECK(psthread_finalize() == 0);
}

/* --- a root and a handoff --- */

static _Atomic unsigned order, member_came;
static unsigned root_came;

static void notes_its_turn(struct team *t)
{
    (void)t;
    ps_store_release(&member_came, ps_add_seq(&order, 1) + 1);
}

struct other {
    struct team team;
    struct psthread *root;
};

/* Another root's region: member 1 goes by handoff to the first root's vp, which idles; then that root gets ready. */
static void *other_main(void *arg)
{
    struct other *o = arg;
    ps_self();
    while (!ps_load_acquire(&at_held_word))
        usleep(1000);
    ps_team_fork(&o->team.t, 2, true);
    CHECK(o->team.t.handed_off);
    ps_ready(o->root, PS_FRONT);
    ps_store_release(&held_word, NULL);
    while (!ps_load_acquire(&member_came)) /* the join would take the handoff back */
        usleep(1000);
    ps_team_join(&o->team.t);
    ps_team_fini(&o->team.t);
    return NULL;
}

static void a_ready_root_goes_before_a_handoff(void **state)
{
    (void)state;
    static struct other o;
    pthread_t thread;
    psthread_config_t config = {.num_vps = 1, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    team_init(&o.team, notes_its_turn);
    o.root = ps_self();
    ps_store_relaxed(&order, 0);
    ps_store_relaxed(&member_came, 0);
    ps_store_relaxed(&at_held_word, false);
    ps_store_release(&held_word, &ps_vp()->wake_word);
    CHECK(pthread_create(&thread, NULL, other_main, &o) == 0);
    ps_block(o.root, PS_WAIT_JOIN, NULL);
    root_came = ps_add_seq(&order, 1) + 1;
    while (!ps_load_acquire(&member_came)) /* it was not lost: it waits in this vp's queue */
        psthread_yield();
    assert_int_equal(root_came, 1);
    pthread_join(thread, NULL);
    CHECK(psthread_finalize() == 0);
}

/* --- inner regions --- */

static void meets(struct team *t, unsigned id)
{
    if (ps_team_barrier_meet(&t->t, id, ps_team_barrier_phase(&t->t), false) == PS_MET_LAST)
        ps_team_barrier_release(&t->t);
}
static void meets_parent(struct team *t) { meets(t, 1); }
static void meets_no_member(struct team *t) { (void)t; }

/* Runs an inner region; true: member 1 had been handed off. */
static bool inner_region(struct team *t, bool with_barrier)
{
    t->second = with_barrier ? meets_parent : meets_no_member;
    ps_team_fork(&t->t, 2, false);
    bool handed_off = t->t.handed_off;
    if (with_barrier)
        meets(t, 0);
    ps_team_join(&t->t);
    return handed_off;
}

static void inner_regions_are_handed_off_after_one_with_a_barrier(void **state)
{
    (void)state;
    static struct team t;
    psthread_config_t config = {.num_vps = 4, .max_spares = PSTHREAD_NO_SPARES};
    CHECK(psthread_init(&config) == 0);
    team_init(&t, meets_no_member);
    for (int i = 0; i < 100; i++)
        assert_false(inner_region(&t, false));
    assert_false(inner_region(&t, true));
    while (!inner_region(&t, true)) /* the other vp did not search */
        continue;
    inner_region(&t, false);
    for (int i = 0; i < 100; i++)
        assert_false(inner_region(&t, false));
    ps_team_fini(&t.t);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unread_handoffs_are_not_made_again_at_once),
        cmocka_unit_test(a_ready_root_goes_before_a_handoff),
        cmocka_unit_test(inner_regions_are_handed_off_after_one_with_a_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
