/* What psrun's tests run: a region, then what the argument says - an exit status, "kill", or "env NAME". */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WANT_EXTRA
void GOMP_never_heard_of(void);
#endif

int main(int argc, char **argv)
{
    int in_region = 0;
#pragma omp parallel
#pragma omp critical
    in_region += omp_get_num_threads() > 0;
#ifdef WANT_EXTRA
    GOMP_never_heard_of();
#endif
    if (argc > 2 && strcmp(argv[1], "env") == 0)
        printf("%s=%s\n", argv[2], getenv(argv[2]) ? getenv(argv[2]) : "(not set)");
    if (argc > 1 && strcmp(argv[1], "kill") == 0)
        raise(SIGTERM);
    return argc > 1 ? atoi(argv[1]) : in_region < 1;
}
