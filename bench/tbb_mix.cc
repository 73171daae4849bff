// OpenMP regions and oneTBB's loops in one process. tbb_mix JOB [HELD]
//
// Prints the time by the wall clock and the processor time, in ms. HELD: a client of Intel's thread composability
// manager (libtcm) holds a permit of so many threads until the end; oneTBB gets what is left. Wants TCM_ENABLE=1, and
// libtcm.so.1 where the dynamic linker looks. tbb_mix.py compares; bench/notes/onetbb.md has the results.
#include <tbb/parallel_for.h>

extern "C" {
#include "sample.h"
}

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <thread>
#include <vector>

static volatile double sink;

static void work(int us10) // 0.4 us each
{
    double x = 1;
    for (int k = 0; k < us10 * 250; k++)
        x = x * 0.999 + 1;
    sink = x;
}

static void walk() // an array of 800 KB of the thread's own
{
    static thread_local std::vector<double> a(100000, 1);
    double sum = 0;
    for (double &x : a)
        sum += x = x * 0.5 + 1;
    sink = sum;
}

template <class Piece> static void region(int n, Piece piece)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        piece();
}

template <class Body> static void dynamic(int n, Body body)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++)
        body();
}

template <class Piece> static void arena(int n, Piece piece)
{
    tbb::parallel_for(0, n, [=](int) { piece(); });
}

template <class F> static void times(int n, F f)
{
    for (int k = 0; k < n; k++)
        f();
}

template <class F, class G> static void beside(F f, G g)
{
    std::thread other(f);
    g();
    other.join();
}

static void barriers()
{
#pragma omp parallel
    for (int k = 0; k < 2000; k++) {
#pragma omp for schedule(static)
        for (int i = 0; i < 16; i++)
            work(8);
    }
}

static const auto piece = [] { work(10); };
static const auto long_piece = [] { work(20); };
static const auto small_region = [] { region(16, piece); };
static const auto small_arena = [] { arena(16, piece); };

static const struct {
    const char *name;
    void (*run)();
} jobs[] = {
    {"work", [] { times(64000, piece); }},
    {"regions-in-tbb", [] { arena(200, [] { times(10, small_region); }); }},
    {"tbb-in-region", [] { dynamic(200, [] { times(10, small_arena); }); }},
    {"beside", [] { beside([] { times(2000, small_arena); }, [] { times(2000, small_region); }); }},
    {"barriers", [] { beside([] { times(40, [] { arena(64, [] { work(100); }); }); }, barriers); }},
    {"turns", [] { times(2000, [] { small_region(), small_arena(); }); }},
    {"3-tbb", [] { times(4, [] { arena(3, [] { times(100, [] { region(16, long_piece); }); }); }); }},
    {"3-region", [] { times(4, [] { dynamic(3, [] { times(100, [] { arena(16, long_piece); }); }); }); }},
    {"arrays", [] { arena(100, [] { region(32, walk); }); }},
};

// What of libtcm's interface is wanted here.
struct permit_request {
    int32_t least, most;
    void *constraints;
    uint32_t num_constraints;
    int32_t priority;
    uint32_t flags;
    char reserved[4];
};

static int32_t ignore(void *, void *, uint32_t) { return 0; }

static bool hold(int threads)
{
    void *lib = dlopen("libtcm.so.1", RTLD_NOW | RTLD_GLOBAL), *permit = nullptr;
    auto connect = lib ? (int32_t(*)(decltype(&ignore), uint64_t *))dlsym(lib, "tcmConnect") : nullptr;
    auto request =
        lib ? (int32_t(*)(uint64_t, permit_request, void *, void **, void *))dlsym(lib, "tcmRequestPermit") : nullptr;
    uint64_t client;
    return connect && request && connect(ignore, &client) == 0 &&
           request(client, {threads, threads, nullptr, 0, INT32_MAX / 2, 2, {}}, nullptr, &permit, nullptr) == 0;
}

int main(int argc, char **argv)
{
    for (const auto &job : jobs) {
        if (argc < 2 || strcmp(argv[1], job.name) != 0)
            continue;
        if (argc > 2 && !hold(atoi(argv[2]))) {
            fprintf(stderr, "tbb_mix: no permit: is libtcm.so.1 found, and TCM_ENABLE=1 set?\n");
            return 1;
        }
        small_region(), small_arena(); // both have their threads
        double wall = sample_now();
        clock_t used = clock();
        job.run();
        printf("%.2f %.2f\n", (sample_now() - wall) * 1e3, (double)(clock() - used) * 1e3 / CLOCKS_PER_SEC);
        return 0;
    }
    fprintf(stderr, "tbb_mix JOB [HELD]: the jobs are");
    for (const auto &job : jobs)
        fprintf(stderr, " %s", job.name);
    fprintf(stderr, "\n");
    return 2;
}
