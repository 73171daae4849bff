/* The network over one scaled image: every stage computes rows from rows of the stage before, so a stage's rows are
 * divided among threads, and stages follow one another. An output belongs to each window of 32 x 36 pixels whose
 * corner's coordinates are multiples of four.
 *
 * A level keeps its memory from image to image. One thread runs it; the members of its inner teams compute its rows. */
#ifndef FACEDETECT_LEVEL_H
#define FACEDETECT_LEVEL_H

#include "net.h"

#include <stdbool.h>

/* Pixels from -1 (black) to 1. Rows are `stride` floats apart. */
struct plane {
    float *pixels;
    int width, height, stride;
};

/* Where a scaled image lies in a plane: pixel (x, y) is at (left + x * step, top + y * step). What is outside repeats
 * the edge. */
struct view {
    const struct plane *plane;
    float left, top, step;
};

enum level_stage { STAGE_SCALE, STAGE_FIRST, STAGE_BOX, STAGE_SECOND, STAGE_LAST, LEVEL_STAGES };
extern const char *const level_stage_names[LEVEL_STAGES];

struct level {
    const struct net *net;
    struct view view;
    int width, height;     /* of the scaled image; at least a window's */
    int columns, rows;     /* of outputs */
    int threads;           /* that rows may be divided among at most */
    struct plane boxed[2]; /* the image's 2 x 2 means: from even columns, from odd ones */
    struct plane first[NET_FIRST], first_boxed[NET_FIRST][2];
    struct plane second[NET_SECOND];
    struct plane out;
    struct plane lines; /* three rows of scratch a thread */
    int *at;            /* scaling's columns, and shares of the right one */
    float *share;
    float *memory;
    double seconds[LEVEL_STAGES]; /* of the last run */
};

/* False: no memory. The plane that a view shows must not be wider than plane_width. */
bool level_make(struct level *level, const struct net *net, int width, int height, int plane_width, int threads);
void level_free(struct level *level);

/* Computes level->out. With more than one thread each stage is a parallel region. */
void level_run(struct level *level, const struct view *view, int threads);

#endif
