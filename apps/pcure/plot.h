/* The clusters as a picture. */
#ifndef PCURE_PLOT_H
#define PCURE_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "points.h"

/* Each point a dot in its cluster's colour, in the plane of the two coordinates that reach farthest; both have the same
 * scale. path: one that picture_refusal allows. False: a line has said why not. */
bool plot_clusters(const char *path, const struct points *points, const uint32_t *labels);

#endif
