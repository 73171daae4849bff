/* Regions on the stacks of Boost's coroutines: opened there, left and entered again between them, destroyed by
 * unwinding. */
#include "waits.h"
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <pthread.h>
#include <sys/mman.h>

namespace ctx = boost::context;

__attribute__((noinline)) static int use_much() /* more than any of the coroutines' stacks */
{
    volatile char frame[600 * 1024];
    memset(const_cast<char *>(frame), 1, sizeof frame);
    return frame[500];
}

static int region(int members, bool meet)
{
    int count = 0;
#pragma omp parallel num_threads(members) reduction(+ : count)
    {
        if (omp_get_thread_num())
            CHECK(use_much() == 1);
        if (meet) {
#pragma omp barrier
        }
#pragma omp critical
        count++;
    }
    return count;
}

struct counted {
    int *n;
    explicit counted(int *of) : n(of) { ++*n; }
    ~counted() { --*n; }
};

template <class Stack> static void regions_on(Stack stack)
{
    int alive = 0, sum = 0;
    {
        ctx::fiber fiber(std::allocator_arg, stack, [&](ctx::fiber &&caller) {
            counted here(&alive);
            for (;;) {
                sum += region(6, sum % 12);
                caller = std::move(caller).resume();
            }
            return std::move(caller);
        });
        for (int i = 1; i <= 10; i++) {
            fiber = std::move(fiber).resume();
            CHECK(sum == 6 * i && region(3, false) == 3 && alive == 1);
        }
    }
    CHECK(alive == 0); /* unwound */
}

/* Boost's stacks come from malloc and mmap: below the first thread's, above those of some others. */
static void *all(void *arg)
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < 3; round++) {
        regions_on(ctx::protected_fixedsize_stack(256 * 1024));
        regions_on(ctx::protected_fixedsize_stack(512 * 1024));
        regions_on(ctx::fixedsize_stack(256 * 1024));
    }
    return arg;
}

int main()
{
    pthread_t thread;
    all(nullptr);
    void *high = mmap(nullptr, 32 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pthread_create(&thread, nullptr, all, nullptr) == 0);
    munmap(high, 32 << 20); /* where the thread's coroutines find room */
    pthread_join(thread, nullptr);
    return 0;
}
