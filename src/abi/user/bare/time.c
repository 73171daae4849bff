/* The time on bare metal, where the only clock is os_now_ns (../time.c has the usual routines). OpenMP 5.2 section
 * 18.10. */
#include "os.h"
#include "user.h"

PS_EXPORT double omp_get_wtime(void) { return (double)os_now_ns() * 1e-9; }
PS_EXPORT double omp_get_wtick(void) { return 1e-9; }
