/* The barrier of a team whose members have a vp each: in rounds, by the word, and from one to the other and back,
 * whatever makes them change. */
#include "psthread.h"
#include "sync_support.h"
#include "team.h"
#include "team_support.h"

#include "os.h"

#include <pthread.h>

enum { MOST = 21, BARRIERS = 40 };

static struct team {
    struct ps_team t;
    struct member {
        PS_LINE_ALIGNED struct ps_member m;
        _Atomic uint32_t stage;
        uint32_t random;
    } member[MOST];
    unsigned naps;  /* one barrier in so many is waited for by a member that sleeps; 0: none */
    unsigned tasks; /* one region in so many has a first task, somewhere; 0: none */
    uint32_t task_at, task_by;
    bool last_first; /* the others wait until the last member is at the first barrier, and a while */
    _Atomic uint32_t in_rounds, by_word; /* barriers behind which it was so */
} team;

static _Atomic uint32_t fences;
static bool no_fence;
bool __real_os_fence_all(void);
bool __wrap_os_fence_all(void);
bool __wrap_os_fence_all(void)
{
    ps_add_relaxed(&fences, 1);
    return !no_fence && __real_os_fence_all();
}

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u, *state >> 8; }

static void body(struct ps_member *m)
{
    struct member *self = PS_CONTAINER_OF(m, struct member, m);
    unsigned id = m->id, n = team.t.n;
    if (team.last_first && id + 1 < n) {
        while (ps_load_relaxed(&team.member[n - 1].stage) == 0)
            psthread_yield();
        usleep(1000);
    }
    for (uint32_t b = 1; b <= BARRIERS; b++) {
        if (team.naps && next_random(&self->random) % (team.naps * n) == 0)
            usleep(next_random(&self->random) % 300);
        if (team.tasks && b == team.task_at && id == team.task_by)
            ps_team_notify(&team.t);
        ps_store_relaxed(&self->stage, b);
        team_barrier(&team.t, id);
        for (unsigned i = 0; i < n; i++) {
            uint32_t stage = ps_load_relaxed(&team.member[i].stage);
            CHECK(stage == b || stage == b + 1); /* no thread is behind, no thread two barriers before */
        }
        if (id == 0)
            ps_add_relaxed(ps_load_relaxed(&team.t.by_word) == PS_BY_ROUNDS ? &team.in_rounds : &team.by_word, 1);
    }
    team_barrier(&team.t, id); /* no thread looks at stages any more */
    ps_store_relaxed(&self->stage, 0);
}
static void assist(struct ps_member *m) { (void)m; }
static bool idle(struct ps_member *m)
{
    (void)m;
    return false;
}
static const struct ps_team_ops ops = {body, assist, idle, NULL, NULL};

static void region(unsigned n, bool forget)
{
    static uint32_t random = 1;
    if (team.tasks) {
        bool some = next_random(&random) % team.tasks == 0;
        team.task_at = some ? 1 + next_random(&random) % BARRIERS : 0;
        team.task_by = next_random(&random) % n;
    }
    if (forget) /* else it would stay with the word where there are fewer processors */
        team.t.word_runs = team.t.word_least = 0;
    ps_team_fork(&team.t, n, true);
    body(&team.member[0].m);
    ps_team_join(&team.t);
}

static void begin(unsigned vps)
{
    psthread_config_t config = {.num_vps = vps};
    CHECK(psthread_init(&config) == 0);
    memset(&team, 0, sizeof team);
    ps_team_init(&team.t, &ops, team.member, sizeof team.member[0], MOST);
    for (unsigned i = 0; i < MOST; i++)
        team.member[i].random = i + 1;
}
static void end(void)
{
    ps_team_fini(&team.t);
    CHECK(psthread_finalize() == 0);
}

/* Regions of n, until so many barriers were met in rounds where they are two, and so many by the word: of more members
 * than processors most come too late. */
static void regions(unsigned n, uint32_t in_rounds, uint32_t by_word)
{
    in_rounds = n == 2 ? in_rounds : 0;
    ps_store_relaxed(&team.in_rounds, 0);
    ps_store_relaxed(&team.by_word, 0);
    for (unsigned r = 0;
         r < 20 || ps_load_relaxed(&team.in_rounds) < in_rounds || ps_load_relaxed(&team.by_word) < by_word; r++)
        region(n, n > 2 || r >= 20);
}

#define ENOUGH (PS_TSAN ? 20 : 100)

static void members_of_any_number(void **state)
{
    (void)state;
    begin(MOST);
    static const unsigned sizes[] = {2, 3, 4, 5, 16, 17, MOST};
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        regions(sizes[s], ENOUGH, 0);
    for (unsigned r = 0; r < 60; r++) /* numbers of those that were not there */
        region(2 + r % 7, true);
    end();
}

static void some_are_late(void **state)
{
    (void)state;
    begin(4);
    for (unsigned n = 2; n <= 4; n++)
        for (team.naps = 100; team.naps >= 4; team.naps /= 5)
            regions(n, team.naps == 100 ? ENOUGH : 0, 20);
    CHECK(ps_load_relaxed(&fences) > 0);
    /* What was learnt of four does not keep two from their rounds for ever. */
    for (team.naps = 4; team.t.word_runs >= team.t.word_least;)
        region(4, false);
    team.naps = 0;
    ps_store_relaxed(&team.in_rounds, 0);
    while (ps_load_relaxed(&team.in_rounds) < BARRIERS)
        region(2, false);
    end();
}

static void the_first_task_calls_them(void **state)
{
    (void)state;
    begin(4);
    team.tasks = 2;
    for (unsigned n = 2; n <= 4; n++)
        for (team.naps = 0; team.naps <= 50; team.naps += 50)
            regions(n, team.naps == 0 ? ENOUGH : 0, ENOUGH);
    end();
}

/* Vps of roots that wait take members, too: a region has more members than there are vps but its roots', and each gets
 * one. The region before was one of rounds, with two. */
enum { ROOTS = 1 };
static psthread_mutex_t gate;
static void *waits_at_the_gate(void *arg)
{
    ps_add_relaxed((_Atomic unsigned *)arg, 1);
    CHECK(psthread_mutex_lock(&gate) == 0 && psthread_mutex_unlock(&gate) == 0);
    return NULL;
}
static void beside_roots_that_wait(void **state)
{
    (void)state;
    pthread_t root[ROOTS];
    _Atomic unsigned here = 0;
    begin(2);
    CHECK(psthread_mutex_init(&gate) == 0 && psthread_mutex_lock(&gate) == 0);
    for (unsigned i = 0; i < ROOTS; i++)
        CHECK(pthread_create(&root[i], NULL, waits_at_the_gate, (void *)&here) == 0);
    while (ps_load_relaxed(&here) < ROOTS)
        usleep(100);
    for (unsigned spread = 0; spread < 5;) {
        region(2, true);
        if (ps_load_relaxed(&team.t.by_word) != PS_BY_ROUNDS)
            continue;
        team.last_first = true;
        region(2 + ROOTS, false);
        team.last_first = false;
        spread += ps_load_relaxed(&team.t.spread);
    }
    CHECK(psthread_mutex_unlock(&gate) == 0);
    for (unsigned i = 0; i < ROOTS; i++)
        CHECK(pthread_join(root[i], NULL) == 0);
    CHECK(psthread_mutex_destroy(&gate) == 0);
    end();
}

/* Last: a refusal is remembered. Fences are not counted: the watch of a deque asks for its own, again and again. */
static void no_fence_is_to_be_had(void **state)
{
    (void)state;
    begin(3);
    for (unsigned n = 2; n <= 3; n++)
        regions(n, 40, 0);
    no_fence = true;
    team.naps = 10;
    uint64_t left_at = team.t.rounds_left_at;
    for (unsigned r = 0; team.t.rounds_left_at == left_at; r++) /* until somebody was refused */
        region(2 + r % 2, true);
    ps_store_relaxed(&team.in_rounds, 0);
    for (unsigned r = 0; r < 200; r++)
        region(2 + r % 2, true);
    CHECK(ps_load_relaxed(&team.in_rounds) == 0);
    end();
}

int main(void)
{
    if (!os_fence_all_ready()) {
        puts("SKIPPED: the system has no fence for all threads");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_any_number),     cmocka_unit_test(some_are_late),
        cmocka_unit_test(the_first_task_calls_them), cmocka_unit_test(beside_roots_that_wait),
        cmocka_unit_test(no_fence_is_to_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
