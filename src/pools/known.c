/* The table of known thread pools, and the advice about each. See known.h. */
#include "known.h"

#include <string.h>

const struct known_api known_api[KNOWN_KINDS] = {
    [KNOWN_NONE] = {"", ""},        [KNOWN_OPENMP] = {"openmp", "openmp"}, [KNOWN_OPENBLAS] = {"blas", "openblas"},
    [KNOWN_MKL] = {"blas", "mkl"},  [KNOWN_BLIS] = {"blas", "blis"},       [KNOWN_FFTW] = {"fft", "fftw"},
    [KNOWN_TBB] = {"tasks", "tbb"}, [KNOWN_NUMBA] = {"numba", "numba"},    [KNOWN_TORCH] = {"torch", "torch"},
};

const char *const known_ours[] = {[KNOWN_NO] = "no", [KNOWN_YES] = "yes", [KNOWN_COULD_BE] = "could be"};

static const char *leaf_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static bool begins_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

/* MKL is tested before FFTW, because MKL has FFTW's functions, too. */
enum known_kind known_kind_of(const char *file, bool (*defines)(const void *object, const char *name, bool part),
                              const void *object)
{
    static const struct {
        enum known_kind kind;
        const char *name;
        bool part;
    } marks[] = {
        {KNOWN_MKL, "MKL_Get_Max_Threads", false},
        {KNOWN_OPENBLAS, "openblas_get_config", true}, /* builds add prefixes and suffixes: scipy_openblas_...64_ */
        {KNOWN_BLIS, "bli_thread_get_num_threads", false},
        {KNOWN_FFTW, "fftw_init_threads", false},
        {KNOWN_FFTW, "fftwf_init_threads", false},
        {KNOWN_FFTW, "fftwl_init_threads", false},
        {KNOWN_FFTW, "fftwq_init_threads", false},
        {KNOWN_TBB, "TBB_runtime_interface_version", false},
        {KNOWN_TORCH, "_ZN2at23get_num_interop_threadsEv", false},
        {KNOWN_OPENMP, "GOMP_parallel", false},
        {KNOWN_OPENMP, "__kmpc_fork_call", false},
    };
    if (known_numba_layer(file))
        return KNOWN_NUMBA;
    for (unsigned i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (defines(object, marks[i].name, marks[i].part))
            return marks[i].kind;
    return KNOWN_NONE;
}

bool known_is_openmp_name(const char *name)
{
    return begins_with(name, "GOMP_") || begins_with(name, "__kmpc_") || begins_with(name, "omp_");
}

const char *known_prefix(const char *file, size_t *n)
{
    static const char *const theirs[] = {"libopenblas", "libscipy_openblas", "libblis", "libmkl_rt",
                                         "libiomp",     "libgomp",           "libomp"};
    const char *leaf = leaf_of(file);
    *n = strcspn(leaf, ".-");
    for (unsigned i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        if (begins_with(leaf, theirs[i]))
            *n = strlen(theirs[i]);
    return leaf;
}

const char *known_mkl_layer(const char *file)
{
    const char *leaf = leaf_of(file);
    return begins_with(leaf, "libmkl_intel_thread.") ? "intel"
           : begins_with(leaf, "libmkl_gnu_thread.") ? "gnu"
           : begins_with(leaf, "libmkl_tbb_thread.") ? "tbb"
           : begins_with(leaf, "libmkl_sequential.") ? "sequential"
                                                     : NULL;
}

bool known_is_mkl_front(const char *file) { return begins_with(leaf_of(file), "libmkl_rt."); }

const char *known_numba_layer(const char *file)
{
    static const char folder[] = "/numba/np/ufunc/";
    const char *at = strstr(file, folder);
    const char *leaf = at ? at + sizeof folder - 1 : "";
    return begins_with(leaf, "omppool.")     ? "omp"
           : begins_with(leaf, "tbbpool.")   ? "tbb"
           : begins_with(leaf, "workqueue.") ? "workqueue"
                                             : NULL;
}

static bool is_by_openmp(const struct known_facts *f)
{
    static const char *const layers[] = {"openmp", "omp", "intel", "gnu"};
    for (unsigned i = 0; f->layer && i < sizeof layers / sizeof layers[0]; i++)
        if (strcmp(f->layer, layers[i]) == 0)
            return true;
    return false;
}

#define UNDER_PSRUN "run the program under psrun"

static enum known_ours judge_openmp(const struct known_facts *f, const char **advice)
{
    *advice = f->is_runtime     ? "this is psthreads"
              : f->openmp_taken ? "a copy that is loaded and not used: its callers find psthreads' functions first"
              : f->runtime      ? "its callers were bound to it: it was loaded before psthreads, or apart from it"
                                : UNDER_PSRUN;
    return f->is_runtime || f->openmp_taken ? KNOWN_YES : f->runtime ? KNOWN_NO : KNOWN_COULD_BE;
}

static enum known_ours judge_user_of_openmp(const struct known_facts *f, const char **advice)
{
    *advice = f->openmp_taken ? "it computes by OpenMP, which psthreads runs"
              : f->runtime    ? "it computes by OpenMP, by a runtime that is not psthreads"
                              : UNDER_PSRUN;
    return f->openmp_taken ? KNOWN_YES : f->runtime ? KNOWN_NO : KNOWN_COULD_BE;
}

/* Does what known_judge does, for OpenBLAS and FFTW with threads of their own. */
static enum known_ours judge_open(const struct known_facts *f, const char **advice)
{
    bool fftw = f->kind == KNOWN_FFTW;
    *advice = f->is_taken ? "its parallel calls run on psthreads' virtual processors"
              : !f->is_open && fftw
                  ? "before version 3.3.9 it keeps its threads to itself: link with -lfftw3_omp instead"
              : !f->is_open ? "before version 0.3.28 it keeps its threads to itself: use its OpenMP build (Debian: "
                              "libopenblas0-openmp), or OPENBLAS_NUM_THREADS=1"
              : f->left     ? f->left
              : !f->runtime ? UNDER_PSRUN
              : fftw        ? "psthreads can run its parallel calls: psrun --pools fftw, and no --ee pthreads"
                            : "psthreads can run its parallel calls: psrun --pools openblas, and no --ee pthreads";
    return f->is_taken ? KNOWN_YES : f->is_open && !f->left ? KNOWN_COULD_BE : KNOWN_NO;
}

enum known_ours known_judge(const struct known_facts *f, const char **advice)
{
    static const char *const others[KNOWN_KINDS] = {
        [KNOWN_MKL] = "MKL_THREADING_LAYER=GNU: then it computes by OpenMP, which psthreads runs",
        [KNOWN_BLIS] = "it keeps its threads to itself: use its OpenMP build, or BLIS_NUM_THREADS=1",
        [KNOWN_TBB] = "its threads are its own; a bound: tbb::global_control, in Python python -m tbb -p 1",
        [KNOWN_NUMBA] = "NUMBA_THREADING_LAYER=omp: then it computes by OpenMP, which psthreads runs",
        [KNOWN_TORCH] = "operators beside one another have threads of their own: torch.set_num_interop_threads(1)",
    };
    if (f->kind == KNOWN_OPENMP)
        return judge_openmp(f, advice);
    if (f->layer && (strcmp(f->layer, "disabled") == 0 || strcmp(f->layer, "sequential") == 0)) {
        *advice = "it has no threads";
        return KNOWN_NO;
    }
    if (is_by_openmp(f) && !f->is_taken)
        return judge_user_of_openmp(f, advice);
    if (f->kind == KNOWN_OPENBLAS || f->kind == KNOWN_FFTW)
        return judge_open(f, advice);
    if (f->kind == KNOWN_MKL && !f->layer) {
        *advice = "not used so far; by default it computes by OpenMP, which psthreads runs";
        return KNOWN_COULD_BE;
    }
    *advice = others[f->kind];
    return KNOWN_NO;
}
