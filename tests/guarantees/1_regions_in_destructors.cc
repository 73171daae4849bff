/* Destructors of a thread's objects and of its keys' values may open regions: where a thread of the program's ends, and
 * where a member does (its team becomes larger, its root ends, the program gives resources back). */
#include "check.h"

#include <pthread.h>

static int destroyed, values;
static pthread_key_t key;

/* Whatever its size: everyone comes once, and meets the others. */
static void region(int threads)
{
    int members = 0, size = 0;
#pragma omp parallel num_threads(threads) shared(members, size)
    {
#pragma omp atomic
        members++;
#pragma omp barrier
#pragma omp single
        size = omp_get_num_threads();
#pragma omp task shared(members)
        {
#pragma omp atomic
            members++;
        }
#pragma omp taskwait
    }
    CHECK(size >= 1 && members == 2 * size);
}

static void ends(int *count)
{
    region(3);
#pragma omp parallel num_threads(2)
    region(2);
    region(4);
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

struct object {
    int state = 17;
    ~object()
    {
        CHECK(state == 17);
        ends(&destroyed);
        state = 0;
    }
};
static thread_local object own;

static void value_ends(void *value)
{
    CHECK(value == &values);
    ends(&values);
}

static void use(void)
{
    CHECK(own.state == 17);
    if (omp_get_thread_num() % 2 == 1)
        CHECK(pthread_setspecific(key, &values) == 0);
}

static void *root(void *)
{
    for (int threads = 2; threads <= 5; threads++) { /* members come and go */
#pragma omp parallel num_threads(threads)
        {
            use();
#pragma omp parallel num_threads(2)
            use();
        }
        region(threads + 1);
    }
    return nullptr;
}

int main()
{
    CHECK(pthread_key_create(&key, value_ends) == 0);
    for (int i = 0; i < 5; i++) {
        pthread_t roots[3];
        for (auto &one : roots)
            CHECK(pthread_create(&one, nullptr, root, nullptr) == 0);
        for (auto &one : roots)
            CHECK(pthread_join(one, nullptr) == 0);
    }
    root(nullptr);
    omp_pause_resource_all(omp_pause_soft);
    region(8);
    CHECK(__atomic_load_n(&destroyed, __ATOMIC_RELAXED) >= 15); /* the roots' own at least */
    return 0;
}
