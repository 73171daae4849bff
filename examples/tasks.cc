// psthread.hpp: a divide and conquer with a task group, and a worker that is told to stop.
#include <psthread.hpp>

#include <cstdio>
#include <queue>

static long fib(int n)
{
    if (n < 12)
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    long first = 0, second = 0;
    psthreads::task_group group;
    group.run([&] { first = fib(n - 1); });
    group.run_and_wait([&] { second = fib(n - 2); });
    return first + second;
}

int main()
{
    long result = fib(24);
    psthreads::mutex mutex;
    psthreads::condition_variable_any changed;
    std::queue<int> work;
    int done = 0;
    {
        psthreads::jthread worker([&](std::stop_token stop) {
            std::unique_lock hold(mutex);
            while (changed.wait(hold, stop, [&] { return !work.empty(); })) {
                done += work.front();
                work.pop();
            }
        });
        for (int i = 1; i <= 100; i++) {
            std::scoped_lock hold(mutex);
            work.push(i);
            changed.notify_one();
        }
        for (bool left = true; left; psthreads::this_thread::yield()) {
            std::scoped_lock hold(mutex);
            left = !work.empty();
        }
    } // the worker is asked to stop, and joined
    std::printf("fib(24) = %ld, the worker's sum = %d\n", result, done);
    return result != 46368 || done != 5050;
}
