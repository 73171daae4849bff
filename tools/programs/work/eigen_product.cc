// Eigen's product, whose members spin for one another by flags: teams of 1 to 16, several types and shapes, members of
// a region and threads of the program's own that each multiply. Whole numbers, so that each element is exact and is
// compared with a plain triple loop's.
#include <Eigen/Core>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <thread>

template <typename T> using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

static const int teams[] = {1, 3, 4, 8, 16};

template <typename T> static Matrix<T> whole_numbers(int rows, int columns, unsigned seed)
{
    Matrix<T> m(rows, columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            m(i, j) = T((int)((seed = seed * 1664525 + 1013904223) >> 28) - 8);
    return m;
}

template <typename T> struct Factors {
    Matrix<T> a, b, wanted;
    Factors(int rows, int inner, int columns)
        : a(whole_numbers<T>(rows, inner, 1)), b(whole_numbers<T>(inner, columns, 2)),
          wanted(Matrix<T>::Zero(rows, columns))
    {
        for (int k = 0; k < inner; k++)
            for (int j = 0; j < columns; j++)
                wanted.col(j) += a.col(k) * b(k, j);
    }
    bool right() const
    {
        Matrix<T> product(wanted.rows(), wanted.cols());
        product.noalias() = a * b;
        return product == wanted;
    }
};

static void need(bool right, const char *what, int n)
{
    if (right)
        return;
    fprintf(stderr, "%s, %d members: an element is wrong\n", what, n);
    exit(1);
}

template <typename T> static void one_after_another(const char *type, int rows, int inner, int columns, int times)
{
    Factors<T> f(rows, inner, columns);
    for (int n : teams) {
        Eigen::setNbThreads(n);
        for (int i = 0; i < times; i++)
            need(f.right(), type, n);
        printf("result %s %dx%dx%d, %d members: %.17g\n", type, rows, inner, columns, n,
               (double)std::abs(f.wanted.sum()));
    }
}

// Eigen multiplies sequentially where its caller's team has more than one member: so each member is one of its own.
static void by_members(const Factors<double> &f, int n)
{
    Eigen::setNbThreads(n);
    int right = 0;
#pragma omp parallel for num_threads(4) schedule(dynamic, 1) reduction(+ : right)
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(1) reduction(+ : right)
        right += f.right();
    }
    need(right == 5, "in a loop's members", n);
    printf("result in a loop's members, %d members: %d\n", n, right);
}

static void by_threads(const Factors<double> &f, int n)
{
    Eigen::setNbThreads(n);
    bool right[2] = {true, true};
    auto multiply = [&](int me) {
        for (int i = 0; i < 2; i++)
            right[me] = right[me] && f.right();
    };
    std::thread other(multiply, 1);
    multiply(0);
    other.join();
    need(right[0] && right[1], "in two threads", n);
    printf("result in two threads, %d members: %d\n", n, right[0] + right[1]);
}

int main()
{
    double start = omp_get_wtime();
    omp_set_max_active_levels(2);
    one_after_another<double>("double", 400, 400, 400, 3);
    one_after_another<float>("float", 333, 129, 517, 3);
    one_after_another<std::complex<double>>("complex", 200, 300, 100, 2);
    Factors<double> f(160, 120, 180);
    for (int n : teams) {
        by_members(f, n);
        by_threads(f, n);
    }
    printf("time %.6f\n", omp_get_wtime() - start);
    return 0;
}
