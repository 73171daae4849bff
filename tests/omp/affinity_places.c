/* OMP_PLACES, GOMP_CPU_AFFINITY and OMP_PROC_BIND: the list of places, and what a thread has of it. The lists are made
 * of the processors that the test itself may use, whatever their numbers. */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"
#include "respawn.h"

static int cpu[CPU_SETSIZE], cpus;

static void find_cpus(void)
{
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpu[cpus++] = i;
}

/* Each place as its processors, e.g. "0,1;3;" */
static void list_places(char *text)
{
    int ids[CPU_SETSIZE];
    for (int p = 0; p < omp_get_num_places(); p++) {
        int n = omp_get_place_num_procs(p);
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < n; i++)
            text += sprintf(text, "%d%s", ids[i], i + 1 < n ? "," : "");
        text += sprintf(text, ";");
    }
    *text = '\0';
}

static int respawned(const char *mode)
{
    char text[65536];
    list_places(text);
    if (strcmp(mode, "none") == 0) {
        CHECK(omp_get_num_places() == 0 && omp_get_place_num() == -1 && omp_get_partition_num_places() == 0);
        CHECK(omp_get_proc_bind() == omp_proc_bind_false);
        CHECK(omp_get_place_num_procs(0) == 0);
        return 0;
    }
    if (strcmp(mode, "list") == 0) { /* show the list */
        fprintf(stderr, "%s", text);
        CHECK(omp_get_proc_bind() == omp_proc_bind_true);
    }
    int n = omp_get_num_places(), nums[CPU_SETSIZE];
    CHECK(n > 0 && omp_get_place_num() == 0 && omp_get_partition_num_places() == n);
    omp_get_partition_place_nums(nums);
    for (int i = 0; i < n; i++)
        CHECK(nums[i] == i);
    CHECK(omp_get_place_num_procs(-1) == 0 && omp_get_place_num_procs(n) == 0);
    return 0;
}

/* With OMP_PLACES (or another variable) = value the places are `wanted`. */
static void expect(const char *name, const char *value, const char *wanted)
{
    char entry[1024], text[65536];
    snprintf(entry, sizeof entry, "%s=%s", name, value);
    int status = respawn(text, sizeof text, "list", entry, NULL);
    if (status != 0 || strcmp(text, wanted) != 0)
        fprintf(stderr, "%s: \"%s\", wanted \"%s\"\n", entry, text, wanted);
    CHECK(status == 0 && strcmp(text, wanted) == 0);
}

static void lists(void)
{
    char value[512], wanted[512];
    int a = cpu[0], b = cpu[cpus > 1];
    snprintf(value, sizeof value, " {%d} , %d", a, b);
    snprintf(wanted, sizeof wanted, "%d;%d;", a, b);
    expect("OMP_PLACES", value, wanted);
    snprintf(value, sizeof value, "%d %d", b, a);
    snprintf(wanted, sizeof wanted, "%d;%d;", b, a);
    expect("GOMP_CPU_AFFINITY", value, wanted);
    if (cpus < 2 || b != a + 1)
        return; /* the others want two neighbours */
    snprintf(value, sizeof value, "{%d,%d},{%d}:2,!{%d}", b, a, a, b);
    snprintf(wanted, sizeof wanted, "%d,%d;%d;", a, b, a);
    expect("OMP_PLACES", value, wanted);
    snprintf(value, sizeof value, "{%d:2,!%d}:2:-1", a, a);
    snprintf(wanted, sizeof wanted, "%d;%d;", b, a);
    expect("OMP_PLACES", value, wanted);
    snprintf(value, sizeof value, "{%d:2:-1} , {%d}", b, b);
    snprintf(wanted, sizeof wanted, "%d,%d;%d;", a, b, b);
    expect("OMP_PLACES", value, wanted);
    snprintf(value, sizeof value, "%d-%d:1", a, b);
    snprintf(wanted, sizeof wanted, "%d;%d;", a, b);
    expect("GOMP_CPU_AFFINITY", value, wanted);
}

static void names(void)
{
    char text[65536], all[65536] = "";
    for (int i = 0; i < cpus; i++)
        sprintf(all + strlen(all), "%d;", cpu[i]);
    CHECK(respawn(text, sizeof text, "list", "OMP_PLACES=threads", NULL) == 0);
    CHECK(occurrences(text, ";") == cpus && strlen(text) == strlen(all));
    CHECK(respawn(text, sizeof text, "list", "OMP_PLACES= Threads ( 1 ) ", NULL) == 0);
    CHECK(occurrences(text, ";") == 1 && strlen(text) > 1);
    static char *const others[] = {"OMP_PLACES=cores", "OMP_PLACES=sockets", "OMP_PLACES=ll_caches(1)",
                                   "OMP_PLACES=numa_domains"};
    for (int i = 0; i < 4; i++) {
        CHECK(respawn(text, sizeof text, "list", others[i], NULL) == 0);
        CHECK(occurrences(text, ";") >= 1);
    }
    /* without a list, binding alone makes a place of every processor */
    CHECK(respawn(text, sizeof text, "bound", "OMP_PROC_BIND=spread,close", NULL) == 0);
    /* switched off, the list counts for nothing */
    CHECK(respawn(text, sizeof text, "none", "OMP_PROC_BIND=false", "OMP_PLACES=threads", NULL) == 0 &&
          text[0] == '\0');
}

#ifdef __clang__
#define UNREADABLE "some" /* libomp's programs get cores, or what the text begins with */
#else
#define UNREADABLE "none"
#endif

static void unreadable(void)
{
    static char *const bad[] = {
        "OMP_PLACES={0",        "OMP_PLACES=cores(0x)", "OMP_PLACES=fibres",    "OMP_PLACES={0}:0",   "OMP_PLACES={0},",
        "OMP_PLACES=!{0}",      "OMP_PLACES={0,!1}",    "OMP_PLACES={0}{1}",    "OMP_PLACES={0}:2:x", "OMP_PLACES={-1}",
        "OMP_PLACES=threads 2", "GOMP_CPU_AFFINITY=0-", "GOMP_CPU_AFFINITY=one"};
    char text[4096];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = respawn(text, sizeof text, bad[i][0] == 'O' ? UNREADABLE : "none", bad[i], NULL);
        /* a line that names the variable */
        if (status != 0 || strstr(text, bad[i][0] == 'O' ? "OMP_PLACES" : "GOMP_CPU_AFFINITY") == NULL)
            fprintf(stderr, "%s: %d, \"%s\"\n", bad[i], status, text);
        CHECK(status == 0 && strstr(text, bad[i][0] == 'O' ? "OMP_PLACES" : "GOMP_CPU_AFFINITY") != NULL);
    }
    CHECK(respawn(text, sizeof text, "none", "OMP_PROC_BIND=near", NULL) == 0 && strstr(text, "OMP_PROC_BIND") != NULL);
    CHECK(respawn(text, sizeof text, "none", "OMP_PROC_BIND=close,true", NULL) == 0 &&
          strstr(text, "OMP_PROC_BIND") != NULL);
}

int main(int argc, char **argv)
{
    unsetenv("OMP_DISPLAY_ENV");
    if (argc > 1)
        return respawned(argv[1]);
    find_cpus();
    lists();
    names();
    unreadable();
    return 0;
}
