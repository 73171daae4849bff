/* A task that yields for one which it may not run itself asks for help, even where nobody has heard of that one when it
 * was made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "ort.h"
#include "task.h"

static _Atomic bool begun, joining, yields, done;

/* Requests are lost, but for those that a yield makes. */
void __real_ee_team_assist(struct ee_team *team);
void __wrap_ee_team_assist(struct ee_team *team);
void __wrap_ee_team_assist(struct ee_team *team)
{
    if (ps_load_acquire(&yields))
        __real_ee_team_assist(team);
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

/* A sibling of the task that it waits for, and no ancestor. */
static void waits_for_it(void *data)
{
    (void)data;
    ps_store_release(&yields, true);
    while (!ps_load_acquire(&done))
        ort_taskyield(ort_self());
}

static void body(void *data)
{
    (void)data;
    struct ort_thread *t = ort_self();
    if (t->id == 0) { /* ends, and waits in the join */
        while (!ps_load_acquire(&begun))
            ee_yield();
        return;
    }
    ps_store_release(&begun, true);
    while (!ps_load_acquire(&joining))
        usleep(1000);
    usleep(20000); /* as a rule the parent sleeps then; where it does not it finds the task, and nothing is shown */
    ort_task_create(t, &(struct ort_task_args){.fn = says_so, .align = 1});
    ort_task_create(t, &(struct ort_task_args){.fn = waits_for_it, .align = 1, .flags = ORT_TASK_UNDEFERRED});
}

static void a_yield_asks(void **state)
{
    (void)state;
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = body, .num_threads = 2}), 2);
    assert_true(ps_load_acquire(&done));
}

int main(void)
{
    setenv("PSTHREADS_NUM_VPS", "2", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_yield_asks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
