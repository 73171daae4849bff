/* Finds faces in a grey image. The network runs over a pyramid of scales (factor 1.2), and candidates are grouped over
 * place and scale. Then comes a fine search around each group: ten scales from 0.8 to 1.5 times the group's, 5 x 5
 * places four pixels apart. The sum of the positive outputs found there, the group's volume, says whether it is a face.
 * Most groups have next to none; of the others the places two pixels between are looked at too, and the volume is the
 * mean of four sets. Every second scale is looked at by the mirrored network: a face is one in the mirror too, and the
 * mean of both varies less with its pose, light and size.
 *
 * Parallelism, with T threads: scales (then groups) are the outer level. The first scale alone is a third of the work,
 * so a second level divides each stage's rows (and a group's ten scales) in teams of T again. The result does not
 * depend on either. */
#ifndef FACEDETECT_DETECT_H
#define FACEDETECT_DETECT_H

#include "level.h"

enum { DETECT_SCALES_MAX = 48, DETECT_OCTAVES_MAX = 16 };

enum detect_stage {
    DETECT_OCTAVES = LEVEL_STAGES,
    DETECT_GROUP,
    DETECT_FINE,
    DETECT_STAGES,
};
extern const char *const detect_stage_names[DETECT_STAGES];

struct face {
    float x, y, width, height; /* the window, in pixels of the image */
    float scale;
    float score; /* the volume */
};

struct faces {
    struct face *list; /* the best first */
    unsigned count, room;
};

struct detector {
    const struct net *net;
    struct net mirrored;
    int threads, levels;
    float volume; /* least of a face */
    int width, height;
    struct plane octave[DETECT_OCTAVES_MAX]; /* each half as large as the one before; the first is the image */
    unsigned octaves, scales;
    struct level scale[DETECT_SCALES_MAX];
    struct faces candidates, groups;
    struct level *patch;           /* the fine search's: one for each thread of each group */
    double seconds[DETECT_STAGES]; /* of the last image, where one thread did all */
    float *memory;
};

#define DETECT_VOLUME 3.0f

/* False: no memory. */
bool detector_make(struct detector *detector, const struct net *net, int width, int height, int threads, int levels,
                   float volume);
void detector_free(struct detector *detector);

/* Where the image's row y is to be put. */
float *detector_row(struct detector *detector, int y);

/* False: no memory. The caller frees faces->list. */
bool detector_run(struct detector *detector, struct faces *faces);

#endif
