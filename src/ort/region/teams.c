/* The teams construct on the host.
 *
 * num_teams and team_num are in the contention group, which all threads of a team share. thread_limit is in force
 * during the construct. The league is a hidden region at the caller's level, which only a tool sees. For each of its
 * teams a member of the league opens a region of one thread, also at this level. That thread becomes an initial thread
 * with a contention group of its own and the caller's settings, and runs the team. If the league has fewer members than
 * teams, a member runs several teams, one after the other.
 * The caller does nothing else meanwhile, so all members may read its settings. Until a team ends, no other member of
 * the league uses the team's data. The join orders all teams before what follows the construct.
 * Within a target region the teams run one after the other, all in the region's initial thread (ort_teams_next).
 * Rejected: marking a league's threads as such, so that each function for levels, ancestors and numbers would test for
 * it. OpenMP 5.2 section 10.2. */
#include <limits.h>

#include "ort.h"
#include "region.h"

/* Sets the thread limit in t's data environment. */
static void set_limit(struct ort_thread *t, unsigned limit)
{
    struct ort_icv *icv = ort_icv_write(t);
    if (icv != NULL)
        icv->thread_limit = limit > INT_MAX ? UINT_MAX : limit;
}

struct league {
    const struct ort_parallel *region;
    unsigned num_teams, thread_limit;
    const struct ort_team *outer;
    struct ort_icv *icv;
};

static void one_team(const struct league *l, unsigned num)
{
    struct ort_group group = {.num_teams = l->num_teams, .team_num = num, .at_once = true, .level = l->outer->level};
    struct ort_parallel region = *l->region;
    struct ort_thread *m = ort_self();
    region.num_threads = 1;
    region.group = &group;
    atomic_init(&group.busy, 1);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_league_team_begins(m, l->num_teams, num);
    ort_parallel_start(&region);
    struct ort_thread *t = ort_self();
    struct ort_team *team = t->team;
    team->bind_var = l->outer->bind_var;
    team->bind_used = l->outer->bind_used;
    ort_team_reshaped(team);
    t->task->icv = l->icv;
    if (l->thread_limit != 0)
        set_limit(t, l->thread_limit);
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_run(region.fn, region.data);
    else
        region.fn(region.data);
    ort_parallel_end();
    if (PS_UNLIKELY(ort_tool_on()))
        ort_tool_league_team_ends(m, num);
}

static void run_teams(void *data)
{
    const struct league *l = data;
    const struct ort_thread *t = ort_self();
    for (unsigned num = t->id, step = t->team->n; num < l->num_teams; num += step)
        one_team(l, num);
}

bool ort_is_league(const struct ort_team *team) { return team->fn == run_teams; }

void ort_league(const struct ort_parallel *teams, unsigned thread_limit)
{
    struct ort_thread *t = ort_self();
    struct league l = {.region = teams,
                       .num_teams = teams->num_threads,
                       .thread_limit = thread_limit != 0 ? thread_limit : ort_settings.teams_thread_limit,
                       .outer = t->team,
                       .icv = t->task->icv};
    struct ort_parallel league = *teams;
    league.fn = run_teams;
    league.data = &l;
    league.group = t->team->contention;
    ort_hot_forget(t); /* no former region of t is like a league, even with the same clauses */
    ort_parallel(&league);
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
