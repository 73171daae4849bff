/* Device routines where the host is the only device. */
#include "check.h"

#include <errno.h>
#include <stdint.h>

enum { ROWS = 5, COLUMNS = 7 };

static void boxes(int host)
{
    int from[ROWS][COLUMNS], to[ROWS + 1][COLUMNS + 2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            from[i][j] = 100 * i + j;
    memset(to, 0xff, sizeof to);
    size_t volume[] = {2, 3}, to_offset[] = {3, 1}, from_offset[] = {1, 4};
    size_t to_dimension[] = {ROWS + 1, COLUMNS + 2}, from_dimension[] = {ROWS, COLUMNS};
    CHECK(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_offset, from_offset, to_dimension, from_dimension,
                                 host, host) == 0);
    for (int i = 0; i < ROWS + 1; i++)
        for (int j = 0; j < COLUMNS + 2; j++) {
            int inside = i >= 3 && i < 5 && j >= 1 && j < 4;
            CHECK(to[i][j] == (inside ? from[i - 3 + 1][j - 1 + 4] : -1));
        }
    CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3); /* dimensions */
    size_t huge[] = {SIZE_MAX, SIZE_MAX};
    CHECK(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_offset, from_offset, huge, huge, host, host) ==
          EINVAL);
    CHECK(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_offset, from_offset, to_dimension, from_dimension,
                                 host, host + 1) == EINVAL);
}

int main(void)
{
    int host = omp_get_initial_device();
    CHECK(omp_get_num_devices() == 0 && host == 0 && omp_get_device_num() == host && omp_is_initial_device());
    signed char *p = omp_target_alloc(100, host), q[100];
    CHECK(p != NULL && omp_target_is_present(p, host));
    for (int i = 0; i < 100; i++)
        p[i] = (signed char)i;
    memset(q, -1, sizeof q);
    CHECK(omp_target_memcpy(q, p, 10, 20, 30, host, host) == 0);
    for (int i = 0; i < 100; i++)
        CHECK(q[i] == (i >= 20 && i < 30 ? i + 10 : -1));
    CHECK(omp_target_memcpy(q, p, 10, 0, 0, host + 1, host) == EINVAL);
    CHECK(omp_target_alloc(10, -9) == NULL);
    CHECK(omp_target_associate_ptr(p, q, 10, 0, host) == EINVAL && omp_target_disassociate_ptr(p, host) == EINVAL);
    omp_target_free(p, host);
    omp_target_free(NULL, host);
    boxes(host);
    omp_set_default_device(3);
    CHECK(omp_get_default_device() == 3);
    omp_set_default_device(-1);
    CHECK(omp_get_default_device() == 0 || omp_get_default_device() == -1); /* before and since GCC 13 */
    omp_set_default_device(0);
#pragma omp parallel num_threads(2)
    {
        omp_set_default_device(omp_get_thread_num() + 1);
        CHECK(omp_get_default_device() == omp_get_thread_num() + 1);
    }
    CHECK(omp_get_default_device() == 0);
    return 0;
}
