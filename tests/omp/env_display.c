/* OMP_DISPLAY_ENV: the lines, their order and the values' spelling; omp_display_env. */
#include "check.h"
#include "respawn.h"

static const char *const names[] = {"_OPENMP",
                                    "OMP_DYNAMIC",
                                    "OMP_NESTED",
                                    "OMP_NUM_THREADS",
                                    "OMP_SCHEDULE",
                                    "OMP_PROC_BIND",
                                    "OMP_PLACES",
                                    "OMP_STACKSIZE",
                                    "OMP_WAIT_POLICY",
                                    "OMP_THREAD_LIMIT",
                                    "OMP_MAX_ACTIVE_LEVELS",
                                    "OMP_NUM_TEAMS",
                                    "OMP_TEAMS_THREAD_LIMIT",
                                    "OMP_CANCELLATION",
                                    "OMP_DEFAULT_DEVICE",
                                    "OMP_MAX_TASK_PRIORITY",
                                    "OMP_DISPLAY_AFFINITY",
                                    "OMP_AFFINITY_FORMAT",
                                    "OMP_ALLOCATOR",
                                    "OMP_TARGET_OFFLOAD",
                                    "GOMP_CPU_AFFINITY",
                                    "GOMP_STACKSIZE",
                                    "GOMP_SPINCOUNT"};
enum { PLAIN = 20, VERBOSE = 23 };

/* Newer runtimes begin a line with the device that its value is for; libgomp 12 does not: takes the words in brackets
 * out. */
static void plain(char *text)
{
    for (char *at = text; (at = strstr(at, "\n  [")) != NULL;) {
        char *end = strchr(at, ']');
        CHECK(end != NULL && end[1] == ' ');
        memmove(at + 3, end + 2, strlen(end + 2) + 1);
        at += 3;
    }
}

/* All of them, in that order, each on a line of its own. */
static void check_form(char *text, int n)
{
    plain(text);
    char line[64];
    const char *at = strstr(text, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n");
    CHECK(at != NULL && strstr(at, "OPENMP DISPLAY ENVIRONMENT END\n") != NULL);
    for (int i = 0; i < n; i++) {
        snprintf(line, sizeof line, "\n  %s = '", names[i]);
        at = strstr(at, line);
        CHECK(at != NULL);
        at++;
    }
    CHECK(occurrences(text, " = '") == n);
}

static void check_line(const char *text, const char *name, const char *value)
{
    char line[128];
    snprintf(line, sizeof line, "\n  %s = '%s'\n", name, value);
    if (strstr(text, line) == NULL)
        fprintf(stderr, "no %s in %s", line, text);
    CHECK(strstr(text, line) != NULL);
}

int main(int argc, char **argv)
{
    char text[16384];
    if (argc > 1) {
        if (argv[1][0] != '-')
            omp_display_env(argv[1][0] == 'v');
        return 0;
    }
    CHECK(respawn(text, sizeof text, "-", "OMP_DISPLAY_ENV=true", "OMP_NUM_THREADS=3,2", "OMP_SCHEDULE=guided,4",
                  "OMP_CANCELLATION=true", "OMP_PROC_BIND=false", "OMP_THREAD_LIMIT=77", "OMP_MAX_TASK_PRIORITY=5",
                  "OMP_WAIT_POLICY=active", "OMP_AFFINITY_FORMAT=x%N", "OMP_ALLOCATOR=omp_const_mem_alloc",
                  "OMP_TARGET_OFFLOAD=disabled", "OMP_STACKSIZE=2M", "OMP_NUM_TEAMS=6", NULL) == 0);
    check_form(text, PLAIN);
    static const char *const values[][2] = {{"OMP_NUM_THREADS", "3,2"},
                                            {"OMP_NESTED", "TRUE"},
                                            {"OMP_SCHEDULE", "GUIDED,4"},
                                            {"OMP_CANCELLATION", "TRUE"},
                                            {"OMP_PROC_BIND", "FALSE"},
                                            {"OMP_PLACES", ""},
                                            {"OMP_THREAD_LIMIT", "77"},
                                            {"OMP_MAX_TASK_PRIORITY", "5"},
                                            {"OMP_WAIT_POLICY", "ACTIVE"},
                                            {"OMP_AFFINITY_FORMAT", "x%N"},
                                            {"OMP_ALLOCATOR", "omp_const_mem_alloc"},
                                            {"OMP_TARGET_OFFLOAD", "DISABLED"},
                                            {"OMP_STACKSIZE", "2097152"},
                                            {"OMP_NUM_TEAMS", "6"},
                                            {"OMP_MAX_ACTIVE_LEVELS", "255"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check_line(text, values[i][0], values[i][1]);
    static const char *const schedules[][2] = {{"OMP_SCHEDULE=static", "STATIC"},
                                               {"OMP_SCHEDULE=nonmonotonic:static,3", "NONMONOTONIC:STATIC,3"},
                                               {"OMP_SCHEDULE=monotonic:dynamic", "MONOTONIC:DYNAMIC"},
                                               {"OMP_SCHEDULE=nonmonotonic:dynamic,1", "DYNAMIC"},
                                               {"OMP_SCHEDULE=auto", "AUTO"}};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        CHECK(respawn(text, sizeof text, "-", "OMP_DISPLAY_ENV=TRUE", schedules[i][0], NULL) == 0);
        plain(text);
        check_line(text, "OMP_SCHEDULE", schedules[i][1]);
    }
    CHECK(respawn(text, sizeof text, "-", "OMP_DISPLAY_ENV= verbose ", "GOMP_SPINCOUNT=5k", NULL) == 0);
    check_form(text, VERBOSE);
    check_line(text, "GOMP_SPINCOUNT", "5000");
    static const char *const counts[][2] = {
        {"OMP_WAIT_POLICY=active", "30000000000"}, {"OMP_WAIT_POLICY=passive", "0"}, {"OMP_WAIT_POLICY", "300000"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        CHECK(respawn(text, sizeof text, "-", "OMP_DISPLAY_ENV=verbose", counts[i][0], NULL) == 0);
        check_form(text, VERBOSE);
        check_line(text, "GOMP_SPINCOUNT", counts[i][1]);
    }
    CHECK(respawn(text, sizeof text, "plain", "OMP_DISPLAY_ENV=false", NULL) == 0);
    check_form(text, PLAIN);
    CHECK(respawn(text, sizeof text, "verbose", "OMP_DISPLAY_ENV", NULL) == 0);
    check_form(text, VERBOSE);
    CHECK(respawn(text, sizeof text, "-", "OMP_DISPLAY_ENV=maybe", NULL) == 0);
    CHECK(strstr(text, "OMP_DISPLAY_ENV") != NULL && strstr(text, "BEGIN") == NULL);
    return 0;
}
