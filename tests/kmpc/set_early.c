/* Variables that the program sets, changes or takes away before its first OpenMP call count as libomp has it; what it
 * sets later does not. */
#include <stdlib.h>

#include "../omp/check.h"

int main(void)
{
    int n = 0, chunk;
    omp_sched_t kind;
    unsetenv("OMP_DYNAMIC");
    setenv("OMP_NUM_THREADS", "3,2", 1);
    setenv("OMP_MAX_ACTIVE_LEVELS", "4", 1);
    setenv("OMP_SCHEDULE", "guided,9", 1);
    setenv("OMP_CANCELLATION", "true", 1);
    setenv("OMP_MAX_TASK_PRIORITY", "5", 1);
    setenv("OMP_TEAMS_THREAD_LIMIT", "6", 1);
    setenv("KMP_STACKSIZE", "3m", 1);
    setenv("KMP_BLOCKTIME", "33", 1);
    setenv("KMP_LIBRARY", "throughput", 1);
    CHECK(omp_get_max_task_priority() == 5);
    setenv("OMP_NUM_THREADS", "7", 1);
    setenv("OMP_CANCELLATION", "false", 1);
    CHECK(omp_get_cancellation() && omp_get_teams_thread_limit() == 6);
    CHECK(kmp_get_stacksize_s() == 3 << 20 && kmp_get_blocktime() == 33 && kmp_get_library() == 3);
    CHECK(omp_get_max_threads() == 3 && !omp_get_dynamic() && omp_get_max_active_levels() == 4);
    omp_get_schedule(&kind, &chunk);
    CHECK(kind == omp_sched_guided && chunk == 9);
#pragma omp parallel
#pragma omp single
    n = omp_get_num_threads();
    CHECK(n == 3);
    return 0;
}
