/* What a user writes: built by the install test against the installed files alone. */
#include <psthread.h>
#include <stdio.h>

static void *square(void *arg)
{
    *(int *)arg *= *(int *)arg;
    return arg;
}

int main(void)
{
    enum { N = 100 };
    psthread_t threads[N];
    int numbers[N];
    for (int i = 0; i < N; i++) {
        numbers[i] = i;
        if (psthread_create(&threads[i], NULL, square, &numbers[i]) || psthread_enqueue(threads[i], PSTHREAD_VP_ANY))
            return 1;
    }
    if (psthread_waitall())
        return 2;
    for (int i = 0; i < N; i++) {
        if (numbers[i] != i * i)
            return 3;
    }
    printf("%d threads on %u vps\n", N, psthread_num_vps());
    return psthread_finalize() ? 4 : 0;
}
