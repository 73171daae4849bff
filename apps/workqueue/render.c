/* See scene.h. Rays, and the grid that finds what they hit.
 *
 * The grid is hierarchical: the box around all spheres and triangles is cut into cells, about as many as there are
 * shapes; a cell with more than CROWDED shapes is a grid again, down to DEEPEST. A ray walks from cell to cell
 * (Amanatides, Woo: A fast voxel traversal algorithm, 1987). Planes have no end: each ray looks at all of them. After
 * render_prepare nothing is written. */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CROWDED = 12, DEEPEST = 3, CELLS_MAX = 64, BOUNCES = 5 };
#define NEAR 1e-6

static struct vec add(struct vec a, struct vec b) { return (struct vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static struct vec sub(struct vec a, struct vec b) { return (struct vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static struct vec scale(struct vec a, double f) { return (struct vec){a.x * f, a.y * f, a.z * f}; }
static struct vec times(struct vec a, struct vec b) { return (struct vec){a.x * b.x, a.y * b.y, a.z * b.z}; }
static double dot(struct vec a, struct vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static struct vec cross(struct vec a, struct vec b)
{
    return (struct vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static struct vec unit(struct vec a) { return scale(a, 1 / sqrt(dot(a, a))); }
static double part(struct vec v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

struct box {
    double low[3], high[3];
};

struct cell {
    struct grid *inner; /* or */
    unsigned *shapes;
    unsigned num_shapes;
};

struct grid {
    struct box box;
    int cells[3];
    double width[3]; /* of a cell */
    struct cell *all;
};

struct ray {
    struct vec from, along;
};

struct hit {
    double at; /* along the ray */
    const struct shape *shape;
};

static void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

/* --- shapes --- */

static double meet_sphere(const struct shape *s, struct ray r)
{
    struct vec to = sub(r.from, s->a);
    double b = dot(to, r.along), c = dot(to, to) - s->size * s->size, d = b * b - c;
    if (d < 0)
        return INFINITY;
    double root = sqrt(d), first = -b - root, second = -b + root;
    return first > NEAR ? first : second > NEAR ? second : INFINITY;
}

/* After Moeller, Trumbore: Fast, minimum storage ray-triangle intersection, 1997. */
static double meet_triangle(const struct shape *s, struct ray r)
{
    struct vec e1 = sub(s->b, s->a), e2 = sub(s->c, s->a), p = cross(r.along, e2);
    double det = dot(e1, p);
    if (fabs(det) < 1e-14)
        return INFINITY;
    struct vec t = sub(r.from, s->a), q = cross(t, e1);
    double u = dot(t, p) / det, v = dot(r.along, q) / det, at = dot(e2, q) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && at > NEAR ? at : INFINITY;
}

static double meet_plane(const struct shape *s, struct ray r)
{
    double slope = dot(s->a, r.along);
    if (fabs(slope) < 1e-14)
        return INFINITY;
    double at = (s->size - dot(s->a, r.from)) / slope;
    return at > NEAR ? at : INFINITY;
}

static double meet(const struct shape *s, struct ray r)
{
    return s->kind == SPHERE ? meet_sphere(s, r) : s->kind == TRIANGLE ? meet_triangle(s, r) : meet_plane(s, r);
}

static struct vec normal(const struct shape *s, struct vec at)
{
    if (s->kind == SPHERE)
        return scale(sub(at, s->a), 1 / s->size);
    return s->kind == PLANE ? s->a : unit(cross(sub(s->b, s->a), sub(s->c, s->a)));
}

static struct box box_of(const struct shape *s)
{
    struct box b;
    for (int axis = 0; axis < 3; axis++) {
        double a = part(s->a, axis);
        if (s->kind == SPHERE) {
            b.low[axis] = a - s->size;
            b.high[axis] = a + s->size;
        } else {
            b.low[axis] = fmin(a, fmin(part(s->b, axis), part(s->c, axis)));
            b.high[axis] = fmax(a, fmax(part(s->b, axis), part(s->c, axis)));
        }
    }
    return b;
}

/* --- the grid --- */

static int cell_at(const struct grid *g, int axis, double value)
{
    int k = (int)floor((value - g->box.low[axis]) / g->width[axis]);
    return k < 0 ? 0 : k >= g->cells[axis] ? g->cells[axis] - 1 : k;
}

static struct cell *cell(const struct grid *g, const int at[3])
{
    return &g->all[((size_t)at[2] * (size_t)g->cells[1] + (size_t)at[1]) * (size_t)g->cells[0] + (size_t)at[0]];
}

/* Calls of `each` for the cells that a shape's box touches: counts them first, then fills their lists. */
static void put(const struct scene *s, struct grid *g, const unsigned *which, unsigned num, bool count)
{
    for (unsigned k = 0; k < num; k++) {
        struct box b = box_of(&s->shapes[which[k]]);
        int low[3], high[3], at[3];
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = cell_at(g, axis, b.low[axis]);
            high[axis] = cell_at(g, axis, b.high[axis]);
        }
        for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
            for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
                for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
                    struct cell *c = cell(g, at);
                    if (!count)
                        c->shapes[c->num_shapes] = which[k];
                    c->num_shapes++;
                }
    }
}

static struct grid *make_grid(const struct scene *s, struct box box, const unsigned *which, unsigned num, int depth)
{
    struct grid *g = allocate(sizeof *g);
    double size[3], volume = 1;
    g->box = box;
    for (int axis = 0; axis < 3; axis++) {
        size[axis] = fmax(box.high[axis] - box.low[axis], 1e-9);
        volume *= size[axis];
    }
    double edge = cbrt(volume / num);
    size_t cells = 1;
    for (int axis = 0; axis < 3; axis++) {
        double wanted = size[axis] / edge;
        g->cells[axis] = wanted < 1 ? 1 : wanted > CELLS_MAX ? CELLS_MAX : (int)wanted;
        g->width[axis] = size[axis] / g->cells[axis];
        cells *= (size_t)g->cells[axis];
    }
    g->all = allocate(cells * sizeof *g->all);
    put(s, g, which, num, true);
    for (size_t k = 0; k < cells; k++) {
        g->all[k].shapes = g->all[k].num_shapes ? allocate(g->all[k].num_shapes * sizeof(unsigned)) : NULL;
        g->all[k].num_shapes = 0;
    }
    put(s, g, which, num, false);
    int at[3];
    for (at[2] = 0; at[2] < g->cells[2]; at[2]++)
        for (at[1] = 0; at[1] < g->cells[1]; at[1]++)
            for (at[0] = 0; at[0] < g->cells[0]; at[0]++) {
                struct cell *c = cell(g, at);
                if (c->num_shapes <= CROWDED || depth == DEEPEST || (cells == 1 && c->num_shapes == num))
                    continue;
                struct box inner;
                for (int axis = 0; axis < 3; axis++) {
                    inner.low[axis] = g->box.low[axis] + at[axis] * g->width[axis];
                    inner.high[axis] = inner.low[axis] + g->width[axis];
                }
                c->inner = make_grid(s, inner, c->shapes, c->num_shapes, depth + 1);
            }
    return g;
}

static void free_grid(struct grid *g)
{
    if (!g)
        return;
    size_t cells = (size_t)g->cells[0] * (size_t)g->cells[1] * (size_t)g->cells[2];
    for (size_t k = 0; k < cells; k++) {
        free_grid(g->all[k].inner);
        free(g->all[k].shapes);
    }
    free(g->all);
    free(g);
}

void render_prepare(struct scene *s)
{
    unsigned *which = allocate(s->num_shapes * sizeof *which), num = 0;
    struct box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    render_forget(s);
    s->planes = allocate(s->num_shapes * sizeof *s->planes);
    for (size_t k = 0; k < s->num_shapes; k++) {
        if (s->shapes[k].kind == PLANE) {
            s->planes[s->num_planes++] = (unsigned)k;
            continue;
        }
        struct box b = box_of(&s->shapes[k]);
        for (int axis = 0; axis < 3; axis++) {
            all.low[axis] = fmin(all.low[axis], b.low[axis] - 1e-6);
            all.high[axis] = fmax(all.high[axis], b.high[axis] + 1e-6);
        }
        which[num++] = (unsigned)k;
    }
    s->grid = num ? make_grid(s, all, which, num, 0) : NULL;
    free(which);
}

void render_forget(struct scene *s)
{
    free_grid(s->grid);
    free(s->planes);
    s->grid = NULL;
    s->planes = NULL;
    s->num_planes = 0;
}

/* Where the ray is inside of the box; false: nowhere in front. */
static bool clip(const struct box *b, struct ray r, double *from, double *to)
{
    for (int axis = 0; axis < 3; axis++) {
        double along = part(r.along, axis), origin = part(r.from, axis);
        if (along == 0) {
            if (origin < b->low[axis] || origin > b->high[axis])
                return false;
            continue;
        }
        double in = (b->low[axis] - origin) / along, out = (b->high[axis] - origin) / along;
        *from = fmax(*from, fmin(in, out));
        *to = fmin(*to, fmax(in, out));
    }
    return *from <= *to;
}

/* The nearest shape of the grid up to hit->at; `any`: the first one that is found. */
static void walk(const struct scene *s, const struct grid *g, struct ray r, double from, double to, bool any,
                 struct hit *hit)
{
    to = fmin(to, hit->at);
    if (!clip(&g->box, r, &from, &to))
        return;
    struct vec start = add(r.from, scale(r.along, from));
    int at[3], step[3];
    double next[3], each[3];
    for (int axis = 0; axis < 3; axis++) {
        double along = part(r.along, axis);
        at[axis] = cell_at(g, axis, part(start, axis));
        step[axis] = along > 0 ? 1 : -1;
        double border = g->box.low[axis] + (at[axis] + (along > 0)) * g->width[axis];
        next[axis] = along == 0 ? INFINITY : (border - part(r.from, axis)) / along;
        each[axis] = along == 0 ? INFINITY : g->width[axis] / fabs(along);
    }
    for (;;) {
        const struct cell *c = cell(g, at);
        int axis = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        if (c->inner) {
            walk(s, c->inner, r, from, fmin(next[axis] + 1e-9, to), any, hit);
        } else {
            for (unsigned k = 0; k < c->num_shapes; k++) {
                const struct shape *shape = &s->shapes[c->shapes[k]];
                double d = meet(shape, r);
                if (d < hit->at)
                    *hit = (struct hit){d, shape};
            }
        }
        if ((any && hit->shape) || hit->at <= next[axis] || next[axis] > to)
            return;
        from = next[axis];
        at[axis] += step[axis];
        if (at[axis] < 0 || at[axis] >= g->cells[axis])
            return;
        next[axis] += each[axis];
    }
}

static struct hit find(const struct scene *s, struct ray r, double to, bool any)
{
    struct hit hit = {to, NULL};
    for (size_t k = 0; k < s->num_planes && !(any && hit.shape); k++) {
        double d = meet(&s->shapes[s->planes[k]], r);
        if (d < hit.at)
            hit = (struct hit){d, &s->shapes[s->planes[k]]};
    }
    if (s->grid && !(any && hit.shape))
        walk(s, s->grid, r, 0, hit.at, any, &hit);
    return hit;
}

/* --- light --- */

static struct vec trace(const struct scene *s, struct ray r, int bounces)
{
    struct hit hit = find(s, r, INFINITY, false);
    if (!hit.shape)
        return s->background;
    const struct material *m = &s->materials[hit.shape->material];
    struct vec at = add(r.from, scale(r.along, hit.at)), up = normal(hit.shape, at),
               colour = times(s->ambient, m->colour);
    if (dot(up, r.along) > 0)
        up = scale(up, -1);
    struct vec mirrored = sub(r.along, scale(up, 2 * dot(up, r.along)));
    struct vec out = add(at, scale(up, NEAR * 10));
    for (size_t k = 0; k < s->num_lights; k++) {
        struct vec to = sub(s->lights[k].at, out);
        double far = sqrt(dot(to, to)), slope = dot(up, to) / far;
        if (slope <= 0 || find(s, (struct ray){out, scale(to, 1 / far)}, far, true).shape)
            continue;
        struct vec lit = scale(times(m->colour, s->lights[k].colour), slope);
        double glance = dot(mirrored, to) / far;
        if (m->shine > 0 && glance > 0)
            lit = add(lit, scale(s->lights[k].colour, m->shine * pow(glance, m->gloss)));
        colour = add(colour, lit);
    }
    if (m->mirror > 0 && bounces < BOUNCES)
        colour =
            add(scale(colour, 1 - m->mirror), scale(trace(s, (struct ray){out, mirrored}, bounces + 1), m->mirror));
    return colour;
}

struct vec render_pixel(const struct scene *s, unsigned x, unsigned y, unsigned side)
{
    struct vec ahead = unit(sub(s->look, s->eye)), right = unit(cross(ahead, (struct vec){0, 1, 0})),
               up = cross(right, ahead);
    double half = tan(s->angle * M_PI / 360), aspect = (double)s->width / s->height;
    struct vec sum = {0, 0, 0};
    for (unsigned k = 0; k < side * side; k++) {
        double u = 2 * (x + ((double)(k % side) + 0.5) / side) / s->width - 1,
               v = 1 - 2 * (y + ((double)(k / side) + 0.5) / side) / s->height;
        struct vec along = add(ahead, add(scale(right, u * half * aspect), scale(up, v * half)));
        sum = add(sum, trace(s, (struct ray){s->eye, unit(along)}, 0));
    }
    return scale(sum, 1.0 / (side * side));
}
