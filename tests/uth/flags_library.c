/* A library that reads status flags of floating point, with and without OpenMP constructs (tls_libraries.c). */
#include <fenv.h>
int flags(void);
int flags(void) { return fetestexcept(FE_ALL_EXCEPT); }
#if WITH_CONSTRUCT /* as a compiler's code has it; weak, for there is no OpenMP runtime here */
void GOMP_barrier(void) __attribute__((weak));
void construct(void);
void construct(void)
{
    if (GOMP_barrier)
        GOMP_barrier();
}
#endif
