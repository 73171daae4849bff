/* Every query of the runtime, in lines "WHERE NAME VALUE": before the first region, in regions, after each setting
 * routine; owners.py compares what the compiler's own runtime answers. With "PART" as argument only that part, for what
 * ends the process or changes it for good. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define OF_LLVM 1
#else
#define OF_LLVM 0
#endif

static void show(const char *where, const char *name, long value) { printf("%s %s %ld\n", where, name, value); }
#define SHOW(query) show(where, #query, (long)(query))

static void settings(const char *where)
{
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("%s schedule %#x %d\n", where, (unsigned)kind, chunk);
    SHOW(omp_get_max_threads());
    SHOW(omp_get_dynamic());
    SHOW(omp_get_nested());
    SHOW(omp_get_max_active_levels());
    SHOW(omp_get_supported_active_levels() > 200);
    SHOW(omp_get_thread_limit());
    SHOW(omp_get_cancellation());
    SHOW(omp_get_proc_bind());
    SHOW(omp_get_default_device());
    SHOW(omp_get_initial_device());
    SHOW(omp_get_num_devices());
    SHOW(omp_is_initial_device());
    SHOW(omp_get_max_task_priority());
    SHOW(omp_get_max_teams());
    SHOW(omp_get_teams_thread_limit());
    SHOW((intptr_t)omp_get_default_allocator());
}

static void place(const char *where)
{
    int nums[64];
    SHOW(omp_get_num_places());
    SHOW(omp_get_place_num());
    SHOW(omp_get_partition_num_places());
    SHOW(omp_get_place_num_procs(-1));
    SHOW(omp_get_place_num_procs(1000));
    printf("%s partition", where);
    omp_get_partition_place_nums(nums);
    for (int i = 0; i < omp_get_partition_num_places(); i++)
        printf(" %d", nums[i]);
    printf("\n%s places", where);
    for (int p = 0; p < omp_get_num_places(); p++) {
        int ids[64], n = omp_get_place_num_procs(p);
        omp_get_place_proc_ids(p, ids);
        printf(" {");
        for (int i = 0; i < n; i++)
            printf("%s%d", i ? "," : "", ids[i]);
        printf("}");
    }
    puts("");
}

static void where_am_i(const char *where)
{
    SHOW(omp_get_num_threads());
    SHOW(omp_get_thread_num());
    SHOW(omp_in_parallel());
    SHOW(omp_in_final());
    SHOW(omp_get_level());
    SHOW(omp_get_active_level());
    SHOW(omp_get_num_teams());
    SHOW(omp_get_team_num());
    SHOW(omp_get_ancestor_thread_num(-1));
    SHOW(omp_get_ancestor_thread_num(0));
    SHOW(omp_get_ancestor_thread_num(1));
    SHOW(omp_get_ancestor_thread_num(9));
    SHOW(omp_get_team_size(-1));
    SHOW(omp_get_team_size(0));
    SHOW(omp_get_team_size(1));
    SHOW(omp_get_team_size(9));
}

#if OF_LLVM
static void of_llvm(const char *where)
{
    SHOW(kmp_get_library());
    SHOW(kmp_get_stacksize());
    SHOW(kmp_get_stacksize_s());
    SHOW(kmp_get_blocktime());
    SHOW(kmp_get_affinity_max_proc());
    kmp_affinity_mask_t mask;
    kmp_create_affinity_mask(&mask);
    int status = kmp_get_affinity(&mask);
    printf("%s affinity %d:", where, status);
    for (int cpu = 0; cpu < kmp_get_affinity_max_proc() && cpu < 256; cpu++)
        printf(" %d", kmp_get_affinity_mask_proc(cpu, &mask));
    puts("");
    SHOW(kmp_get_affinity_mask_proc(-1, &mask));
    SHOW(kmp_get_affinity_mask_proc(100000, &mask));
    SHOW(kmp_set_affinity_mask_proc(-1, &mask));
    SHOW(kmp_set_affinity_mask_proc(100000, &mask));
    SHOW(kmp_unset_affinity_mask_proc(100000, &mask));
    kmp_destroy_affinity_mask(&mask);
}
#else
#define of_llvm(where) ((void)(where))
#endif

/* Members write into places of their own and are shown one after the other. */
static void regions(const char *name, int n)
{
    char where[64], bound[256] = "";
    int asked = n;
    if (asked == 0)
        asked = omp_get_max_threads();
#pragma omp parallel num_threads(asked) proc_bind(primary)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++) {
#pragma omp ordered
            {
                snprintf(where, sizeof where, "%s.%d", name, i);
                where_am_i(where);
            }
        }
    }
#pragma omp parallel num_threads(asked)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++) {
#pragma omp ordered
            {
                snprintf(where, sizeof where, "%s.%d", name, i);
                settings(where);
                place(where);
            }
        }
#pragma omp single
        {
            int sizes[3] = {0};
#pragma omp parallel num_threads(2)
            {
#pragma omp single
                sizes[0] = omp_get_num_threads();
#pragma omp master
#pragma omp parallel num_threads(2)
#pragma omp single
                sizes[1] = omp_get_num_threads();
            }
            snprintf(bound, sizeof bound, "%s.nested %d %d", name, sizes[0], sizes[1]);
        }
    }
    puts(bound);
}

static void spread_and_close(int n)
{
    int close[64] = {0}, spread[64] = {0}, primary[64] = {0};
    printf("bound");
#pragma omp parallel num_threads(n) proc_bind(close)
    close[omp_get_thread_num()] = omp_get_place_num();
#pragma omp parallel num_threads(n) proc_bind(spread)
    spread[omp_get_thread_num()] = omp_get_place_num() * 100 + omp_get_partition_num_places();
#pragma omp parallel num_threads(n) proc_bind(primary)
    primary[omp_get_thread_num()] = omp_get_place_num();
    for (int i = 0; i < n; i++)
        printf(" %d/%d/%d", close[i], spread[i], primary[i]);
    puts("");
}

static void setting_routines(void)
{
    static const int odd[] = {3, 1, 0, -1, -100, 2, 1000};
    char where[64];
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        snprintf(where, sizeof where, "set(%d)", odd[i]);
        omp_set_num_threads(odd[i]);
        SHOW(omp_get_max_threads());
        omp_set_dynamic(odd[i]);
        SHOW(omp_get_dynamic());
        omp_set_nested(odd[i]);
        SHOW(omp_get_max_active_levels());
        SHOW(omp_get_nested());
        omp_set_max_active_levels(odd[i]);
        SHOW(omp_get_max_active_levels());
        SHOW(omp_get_nested());
        omp_set_num_teams(odd[i]);
        SHOW(omp_get_max_teams());
        omp_set_teams_thread_limit(odd[i]);
        SHOW(omp_get_teams_thread_limit());
        omp_set_default_device(odd[i] > 0 ? odd[i] : 0);
        SHOW(omp_get_default_device());
    }
    static const unsigned kinds[] = {omp_sched_static,
                                     omp_sched_dynamic,
                                     omp_sched_guided,
                                     omp_sched_auto,
                                     omp_sched_monotonic | omp_sched_dynamic,
                                     omp_sched_monotonic | omp_sched_static};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned k = 0; k < 4; k++) {
            omp_sched_t kind;
            int chunk;
            omp_set_schedule((omp_sched_t)kinds[i], odd[k]);
            omp_get_schedule(&kind, &chunk);
            printf("set schedule %#x %d: %#x %d\n", kinds[i], odd[k], (unsigned)kind, chunk);
        }
    omp_set_max_active_levels(1);
    omp_set_num_threads(2);
    omp_set_dynamic(0);
    snprintf(where, sizeof where, "inside");
    int before = omp_get_max_threads();
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
            omp_set_num_threads(5);
            omp_set_max_active_levels(4);
            SHOW(omp_get_max_threads());
            SHOW(omp_get_max_active_levels());
        }
    }
    SHOW(omp_get_max_threads() - before);
    SHOW(omp_get_max_active_levels());
}

#if OF_LLVM
static int team_of(int n)
{
    int size = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

static void routines_of_llvm(void)
{
    const char *where = "kmp";
    kmp_set_blocktime(7);
    SHOW(kmp_get_blocktime());
    kmp_set_blocktime(-1);
    SHOW(kmp_get_blocktime());
    kmp_set_library_turnaround();
    SHOW(kmp_get_library());
    SHOW(omp_get_max_threads());
    kmp_set_library_serial();
    SHOW(kmp_get_library());
    SHOW(omp_get_max_threads());
    SHOW(team_of(2));
    omp_set_num_threads(3);
    SHOW(omp_get_max_threads());
    SHOW(team_of(3));
    kmp_set_library_throughput();
    SHOW(kmp_get_library());
    SHOW(omp_get_max_threads());
    SHOW(team_of(2));
    kmp_set_library(1);
    SHOW(kmp_get_library());
    SHOW(team_of(2));
    kmp_set_library(3);
    SHOW(team_of(3));
    kmp_set_defaults("KMP_BLOCKTIME=3");
    SHOW(kmp_get_blocktime());
    kmp_set_stacksize_s(1 << 20);
    SHOW(kmp_get_stacksize_s());
    kmp_affinity_mask_t mask, got;
    kmp_create_affinity_mask(&mask);
    kmp_create_affinity_mask(&got);
    SHOW(kmp_set_affinity_mask_proc(0, &mask));
    SHOW(kmp_set_affinity(&mask));
    SHOW(kmp_get_affinity(&got));
    SHOW(kmp_get_affinity_mask_proc(0, &got) + 2 * kmp_get_affinity_mask_proc(1, &got));
    SHOW(omp_get_num_procs());
    SHOW(omp_get_place_num());
}
#endif

int main(int argc, char **argv)
{
    const char *where = "start", *part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "error") == 0) {
#if OF_LLVM
#pragma omp error at(execution) severity(warning) message("a message")
#pragma omp error at(execution) severity(warning)
        fflush(stdout);
#pragma omp error at(execution) severity(fatal) message("the end")
#endif
        return 0;
    }
    if (strcmp(part, "pause") == 0) {
        SHOW(omp_pause_resource(omp_pause_soft, omp_get_initial_device()));
        SHOW(omp_pause_resource_all(omp_pause_hard));
        SHOW(omp_pause_resource((omp_pause_resource_t)7, omp_get_initial_device()));
        SHOW(omp_pause_resource(omp_pause_soft, 1000));
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            SHOW(omp_pause_resource(omp_pause_soft, omp_get_initial_device()));
            SHOW(omp_pause_resource_all(omp_pause_soft));
        }
        return 0;
    }
    if (strcmp(part, "set") == 0) {
        setting_routines();
        return 0;
    }
#if OF_LLVM
    if (strcmp(part, "kmp") == 0) {
        routines_of_llvm();
        return 0;
    }
#endif
    SHOW(omp_get_num_procs());
    settings(where);
    place(where);
    where_am_i(where);
    of_llvm(where);
#if !OF_LLVM
    omp_display_env(1);
#endif
    omp_set_dynamic(0); /* from here on nothing depends on how busy the machine is */
    regions("region", 0);
    regions("three", 3);
    for (int n = 1; n < 8; n++)
        spread_and_close(n);
#pragma omp teams num_teams(2)
#pragma omp parallel num_threads(2)
#pragma omp master
    if (omp_get_team_num() == 0)
        SHOW(omp_get_num_threads());
    where = "end";
    settings(where);
    place(where);
    of_llvm(where);
    puts("done");
    return 0;
}
