/* Places. OpenMP 5.2 section 18.3.2 ff. If there are no places, the routines return -1 or 0, or store nothing. */
#include "place.h"
#include "user.h"

/* Sets [*i, *end) to the place's range in the list of processors, which it returns. An empty range: there is no such
 * place. */
static const struct ort_places *user_place_processors(int place, unsigned *i, unsigned *end)
{
    const struct ort_places *list = ort_places();
    bool exists = list != NULL && place >= 0 && (unsigned)place < list->n;
    *i = exists ? list->first[place] : 0;
    *end = exists ? list->first[place + 1] : 0;
    return list;
}

static int user_num_places(void)
{
    const struct ort_places *list = ort_places();
    return list == NULL ? 0 : (int)list->n;
}

static int place_num_procs(int place)
{
    unsigned i, end;
    user_place_processors(place, &i, &end);
    return (int)(end - i);
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
    unsigned i, end;
    const struct ort_places *list = user_place_processors(place, &i, &end);
    for (; i < end; i++)
        *ids++ = (int)ort_place_cpu(list, i);
}

PS_EXPORT void omp_get_place_proc_ids(int place, int *ids) { proc_ids(place, ids); }
PS_EXPORT void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids) { proc_ids(*place, (int *)ids); }
PS_EXPORT void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
{
    unsigned i, end;
    const struct ort_places *list = user_place_processors(user_int(*place), &i, &end);
    for (; i < end; i++)
        *ids++ = ort_place_cpu(list, i);
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
