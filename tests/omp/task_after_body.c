/* Tasks made after member 0 has left its body, while every other member waits for them where it cannot run them: only
 * the thread that waits for the region's end is left, and it runs them, as member 0. */
#include "check.h"
#include "work.h"

static int pipes[2];
static int gone, done, ran_by;

static int get(int *flag) { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }
static void set(int *flag, int value) { __atomic_store_n(flag, value, __ATOMIC_SEQ_CST); }

static void finish(int members)
{
    set(&ran_by, omp_get_thread_num());
    set(&done, 1);
    for (int i = 1; i < members; i++)
        CHECK(write(pipes[1], "x", 1) == 1);
}

enum how { BLOCKS, SPINS, YIELDS, KINDS };

static void wait_for_it(enum how how)
{
    char c;
    if (how == BLOCKS)
        CHECK(read(pipes[0], &c, 1) == 1);
    while (how == SPINS && !get(&done))
        continue;
    while (how == YIELDS && !get(&done)) {
#pragma omp taskyield
    }
    if (how != BLOCKS)
        CHECK(read(pipes[0], &c, 1) == 1);
}

static void round_of(enum how how, int n)
{
    gone = done = 0;
    ran_by = -1;
    int members = 1;
#pragma omp parallel num_threads(n) shared(members)
    {
        int id = omp_get_thread_num();
        if (id == 0) {
            members = omp_get_num_threads();
            set(&gone, 1);
        } else {
            while (!get(&gone))
                usleep(100);
            if (id == 1) {
                usleep(2000); /* member 0 is on its way into the join; it must be found there wherever it is */
#pragma omp task
                finish(members);
            }
            wait_for_it(how);
        }
    }
    CHECK(members == n && (ran_by == 0 || (how == YIELDS && ran_by == 1)));
}

/* One that waits inside of a task for another one, of which it is no ancestor. */
static void tasks_for_each_other(int n)
{
    int met = 0;
#pragma omp parallel num_threads(n)
    if (omp_get_thread_num() == 1) {
        for (int i = 0; i < 2; i++) {
#pragma omp task shared(met)
            {
#pragma omp atomic
                met++;
                while (get(&met) < 2) {
#pragma omp taskyield
                }
            }
        }
    }
    CHECK(met == 2);
}

int main(void)
{
    CHECK(pipe(pipes) == 0);
    int n = omp_get_max_threads();
    if (n == 1)
        return 0;
#pragma omp parallel num_threads(n)
#pragma omp task
    work(10);
    for (int round = 0; round < 5; round++) {
        for (int how = 0; how < KINDS; how++)
            round_of(how, n);
        tasks_for_each_other(n);
    }
    return 0;
}
