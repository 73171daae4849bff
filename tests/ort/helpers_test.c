/* Members that make a task each and run it themselves, one after the other on one vp. A member that has returned is a
 * helper, called to look for the next one's task. It is on its way from then on, since the vp has members to run. The
 * members that return meanwhile look as well, and no further helper is called: that would be a thread for each member
 * of a large team. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ort.h"
#include "task.h"

#define MEMBERS 32
#define REGIONS 20
#define MOST (MEMBERS / 2) /* in the region with the fewest: if the system is late, a spare runs the helper */

static _Atomic unsigned calls, ran;

void __real_ee_team_help(struct ee_team *team, unsigned id);
void __wrap_ee_team_help(struct ee_team *team, unsigned id);
void __wrap_ee_team_help(struct ee_team *team, unsigned id)
{
    ps_add_relaxed(&calls, 1);
    __real_ee_team_help(team, id);
}

static void task(void *data)
{
    (void)data;
    ps_add_relaxed(&ran, 1);
}

static void body(void *data)
{
    (void)data;
    ort_task_create(ort_self(), &(struct ort_task_args){.fn = task, .align = 1});
    ort_taskwait(ort_self());
}

static void one_helper_at_a_time(void **state)
{
    (void)state;
    unsigned fewest = MEMBERS;
    for (unsigned region = 0; region < REGIONS; region++) {
        ps_store_relaxed(&calls, 0);
        ps_store_relaxed(&ran, 0);
        assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = body, .num_threads = MEMBERS}), MEMBERS);
        assert_int_equal(ps_load_relaxed(&ran), MEMBERS);
        fewest = ps_load_relaxed(&calls) < fewest ? ps_load_relaxed(&calls) : fewest;
    }
    assert_in_range(fewest, 0, MOST);
}

int main(void)
{
    setenv("PSTHREADS_NUM_VPS", "1", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_helper_at_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
