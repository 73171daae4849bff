/* OpenACC: compute and data constructs and the routines, on the host. */
#include <openacc.h>

#include "check.h"

int main(void)
{
    enum { N = 1000 };
    static int a[N], b[N];
    int sum = 0;
    acc_init(acc_device_host);
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma acc data copyin(a) copyout(b)
    {
#pragma acc parallel loop async(1)
        for (int i = 0; i < N; i++)
            b[i] = 2 * a[i];
#pragma acc wait
#pragma acc kernels
        for (int i = 0; i < N; i++)
            b[i]++;
#pragma acc parallel loop reduction(+ : sum)
        for (int i = 0; i < N; i++)
            sum += b[i];
#pragma acc update self(b)
    }
    CHECK(sum == N * (N - 1) + N && b[7] == 15);
#pragma acc enter data copyin(a)
#pragma acc exit data delete (a)
    CHECK(acc_get_num_devices(acc_device_host) == 1 && acc_get_device_type() == acc_device_host);
    void *p = acc_malloc(64);
    CHECK(p != NULL);
    acc_memcpy_to_device(p, a, 64);
    CHECK(memcmp(p, a, 64) == 0 && acc_deviceptr(a) == a && acc_is_present(a, sizeof a));
    acc_free(p);
    CHECK(acc_copyin(a, sizeof a) == a && acc_async_test_all());
    acc_copyout(a, sizeof a);
    acc_wait_all();
    acc_shutdown(acc_device_host);
    return 0;
}
