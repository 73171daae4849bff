/* See plot.h. */
#include "plot.h"
#include "picture.h"
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 800, MARGIN = 20, FEW = 2000, MANY = 50000 /* points, which decide the size of a dot */ };

struct axis {
    size_t coordinate;
    double middle, reach;
};

static struct axis measure(const struct points *p, size_t coordinate)
{
    double least = p->x[coordinate], most = least;

    for (size_t i = 1; i < p->num; i++) {
        double x = p->x[i * p->dim + coordinate];
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    return (struct axis){coordinate, least / 2 + most / 2, most - least};
}

/* The two coordinates that reach farthest, the lower one first; a single one is across, and the other one is a line. */
static void choose_axes(const struct points *p, struct axis *across, struct axis *up)
{
    *across = measure(p, 0);
    *up = (struct axis){0, across->middle, 0};
    for (size_t d = 1; d < p->dim; d++) {
        struct axis other = measure(p, d);
        if (d == 1) {
            *up = other;
        } else if (other.reach > across->reach || other.reach > up->reach) {
            if (across->reach < up->reach)
                *across = *up;
            *up = other;
        }
    }
}

/* Neighbouring numbers get colours that are far apart: the hue goes on by the golden ratio. */
static void choose_colour(uint32_t label, unsigned char *rgb)
{
    double hue = fmod(0.6 + 0.618033988749895 * label, 1), light = label % 3 == 2 ? 0.55 : 0.85;

    for (unsigned c = 0; c < 3; c++) {
        double at = fabs(fmod(hue * 6 + 4.0 * (3 - c) + 6, 6) - 3) - 1; /* 1: this colour whole, 0: none of it */
        rgb[c] = (unsigned char)(255 * light * (at < 0 ? 0.05 : at > 1 ? 1 : 0.05 + 0.95 * at));
    }
}

static int place(double x, const struct axis *axis, double scale)
{
    return (int)lround(SIDE / 2 + (axis->reach > 0 ? (x - axis->middle) * scale : 0));
}

bool plot_clusters(const char *path, const struct points *p, const uint32_t *labels)
{
    struct axis across, up;
    unsigned char *pixels = malloc((size_t)SIDE * SIDE * 3);
    int dot = p->num < FEW ? 2 : p->num < MANY ? 1 : 0;

    if (!pixels) {
        fprintf(stderr, "%s: no memory for a picture\n", PROGRAM_NAME);
        return false;
    }
    memset(pixels, 255, (size_t)SIDE * SIDE * 3);
    choose_axes(p, &across, &up);
    double reach = across.reach > up.reach ? across.reach : up.reach;
    double scale = (SIDE - 2 * MARGIN) / reach; /* not used where the reach is 0 */
    for (size_t i = 0; i < p->num; i++) {
        int x = place(p->x[i * p->dim + across.coordinate], &across, scale);
        int y = SIDE - 1 - place(p->x[i * p->dim + up.coordinate], &up, scale);
        unsigned char rgb[3];
        choose_colour(labels[i], rgb);
        for (int row = y - dot; row <= y + dot; row++)
            for (int column = x - dot; column <= x + dot; column++)
                memcpy(pixels + 3 * ((size_t)row * SIDE + (size_t)column), rgb, 3);
    }
    bool written = picture_write(path, pixels, SIDE, SIDE);
    free(pixels);
    return written;
}
