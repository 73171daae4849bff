/* FFTW's threads under psrun: plans of several threads give what plans of one give, alone, in a region, in threads, in
 * a child; and the jobs come to the runtime. Built without FFTW's headers. Argument: ours or none. */
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "../check.h"

enum { N = 1 << 15, PARTS = 4, FORWARD = -1, ESTIMATE = 1 << 6 };

typedef double complex number;
static void *(*plan_dft_1d)(int, number *, number *, int, unsigned);
static void (*execute_dft)(void *plan, number *, number *);
static void *one, *several;

static void *find(void *library, const char *name)
{
    void *at = dlsym(library, name);
    CHECK(at);
    return at;
}

static void transform_and_compare(void)
{
    number *in = calloc(N, sizeof *in), *expected = calloc(N, sizeof *in), *got = calloc(N, sizeof *in);
    CHECK(in && expected && got);
    for (int i = 0; i < N; i++)
        in[i] = sin(i) + I * cos(3 * i);
    execute_dft(one, in, expected);
    execute_dft(several, in, got);
    for (int i = 0; i < N; i++)
        CHECK(cabs(got[i] - expected[i]) < 1e-6);
    free(in);
    free(expected);
    free(got);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    void *threads = RTLD_DEFAULT, *library = RTLD_DEFAULT;
    plan_dft_1d = (void *(*)(int, number *, number *, int, unsigned))find(library, "fftw_plan_dft_1d");
    execute_dft = (void (*)(void *, number *, number *))find(library, "fftw_execute_dft");
    void **callback = find(threads, "fftw_spawnloop_callback");
    CHECK((*callback != NULL) == (strcmp(argv[1], "ours") == 0));
    CHECK(((int (*)(void))find(threads, "fftw_init_threads"))() != 0);
    number *in = calloc(N, sizeof *in), *out = calloc(N, sizeof *out);
    CHECK(in && out);
    one = plan_dft_1d(N, in, out, FORWARD, ESTIMATE);
    ((void (*)(int))find(threads, "fftw_plan_with_nthreads"))(PARTS);
    several = plan_dft_1d(N, in, out, FORWARD, ESTIMATE);
    CHECK(one && several);
    for (int i = 0; i < 10; i++)
        transform_and_compare();
#pragma omp parallel for num_threads(8)
    for (int i = 0; i < 32; i++)
        transform_and_compare();
    if (*callback) { /* FFTW's own threads are not in a child */
        pid_t child = fork();
        if (child == 0) {
            transform_and_compare();
            _exit(0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    free(in);
    free(out);
    return 0;
}
