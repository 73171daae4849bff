/* A task that yields for one which it may not run itself asks for help. No member was told of that one when it was
 * made: a helper had been called for another task just before, and was on its way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "ort.h"
#include "task.h"

#define MEMBERS 4
#define NO_MEMBER UINT32_MAX

static _Atomic bool begun, holds, joining, done;
static _Atomic uint32_t held = NO_MEMBER; /* the helper that was called first, and is on its way until it is let go */

void __real_ee_team_help(struct ee_team *team, unsigned id);
void __wrap_ee_team_help(struct ee_team *team, unsigned id);
void __wrap_ee_team_help(struct ee_team *team, unsigned id)
{
    if (ps_xchg_acq_rel(&holds, false))
        ps_store_release(&held, id);
    else
        __real_ee_team_help(team, id);
}

void __real_ee_team_join(struct ee_team *team);
void __wrap_ee_team_join(struct ee_team *team);
void __wrap_ee_team_join(struct ee_team *team)
{
    ps_store_release(&joining, true);
    __real_ee_team_join(team);
}

static void says_so(void *data)
{
    (void)data;
    ps_store_release(&done, true);
}

/* The helper that was called for this one cannot run the other one. */
static void keeps_its_member(void *data)
{
    (void)data;
    while (!ps_load_acquire(&done))
        usleep(1000);
}

/* A sibling of the task that it waits for, and no ancestor. */
static void waits_for_it(void *data)
{
    (void)data;
    while (!ps_load_acquire(&done))
        ort_taskyield(ort_self());
}

static void nothing(void *data) { (void)data; }

static void body(void *data)
{
    (void)data;
    struct ort_thread *t = ort_self();
    while (t->id == 0 && !ps_load_acquire(&begun)) /* else the parent could run member 1 as a call */
        ee_yield();
    if (t->id != 1)
        return;
    ps_store_release(&begun, true);
    while (!ps_load_acquire(&joining))
        usleep(1000);
    /* Until members are helpers: then one is called for a task, and held. */
    ps_store_release(&holds, true);
    while (ps_load_acquire(&held) == NO_MEMBER) {
        ort_task_create(t, &(struct ort_task_args){.fn = nothing, .align = 1});
        ort_taskwait(t);
        ee_yield();
    }
    ort_task_create(t, &(struct ort_task_args){.fn = keeps_its_member, .align = 1});
    ort_task_create(t, &(struct ort_task_args){.fn = says_so, .align = 1});
    __real_ee_team_help(&t->team->ee, ps_load_acquire(&held));
    ort_task_create(t, &(struct ort_task_args){.fn = waits_for_it, .align = 1, .flags = ORT_TASK_UNDEFERRED});
}

static void a_yield_asks(void **state)
{
    (void)state;
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = body, .num_threads = MEMBERS}), MEMBERS);
    assert_true(ps_load_acquire(&done));
}

int main(void)
{
    setenv("PSTHREADS_NUM_VPS", "2", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_yield_asks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
