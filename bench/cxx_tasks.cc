// What does a task cost in C++, by psthread.hpp's async, spawn and task_group?  cxx_tasks WAY WORKERS ROW
// WAY: async, spawn, task_group, tbb (oneTBB's task_group, where it was there at build time), std (std::async; its
// kernel threads are the system's, WORKERS is not asked). ROW: fib (a task a call), leaf (a task a call down to fib of
// 12, which is a plain call), thousand (that many begun, then waited for). One sample a process; cxx_tasks.py runs the
// ways in turns. Twin: the same recursion by plain calls.
#include <psthread.hpp>

#ifdef BENCH_TBB
#include <tbb/global_control.h>
#include <tbb/task_group.h>
#endif

extern "C" {
#include "sample.h"
}

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <string>
#include <sys/resource.h>

namespace
{

// Each way: two pieces of work, one of them a task; and many tasks.
template <class Start> struct by_futures {
    template <class F, class G> static long both(F f, G g)
    {
        auto first = Start()(f);
        long second = g();
        return first.get() + second;
    }
    template <class F> static void many(F f)
    {
        std::array<decltype(Start()(f)), 1000> all;
        for (auto &one : all)
            one = Start()(f);
        for (auto &one : all)
            one.get();
    }
};
template <class Group> struct by_groups {
    template <class F, class G> static long both(F f, G g)
    {
        long first;
        Group group;
        group.run([&] { first = f(); });
        long second = g();
        group.wait();
        return first + second;
    }
    template <class F> static void many(F f)
    {
        Group group;
        for (int i = 0; i < 1000; i++)
            group.run(f);
        group.wait();
    }
};
using async = by_futures<decltype([](auto f) { return psthreads::async(f); })>;
using spawn = by_futures<decltype([](auto f) { return psthreads::spawn(f); })>;
using standard = by_futures<decltype([](auto f) { return std::async(std::launch::async, f); })>;

long plain_fib(int n) { return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2); }

template <class Way> long fib(int n, int leaf)
{
    if (n < leaf)
        return plain_fib(n);
    return Way::both([=] { return fib<Way>(n - 1, leaf); }, [=] { return fib<Way>(n - 2, leaf); });
}

// Each row returns how many tasks it has made.
template <class Way> long row_fib(int leaf)
{
    if (fib<Way>(24, leaf) != 46368) {
        std::fputs("cxx_tasks: fib is wrong\n", stderr);
        std::exit(1);
    }
    long calls[25] = {};
    for (int n = leaf; n <= 24; n++)
        calls[n] = 1 + calls[n - 1] + calls[n - 2];
    return calls[24];
}
template <class Way> long row_thousand(int)
{
    std::atomic<long> ran{0};
    Way::many([&] { ran.fetch_add(1, std::memory_order_relaxed); });
    if (ran != 1000) {
        std::fputs("cxx_tasks: a task has not run once\n", stderr);
        std::exit(1);
    }
    return 1000;
}

// The most that the process has had in memory.
double peak_bytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:"))
            return std::atof(line.c_str() + 6) * 1024;
    return 0;
}

// Seconds of processor time that the process has used.
double used_seconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Way> int measure(const char *row)
{
    const bool thousand = !std::strcmp(row, "thousand"), leaf = !std::strcmp(row, "leaf");
    if (!thousand && !leaf && std::strcmp(row, "fib") != 0)
        return 2;
    const auto once = [&] { return thousand ? row_thousand<Way>(0) : row_fib<Way>(leaf ? 12 : 2); };
    once(); // to have everything in memory
    double start = sample_now(), used = used_seconds(), passed;
    long tasks = 0;
    do {
        tasks += once();
        passed = sample_now() - start;
    } while (passed < 0.1);
    double ns = passed / double(tasks) * 1e9, ns_used = (used_seconds() - used) / double(tasks) * 1e9,
           peak = peak_bytes();
    sample_print("a task", "ns", &ns, 1);
    sample_print("processor time", "ns", &ns_used, 1);
    sample_print("peak memory", "bytes", &peak, 1);
    std::fflush(stdout);
    std::_Exit(0); // how each ends is not asked
}

} // namespace

int main(int argc, char **argv)
{
    const std::string way = argc == 4 ? argv[1] : "";
    const int workers = argc == 4 ? std::atoi(argv[2]) : 0;
    psthread_config_t config = {};
    config.num_vps = unsigned(workers);
    if (workers > 0 && way == "std")
        return measure<standard>(argv[3]);
#ifdef BENCH_TBB
    if (workers > 0 && way == "tbb") {
        tbb::global_control bounded(tbb::global_control::max_allowed_parallelism, std::size_t(workers));
        return measure<by_groups<tbb::task_group>>(argv[3]);
    }
#else
    if (way == "tbb")
        return 77; // it was not there
#endif
    if (workers > 0 && psthread_init(&config) == 0) {
        if (way == "async")
            return measure<async>(argv[3]);
        if (way == "spawn")
            return measure<spawn>(argv[3]);
        if (way == "task_group")
            return measure<by_groups<psthreads::task_group>>(argv[3]);
    }
    std::fputs("cxx_tasks async|spawn|task_group|tbb|std WORKERS fib|leaf|thousand\n", stderr);
    return 2;
}
