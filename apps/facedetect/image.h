/* Pictures in files and in memory: PNG by libpng, JPEG by libjpeg. What cannot be read is told in one line on standard
 * error. */
#ifndef FACEDETECT_IMAGE_H
#define FACEDETECT_IMAGE_H

#include "detect.h"

#include <stdbool.h>
#include <stddef.h>

enum { IMAGE_PIXELS_MAX = 50000000, IMAGE_SIDE_MAX = 65500 };

struct image {
    unsigned char *pixels; /* `channels` bytes each, without gaps */
    int width, height;
    int channels; /* 3: red, green, blue; 1: grey */
};

/* A file of either kind, known by its first bytes. */
bool image_read(struct image *image, const char *path);

/* A JPEG in memory, in grey where it has such a channel. `name` is for messages. The image's memory is used again. */
bool image_decode_jpeg(struct image *image, const unsigned char *data, size_t size, bool grey, const char *name);

void image_free(struct image *image);

/* Gives the detector the image. */
void image_show(const struct image *image, struct detector *detector);

/* Draws a frame around each face. */
void image_draw(struct image *image, const struct face *faces, unsigned count);

/* Whether the name says how to write: it ends in .png, .jpg or .jpeg, or belongs to a device or a pipe (PNG). */
bool image_can_write(const char *path);

/* Writes a PNG or a JPEG by another name first, so that `path` is whole or as it was, whatever happens. */
bool image_write(const struct image *image, const char *path);

/* Whether SIGINT or SIGTERM ends the program meanwhile: the half-written file is removed first. */
void image_watch_signals(void);

#endif
