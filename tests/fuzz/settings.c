/* What the environment has led to, in lines "NAME value", and two regions. Compared between runtimes by env_fuzz.py. */
#include <omp.h>
#include <stdio.h>

static int region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner += omp_get_num_threads() >= 1;
        sum += inner >= 1;
    }
    return sum;
}

static void show_places(void)
{
    printf("OMP_PLACES");
    for (int p = 0; p < omp_get_num_places(); p++) {
        int n = omp_get_place_num_procs(p), ids[4096];
        if (n > 4096)
            n = 4096;
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < n; i++)
            printf("%s%d", i ? "," : p ? "|" : " ", ids[i]);
    }
    puts("");
}

int main(void)
{
    omp_sched_t kind;
    int chunk, early = omp_get_max_threads();
    char format[8192];
    omp_get_schedule(&kind, &chunk);
    printf("OMP_NUM_THREADS %d\n", early);
    printf("OMP_DYNAMIC %d\n", omp_get_dynamic());
    printf("OMP_MAX_ACTIVE_LEVELS %d\n", omp_get_max_active_levels());
    printf("OMP_THREAD_LIMIT %d\n", omp_get_thread_limit());
    printf("OMP_CANCELLATION %d\n", omp_get_cancellation());
    printf("OMP_SCHEDULE %#x %d\n", (unsigned)kind, chunk);
    printf("OMP_PROC_BIND %d\n", (int)omp_get_proc_bind());
    printf("OMP_DEFAULT_DEVICE %d\n", omp_get_default_device());
    printf("OMP_MAX_TASK_PRIORITY %d\n", omp_get_max_task_priority());
    printf("OMP_NUM_TEAMS %d\n", omp_get_max_teams());
    printf("OMP_TEAMS_THREAD_LIMIT %d\n", omp_get_teams_thread_limit());
    printf("OMP_ALLOCATOR %lu\n", (unsigned long)omp_get_default_allocator());
    size_t n = omp_get_affinity_format(format, sizeof format);
    printf("OMP_AFFINITY_FORMAT %zu ", n);
    for (size_t i = 0; i < n && i < sizeof format; i++)
        printf("%02x", (unsigned)(unsigned char)format[i]);
    puts("");
    show_places();
    int sum = region();
    if (sum < 1 || sum > 2 || omp_get_max_threads() != early)
        return 1;
    puts("done");
    return 0;
}
