/* LU factorisation of a sparse matrix of SIZE x SIZE blocks of BLOCK x BLOCK (12); a task a block operation, ordered by
 * depend alone. After the description of SparseLU in Duran et al., "Barcelona OpenMP Tasks Suite", ICPP 2009; its
 * dependent version is the data-flow one of OpenMP 4. Empty blocks are not there until a product fills them. The order
 * of operations on a block is that of the sequential twin, so the result is the same to the bit. No pivots: the
 * diagonal dominates. */
#include "app.h"

#include <stdlib.h>
#include <string.h>

#ifndef BLOCK
#define BLOCK 12
#endif
typedef double block[BLOCK][BLOCK];

static unsigned num_blocks;
static block **blocks; /* [row * num_blocks + column]; NULL: empty */
static uint64_t num_tasks;

static block *new_block(void) { return app_alloc(sizeof(block)); }

static void factor(block *d)
{
    for (unsigned k = 0; k < BLOCK; k++)
        for (unsigned i = k + 1; i < BLOCK; i++) {
            (*d)[i][k] /= (*d)[k][k];
            for (unsigned j = k + 1; j < BLOCK; j++)
                (*d)[i][j] -= (*d)[i][k] * (*d)[k][j];
        }
}

/* Right of the diagonal: solves with its lower triangle. */
static void forward(block *d, block *r)
{
    for (unsigned k = 0; k < BLOCK; k++)
        for (unsigned i = k + 1; i < BLOCK; i++)
            for (unsigned j = 0; j < BLOCK; j++)
                (*r)[i][j] -= (*d)[i][k] * (*r)[k][j];
}

/* Below the diagonal: solves with its upper triangle. */
static void divide(block *d, block *c)
{
    for (unsigned i = 0; i < BLOCK; i++)
        for (unsigned k = 0; k < BLOCK; k++) {
            (*c)[i][k] /= (*d)[k][k];
            for (unsigned j = k + 1; j < BLOCK; j++)
                (*c)[i][j] -= (*c)[i][k] * (*d)[k][j];
        }
}

static void subtract_product(block *c, block *r, block *to)
{
    for (unsigned i = 0; i < BLOCK; i++)
        for (unsigned k = 0; k < BLOCK; k++)
            for (unsigned j = 0; j < BLOCK; j++)
                (*to)[i][j] -= (*c)[i][k] * (*r)[k][j];
}

static block **at(unsigned row, unsigned column) { return &blocks[(size_t)row * num_blocks + column]; }

static void setup(unsigned size)
{
    uint64_t state = 7;
    num_blocks = size;
    if (!blocks)
        blocks = app_alloc((size_t)size * size * sizeof *blocks);
    for (unsigned i = 0; i < size; i++)
        for (unsigned j = 0; j < size; j++) {
            uint64_t dice = app_random(&state);
            free(*at(i, j));
            *at(i, j) = i == j || i + 1 == j || j + 1 == i || dice % 4 == 0 ? new_block() : NULL;
            for (unsigned e = 0; *at(i, j) && e < BLOCK * BLOCK; e++)
                (**at(i, j))[e / BLOCK][e % BLOCK] = (double)(app_random(&state) % 1000) / 1000 +
                                                     (i == j && e / BLOCK == e % BLOCK ? 2.0 * size * BLOCK : 0);
        }
}

static uint64_t serial(void)
{
    for (unsigned k = 0; k < num_blocks; k++) {
        factor(*at(k, k));
        for (unsigned j = k + 1; j < num_blocks; j++) {
            if (*at(k, j))
                forward(*at(k, k), *at(k, j));
            if (*at(j, k))
                divide(*at(k, k), *at(j, k));
        }
        for (unsigned i = k + 1; i < num_blocks; i++)
            for (unsigned j = k + 1; j < num_blocks; j++)
                if (*at(i, k) && *at(k, j)) {
                    if (!*at(i, j))
                        *at(i, j) = new_block();
                    subtract_product(*at(i, k), *at(k, j), *at(i, j));
                }
    }
    return 0;
}

/* Which blocks are there is known to the creator as the tasks are made: it alone makes blocks. */
static uint64_t parallel(void)
{
    num_tasks = 0;
    for (unsigned k = 0; k < num_blocks; k++) {
        block *d = *at(k, k);
#pragma omp task depend(inout : *d)
        factor(d);
        num_tasks++;
        for (unsigned j = k + 1; j < num_blocks; j++) {
            block *r = *at(k, j), *c = *at(j, k);
            if (r) {
#pragma omp task depend(in : *d) depend(inout : *r)
                forward(d, r);
                num_tasks++;
            }
            if (c) {
#pragma omp task depend(in : *d) depend(inout : *c)
                divide(d, c);
                num_tasks++;
            }
        }
        for (unsigned i = k + 1; i < num_blocks; i++)
            for (unsigned j = k + 1; j < num_blocks; j++) {
                block *c = *at(i, k), *r = *at(k, j);
                if (!c || !r)
                    continue;
                if (!*at(i, j))
                    *at(i, j) = new_block();
                block *to = *at(i, j);
#pragma omp task depend(in : *c, *r) depend(inout : *to)
                subtract_product(c, r, to);
                num_tasks++;
            }
    }
#pragma omp taskwait
    return 0;
}

static uint64_t result(void)
{
    uint64_t sum = 1, bits;
    for (size_t b = 0; b < (size_t)num_blocks * num_blocks; b++)
        for (unsigned e = 0; blocks[b] && e < BLOCK * BLOCK; e++) {
            memcpy(&bits, &(*blocks[b])[e / BLOCK][e % BLOCK], sizeof bits);
            sum = app_fold(sum, bits);
        }
    return sum;
}

static uint64_t tasks(void) { return num_tasks; }

int main(int argc, char **argv)
{
    static const struct app app = {"sparselu", 32, 2, 500, setup, true, serial, parallel, result, NULL, tasks, NULL};
    return app_main(&app, argc, argv);
}
