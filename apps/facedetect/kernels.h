/* The loops along a row that all the time goes into: plain C that the compiler vectorises, for AVX2 and for any
 * x86-64; the loader picks. `count` is a multiple of KERNEL_BLOCK, so that no vector is cut; the caller gives rows that
 * are long enough. No row that is written overlaps one that is read. */
#ifndef FACEDETECT_KERNELS_H
#define FACEDETECT_KERNELS_H

#include "net.h"

enum { KERNEL_BLOCK = 8 };

/* A row of 2 x 2 means: those that begin at even columns, and those that begin at odd ones. Reads 2 * count + 1 of
 * each row. */
struct kernel_row {
    const float *even, *odd;
};

/* row[x] = a[x] + share * (b[x] - a[x]) */
void kernel_blend(const float *a, const float *b, float share, float *row, int count);
/* out[x] between row[at[x]] and its right neighbour. */
void kernel_between(const float *row, const int *at, const float *share, float *out, int count);
void kernel_box(const float *top, const float *bottom, float *even, float *odd, int count);
/* The same where top and bottom are twice as large: octaves of an image. */
void kernel_halve(const float *top, const float *bottom, float *out, int count);
/* C1 and S1: a row of each map, from five rows of means. */
void kernel_first(const struct net *net, const struct kernel_row in[5], float *const out[NET_FIRST], int count);
/* C2 and S2: a row of each map, from three rows of means of each map of S1. */
void kernel_second(const struct net *net, const struct kernel_row in[NET_FIRST][3], float *const out[NET_SECOND],
                   int count);
/* N1 and N2, from seven rows of each map of S2. */
void kernel_last(const struct net *net, const float *const in[NET_SECOND][NET_FIELD_HEIGHT], float *out, int count);

#endif
