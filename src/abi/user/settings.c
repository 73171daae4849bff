/* Routines for internal control variables: those of the calling task, and those of the process. OpenMP 5.2 sections
 * 18.2 to 18.5.
 *
 * A routine changes the variables of the calling task. Tasks and regions that this task makes afterwards inherit them.
 * The variables of the teams construct belong to the process, as in libgomp. They are not atomic: a program sets them
 * before it opens teams. A value out of range is ignored, or replaced by the nearest allowed one, without a message, as
 * in libgomp. */
#include "by_chance.h"
#include "env.h"
#include "user.h"

static void set_num_threads(int n)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL)
        icv->nthreads = n > 0 ? (unsigned)n : 1;
}

static void set_dynamic(int on)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL)
        icv->dynamic = on != 0;
}

static void set_max_active_levels(int levels)
{
    if (levels < 0)
        return;
    struct ort_icv *icv = ort_icv_write(ort_self());
    unsigned most = ort_settings.supported_levels;
    if (icv != NULL)
        icv->max_active_levels = (unsigned)levels < most ? (unsigned)levels : most;
}

static void user_set_nested(int on)
{
    if (on)
        set_max_active_levels(INT_MAX);
    else if (ort_icv(ort_self())->max_active_levels > 1)
        set_max_active_levels(1);
}

static bool nested(void)
{
    const struct ort_thread *t = ort_self();
    unsigned levels = ort_icv(t)->max_active_levels;
    return levels > 1 && levels > t->team->active_level;
}

static void set_schedule(unsigned kind, int chunk)
{
    unsigned plain = kind & ~ORT_SCHED_MONOTONIC;
    if ((plain < ORT_SCHED_STATIC || plain > ORT_SCHED_AUTO) && plain != ORT_SCHED_TRAPEZOIDAL)
        return;
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv == NULL)
        return;
    icv->sched = kind;
    if (plain != ORT_SCHED_AUTO)
        icv->chunk = chunk > 0 ? chunk : plain != ORT_SCHED_STATIC;
}

static int user_thread_limit(void)
{
    unsigned limit = ort_icv(ort_self())->thread_limit;
    return limit > INT_MAX ? INT_MAX : (int)limit;
}

static const struct ort_settings *settled(void)
{
    ort_env_ask();
    return &ort_settings;
}

static void user_set_num_teams(int n)
{
    ort_env_ask();
    if (n >= 0)
        ort_settings.num_teams = (unsigned)n;
}

static void user_set_teams_thread_limit(int n)
{
    ort_env_ask();
    if (n >= 0)
        ort_settings.teams_thread_limit = (unsigned)n;
}

USER_SET(omp_set_num_threads, set_num_threads)
USER_GET_BY_CHANCE(omp_get_max_threads, (int)ort_icv(ort_self())->nthreads, 1)
USER_SET(omp_set_dynamic, set_dynamic)
USER_GET(omp_get_dynamic, ort_icv(ort_self())->dynamic)
USER_SET(omp_set_nested, user_set_nested)
USER_GET(omp_get_nested, nested())
USER_SET(omp_set_max_active_levels, set_max_active_levels)
USER_GET(omp_get_max_active_levels, (int)ort_icv(ort_self())->max_active_levels)
USER_GET(omp_get_supported_active_levels, (int)ort_settings.supported_levels)
USER_GET(omp_get_thread_limit, user_thread_limit())
PS_EXPORT int omp_get_thread_limit_dim(int dim) { return dim == 0 ? user_thread_limit() : 1; }
USER_GET(omp_get_cancellation, settled()->cancellation)
USER_GET(omp_get_max_task_priority, settled()->max_task_priority)
USER_GET(omp_get_proc_bind, ort_self()->team->bind_var)
USER_SET(omp_set_num_teams, user_set_num_teams)
USER_GET(omp_get_max_teams, (int)settled()->num_teams)
USER_SET(omp_set_teams_thread_limit, user_set_teams_thread_limit)
USER_GET(omp_get_teams_thread_limit, (int)settled()->teams_thread_limit)

PS_EXPORT void omp_set_schedule(unsigned kind, int chunk) { set_schedule(kind, chunk); }
PS_EXPORT void omp_set_schedule_(const int32_t *kind, const int32_t *chunk) { set_schedule((unsigned)*kind, *chunk); }
PS_EXPORT void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk)
{
    set_schedule((unsigned)*kind, user_int(*chunk));
}

PS_EXPORT void omp_get_schedule(unsigned *kind, int *chunk)
{
    const struct ort_icv *icv = ort_icv(ort_self());
    *kind = ort_icv_sched(icv);
    *chunk = icv->chunk;
}

/* Fortran programs compare the kind with omp_sched_static and so on, so it is returned without the monotonic
 * modifier. */
PS_EXPORT void omp_get_schedule_(int32_t *kind, int32_t *chunk)
{
    const struct ort_icv *icv = ort_icv(ort_self());
    *kind = (int32_t)(ort_icv_sched(icv) & ~ORT_SCHED_MONOTONIC);
    *chunk = icv->chunk;
}

PS_EXPORT void omp_get_schedule_8_(int32_t *kind, int64_t *chunk)
{
    const struct ort_icv *icv = ort_icv(ort_self());
    *kind = (int32_t)(ort_icv_sched(icv) & ~ORT_SCHED_MONOTONIC);
    *chunk = icv->chunk;
}
