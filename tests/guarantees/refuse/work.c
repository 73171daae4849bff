/* What programs do, with results that are right whatever number of threads a region gets: regions, nested ones, loops,
 * sections, locks, tasks with dependences, threadprivate data, reductions, ordered loops. Also roots of the program's
 * own, members that wait for one another, memory of allocators. Prints "right". Also an end: the counts at the end miss
 * what a region loses. */
#include "../check.h"
#include <pthread.h>
#include <unistd.h>

static int own;
#pragma omp threadprivate(own)

static void flat(void)
{
    int count[100] = {0}, members = 0, n = 0, order = 0;
#pragma omp parallel num_threads(6)
    {
#pragma omp single
        n = omp_get_num_threads();
#pragma omp atomic
        members++;
        own = omp_get_thread_num();
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++)
            count[i]++;
#pragma omp for ordered schedule(static, 2)
        for (int i = 0; i < 20; i++) {
#pragma omp ordered
            CHECK(order++ == i);
        }
        CHECK(own == omp_get_thread_num());
    }
    CHECK(members == n && n >= 1);
    for (int i = 0; i < 100; i++)
        CHECK(count[i] == 1);
}

static int nested(int depth)
{
    int sum = 0, n = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
#pragma omp single
        n = omp_get_num_threads();
        int before = own;
        sum += depth ? nested(depth - 1) : 1;
        CHECK(own == before);
#pragma omp barrier
    }
    CHECK(sum >= n);
    return sum > 0;
}

static void tasks(void)
{
    int done = 0, chain = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < 50; i++) {
#pragma omp task shared(done)
            {
#pragma omp task shared(done)
#pragma omp atomic
                done++;
#pragma omp atomic
                done++;
            }
        }
        for (int i = 0; i < 20; i++) {
#pragma omp task shared(chain) depend(inout : chain) firstprivate(i)
            CHECK(chain++ == i);
        }
#pragma omp taskgroup
        {
#pragma omp taskloop num_tasks(8) shared(done)
            for (int i = 0; i < 40; i++)
#pragma omp atomic
                done++;
        }
    }
    CHECK(done == 140 && chain == 20);
}

static void locks(void)
{
    omp_lock_t lock;
    int value = 0, other = 0, n = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(5)
    {
#pragma omp single
        n = omp_get_num_threads();
        for (int i = 0; i < 20; i++) {
            omp_set_lock(&lock);
            value++;
            omp_unset_lock(&lock);
#pragma omp critical
            other++;
        }
    }
    omp_destroy_lock(&lock);
    CHECK(value == 20 * n && other == 20 * n);
}

/* Members that wait for the next one in ways the runtime does not see: the last one begins. */
static void chain_of_members(void)
{
    volatile int turn = 1 << 30;
#pragma omp parallel num_threads(4)
    {
        int id = omp_get_thread_num(), n = omp_get_num_threads();
        if (id == n - 1)
            turn = id;
        while (turn != id)
            if (id % 2)
                usleep(100);
            else
                __sync_synchronize();
        turn = id - 1;
    }
    CHECK(turn == -1);
}

/* Memory that is to be locked, or to lie over the memory nodes: where the system refuses that there is other memory. */
static void allocators(void)
{
    static const omp_alloctrait_t traits[] = {
        {omp_atk_pinned, omp_atv_true}, {omp_atk_partition, omp_atv_interleaved}, {omp_atk_partition, omp_atv_nearest}};
    const char *refused =
        getenv("REFUSE"); /* of mlock, mbind, mmap no program may notice anything; of malloc a program may */
    int must = refused != NULL && refused[0] == 'm' && refused[1] != 'a';
    for (int i = 0; i < 3; i++) {
        omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 1, &traits[i]);
        for (size_t n = 40; n < 100000; n *= 2000) {
            unsigned char *p = omp_calloc(1, n, a);
            CHECK(p != NULL || !must);
            for (size_t k = 0; p != NULL && k < n; k++)
                CHECK(p[k]++ == 0);
            omp_free(p, a);
        }
        omp_destroy_allocator(a);
    }
}

static void *root(void *arg)
{
    omp_set_max_active_levels(2);
    flat();
    CHECK(nested(1));
    return arg;
}

int main(void)
{
    pthread_t thread[2];
    omp_set_max_active_levels(3);
    for (int round = 0; round < 2; round++) {
        flat();
        CHECK(nested(2));
        tasks();
        locks();
        chain_of_members();
        allocators();
        for (int k = 0; k < 2; k++)
            CHECK(pthread_create(&thread[k], NULL, root, NULL) == 0);
        flat();
        for (int k = 0; k < 2; k++)
            pthread_join(thread[k], NULL);
    }
    puts("right");
    return 0;
}
