/* Reads a set of points: CSV text or NumPy's .npy (NEP 1), told apart by the file's first bytes.
 *
 * CSV: a point a line, numbers separated by commas; empty lines and lines that begin with # are passed over. A first
 * line without a number is a header. A header whose first field is empty has an index below it, as pandas writes by
 * default: each line's first field is passed over.
 * .npy: versions 1 to 3, two axes (points, dimension), float32, float64 or integers of 1, 2, 4 or 8 bytes, in either
 * byte order, C or Fortran order.
 * What is wrong is one line on standard error with the file and, in text, the line. */
#ifndef PCURE_POINTS_H
#define PCURE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

struct points {
    size_t num, dim;
    double *x; /* num rows of dim */
};

/* The caller frees x. False: the line has been said. */
bool points_read(const char *path, struct points *points);

/* The same, without holding all of them: take gets the rows in their order, at most as many as have `numbers` numbers,
 * but `multiple` rows at least; each time a multiple of those, but at the end. True: go on. Files in Fortran order must
 * be such that one can seek in them. Of *points num and dim are set. */
struct points_take {
    size_t numbers, multiple;
    bool (*take)(void *arg, const double *x, size_t rows, size_t dim);
    void *arg;
};
bool points_stream(const char *path, const struct points_take *take, struct points *points);

#endif
