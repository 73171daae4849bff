/* Threads made, submitted and joined: each squares a number. */
#include <psthread.h>
#include <stdio.h>

static void *square(void *arg)
{
    long n = (long)(intptr_t)arg;
    return (void *)(intptr_t)(n * n);
}

int main(void)
{
    enum { N = 10 };
    psthread_t t[N];
    long sum = 0;
    for (long i = 0; i < N; i++) {
        if (psthread_create(&t[i], NULL, square, (void *)(intptr_t)i)) /* makes; owns no stack before it runs */
            return 1;
        psthread_enqueue(t[i], PSTHREAD_VP_ANY); /* submits */
    }
    for (int i = 0; i < N; i++) {
        void *result;
        if (psthread_join(t[i], &result))
            return 1;
        sum += (long)(intptr_t)result;
    }
    printf("the sum of the first %d squares is %ld, on %u virtual processors\n", N, sum, psthread_num_vps());
    return psthread_finalize() || sum != 285;
}
