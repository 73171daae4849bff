// Tasks that throw, and catch what they throw, in regions.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static int inner(int i)
{
    if (i % 2)
        throw std::runtime_error("odd");
    return i;
}

int main(int, char **argv)
{
    int caught = 0, number = std::atoi(argv[1]);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < number; i++) {
#pragma omp task shared(caught)
        try {
            inner(i);
        } catch (const std::runtime_error &) {
#pragma omp critical
            caught++;
        }
    }
    std::printf("caught %d\n", caught);
}
