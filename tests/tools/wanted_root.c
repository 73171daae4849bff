/* Threads that hold their kernel thread until the region's first thread, which may be waiting for that very kernel
 * thread, has done something: they spin on a flag, or read from a pipe. No thread-local storage here. Prints "done". */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N 4

static void fail(const char *what)
{
    printf("wrong: %s\n", what);
    exit(1);
}

/* Another function reads the number anew: the thread may be on another kernel thread. */
__attribute__((noipa)) static int number(void) { return omp_get_thread_num(); }

static void spin(int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        continue;
}

int main(void)
{
    int ended = 0, channel[2];
    if (pipe(channel) != 0)
        fail("no pipe");
    for (int round = 0; round < 6; round++) {
        int flag = 0;
#pragma omp parallel num_threads(N) reduction(+ : ended)
        {
            int me = number();
            char c = 0;
            double kept = me * 1.5;
#pragma omp barrier
            if (me == 0) {
                for (int i = 1; i < N; i++)
                    if (write(channel[1], "x", 1) != 1)
                        fail("write");
                __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
            } else if ((me + round) % 2) {
                spin(&flag);
                if (read(channel[0], &c, 1) != 1 || c != 'x')
                    fail("read after the flag");
            } else {
                if (read(channel[0], &c, 1) != 1 || c != 'x')
                    fail("read");
                spin(&flag);
            }
            if (number() != me || kept != me * 1.5)
                fail("a thread is not itself any more");
#pragma omp barrier
            ended++;
        }
    }
    if (ended != 6 * N)
        fail("ended");
    puts("done");
    return 0;
}
