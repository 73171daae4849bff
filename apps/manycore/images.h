/* Images: deterministic scenes, and files. The same on the host and on the platform. */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdbool.h>
#include <stdint.h>

/* A chess pattern, size x size: squares of 7 pixels in fields of 8. FAST's corners with threshold 20 and no
 * suppression: 15% of the pixels of a large one, less where the border's share is large. */
void image_chess(uint8_t *pixels, unsigned size);

/* A street: sky, houses with windows, road, cars. density: FAST's corners, about, in thousandths of the pixels
 * (threshold 20). noise: grey levels that a pixel may be off. */
void image_street(uint8_t *pixels, unsigned width, unsigned height, unsigned density, unsigned noise);

enum { IMAGE_MOST = 1280 }; /* pixels of a row of a ball's picture */

/* Red, green, blue: a red ball over a green and blue background; frame says where the ball is. */
void image_ball(uint8_t *pixels, unsigned width, unsigned height, unsigned frame);

/* What --image FILE or the scene's options ask for; the program's part is in the comments. */
struct image_options {
    const char *file, *scene; /* scene: chess or street */
    unsigned width, height, density, noise;
};

/* A grey image of malloc; width and height are set. false: a line has been written. */
bool image_grey(struct image_options *options, uint8_t **pixels);

/* Whether a scene's width suits transfers of words. */
bool image_width_good(unsigned width);

#endif
