/* Target regions. The host is the only device, so a target region runs in an initial thread of its own, on the caller's
 * stack.
 *
 * The initial thread is the only member of a team of its own at level 0, with a contention group of its own, as a
 * root has. The target region's code does not see the caller's team (OpenMP 5.2 section 13.8). Cost: for each
 * region the team's block and the contention group are allocated; the implicit task mostly comes from a list.
 * Failures: without memory the program ends with one line. */
#include <limits.h>

#include "emergency_pool.h"
#include "region.h"

void ort_target(void (*fn)(void *), void *data, unsigned thread_limit)
{
    struct ort_thread *caller = ort_self();
    struct ort_team *team = ort_team_initial("a target region");
    team->enclosed = caller->team->enclosed;
    team->icv = ort_icv_store(team);
    *team->icv = ort_settings.initial;
    if (thread_limit != 0)
        team->icv->thread_limit = thread_limit > INT_MAX ? UINT_MAX : thread_limit;
    struct ort_thread *t = ort_thread_begin_initial(team);
    fn(data);
    ort_task_member_end(t);
    ee_set_local(caller);
    ort_task_team_end(team);
    ort_mem_free(team->contention);
    ort_team_free(team);
}
