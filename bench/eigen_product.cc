// What does Eigen's product of two matrices cost, whose members spin for one another?
// eigen_product SHAPE REGIONS [SIZE]
// A region is a product of SIZE x SIZE (400) doubles; regions.h says what SHAPE is and what is printed. Members of a
// product pack a part of the one factor each, and wait by a flag for the parts of the others. Twin: the same program
// under a runtime with a kernel thread for each member. Check: whole numbers, so that each element is exact.
#include <Eigen/Core>

extern "C" {
#include "regions.h"
}

#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <vector>

static Eigen::MatrixXd a, b;
static std::vector<Eigen::MatrixXd> product;

static void multiply(unsigned team) { product[team].noalias() = a * b; }

// Eigen multiplies sequentially where its caller's team has more than one member: so a member calls it from a team of
// one.
static void open_team(unsigned team, unsigned)
{
    if (omp_get_num_threads() == 1) {
        multiply(team);
        return;
    }
#pragma omp parallel num_threads(1)
    multiply(team);
}

static Eigen::MatrixXd whole_numbers(int size, unsigned seed)
{
    Eigen::MatrixXd m(size, size);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            m(i, j) = (double)((seed = seed * 1664525 + 1013904223) >> 27);
    return m;
}

int main(int argc, char **argv)
{
    unsigned members = 1, teams = argc > 2 ? regions_shape(argv[1], &members) : 0;
    int size = argc > 3 ? atoi(argv[3]) : 400;
    if (size < 1 || size > 4000 || argc < 3) {
        fprintf(stderr, "eigen_product SHAPE REGIONS [SIZE from 1 to 4000]\n");
        return 2;
    }
    a = whole_numbers(size, 1), b = whole_numbers(size, 2);
    product.assign(teams, Eigen::MatrixXd::Zero(size, size));
    Eigen::setNbThreads((int)members);
    int status = regions_measure("product", argv[1], argv[2], open_team);
    Eigen::MatrixXd wanted = Eigen::MatrixXd::Zero(size, size);
    for (int k = 0; k < size; k++)
        for (int j = 0; j < size; j++)
            wanted.col(j) += a.col(k) * b(k, j);
    for (unsigned i = 0; i < teams && status == 0; i++)
        if (product[i] != wanted) {
            fprintf(stderr, "eigen_product: an element of product %u is wrong\n", i);
            return 1;
        }
    return status;
}
