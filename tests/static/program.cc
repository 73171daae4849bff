// Exceptions in members, objects of threads, and regions before and after main.
#include <stdexcept>
#include <string>

#include "check.h"

static int made;
struct counted {
    int value = 3;
    counted()
    {
#pragma omp atomic
        made++;
    }
    ~counted() { value = 0; }
};
static thread_local counted object;

static int members(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum++;
    return sum;
}

struct early {
    int seen = members(3);
    ~early() { CHECK(members(3) == 3); }
};
static early before_main;

int main()
{
    CHECK(before_main.seen == 3);
    int caught = 0;
#pragma omp parallel num_threads(6) reduction(+ : caught)
    {
        object.value++;
        try {
#pragma omp barrier
            throw std::runtime_error(std::to_string(object.value));
        } catch (const std::exception &e) {
#pragma omp barrier
            caught += e.what()[0] == '4';
        }
    }
    CHECK(caught == 6 && made == 6);
}
