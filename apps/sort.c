/* Sort: an array is sorted as four quarters, merged pairwise; the merges are divided too, at the middle of the longer
 * half. After the multisort of Akl and Santoro, "Optimal parallel merging and sorting without memory conflicts", IEEE
 * Trans. Computers 36(11), 1987, as the task suites use it. SIZE in thousands of 32-bit keys. Pieces of GRAIN (256) are
 * sorted by insertion and merged by one thread: small tasks, so that the runtime is seen. Twin: the same without
 * tasks. */
#include "app.h"

#include <stdlib.h>
#include <string.h>

enum { INSERTION = 24 };
static unsigned piece = 256;

static uint32_t *keys, *sorted, *spare;
static size_t num_keys;
static uint64_t num_tasks;

static void insertion_sort(uint32_t *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t key = a[i];
        size_t k = i;
        for (; k > 0 && a[k - 1] > key; k--)
            a[k] = a[k - 1];
        a[k] = key;
    }
}

static void merge(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *to)
{
    while (na && nb) {
        if (*a <= *b)
            *to++ = *a++, na--;
        else
            *to++ = *b++, nb--;
    }
    memcpy(to, na ? a : b, (na ? na : nb) * sizeof *to);
}

/* Small pieces, by one thread: halves, then insertion. */
static void sort_piece(uint32_t *a, uint32_t *room, size_t n)
{
    if (n <= INSERTION) {
        insertion_sort(a, n);
        return;
    }
    size_t half = n / 2;
    sort_piece(a, room, half);
    sort_piece(a + half, room + half, n - half);
    merge(a, half, a + half, n - half, room);
    memcpy(a, room, n * sizeof *a);
}

/* How many of the sorted b are less than key. */
static size_t lower(const uint32_t *b, size_t n, uint32_t key)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = (low + n) / 2;
        if (b[middle] < key)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static void divided_merge(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *to, bool tasks)
{
    if (na < nb) {
        const uint32_t *p = a;
        size_t n = na;
        a = b, na = nb, b = p, nb = n;
    }
    if (na + nb <= piece) {
        merge(a, na, b, nb, to);
        return;
    }
    size_t half = na / 2, cut = lower(b, nb, a[half]);
    if (!tasks) {
        divided_merge(a, half, b, cut, to, false);
        divided_merge(a + half, na - half, b + cut, nb - cut, to + half + cut, false);
        return;
    }
#pragma omp task
    divided_merge(a, half, b, cut, to, true);
#pragma omp task
    divided_merge(a + half, na - half, b + cut, nb - cut, to + half + cut, true);
#pragma omp taskwait
}

static void multisort(uint32_t *a, uint32_t *room, size_t n, bool tasks)
{
    if (n <= piece) {
        sort_piece(a, room, n);
        return;
    }
    size_t q = n / 4, last = n - 3 * q;
    if (!tasks) {
        for (unsigned i = 0; i < 4; i++)
            multisort(a + i * q, room + i * q, i < 3 ? q : last, false);
        divided_merge(a, q, a + q, q, room, false);
        divided_merge(a + 2 * q, q, a + 3 * q, last, room + 2 * q, false);
        divided_merge(room, 2 * q, room + 2 * q, q + last, a, false);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
#pragma omp task firstprivate(i)
        multisort(a + i * q, room + i * q, i < 3 ? q : last, true);
    }
#pragma omp taskwait
#pragma omp task
    divided_merge(a, q, a + q, q, room, true);
#pragma omp task
    divided_merge(a + 2 * q, q, a + 3 * q, last, room + 2 * q, true);
#pragma omp taskwait
    divided_merge(room, 2 * q, room + 2 * q, q + last, a, true);
}

/* Of a sorted array; 0 where it is none. */
static uint64_t checksum(void)
{
    uint64_t sum = 1, unordered = 0;
    for (size_t i = 0; i < num_keys; i++) {
        sum = app_fold(sum, sorted[i]);
        if (i > 0 && sorted[i - 1] > sorted[i])
            return 0;
        unordered += keys[i] - (uint64_t)sorted[i];
    }
    return unordered ? 0 : sum;
}

static uint64_t count_merge(size_t n) { return n <= piece ? 0 : 2 + 2 * count_merge(n / 2); }

static uint64_t count_sort(size_t n)
{
    return n <= piece ? 0 : 6 + 4 * count_sort(n / 4) + 2 * count_merge(n / 2) + count_merge(n);
}

static void setup(unsigned size)
{
    uint64_t state = 1;
    num_keys = (size_t)size * 1000;
    if (!keys) {
        keys = app_alloc(num_keys * sizeof *keys);
        sorted = app_alloc(num_keys * sizeof *keys);
        spare = app_alloc(num_keys * sizeof *keys);
        for (size_t i = 0; i < num_keys; i++)
            keys[i] = (uint32_t)app_random(&state);
        num_tasks = count_sort(num_keys); /* as if every merge divided evenly */
    }
    memcpy(sorted, keys, num_keys * sizeof *keys);
    memset(spare, 0, num_keys * sizeof *keys); /* no halves of an earlier run */
}

static uint64_t serial(void)
{
    multisort(sorted, spare, num_keys, false);
    return 0;
}

static uint64_t parallel(void)
{
    multisort(sorted, spare, num_keys, true);
    return 0;
}

static uint64_t tasks(void) { return num_tasks; }

int main(int argc, char **argv)
{
    static const struct app_grain grain = {&piece, 32, 1u << 20};
    static const struct app app = {"sort", 300,      1,        100000, setup, true,
                                   serial, parallel, checksum, NULL,   tasks, &grain};
    return app_main(&app, argc, argv);
}
