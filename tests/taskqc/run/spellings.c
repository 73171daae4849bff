/* clang-format off */ /* Spellings of a directive: Intel's, comments and line ends inside of one. */
#include "check.h"
int main(void)
{
    int x = 0, y = 0, z = 0;
#pragma intel_omp_parallel_taskq num_threads(2)
    {
#\
pragma /* c */ intel /* d */ omp \
   task /* e
 */ captureprivate /* f */ ( y , z ) // end
        { x = 1 + y + z; }
#pragma intel omp taskq private(y)
        for (y = 0; y < 3; y++)
#pragma intel_omp_task
            __atomic_add_fetch(&z, y, __ATOMIC_SEQ_CST);
    }
    CHECK(x == 1 && z == 3);
    return 0;
}
