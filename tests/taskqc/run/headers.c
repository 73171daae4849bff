/* Headers of the system's and of the compiler's, whose macros libclang reads in another way than GCC. x86's intrinsics where there are. */
#define _GNU_SOURCE
#ifdef __SSE__
#include <immintrin.h>
#endif
#include <assert.h>
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>
int main(int argc, char *argv[argc + 1])
{
    atomic_int hits = 0;
#ifdef __SSE__
    __m128 v = _mm_set1_ps(2);
#endif
    char buf[64];
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    double sums[4] = {0};
    FILE *const out = stdout;
    struct {
        int n;
    } *box = malloc(sizeof *box);
    box->n = 3;
#pragma omp parallel taskq shared(hits)
    for (char **a = argv; *a; a++) {
        char *word = *a;
#pragma omp task
        {
            atomic_fetch_add(&hits, 1);
            pthread_mutex_lock(&m);
            snprintf(buf, sizeof buf, "%s %d", word, box->n);
            memset(&sums[1], 0, sizeof(double));
            sums[0] += sqrt(4.0) + fmax(1.0, sin(0.0));
#ifdef __SSE__
            sums[0] += _mm_cvtss_f32(_mm_mul_ps(v, v));
#else
            sums[0] += 4;
#endif
            assert(argc > 0 && strlen(buf) < sizeof(buf));
            pthread_mutex_unlock(&m);
            fprintf(out, "%s", NULL == word ? buf : "");
        }
    }
    free(box);
    return hits != 1 || sums[0] != 7;
}
