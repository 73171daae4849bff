// Objects in regions and tasks: private copies are constructed and destroyed once each, also where compiled code leaves
// that to the
// runtime (destructors of tasks, copies of a taskloop's pattern); exceptions stay inside; reductions of a class.
#include <atomic>
#include <stdexcept>
#include <string>

#include "../omp/check.h"

static std::atomic<int> alive;

struct object {
    std::string text;
    int n = 0;
    object() { alive++; }
    object(const object &o) : text(o.text), n(o.n) { alive++; }
    object &operator=(const object &) = default;
    ~object() { alive--; }
};

#pragma omp declare reduction(join:object : omp_out.n += omp_in.n) initializer(omp_priv = object())

static void tasks()
{
    object o;
    o.text = std::string(100, 'x');
    o.n = 3;
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(o) shared(sum)
            {
                CHECK(o.text.size() == 100);
                o.n += i;
#pragma omp atomic
                sum += o.n;
            }
#pragma omp task firstprivate(o) if (i % 2)
            o.text.clear();
        }
    }
    CHECK(sum == 50 * 3 + 49 * 25 && alive == 1);
}

static void loops()
{
    object o, last;
    o.text = "kept";
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(o) lastprivate(last) grainsize(3)
    for (int i = 0; i < 100; i++) {
        CHECK(o.text == "kept");
        last.n = i;
    }
    CHECK(last.n == 99 && alive == 2);
    object all;
#pragma omp parallel for reduction(join : all) firstprivate(o)
    for (int i = 0; i < 100; i++)
        all.n += i;
    CHECK(all.n == 4950 && alive == 3);
    object by_tasks;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(join : by_tasks)
    for (int i = 0; i < 40; i++)
#pragma omp task in_reduction(join : by_tasks)
        by_tasks.n += i;
    CHECK(by_tasks.n == 780 && alive == 4);
}

static void exceptions()
{
    std::atomic<int> caught{0};
#pragma omp parallel num_threads(4)
    {
        try {
#pragma omp barrier
            object o;
            throw std::runtime_error(std::to_string(omp_get_thread_num()));
        } catch (const std::runtime_error &e) {
            CHECK(std::stoi(e.what()) == omp_get_thread_num());
            caught++;
        }
#pragma omp task
        try {
            throw 1;
        } catch (int) {
            caught++;
        }
    }
    CHECK(caught == 8);
}

int main()
{
    for (int round = 0; round < 20; round++) {
        tasks();
        loops();
        exceptions();
        CHECK(alive == 0);
    }
    return 0;
}
