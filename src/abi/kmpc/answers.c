/* Routines that libomp answers differently from libgomp, under libomp's version node: places, the policy, nesting,
 * teams' limits, pausing. versions.S has the routines that both answer alike. The values are the core's. They are
 * returned as libomp 19 would return them:
 * - If a process's threads are not bound, it has one place, with all processors. It has none with
 *   KMP_AFFINITY=disabled. It has none with OMP_PROC_BIND=disabled either, unless GOMP_CPU_AFFINITY or a type in
 *   KMP_AFFINITY is given.
 * - With KMP_AFFINITY=reset a root has no place before its first region.
 * - The number of processors does not depend on the caller's mask (num_procs).
 * - With places that KMP_AFFINITY or GOMP_CPU_AFFINITY asked for, the policy is 5 (proc_bind_intel).
 * - omp_set_nested(1) does not change a limit above one. omp_get_nested is true if the limit is above one.
 * - A number of teams, or a limit for teams, below one counts as one.
 * - A pause lasts until __kmpc_fork_call(_if) opens a region. Until then another pause is refused (1).
 * Callers: any thread. State: kmpc_paused, read and written relaxed: programs that pause in several threads at once
 * rely on no order. */
#include <limits.h>

#include "env.h"
#include "kmpc.h"
#include "kmpc_env.h"
#include "os.h"
#include "place.h"

/* Defines int omp_name(void) for both languages. */
#define ANSWER(name, value)                             \
    PS_EXPORT int kmpc_##name(void) { return (value); } \
    KMPC_FORTRAN(kmpc_##name);                          \
    KMPC_AS(name);                                      \
    KMPC_AS(name##_)

/* Defines type omp_name(int value) for both languages. */
#define CALL(type, name, function)                                                   \
    PS_EXPORT type kmpc_##name(int value) { return function(value); }                \
    PS_EXPORT type kmpc_##name##_(const int32_t *value) { return function(*value); } \
    KMPC_AS(name);                                                                   \
    KMPC_AS(name##_)

/* --- places --- */

#define BIND_INTEL 5

static int kmpc_num_places(void)
{
    const struct ort_places *list = ort_places();
    return list != NULL ? (int)list->n : !kmpc_settings.no_affinity;
}

static struct ort_place kmpc_own_place(void)
{
    const struct ort_thread *t = ort_self();
    bool none = kmpc_settings.no_affinity || (kmpc_settings.reset && t->team->parent == NULL && t->hot == NULL);
    struct ort_place place = {.place = none ? UINT_MAX : 0, .n = !none};
    if (!none)
        ort_place_of(t, &place);
    return place;
}

/* Stores the processors of a place in ids, unless ids is NULL. Returns how many there are. */
static int kmpc_place_processors(int place, int *ids)
{
    const struct ort_places *list = ort_places();
    int n = 0;
    if (place < 0 || place >= kmpc_num_places())
        return 0;
    if (list == NULL) {
        struct os_cpuset all;
        os_affinity_at_start(&all);
        for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++)
            if (os_cpuset_has(&all, cpu) && n++ >= 0 && ids != NULL)
                ids[n - 1] = (int)cpu;
        return n;
    }
    for (unsigned i = list->first[place]; i < list->first[place + 1]; i++, n++)
        if (ids != NULL)
            ids[n] = (int)list->cpu[i];
    return n;
}

/* Returns the number of processors that the process could use at its start, even if one of its threads has bound itself
 * since. A CPU quota makes it smaller; if OMP_PLACES gives a number of places ("cores(4)"), only their processors
 * count. */
static int num_procs(void)
{
    struct os_cpuset all;
    ort_processors_restrict();
    unsigned limit = ort_places_limit(), quota = os_cpu_quota();
    if (limit != 0)
        return (int)limit;
    os_affinity_at_start(&all);
    unsigned n = os_cpuset_count(&all);
    return (int)(quota != 0 && quota < n ? quota : n > 0 ? n : 1);
}

static int policy(void)
{
    int bind = ort_self()->team->bind_var;
    return bind == ort_settings.bind && ort_places_of_abi() ? BIND_INTEL : bind;
}

ANSWER(get_num_procs, num_procs());
ANSWER(get_num_places, kmpc_num_places());
ANSWER(get_place_num, (int)kmpc_own_place().place);
ANSWER(get_partition_num_places, (int)kmpc_own_place().n);
ANSWER(get_proc_bind, policy());

static int place_num_procs_as_libomp(int place) { return kmpc_place_processors(place, NULL); }
CALL(int, get_place_num_procs, place_num_procs_as_libomp);
PS_EXPORT void kmpc_get_place_proc_ids(int place, int *ids) { kmpc_place_processors(place, ids); }
KMPC_AS(get_place_proc_ids);
PS_EXPORT void kmpc_get_place_proc_ids_(const int32_t *place, int32_t *ids) { kmpc_place_processors(*place, ids); }
KMPC_AS(get_place_proc_ids_);
PS_EXPORT void kmpc_get_partition_place_nums(int *nums)
{
    struct ort_place place = kmpc_own_place();
    for (unsigned i = 0; i < place.n; i++)
        nums[i] = (int)(place.first + i);
}
KMPC_FORTRAN(kmpc_get_partition_place_nums);
KMPC_AS(get_partition_place_nums);
KMPC_AS(get_partition_place_nums_);

/* --- nesting, teams --- */

static void change_nested_as_libomp(int on)
{
    struct ort_icv *icv = ort_icv_write(ort_self());
    if (icv != NULL && (!on || icv->max_active_levels == 1))
        icv->max_active_levels = on ? ort_settings.supported_levels : 1;
}
static void change_num_teams_as_libomp(int n)
{
    ort_env_ask();
    ort_settings.num_teams = n < 1 ? 1 : (unsigned)n;
}
static void change_teams_thread_limit_as_libomp(int n)
{
    ort_env_ask();
    ort_settings.teams_thread_limit = n < 1 ? 1 : (unsigned)n;
}

ANSWER(get_nested, ort_icv(ort_self())->max_active_levels > 1);
CALL(void, set_nested, change_nested_as_libomp);
CALL(void, set_num_teams, change_num_teams_as_libomp);
CALL(void, set_teams_thread_limit, change_teams_thread_limit_as_libomp);

/* --- pausing --- */

#define SOFT 1
#define HARD 2
_Atomic bool kmpc_paused;

int kmpc_pause(int kind)
{
    if ((kind != SOFT && kind != HARD) || ps_load_relaxed(&kmpc_paused))
        return 1;
    /* Inside of a region ort_pause refuses, but this function returns 0 there, too. */
    ort_pause(kind == HARD);
    ps_store_relaxed(&kmpc_paused, true);
    return 0;
}

/* Only the host's numbers are accepted: the host is the only device. */
static int kmpc_pause_device(int kind, int device) { return device == 0 || device == -1 ? kmpc_pause(kind) : 1; }

PS_EXPORT int kmpc_pause_resource(int kind, int device) { return kmpc_pause_device(kind, device); }
KMPC_AS(pause_resource);
PS_EXPORT int32_t kmpc_pause_resource_(const int32_t *kind, const int32_t *device)
{
    return kmpc_pause_device(*kind, *device);
}
KMPC_AS(pause_resource_);
CALL(int, pause_resource_all, kmpc_pause);
