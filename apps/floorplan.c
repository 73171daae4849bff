/* Floorplan: SIZE cells, each of which comes in some shapes, are placed on a plane so that the area of the rectangle
 * around them is least; branch and bound, a task a placement. After the description in Duran et al., ICPP 2009 (an AKM
 * program).
 *
 * The cells are taken in a given order; a cell goes right of, or above, one of those that are placed (at its lower
 * right or upper left corner), and overlaps none. A branch whose rectangle is not smaller than the best that is known
 * ends. How much of the tree is seen depends on how early good plans are found, under every runtime. Therefore both
 * ways begin with the least area plus one as their bound, which an earlier search gives, and count the best plans. So
 * the work is the same in every order. The cells come from a generator with a fixed seed. */
#include "app.h"

#include <omp.h>
#include <string.h>

enum { CELLS_MAX = 12, SHAPES = 3, COUNTERS = 64 };

struct shape {
    unsigned w, h;
};

struct placed {
    unsigned x, y, w, h;
};

struct plan {
    struct placed cells[CELLS_MAX];
    unsigned num, w, h;
};

static struct shape shapes[CELLS_MAX][SHAPES];
static unsigned num_cells, bound;
static struct {
    uint64_t best, tasks, pad[6];
} counters[COUNTERS]; /* a line for each thread number: what it found */

static bool overlaps(const struct plan *p, struct placed c)
{
    for (unsigned i = 0; i < p->num; i++) {
        const struct placed *o = &p->cells[i];
        if (c.x < o->x + o->w && o->x < c.x + c.w && c.y < o->y + o->h && o->y < c.y + c.h)
            return true;
    }
    return false;
}

/* Puts the next cell where choice says, if that can still lead to a plan below the bound. */
static bool place(struct plan *to, const struct plan *p, unsigned choice)
{
    struct shape s = shapes[p->num][choice % SHAPES];
    unsigned where = choice / SHAPES;
    const struct placed *o = &p->cells[where / 2];
    struct placed c = {.w = s.w, .h = s.h};
    if (p->num)
        c.x = o->x + (where % 2 ? o->w : 0), c.y = o->y + (where % 2 ? 0 : o->h);
    unsigned w = c.x + c.w > p->w ? c.x + c.w : p->w, h = c.y + c.h > p->h ? c.y + c.h : p->h;
    if (w * h >= bound || overlaps(p, c))
        return false;
    memcpy(to->cells, p->cells, p->num * sizeof c);
    to->cells[p->num] = c;
    to->num = p->num + 1, to->w = w, to->h = h;
    return true;
}

static unsigned num_choices(const struct plan *p) { return (p->num ? 2 * p->num : 1) * SHAPES; }

/* The least area of all, by lowering the bound as plans are found. */
static void find_least(const struct plan *p)
{
    if (p->num == num_cells) {
        bound = p->w * p->h;
        return;
    }
    for (unsigned c = 0; c < num_choices(p); c++) {
        struct plan next;
        if (place(&next, p, c))
            find_least(&next);
    }
}

static uint64_t serial_count(const struct plan *p)
{
    uint64_t count = 0;
    if (p->num == num_cells)
        return 1;
    for (unsigned c = 0; c < num_choices(p); c++) {
        struct plan next;
        if (place(&next, p, c))
            count += serial_count(&next);
    }
    return count;
}

static void task_count(const struct plan *p)
{
    uint64_t made = 0;
    if (p->num == num_cells) {
        counters[(unsigned)omp_get_thread_num() % COUNTERS].best++;
        return;
    }
    for (unsigned c = 0; c < num_choices(p); c++) {
        struct plan next;
        if (!place(&next, p, c))
            continue;
        made++;
#pragma omp task firstprivate(next)
        task_count(&next);
    }
    counters[(unsigned)omp_get_thread_num() % COUNTERS].tasks += made;
#pragma omp taskwait
}

static void setup(unsigned size)
{
    uint64_t state = 5;
    struct plan empty = {.num = 0};
    num_cells = size;
    for (unsigned i = 0; i < size; i++)
        for (unsigned s = 0; s < SHAPES; s++)
            shapes[i][s] =
                (struct shape){1 + (unsigned)(app_random(&state) % 6), 1 + (unsigned)(app_random(&state) % 6)};
    bound = ~0u;
    find_least(&empty);
    bound++;
}

static uint64_t serial(void)
{
    struct plan empty = {.num = 0};
    return serial_count(&empty);
}

static uint64_t parallel(void)
{
    struct plan empty = {.num = 0};
    uint64_t best = 0;
    memset(counters, 0, sizeof counters);
    task_count(&empty);
    for (unsigned i = 0; i < COUNTERS; i++)
        best += counters[i].best;
    return best;
}

static uint64_t tasks(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < COUNTERS; i++)
        sum += counters[i].tasks;
    return sum;
}

int main(int argc, char **argv)
{
    static const struct app app = {"floorplan", 10,       1,    CELLS_MAX, setup, false,
                                   serial,      parallel, NULL, NULL,      tasks, NULL};
    return app_main(&app, argc, argv);
}
