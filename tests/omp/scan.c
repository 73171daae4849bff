/* scan, inclusive and exclusive, in for, parallel for and for simd; several list items, user-defined reductions, more
 * members than iterations. */
#include "check.h"

enum { N = 1000 };
static int in[N], out[N], last[N];
static double products[N];

struct pair {
    int sum, largest;
};
#pragma omp declare reduction(join                                                                                     \
                              : struct pair                                                                            \
                              : omp_out.sum += omp_in.sum,                                                             \
                                omp_out.largest = omp_in.largest > omp_out.largest ? omp_in.largest : omp_out.largest) \
    initializer(omp_priv = {0, -1})
static struct pair pairs[N];

/* Iterations to n: what stands in out[] and last[] is the sums before or up to each. */
static void check_sums(int n, int start, int inclusive, const int *found)
{
    int sum = start;
    for (int i = 0; i < n; i++) {
        if (inclusive)
            sum += in[i];
        CHECK(found[i] == sum);
        if (!inclusive)
            sum += in[i];
    }
}

static void inclusive(int n)
{
    int sum = 5;
    memset(out, -1, sizeof out);
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; i++) {
        sum += in[i];
#pragma omp scan inclusive(sum)
        out[i] = sum;
    }
    check_sums(n, 5, 1, out);
    CHECK(sum == out[n - 1]);
}

static void exclusive(int n)
{
    int sum = 7, total = 7;
    memset(out, -1, sizeof out);
#pragma omp parallel
    {
#pragma omp for reduction(inscan, + : sum)
        for (int i = 0; i < n; i++) {
            out[i] = sum;
#pragma omp scan exclusive(sum)
            sum += in[i];
        }
    }
    check_sums(n, 7, 0, out);
    for (int i = 0; i < n; i++)
        total += in[i];
    CHECK(sum == total);
}

static void several(int n)
{
    double product = 1;
    struct pair p = {0, -1};
#pragma omp parallel for reduction(inscan, * : product) reduction(inscan, join : p)
    for (int i = 0; i < n; i++) {
        product *= i % 2 ? 2 : 0.5;
        p.sum += in[i];
        p.largest = in[i] > p.largest ? in[i] : p.largest;
#pragma omp scan inclusive(product, p)
        products[i] = product;
        pairs[i] = p;
    }
    struct pair q = {0, -1};
    for (int i = 0; i < n; i++) {
        q.sum += in[i];
        q.largest = in[i] > q.largest ? in[i] : q.largest;
        CHECK(products[i] == (i % 2 ? 1 : 0.5) && pairs[i].sum == q.sum && pairs[i].largest == q.largest);
    }
}

static void simd(int n)
{
    int sum = 0;
#pragma omp parallel for simd reduction(inscan, + : sum)
    for (int i = 0; i < n; i++) {
        sum += in[i];
#pragma omp scan inclusive(sum)
        last[i] = sum;
    }
    check_sums(n, 0, 1, last);
}

int main(void)
{
    static const int sizes[] = {2, 3, 7, 64, N};
    for (int i = 0; i < N; i++)
        in[i] = i * 37 % 101;
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            inclusive(sizes[k]);
            exclusive(sizes[k]);
            several(sizes[k]);
            simd(sizes[k]);
        }
    return 0;
}
