/* Libraries with thread pools, as far as others can see: what they export. -D chooses one of them. Their pools have no
 * threads. */
#include <string.h>

#if defined OPENBLAS || defined FFTW || defined BLIS
int pthread_create(void *, const void *, void *(*)(void *), void *);
int start_a_thread(void) { return pthread_create(0, 0, 0, 0); }
#endif

#ifdef OPENBLAS /* as SciPy's wheels name it */
static int threads = 4;
void *blas_callback;
char *scipy_openblas_get_config64_(void) { return "OpenBLAS " OPENBLAS " DYNAMIC_ARCH NO_AFFINITY MAX_THREADS=64"; }
char *scipy_openblas_get_corename64_(void) { return "Haswell"; }
int scipy_openblas_get_parallel64_(void) { return 1; }
int scipy_openblas_get_num_threads64_(void) { return threads; }
int scipy_openblas_get_num_threads_64_(void) { return -1; } /* Fortran's is not asked */
void scipy_openblas_set_num_threads64_(int n) { threads = n; }
void scipy_goto_set_num_threads64_(int n) { threads = n; }
int exec_blas(long num, void *jobs) { return num != 0 && jobs; }
#ifdef CALLBACK
void scipy_openblas_set_threads_callback_function64_(void *callback) { blas_callback = callback; }
#endif
#endif

#ifdef FFTW
const char fftwf_version[] = "fftw-3.3.10-sse2-avx";
int fftwf_init_threads(void) { return 1; }
int fftwf_planner_nthreads(void) { return 3; }
#endif

#ifdef TBB
int TBB_runtime_interface_version(void) { return 12090; }
const char *TBB_runtime_version(void) { return "2021.9"; }
#endif

#ifdef MKL
int MKL_Get_Max_Threads(void) { return 5; }
void MKL_Get_Version_String(char *text, int n)
{
    strncpy(text, "The Library Version 2026.2-Product Build x", (size_t)n);
}
int fftw_init_threads(void) { return 1; } /* it has FFTW's functions, too */
const char fftwf_version[] = "fftw-0.0";
#endif

#ifdef BLIS
long bli_thread_get_num_threads(void) { return -1; }
const char *bli_info_get_version_str(void) { return "0.9"; }
long bli_info_get_enable_openmp(void) { return 0; }
long bli_info_get_enable_pthreads(void) { return 1; }
int bli_arch_query_id(void) { return 2; }
const char *bli_arch_string(int id) { return id == 2 ? "zen" : "?"; }
#endif

#ifdef TORCH
unsigned long _ZN2at23get_num_interop_threadsEv(void) { return 8; }
#endif

#ifdef GOMP
void GOMP_parallel(void) {}
int omp_get_max_threads(void) { return 7; }
#endif

#ifdef NOTHING
int nothing;
#endif
