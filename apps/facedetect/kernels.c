/* See kernels.h. Compiled with -O3; tests/vectors_test.py holds that every marked loop is vectorised. */
#include "kernels.h"

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define CLONED __attribute__((target_clones("arch=x86-64-v3", "default")))
#elif defined __x86_64__ && defined __clang__ && __clang_major__ >= 17
#define CLONED __attribute__((target_clones("arch=haswell", "default")))
#else
#define CLONED
#endif
#define INLINE static inline __attribute__((always_inline))

/* 1.7159 tanh(2/3 x), the hyperbolic tangent by Lambert's continued fraction: wrong by at most 1e-4 of 1. */
INLINE float squash(float x)
{
    float z = x * (2.0f / 3);
    z = z < -4.97f ? -4.97f : z;
    z = z > 4.97f ? 4.97f : z;
    float s = z * z;
    float above = z * (135135.0f + s * (17325.0f + s * (378.0f + s)));
    float below = 135135.0f + s * (62370.0f + s * (3150.0f + s * 28.0f));
    return 1.7159f * above / below;
}

INLINE float mask5(const float *w, const float *even, const float *odd)
{
    return w[0] * even[0] + w[1] * odd[0] + w[2] * even[1] + w[3] * odd[1] + w[4] * even[2];
}

INLINE float mask3(const float *w, const float *even, const float *odd)
{
    return w[0] * even[0] + w[1] * odd[0] + w[2] * even[1];
}

INLINE float mask6(const float *w, const float *in)
{
    return w[0] * in[0] + w[1] * in[1] + w[2] * in[2] + w[3] * in[3] + w[4] * in[4] + w[5] * in[5];
}

CLONED void kernel_blend(const float *a, const float *b, float share, float *row, int count)
{
#pragma omp simd
    for (int x = 0; x < count; x++)
        row[x] = a[x] + share * (b[x] - a[x]);
}

CLONED void kernel_between(const float *row, const int *at, const float *share, float *out, int count)
{
#pragma omp simd
    for (int x = 0; x < count; x++)
        out[x] = row[at[x]] + share[x] * (row[at[x] + 1] - row[at[x]]);
}

CLONED void kernel_box(const float *top, const float *bottom, float *even, float *odd, int count)
{
#pragma omp simd
    for (int x = 0; x < count; x++) {
        float middle = top[2 * x + 1] + bottom[2 * x + 1];
        even[x] = 0.25f * (top[2 * x] + bottom[2 * x] + middle);
        odd[x] = 0.25f * (middle + top[2 * x + 2] + bottom[2 * x + 2]);
    }
}

CLONED void kernel_halve(const float *top, const float *bottom, float *out, int count)
{
#pragma omp simd
    for (int x = 0; x < count; x++)
        out[x] = 0.25f * (top[2 * x] + bottom[2 * x] + top[2 * x + 1] + bottom[2 * x + 1]);
}

CLONED void kernel_first(const struct net *net, const struct kernel_row in[5], float *const out[NET_FIRST], int count)
{
    const float *e0 = in[0].even, *e1 = in[1].even, *e2 = in[2].even, *e3 = in[3].even, *e4 = in[4].even;
    const float *o0 = in[0].odd, *o1 = in[1].odd, *o2 = in[2].odd, *o3 = in[3].odd, *o4 = in[4].odd;
    for (int m = 0; m < NET_FIRST; m++) {
        const float *w = net->first[m], bias = net->first_bias[m];
        float *row = out[m];
#pragma omp simd
        for (int x = 0; x < count; x++) {
            float sum = mask5(w, e0 + x, o0 + x) + mask5(w + 5, e1 + x, o1 + x) + mask5(w + 10, e2 + x, o2 + x) +
                        mask5(w + 15, e3 + x, o3 + x) + mask5(w + 20, e4 + x, o4 + x);
            row[x] = squash(bias + sum);
        }
    }
}

CLONED void kernel_second(const struct net *net, const struct kernel_row in[NET_FIRST][3], float *const out[NET_SECOND],
                          int count)
{
    for (int m = 0; m < NET_SINGLE; m++) {
        const struct kernel_row *r = in[m / 2];
        const float *e0 = r[0].even, *e1 = r[1].even, *e2 = r[2].even, *o0 = r[0].odd, *o1 = r[1].odd, *o2 = r[2].odd;
        const float *w = net->single[m], bias = net->second_bias[m];
        float *row = out[m];
#pragma omp simd
        for (int x = 0; x < count; x++)
            row[x] =
                squash(bias + mask3(w, e0 + x, o0 + x) + mask3(w + 3, e1 + x, o1 + x) + mask3(w + 6, e2 + x, o2 + x));
    }
    for (int m = 0; m < NET_PAIRS; m++) {
        const struct kernel_row *r = in[net_pairs[m][0]], *s = in[net_pairs[m][1]];
        const float *e0 = r[0].even, *e1 = r[1].even, *e2 = r[2].even, *o0 = r[0].odd, *o1 = r[1].odd, *o2 = r[2].odd;
        const float *f0 = s[0].even, *f1 = s[1].even, *f2 = s[2].even, *p0 = s[0].odd, *p1 = s[1].odd, *p2 = s[2].odd;
        const float *w = net->pair[m][0], *v = net->pair[m][1], bias = net->second_bias[NET_SINGLE + m];
        float *row = out[NET_SINGLE + m];
#pragma omp simd
        for (int x = 0; x < count; x++) {
            float one = mask3(w, e0 + x, o0 + x) + mask3(w + 3, e1 + x, o1 + x) + mask3(w + 6, e2 + x, o2 + x);
            float two = mask3(v, f0 + x, p0 + x) + mask3(v + 3, f1 + x, p1 + x) + mask3(v + 6, f2 + x, p2 + x);
            row[x] = squash(bias + one + two);
        }
    }
}

CLONED void kernel_last(const struct net *net, const float *const in[NET_SECOND][NET_FIELD_HEIGHT], float *out,
                        int count)
{
    for (int x = 0; x < count; x++)
        out[x] = net->last_bias;
    for (int m = 0; m < NET_SECOND; m++) {
        const float *r0 = in[m][0], *r1 = in[m][1], *r2 = in[m][2], *r3 = in[m][3], *r4 = in[m][4], *r5 = in[m][5];
        const float *r6 = in[m][6], *w = net->neuron[m], bias = net->neuron_bias[m], share = net->last[m];
#pragma omp simd
        for (int x = 0; x < count; x++) {
            float sum = mask6(w, r0 + x) + mask6(w + 6, r1 + x) + mask6(w + 12, r2 + x) + mask6(w + 18, r3 + x) +
                        mask6(w + 24, r4 + x) + mask6(w + 30, r5 + x) + mask6(w + 36, r6 + x);
            out[x] += share * squash(bias + sum);
        }
    }
#pragma omp simd
    for (int x = 0; x < count; x++)
        out[x] = squash(out[x]);
}
