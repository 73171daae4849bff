/* A library with thread-local storage of its own, and a region in its constructor and in its destructor. */
#include <omp.h>

#pragma GCC visibility push(default)

static __thread int value = 5;
static int sum;
int *library_value(void);
int library_sum(void);
int library_region(int n);
void library_region_r(const int *n, int *total);

int *library_value(void) { return &value; }
int library_sum(void) { return sum; }

int library_region(int n)
{
    int total = 0;
#pragma omp parallel num_threads(n) reduction(+ : total)
    total += omp_get_num_threads();
    return total;
}

/* as R calls C */
void library_region_r(const int *n, int *total) { *total = library_region(*n); }

__attribute__((constructor)) static void begin(void) { sum = library_region(3); }
__attribute__((destructor)) static void end(void) { sum = library_region(2); }
