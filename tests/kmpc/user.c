/* kmp_ routines: the settings, memory, masks; and the forms of locks with hints. */
#include "../omp/check.h"

int main(void)
{
    kmp_set_stacksize_s(1 << 20);
    CHECK(kmp_get_stacksize_s() == 1 << 20 && kmp_get_stacksize() == 1 << 20);
    kmp_set_blocktime(17);
    CHECK(kmp_get_blocktime() == 17);
    kmp_set_library_throughput();
    CHECK(kmp_get_library() == 3);
    kmp_set_warnings_off();
    char *p = kmp_malloc(100);
    memset(p, 1, 100);
    p = kmp_realloc(p, 10000);
    CHECK(p[99] == 1);
    kmp_free(p);
    p = kmp_calloc(10, 10);
    CHECK(p[99] == 0);
    kmp_free(p);
    p = kmp_aligned_malloc(100, 256);
    CHECK((size_t)p % 256 == 0);
    kmp_free(p);

    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock_with_hint(&lock, omp_lock_hint_contended);
    omp_init_nest_lock_with_hint(&nest, omp_lock_hint_uncontended);
    int n = 0;
#pragma omp parallel
    for (int i = 0; i < 100; i++) {
        omp_set_lock(&lock);
        n++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        n += 0;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    CHECK(n % 100 == 0 && n > 0);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return 0;
}
