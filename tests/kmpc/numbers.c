/* A thread's number (gtid) is its own as long as it lives, the same in every region that it is member 0 of, and no
 * thread else's at the same time. */
#include <omp.h>
#include <pthread.h>

#include "../check.h"

int __kmpc_global_thread_num(void *where);

enum { MEMBERS = 4, ROOTS = 3, TURNS = 50, LARGEST = 4096 };

static int taken[LARGEST];

static int take(void)
{
    int me = __kmpc_global_thread_num(NULL);
    CHECK(me >= 0 && me < LARGEST);
    CHECK(__atomic_exchange_n(&taken[me], 1, __ATOMIC_SEQ_CST) == 0);
    return me;
}
static void give_back(int me) { __atomic_store_n(&taken[me], 0, __ATOMIC_SEQ_CST); }

static void nest(int depth)
{
    int outside = __kmpc_global_thread_num(NULL);
    give_back(outside);
#pragma omp parallel num_threads(MEMBERS - depth)
    {
        int me = take();
        CHECK(omp_get_thread_num() != 0 || me == outside);
#pragma omp barrier
        CHECK(__kmpc_global_thread_num(NULL) == me);
#pragma omp task if (0)
        CHECK(__kmpc_global_thread_num(NULL) == me);
        if (depth < 2)
            nest(depth + 1);
        CHECK(__kmpc_global_thread_num(NULL) == me);
#pragma omp barrier
        give_back(me);
    }
    CHECK(__kmpc_global_thread_num(NULL) == outside);
    CHECK(take() == outside);
}

static void *root(void *unused)
{
    (void)unused;
    int me = take();
    nest(0);
    give_back(me);
    return NULL;
}

int main(void)
{
    omp_set_max_active_levels(3);
    CHECK(take() == 0);
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_t other[ROOTS];
        for (int i = 0; i < ROOTS; i++)
            CHECK(pthread_create(&other[i], NULL, root, NULL) == 0);
        nest(0);
        for (int i = 0; i < ROOTS; i++)
            CHECK(pthread_join(other[i], NULL) == 0);
    }
    return 0;
}
