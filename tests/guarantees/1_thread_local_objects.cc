/* thread_local objects with constructors and destructors, and exceptions: in flight over a barrier, a taskwait and a
 * nested region. */
#include "check.h"
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int made, gone;

struct counted {
    std::string text;
    counted() : text("a text too long for the object itself to hold it")
    {
        __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    }
    ~counted() { __atomic_add_fetch(&gone, 1, __ATOMIC_RELAXED); }
};
static thread_local counted object;

struct unwinding { /* its destructor waits while an exception is in flight */
    int id;
    ~unwinding()
    {
#pragma omp barrier
        CHECK(std::uncaught_exceptions() == 1);
        int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
        sum += std::uncaught_exceptions() == (omp_get_thread_num() == 0);
        CHECK(sum == 3);
#pragma omp task
        sum = 0;
#pragma omp taskwait
    }
};

int main()
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < 10; round++) {
        int caught = 0;
#pragma omp parallel num_threads(8) reduction(+ : caught)
        {
            int id = omp_get_thread_num();
            object.text = std::to_string(id);
            try {
                unwinding here{id};
                throw id;
            } catch (int e) {
#pragma omp barrier
                CHECK(e == id && object.text == std::to_string(id));
                try {
                    throw;
                } catch (int again) {
                    CHECK(again == id);
                    caught++;
                }
            }
            CHECK(!std::uncaught_exceptions());
        }
        CHECK(caught == 8);
    }
    CHECK(made == 8);
    /* A thread of the program's own: its object and those of its team go with it. */
    std::thread([] {
#pragma omp parallel num_threads(4)
        object.text += "!";
    }).join();
    CHECK(made == 12 && gone >= 1);
    return 0;
}
