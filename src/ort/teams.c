/* The teams construct on the host: its teams run one after the other, each the initial thread's.
 *
 * The number and count stand in the contention group, which all threads below share. thread_limit holds for the time of the construct.
 * OpenMP 5.2 section 10.2: the number of teams is at most what is asked for; libgomp makes three where nothing is, and so do we, so
 * that programs that print it agree. */
#include <limits.h>

#include "ort.h"

/* The thread limit of the caller's data environment; the former one. */
static unsigned set_limit(struct ort_thread *t, unsigned limit)
{
    unsigned before = ort_icv(t)->thread_limit;
    struct ort_icv *icv = ort_icv_write(t);
    if (icv != NULL)
        icv->thread_limit = limit > INT_MAX ? UINT_MAX : limit;
    return before;
}

void ort_teams(void (*fn)(void *), void *data, unsigned num_teams, unsigned thread_limit)
{
    struct ort_thread *t = ort_self();
    struct ort_group *group = t->team->contention;
    unsigned before = 0;
    if (thread_limit == 0)
        thread_limit = ort_settings.teams_thread_limit;
    if (thread_limit != 0)
        before = set_limit(t, thread_limit);
    if (num_teams == 0)
        num_teams = ort_settings.num_teams != 0 ? ort_settings.num_teams : 3;
    group->num_teams = num_teams;
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_league(t, num_teams, fn, data);
    else
        for (group->team_num = 0; group->team_num < num_teams; group->team_num++)
            fn(data);
    group->num_teams = 1;
    group->team_num = 0;
    if (thread_limit != 0)
        set_limit(ort_self(), before);
}

bool ort_teams_next(unsigned num_teams, unsigned thread_limit, bool first)
{
    struct ort_thread *t = ort_self();
    struct ort_group *group = t->team->contention;
    if (!first) {
        if (group->team_num + 1 >= group->num_teams)
            return false;
        group->team_num++;
        return true;
    }
    if (thread_limit != 0)
        set_limit(t, thread_limit);
    group->num_teams = num_teams != 0 ? num_teams : 1;
    group->team_num = 0;
    return true;
}
