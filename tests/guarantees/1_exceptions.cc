/* Exceptions in nested members and tasks: in flight, caught and not yet left, or kept in an exception_ptr, while the
 * thread waits at a barrier, for tasks (which throw on their own meanwhile) and for inner regions. */
#include "check.h"
#include <exception>
#include <stdexcept>
#include <string>

static int caught_in_tasks;

static void throwing_task(int i)
{
    try {
        throw std::runtime_error(std::to_string(i));
    } catch (const std::exception &e) {
        CHECK(std::stoi(e.what()) == i);
        __atomic_add_fetch(&caught_in_tasks, 1, __ATOMIC_RELAXED);
    }
}

static void tasks(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i)
        throwing_task(i);
    }
#pragma omp taskwait
}

static void member(int id, const std::exception_ptr &before)
{
    for (int i = 0; i < 5; i++) {
        std::string text = std::to_string(id) + " is a text that does not fit into the object itself";
        try {
            throw std::runtime_error(text);
        } catch (const std::exception &e) {
            std::exception_ptr kept = std::current_exception();
#pragma omp barrier
            tasks(4);
            CHECK(e.what() == text);
            try {
                throw id;
            } catch (int inner) {
#pragma omp barrier
                tasks(2);
                CHECK(inner == id);
            }
            try {
                std::rethrow_exception(kept);
            } catch (const std::runtime_error &again) {
#pragma omp barrier
                CHECK(again.what() == text);
            }
            CHECK(std::current_exception() == kept);
        }
        CHECK(std::current_exception() == before && !std::uncaught_exceptions());
#pragma omp barrier
    }
}

int main()
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < 3; round++) {
        caught_in_tasks = 0;
#pragma omp parallel num_threads(3)
        {
            member(omp_get_thread_num(), nullptr);
            try {
                throw 1000 + omp_get_thread_num();
            } catch (int outer) {
                std::exception_ptr mine = std::current_exception();
#pragma omp parallel num_threads(3)
                member(100 * outer + omp_get_thread_num(), omp_get_thread_num() ? nullptr : mine);
                CHECK(outer == 1000 + omp_get_thread_num());
            }
        }
        CHECK(caught_in_tasks == (3 + 9) * 5 * 6);
    }
    return 0;
}
