/* A program whose own functions stand where the runtime expects the C library's: mmap here, as others have a malloc of
 * their own or preload one. The function dallies when a member on the initial thread's kernel thread needs another
 * stack, and the initial thread is wanted meanwhile: it goes on all the same, and locks have one holder. After the
 * region it is on its kernel thread. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "carrier.h"
#include "check.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MEMBERS 4
#define STACK_BYTES (1 << 20) /* at least */
#define DALLY_S 0.15          /* several times what a thread is kept waiting; nothing depends on it */
#define PATIENCE 50           /* times 2 ms, for a member that runs elsewhere after all */

static int initial, dallies, is_there; /* a kernel thread's number; what the next such mmap does; it is doing so */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((visibility("default"))) void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    void *mapped = (void *)syscall(SYS_mmap, p, n, prot, flags, fd, at);
    if (n >= STACK_BYTES && carrier_id() == initial && __atomic_exchange_n(&dallies, 0, __ATOMIC_ACQ_REL)) {
        __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
        for (double end = now() + DALLY_S; now() < end;)
            continue;
    }
    return mapped;
}

static omp_lock_t first, second;

static void region(void)
{
    int held = 0, in = 0;
    __atomic_store_n(&is_there, 0, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(MEMBERS)
    {
        int id = omp_get_thread_num();
        if (id == 1) {
            omp_set_lock(&first);
            omp_set_lock(&second);
            __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
            for (int i = 0; i < PATIENCE && !__atomic_load_n(&is_there, __ATOMIC_ACQUIRE); i++)
                usleep(2000);
            omp_unset_lock(&first);
            usleep(200000); /* others that wait for the lock are not to be ready meanwhile */
            omp_unset_lock(&second);
        } else {
            while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
                usleep(100);
            if (id != 0 && carrier_id() == initial)
                __atomic_store_n(&dallies, 1, __ATOMIC_RELEASE);
            omp_set_lock(id != 0 ? &second : &first);
            CHECK(id == 0 || in++ == 0);
            in -= id != 0;
            omp_unset_lock(id != 0 ? &second : &first);
            if (id == 0)
                usleep(100000);
        }
#pragma omp barrier
        CHECK(omp_get_thread_num() == id);
    }
    __atomic_store_n(&dallies, 0, __ATOMIC_RELAXED);
    CHECK(carrier_id() == initial);
}

int main(void)
{
    initial = carrier_id();
    omp_init_lock(&first);
    omp_init_lock(&second);
    for (int i = 0; i < 3; i++)
        region();
    puts("right");
    return 0;
}
