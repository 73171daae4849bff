// firstprivate objects: each task has a copy constructed from the original at creation and destroyed at its end,
// deferred or not;
// exceptions inside of tasks, also across a taskwait in flight of others.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "check.h"

static std::atomic<int> alive{0}, copies{0};

struct Thing {
    std::string text;
    explicit Thing(std::string t) : text(std::move(t)) { alive++; }
    Thing(const Thing &other) : text(other.text)
    {
        alive++;
        copies++;
    }
    ~Thing() { alive--; }
};

static int depth(int n)
{
    if (n == 0)
        throw std::runtime_error("bottom");
    int below = 0;
#pragma omp task shared(below)
    {
        try {
            below = depth(n - 1);
        } catch (const std::runtime_error &e) {
            below = -1;
        }
    }
#pragma omp taskwait
    if (below < 0)
        throw std::runtime_error("passed on");
    return below;
}

int main()
{
    std::atomic<int> right{0};
#pragma omp parallel
#pragma omp single
    {
        Thing thing("a text too long to be kept inside of the string object itself 0");
        for (int i = 0; i < 300; i++) {
            thing.text.back() = char('0' + i % 10);
#pragma omp task firstprivate(thing, i) shared(right) if (i % 7)
            right += thing.text.back() == char('0' + i % 10);
        }
        thing.text.back() = 'x';
#pragma omp taskloop firstprivate(thing) shared(right) num_tasks(20)
        for (int i = 0; i < 100; i++)
            right += thing.text.back() == 'x';
#pragma omp taskwait
    }
    CHECK(right == 400);
    CHECK(alive == 0);
    CHECK(copies >= 320);

    int caught = 0;
#pragma omp parallel
    {
        int mine = 0;
        for (int i = 0; i < 20; i++) {
            try {
                depth(1 + i % 6);
            } catch (const std::runtime_error &) {
                mine++;
            }
        }
#pragma omp atomic
        caught += mine;
    }
    int n = 0;
#pragma omp parallel
#pragma omp single
    n = omp_get_num_threads();
    CHECK(caught == 20 * n);
    return 0;
}
