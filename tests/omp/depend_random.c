/* Random dependence graphs, checked against the order of creation: each task checks that all earlier tasks it conflicts
 * with are done. */
#include <string.h>

#include "check.h"
#include "work.h"

#define TASKS 400
#define CELLS 12

struct use {
    int cell, write;
};
static struct use uses[TASKS][3];
static int done[TASKS];
static char cells[CELLS];
static unsigned seed = 1;

static unsigned rnd(void) { return seed = seed * 1103515245u + 12345u, seed >> 16; }

static int conflict(int a, int b)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (uses[a][i].cell == uses[b][k].cell && (uses[a][i].write || uses[b][k].write))
                return 1;
    return 0;
}

static void run(int id)
{
    for (int before = 0; before < id; before++) {
        int d;
#pragma omp atomic read seq_cst
        d = done[before];
        if (!d)
            CHECK(!conflict(before, id));
    }
    work(id * 7 % 50);
#pragma omp atomic write seq_cst
    done[id] = 1;
}

static void create(int id)
{
    struct use *u = uses[id];
    char *a = &cells[u[0].cell], *b = &cells[u[1].cell], *c = &cells[u[2].cell];
    int writes = u[0].write + u[1].write + u[2].write; /* writes come first */
    switch (writes) {
    case 0:
#pragma omp task depend(in : a[0], b[0], c[0])
        run(id);
        break;
    case 1:
#pragma omp task depend(out : a[0]) depend(in : b[0], c[0])
        run(id);
        break;
    case 2:
#pragma omp task depend(inout : a[0], b[0]) depend(in : c[0]) if (id % 17)
        run(id);
        break;
    default:
#pragma omp task depend(inout : a[0], b[0], c[0])
        run(id);
    }
}

int main(void)
{
    for (int round = 0; round < 30; round++) {
        memset(done, 0, sizeof done);
        for (int id = 0; id < TASKS; id++) {
            int first = (int)(rnd() % CELLS), writes = (int)(rnd() % 8);
            writes = writes < 5 ? writes == 0 : writes - 4;
            for (int k = 0; k < 3; k++)
                uses[id][k] = (struct use){(first + k * (1 + (int)(rnd() % 3))) % CELLS, k < writes};
        }
#pragma omp parallel
#pragma omp single
        for (int id = 0; id < TASKS; id++)
            create(id);
        for (int id = 0; id < TASKS; id++)
            CHECK(done[id]);
    }
    return 0;
}
