/* A nested job on a real library: an OpenMP loop over a batch of matrices, each multiplied by OpenBLAS's OpenMP build.
 *
 * batch_gemm [--matrices M] [--size N] [--outer P] [--inner T] [--passes K] [--nested]
 * Each result is checked against a plain triple loop; a wrong one ends the program with status 1. Prints a line of
 * JSON. The matrices' elements have 20 bits, so that every sum is exact in whatever order it is taken: the check is for
 * equality.
 *
 * OpenBLAS opens no region of its own where omp_in_parallel says that it is called from one: without --nested the inner
 * multiplication is sequential, as it is for everybody today. With --nested this program answers omp_in_parallel in the
 * runtime's place ("no"), so OpenBLAS opens a team of T inside each of the P: what its users would like to have.
 * (Debian's build then admits one such team at a time and lets the other callers spin; its team members spin for one
 * another too, with sched_yield. That is a hard test of a runtime, on kernel threads as well.) */
#include "sample.h"

#include <cblas.h>
#include <dlfcn.h>
#include <getopt.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSES_MAX = 1000 };

struct options {
    unsigned matrices, size, outer, inner, passes;
    bool nested;
};

static bool answer_no;

/* Found by OpenBLAS before the runtime's, for the program's symbols come first. */
__attribute__((visibility("default"))) int omp_in_parallel(void)
{
    static int (*runtime)(void);
    if (answer_no)
        return 0;
    int (*ask)(void) = __atomic_load_n(&runtime, __ATOMIC_RELAXED);
    if (!ask) {
        ask = (int (*)(void))dlsym(RTLD_NEXT, "omp_in_parallel");
        __atomic_store_n(&runtime, ask, __ATOMIC_RELAXED);
    }
    return ask();
}

static double *new_matrices(const struct options *o)
{
    double *m = aligned_alloc(64, (size_t)o->matrices * o->size * o->size * sizeof *m);
    if (!m) {
        fprintf(stderr, "batch_gemm: out of memory\n");
        exit(1);
    }
    return m;
}

static void fill(double *m, size_t num, unsigned seed)
{
    unsigned long state = seed;
    for (size_t i = 0; i < num; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        m[i] = (double)(state >> 44) / (1 << 20) - 0.5;
    }
}

static void multiply_plain(const double *a, const double *b, double *c, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (unsigned k = 0; k < n; k++)
            for (unsigned j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

static void multiply_batch(const struct options *o, const double *a, const double *b, double *c)
{
    size_t square = (size_t)o->size * o->size;
    int n = (int)o->size;
#pragma omp parallel for num_threads(o->outer) schedule(dynamic, 1)
    for (unsigned i = 0; i < o->matrices; i++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a + i * square, n, b + i * square, n, 0.0,
                    c + i * square, n);
}

static size_t count_wrong(const double *c, const double *wanted, size_t num)
{
    size_t wrong = 0;
    for (size_t i = 0; i < num; i++)
        wrong += !(c[i] == wanted[i]);
    return wrong;
}

static bool read_options(int argc, char **argv, struct options *o)
{
    static const struct option options[] = {
        {"matrices", required_argument, NULL, 'm'},
        {"size", required_argument, NULL, 'n'},
        {"outer", required_argument, NULL, 'p'},
        {"inner", required_argument, NULL, 't'},
        {"passes", required_argument, NULL, 'k'},
        {"nested", no_argument, NULL, 'x'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'm':
            o->matrices = (unsigned)atoi(optarg);
            break;
        case 'n':
            o->size = (unsigned)atoi(optarg);
            break;
        case 'p':
            o->outer = (unsigned)atoi(optarg);
            break;
        case 't':
            o->inner = (unsigned)atoi(optarg);
            break;
        case 'k':
            o->passes = (unsigned)atoi(optarg);
            break;
        case 'x':
            o->nested = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc && o->matrices > 0 && o->size > 0 && o->size <= 8192 && o->outer > 0 && o->inner > 0 &&
           o->passes > 0 && o->passes <= PASSES_MAX;
}

int main(int argc, char **argv)
{
    struct options o = {.matrices = 64, .size = 128, .outer = 4, .inner = 2, .passes = 10};
    static double ms[PASSES_MAX];
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr, "batch_gemm: see the head of batch_gemm.c for its options\n");
        return 2;
    }
    size_t square = (size_t)o.size * o.size, num = square * o.matrices;
    double *a = new_matrices(&o), *b = new_matrices(&o), *c = new_matrices(&o), *wanted = new_matrices(&o);
    fill(a, num, 1);
    fill(b, num, 2);
    for (unsigned i = 0; i < o.matrices; i++)
        multiply_plain(a + i * square, b + i * square, wanted + i * square, o.size);
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    omp_set_num_threads((int)o.inner); /* what a region inside the loop gets; the loop itself says its own number */
    answer_no = o.nested;
    size_t wrong = 0;
    for (unsigned k = 0; k < o.passes + 1;
         k++) { /* the first pass is not counted: threads and buffers come into being */
        fill(c, num, 3);
        double start = sample_now();
        multiply_batch(&o, a, b, c);
        if (k > 0)
            ms[k - 1] = (sample_now() - start) * 1e3;
        wrong += count_wrong(c, wanted, num);
    }
    struct sample_summary s = sample_summarize(ms, o.passes);
    printf("{\"bench\": \"batch gemm\", \"matrices\": %u, \"size\": %u, \"outer\": %u, \"inner\": %u, \"nested\": %s, "
           "\"median_ms\": %.3f, \"mean_ms\": %.3f, \"ci95_ms\": %.3f, \"passes\": %u, \"wrong_elements\": %zu}\n",
           o.matrices, o.size, o.outer, o.inner, o.nested ? "true" : "false", s.median, s.mean, s.ci95, o.passes,
           wrong);
    free(a), free(b), free(c), free(wanted);
    return wrong ? 1 : 0;
}
