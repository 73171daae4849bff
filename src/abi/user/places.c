/* Places. OpenMP 5.2 section 18.3.2 ff. If there are no places, the routines return -1 or 0, or store nothing. */
#include "place.h"
#include "user.h"

/* Returns the processors of the place, and their number in *n. NULL: there is no such place. */
static const unsigned *user_place_processors(int place, unsigned *n)
{
    const struct ort_places *list = ort_places();
    *n = 0;
    if (list == NULL || place < 0 || (unsigned)place >= list->n)
        return NULL;
    *n = list->first[place + 1] - list->first[place];
    return list->cpu + list->first[place];
}

static int user_num_places(void)
{
    const struct ort_places *list = ort_places();
    return list == NULL ? 0 : (int)list->n;
}

static int place_num_procs(int place)
{
    unsigned n;
    user_place_processors(place, &n);
    return (int)n;
}

static struct ort_place user_own_place(void)
{
    struct ort_place place = {.place = UINT_MAX};
    ort_place_of(ort_self(), &place);
    return place;
}

USER_GET(omp_get_num_places, user_num_places())
USER_GET_OF(omp_get_place_num_procs, place_num_procs)
USER_GET(omp_get_place_num, (int)user_own_place().place)
USER_GET(omp_get_partition_num_places, (int)user_own_place().n)

static void proc_ids(int place, int *ids)
{
    unsigned n;
    const unsigned *cpu = user_place_processors(place, &n);
    for (unsigned i = 0; i < n; i++)
        ids[i] = (int)cpu[i];
}

PS_EXPORT void omp_get_place_proc_ids(int place, int *ids) { proc_ids(place, ids); }
PS_EXPORT void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids) { proc_ids(*place, (int *)ids); }
PS_EXPORT void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
{
    unsigned n;
    const unsigned *cpu = user_place_processors(user_int(*place), &n);
    for (unsigned i = 0; i < n; i++)
        ids[i] = cpu[i];
}

static void partition_place_nums(int *nums)
{
    struct ort_place place = user_own_place();
    for (unsigned i = 0; i < place.n; i++)
        nums[i] = (int)(place.first + i);
}

PS_EXPORT void omp_get_partition_place_nums(int *nums) { partition_place_nums((int *)nums); }
PS_EXPORT void omp_get_partition_place_nums_(int32_t *nums) { partition_place_nums((int *)nums); }
PS_EXPORT void omp_get_partition_place_nums_8_(int64_t *nums)
{
    struct ort_place place = user_own_place();
    for (unsigned i = 0; i < place.n; i++)
        nums[i] = (int64_t)place.first + i;
}
