/* The caller's place in the program: its team, its number, its levels. OpenMP 5.2 sections 18.2, 18.3. */
#include "by_chance.h"
#include "place.h"
#include "user.h"

static int ancestor_id(int level)
{
    const struct ort_thread *t = ort_ancestor(ort_self(), level);
    return t == NULL ? -1 : (int)t->id;
}

static int team_size(int level)
{
    const struct ort_thread *t = ort_ancestor(ort_self(), level);
    return t == NULL ? -1 : (int)t->team->n;
}

USER_GET_BY_CHANCE(omp_get_num_threads, (int)ort_self()->team->n, 1)
USER_GET(omp_get_thread_num, (int)ort_self()->id)
/* Returns whether the caller is in an active region. If it is in none, it may first wait for its turn (ee_take_turn):
 * libraries call omp_in_parallel when they are about to open a region. */
static int in_parallel(void)
{
    if (ort_self()->team->active_level > 0)
        return 1;
    ee_take_turn();
    return 0;
}
USER_GET_BY_CHANCE(omp_in_parallel, in_parallel(), 0)
USER_GET(omp_get_level, (int)ort_self()->team->level)
USER_GET(omp_get_active_level, (int)ort_self()->team->active_level)
USER_GET_OF(omp_get_ancestor_thread_num, ancestor_id)
USER_GET_OF(omp_get_team_size, team_size)
USER_GET(omp_get_num_procs, (int)ort_num_procs(ort_self()))
USER_GET(omp_get_num_teams, (int)ort_self()->team->contention->num_teams)
USER_GET(omp_get_team_num, (int)ort_self()->team->contention->team_num)

/* The numbers for one dimension of a team or league (OpenMP 6.1). There is one dimension, number 0. */
PS_EXPORT int omp_get_num_threads_dim(int dim) { return dim == 0 ? (int)ort_self()->team->n : 1; }
PS_EXPORT int omp_get_thread_num_dim(int dim) { return dim == 0 ? (int)ort_self()->id : 0; }
PS_EXPORT int omp_get_num_teams_dim(int dim) { return dim == 0 ? (int)ort_self()->team->contention->num_teams : 1; }
PS_EXPORT int omp_get_team_num_dim(int dim) { return dim == 0 ? (int)ort_self()->team->contention->team_num : 0; }
