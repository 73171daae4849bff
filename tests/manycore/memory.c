/* What the runtime keeps in a cluster. Regions alone need the members' least, and one block more where a shape comes
 * back after another one. What loops and tasks need comes with the first of them, to members that have begun and ended
 * many regions by the shortest way, and goes with the team. */
#include "check.h"

#include <stddef.h>

/* board.h's, heap.c */
size_t board_block_bytes(unsigned cluster, size_t *most);

/* Blocks of a cluster: 16 members, a team's block and its mapping; in the first one those of the root and of its region
 * of all threads, too. With the variables of each cluster, which have 18 more members, that is less than 6 KB in every
 * cluster but the first. */
#define MOST 2560
#define MOST_FIRST 3904
#define SECOND_SHAPE 640 /* of the root: a block and a mapping, in the first cluster */
static int count;

static size_t bytes_now(void)
{
    size_t most;
    return board_block_bytes(1, &most);
}

static void regions(void)
{
    for (int i = 0; i < 3; i++) {
#pragma omp parallel
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    }
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(4) proc_bind(spread)
#pragma omp parallel num_threads(16) proc_bind(close)
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    }
    CHECK(count == 6 * 64);
    count = 0;
}

/* In the second and the fourth of five regions that are alike. */
static void loops(void)
{
    int sums[4] = {0};
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(4) proc_bind(spread)
        {
            int sum = 0;
#pragma omp parallel num_threads(16) proc_bind(close) reduction(+ : sum)
            if (i % 2 == 1) {
#pragma omp for schedule(dynamic, 2) nowait
                for (int k = 0; k < 100; k++)
                    sum += k;
#pragma omp for schedule(guided)
                for (int k = 0; k < 100; k++)
                    sum += k;
#pragma omp for ordered schedule(dynamic)
                for (int k = 0; k < 20; k++) {
#pragma omp ordered
                    sum++;
                }
            }
            sums[omp_get_thread_num()] += sum;
        }
    }
    for (int o = 0; o < 4; o++)
        CHECK(sums[o] == 2 * (2 * 4950 + 20));
}

static void tasks(void)
{
    int order[4] = {0}, made = 0;
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(4) proc_bind(spread)
#pragma omp parallel num_threads(16) proc_bind(close)
        if (i % 2 == 1 && omp_get_thread_num() == 3) {
            int *mine = &order[omp_get_ancestor_thread_num(1)];
            for (int k = 0; k < 6; k++) {
#pragma omp task depend(inout : mine[0]) shared(made) firstprivate(mine, k)
                {
                    *mine = *mine * 2 + k;
                    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
                }
            }
        }
    }
    int expected = 0;
    for (int k = 0; k < 12; k++)
        expected = expected * 2 + k % 6;
    for (int o = 0; o < 4; o++)
        CHECK(order[o] == expected);
    CHECK(made == 2 * 4 * 6);
}

int main(void)
{
    size_t most;
    regions();
    board_block_bytes(1, &most);
    CHECK(most > 0 && most <= MOST);
    board_block_bytes(0, &most);
    CHECK(most > 0 && most <= MOST_FIRST);
    regions();
    regions();
    board_block_bytes(1, &most);
    CHECK(most <= MOST);
    board_block_bytes(0, &most);
    CHECK(most <= MOST_FIRST + SECOND_SHAPE);
    size_t before = bytes_now();
    loops();
    size_t with_loops = bytes_now();
    CHECK(with_loops > before);
    regions();
    tasks();
    CHECK(bytes_now() > with_loops);
    regions();
    loops();
    tasks();
    puts("ok");
    return 0;
}
