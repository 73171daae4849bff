/* A parallel loop over pictures, each transformed by FFTW's OpenMP build with a plan for all threads: the library opens
 * a region inside each iteration (OMP_MAX_ACTIVE_LEVELS=2 makes it active). fftw_loop PICTURES SIZE PASSES: so many
 * pictures of SIZE x SIZE, transformed so many times. */
#include <fftw3.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { PICTURES_MAX = 64 };

int main(int argc, char **argv)
{
    int pictures = argc > 1 ? atoi(argv[1]) : 8, size = argc > 2 ? atoi(argv[2]) : 128,
        passes = argc > 3 ? atoi(argv[3]) : 20;
    if (pictures < 1 || pictures > PICTURES_MAX || size < 1 || passes < 1 || !fftw_init_threads())
        return 2;
    fftw_plan_with_nthreads(omp_get_num_procs());
    size_t points = (size_t)size * (size_t)size;
    fftw_complex *in[PICTURES_MAX], *out[PICTURES_MAX];
    for (int p = 0; p < pictures; p++) {
        in[p] = fftw_alloc_complex(points);
        out[p] = fftw_alloc_complex(points);
        if (!in[p] || !out[p])
            return 2;
        for (size_t i = 0; i < points; i++) {
            in[p][i][0] = (double)((i + (size_t)p) * 2654435761u % 1000) / 1000;
            in[p][i][1] = 0;
        }
    }
    fftw_plan plan = fftw_plan_dft_2d(size, size, in[0], out[0], FFTW_FORWARD, FFTW_ESTIMATE);

    double start = omp_get_wtime();
    for (int pass = 0; pass < passes; pass++) {
#pragma omp parallel for schedule(dynamic)
        for (int p = 0; p < pictures; p++)
            fftw_execute_dft(plan, in[p], out[p]);
    }
    double elapsed = omp_get_wtime() - start;

    for (int p = 0; p < pictures; p++) {
        double energy = 0;
        for (size_t i = 0; i < points; i++)
            energy += out[p][i][0] * out[p][i][0] + out[p][i][1] * out[p][i][1];
        printf("result picture%d %.12g\n", p, energy);
        fftw_free(in[p]);
        fftw_free(out[p]);
    }
    printf("time %.6f\n", elapsed);
    fftw_destroy_plan(plan);
    return 0;
}
