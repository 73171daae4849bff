/* The resolver's state is the member's own: errors of its look-ups, and how it looks up. */
#define _GNU_SOURCE
#include "waits.h"
#include <netdb.h>
#include <resolv.h>

#define N 6

__attribute__((noinline)) static void set(int id)
{
    h_errno = id + 10;
    _res.retry = id + 1;
}

__attribute__((noinline)) static void check(int id) { CHECK(h_errno == id + 10 && _res.retry == id + 1); }

int main(void)
{
    _res.retry = 100;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        for (int i = 0; i < 5; i++) {
            int id = omp_get_thread_num();
            set(id);
            wait_in_all_ways();
            check(id);
        }
        CHECK(_res.retry == 1); /* the first member is the program's thread */
    }
    return 0;
}
