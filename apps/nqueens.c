/* N queens: all ways to place SIZE queens on a board so that none attacks another; a task a placement, no cut-off.
 * After the description in Duran, Teruel, Ferrer, Martorell, Ayguade, "Barcelona OpenMP Tasks Suite", ICPP 2009. */
#include "app.h"

enum { QUEENS_MAX = 20 };
static unsigned n_queens;
static uint64_t made[64][8]; /* tasks made by each thread, a line each */

#include <omp.h>

struct board {
    uint32_t columns, left, right; /* attacked in the next row */
};

static struct board place(struct board b, uint32_t square)
{
    return (struct board){b.columns | square, (b.left | square) << 1, (b.right | square) >> 1};
}

static uint32_t free_squares(struct board b)
{
    return ~(b.columns | b.left | b.right) & ((UINT32_C(1) << n_queens) - 1);
}

static uint64_t serial_count(struct board b, unsigned row)
{
    uint64_t count = 0;
    if (row == n_queens)
        return 1;
    for (uint32_t free = free_squares(b); free; free &= free - 1)
        count += serial_count(place(b, free & -free), row + 1);
    return count;
}

static void task_count(struct board b, unsigned row, uint64_t *total)
{
    uint64_t counts[QUEENS_MAX], count = 0;
    unsigned num = 0;
    if (row == n_queens) {
        *total = 1;
        return;
    }
    for (uint32_t free = free_squares(b); free; free &= free - 1) {
        struct board next = place(b, free & -free);
        uint64_t *slot = &counts[num++];
#pragma omp task firstprivate(next, slot, row)
        task_count(next, row + 1, slot);
    }
    made[(unsigned)omp_get_thread_num() % 64][0] += num;
#pragma omp taskwait
    for (unsigned i = 0; i < num; i++)
        count += counts[i];
    *total = count;
}

static void setup(unsigned size) { n_queens = size; }
static uint64_t serial(void) { return serial_count((struct board){0}, 0); }

static uint64_t parallel(void)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < 64; i++)
        made[i][0] = 0;
    task_count((struct board){0}, 0, &count);
    return count;
}

static uint64_t known(unsigned size)
{
    static const uint64_t solutions[] = {0, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
    return size < sizeof solutions / sizeof solutions[0] ? solutions[size] : 0;
}

static uint64_t tasks(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 64; i++)
        sum += made[i][0];
    return sum;
}

int main(int argc, char **argv)
{
    static const struct app app = {"nqueens", 10,       4,    QUEENS_MAX, setup, false,
                                   serial,    parallel, NULL, known,      tasks, NULL};
    return app_main(&app, argc, argv);
}
