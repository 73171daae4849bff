/* A quota of processor time that shrinks while the program runs sends the runtime's kernel threads to rest, and they
 * come back when it grows: with regions, nested ones, barriers and tasks all the while. Argument: the version of
 * control groups. Runs until it sees what it waits for. */
#define _GNU_SOURCE
#include "5_quota.h"
#include "carrier.h"
#include <stdatomic.h>

static _Atomic int carrier[8];

/* Everything at once; returns how many kernel threads ran members of the outer region. */
static int round_of_work(void)
{
    int sum = 0, done = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    {
        int inner = 0;
        carrier[omp_get_thread_num()] = (int)carrier_id();
#pragma omp parallel num_threads(3) reduction(+ : inner)
        {
#pragma omp barrier
            inner++;
        }
        sum += inner;
#pragma omp task shared(done)
#pragma omp atomic
        done++;
#pragma omp barrier
        usleep(200); /* lets others take members */
        for (volatile int i = 0; i < 20000; i++)
            ;
    }
    CHECK(sum == 24 && done == 8);
    int different = 0;
    for (int i = 0; i < 8; i++) {
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= carrier[j] == carrier[i];
        different += !seen;
    }
    return different;
}

/* One kernel thread does it all, five rounds in a row; or several do. */
static void until(int alone)
{
    for (int in_a_row = 0; in_a_row < (alone ? 5 : 1);)
        in_a_row = (round_of_work() == 1) == alone ? in_a_row + 1 : 0;
}

int main(int argc, char **argv)
{
    int version = argc > 1 ? atoi(argv[1]) : 2;
    make_group(version);
    set_quota(version, 0);
    omp_set_max_active_levels(2);
    for (int i = 0; i < 3; i++) {
        set_quota(version, i == 1 ? 800 : 0);
        until(0);
        set_quota(version, i ? 100 : 30);
        until(1);
    }
    remove_group();
    return 0;
}
