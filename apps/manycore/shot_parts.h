/* SHOT for one point. Single precision, no function of the C library: the same bits everywhere. */
#ifndef SHOT_PARTS_H
#define SHOT_PARTS_H

#include <stdint.h>

struct shot_point {
    float at[4], normal[4]; /* the fourth is 0 */
};

/* 8 sectors of azimuth, 2 of elevation, 2 of distance; 11 bins of the cosine between normals. */
enum { SHOT_AZIMUTH = 8, SHOT_ELEVATION = 2, SHOT_DISTANCE = 2, SHOT_COSINE = 11, SHOT_BINS = 8 * 2 * 2 * 11 };

/* A hilly surface over the unit square with its normals. */
void shot_surface(struct shot_point *points, unsigned num);

/* Three axes, x y z of each: eigenvectors of the covariance of the points in the radius, weighted by radius - distance.
 * x has the largest eigenvalue, z the smallest. Each of the two points to where more of the points lie. */
void shot_frame(const struct shot_point *points, unsigned num, unsigned key, float radius, float *frame);

/* Each point in the radius falls into a bin by azimuth, elevation (as a cosine), distance, and the cosine between its
 * normal and z. In each of the four its weight of 1 is shared out linearly between the two nearest bins' centres. Bin:
 * ((azimuth x 2 + elevation) x 2 + distance) x 11 + cosine. Of length 1 in the end. */
void shot_histogram(const struct shot_point *points, unsigned num, unsigned key, float radius, const float *frame,
                    float *histogram);

#endif
