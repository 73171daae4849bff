/* For display.py: asks the runtime by compiled code's calls, and "asked" shows the environment once more. */
#include <omp.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    (void)argv;
#pragma omp parallel
    omp_get_thread_num();
    if (argc > 1)
        omp_display_env(0);
    return 0;
}
