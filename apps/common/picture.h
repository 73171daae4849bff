/* Pictures as PNG files. Where there is no libpng, no_picture.c stands in: it refuses every name. */
#ifndef APPS_PICTURE_H
#define APPS_PICTURE_H

#include <stdbool.h>

/* Why no picture can be written by this name, in a few words: it does not end in .png, and is no device or pipe. NULL:
 * one can. For programs that compute for long before they write. */
const char *picture_refusal(const char *path);

/* Writes rows of red, green, blue bytes as a PNG; nothing is left under `path` if it fails, or if the program is
 * stopped by a signal.
 * False: it failed, which was said. */
bool picture_write(const char *path, const unsigned char *pixels, unsigned width, unsigned height);

#endif
