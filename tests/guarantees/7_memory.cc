/* Memory that one thread takes and another gives back, C++ threads beside OpenMP's, containers filled by nested
 * teams. */
#include "check.h"
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

int main()
{
    omp_set_max_active_levels(2);
    constexpr int n = 8;
    std::vector<std::unique_ptr<std::vector<int>>> box(n);
#pragma omp parallel num_threads(n)
    for (int i = 0; i < 200; i++) {
        int id = omp_get_thread_num();
        box[id] = std::make_unique<std::vector<int>>(100 + 37 * i, id);
#pragma omp barrier
        auto &other = box[(id + 1 + i) % n];
        CHECK(other->at(99) == (id + 1 + i) % n);
        auto taken = std::move(other);
#pragma omp barrier
    }
    std::mutex lock;
    std::vector<int> all;
    auto work = [&] {
#pragma omp parallel num_threads(3)
        for (int i = 0; i < 100; i++) {
            std::lock_guard<std::mutex> guard(lock);
            all.push_back(i);
        }
    };
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++)
        threads.emplace_back(work);
    work();
#pragma omp parallel num_threads(4)
    std::thread(work).join();
    for (auto &t : threads)
        t.join();
    CHECK(all.size() == 9 * 300);
    return 0;
}
