/* An OpenBLAS by its names, as NumPy's wheel has it: what reads and sets its number of threads, and nothing that
 * computes. It has no callback, so its jobs stay its own. */
static int threads = 4;

int scipy_openblas_get_num_threads64_(void);
void scipy_openblas_set_num_threads64_(int n);
char *scipy_openblas_get_config64_(void);
char *scipy_openblas_get_corename64_(void);
int scipy_openblas_get_parallel64_(void);

int scipy_openblas_get_num_threads64_(void) { return threads; }
void scipy_openblas_set_num_threads64_(int n) { threads = n; }
char *scipy_openblas_get_config64_(void) { return "OpenBLAS 0.3.21 NO_AFFINITY MAX_THREADS=64"; }
char *scipy_openblas_get_corename64_(void) { return "Plain"; }
int scipy_openblas_get_parallel64_(void) { return 1; }
