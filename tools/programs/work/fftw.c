/* FFTW's OpenMP build (libfftw3_omp): forward and back again, in two and three dimensions, with a plan for all threads.
 * ESTIMATE takes the same plan everywhere, so the sums may be compared; MEASURE would let the clock choose it. */
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double elapsed;

static void transform(const char *name, int rank, const int *size, int passes)
{
    size_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)size[i];
    fftw_complex *in = fftw_alloc_complex(n), *out = fftw_alloc_complex(n);
    fftw_plan forth = fftw_plan_dft(rank, size, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft(rank, size, out, in, FFTW_BACKWARD, FFTW_ESTIMATE);
    if (!in || !out || !forth || !back)
        exit(2);
    for (size_t i = 0; i < n; i++) {
        in[i][0] = (double)(i * 2654435761u % 1000) / 1000;
        in[i][1] = (double)(i * 40503u % 997) / 997;
    }
    double first = in[1][0], largest = 0, energy = 0, start = omp_get_wtime();
    for (int p = 0; p < passes; p++) {
        fftw_execute(forth);
        fftw_execute(back);
        for (size_t i = 0; i < n; i++) {
            in[i][0] /= (double)n;
            in[i][1] /= (double)n;
        }
    }
    elapsed += omp_get_wtime() - start;
    for (size_t i = 0; i < n; i++) {
        energy += out[i][0] * out[i][0] + out[i][1] * out[i][1];
        largest = fmax(largest, fabs(out[i][0]));
    }
    printf("result %s.energy %.12g\nresult %s.largest %.12g\n", name, energy, name, largest);
    printf("result %s.comes_back %d\n", name, fabs(in[1][0] - first) < 1e-9);
    fftw_destroy_plan(forth);
    fftw_destroy_plan(back);
    fftw_free(in);
    fftw_free(out);
}

int main(void)
{
    if (!fftw_init_threads())
        return 2;
    fftw_plan_with_nthreads(omp_get_max_threads());
    transform("1d", 1, (int[]){1 << 18}, 20);
    transform("2d", 2, (int[]){512, 512}, 20);
    transform("3d", 3, (int[]){64, 64, 64}, 20);
    transform("small", 1, (int[]){4096}, 3000);
    printf("time %.6f\n", elapsed);
    return 0;
}
