/* Queens: all ways to place N queens on a board so that none attacks another (a benchmark of Su et al., EWOMP 2002;
 * nthlib-2004 figure 4).
 *
 * Each placement in the first DEPTH rows is a task that opens a task queue of its own for the next row: queues nest as
 * deep as the board. The number of solutions is a reduction of the queue. */
#include "wq.h"

#include <stdint.h>
#include <stdio.h>

enum { QUEENS_MAX = 18 };
static struct wq_number numbers[] = {
    {"size", "queens", 12, 1, QUEENS_MAX}, {"depth", "rows whose placements are tasks", 4, 0, QUEENS_MAX}, {0}};
#define SIZE numbers[0].value
#define DEPTH numbers[1].value

struct board {
    uint32_t columns, left, right; /* attacked in the next row */
};

static uint64_t expected, solutions;
static unsigned long num_tasks;

static struct board place(struct board b, uint32_t square)
{
    return (struct board){b.columns | square, (b.left | square) << 1, (b.right | square) >> 1};
}

static uint32_t free_squares(struct board b) { return ~(b.columns | b.left | b.right) & ((UINT32_C(1) << SIZE) - 1); }

static uint64_t count_serial(struct board b, long row)
{
    uint64_t count = 0;
    if (row == SIZE)
        return 1;
    for (uint32_t free = free_squares(b); free; free &= free - 1)
        count += count_serial(place(b, free & -free), row + 1);
    return count;
}

static uint64_t count_tasks(struct board b, long row)
{
    uint64_t count = 0;
    if (row == SIZE)
        return 1;
    if (row >= DEPTH)
        return count_serial(b, row);
#pragma omp taskq reduction(+ : count)
    for (uint32_t free = free_squares(b); free; free &= free - 1) {
        struct board next = place(b, free & -free);
#pragma omp task captureprivate(row)
        count += count_tasks(next, row + 1);
    }
    return count;
}

static void setup(void) { solutions = 0; }
static void serial(void) { solutions = count_serial((struct board){0}, 0); }

static void parallel(int threads)
{
    uint64_t count = 0;
#pragma omp parallel taskq num_threads(threads) shared(count)
    {
#pragma omp task
        count = count_tasks((struct board){0}, 0);
    }
    solutions = count;
}

static const char *check(bool after_serial)
{
    static const uint64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184};
    if (after_serial)
        expected = solutions;
    if ((size_t)SIZE < sizeof known / sizeof known[0] && solutions != known[SIZE])
        return "not the number of solutions that is known";
    return solutions == expected ? NULL : "not what the sequential program counts";
}

static void say(char *text, size_t bytes)
{
    snprintf(text, bytes, "%ld queens, %lu solutions", SIZE, (unsigned long)solutions);
}

/* The placements in the first DEPTH rows. */
static unsigned long placements(struct board b, long row)
{
    unsigned long sum = 0;
    if (row >= DEPTH || row == SIZE)
        return 0;
    for (uint32_t free = free_squares(b); free; free &= free - 1)
        sum += 1 + placements(place(b, free & -free), row + 1);
    return sum;
}

static unsigned long tasks(void) { return num_tasks = 1 + placements((struct board){0}, 0); }

int main(int argc, char **argv)
{
    static const struct wq queens = {"queens", "Counts the ways to place queens on a board, with nested task queues.",
                                     numbers,  setup,
                                     serial,   parallel,
                                     check,    say,
                                     tasks};
    return wq_main(&queens, argc, argv);
}
