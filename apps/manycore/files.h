/* Files: PNG images in, NumPy arrays out. The platform has none (files_platform.c). */
#ifndef FILES_H
#define FILES_H

#include "mc.h"

struct files_image {
    unsigned width, height, channels;
    uint8_t *pixels; /* of malloc */
};

/* channels: 1 (grey) or 3 (red, green, blue). false: a line has been written. */
bool files_read_image(const char *path, unsigned channels, struct files_image *image);

/* Each array as FOLDER/NAME.npy: whole or not at all. The folder is made where it is not there. */
bool files_save(const char *folder, const struct mc_array *sources, const struct mc_array *results);

#endif
