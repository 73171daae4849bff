// taskloop over random access iterators; reductions with a user-declared operator on objects.
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Sum {
    long value = 0;
    std::vector<int> seen;
};
#pragma omp declare reduction(join:Sum                         \
                              : omp_out.value += omp_in.value, \
                                omp_out.seen.insert(omp_out.seen.end(), omp_in.seen.begin(), omp_in.seen.end()))

int main()
{
    std::vector<int> v(500);
    for (int i = 0; i < 500; i++)
        v[i] = i;
    for (int round = 0; round < 10; round++) {
#pragma omp parallel
#pragma omp single
        {
            Sum sum;
            sum.value = 1000;
#pragma omp taskloop reduction(join : sum) grainsize(20)
            for (auto at = v.begin(); at < v.end(); ++at) {
                sum.value += *at;
                sum.seen.push_back(*at);
            }
            if (sum.value != 1000 + 124750 || sum.seen.size() != 500) {
                std::fprintf(stderr, "sum %ld of %zu\n", sum.value, sum.seen.size());
                std::exit(1);
            }
            Sum group;
#pragma omp taskgroup task_reduction(join : group)
            for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(join : group) firstprivate(i)
                {
                    group.value += i;
                    group.seen.push_back(i);
                }
            }
            if (group.value != 780 || group.seen.size() != 40)
                std::exit(1);
        }
    }
    return 0;
}
