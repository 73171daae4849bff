/* Scenes, drawn with integers only (images.h). */
#include "images.h"

#include "files.h"
#include "mc.h"

#include <string.h>

void image_chess(uint8_t *pixels, unsigned size)
{
    for (unsigned y = 0; y < size; y++)
        for (unsigned x = 0; x < size; x++)
            pixels[y * size + x] = ((x / 8 + y / 8) % 2 && x % 8 < 7 && y % 8 < 7) ? 200 : 50;
}

struct canvas {
    uint8_t *pixels;
    unsigned width, height;
};

static void fill(const struct canvas *c, unsigned x, unsigned y, unsigned width, unsigned height, uint8_t grey)
{
    for (unsigned j = y; j < mc_least(y + height, c->height); j++)
        for (unsigned i = x; i < mc_least(x + width, c->width); i++)
            c->pixels[j * c->width + i] = grey;
}

enum { HORIZON = 60, WINDOW = 5, PITCH = 9, CORNERS_OF_WINDOW = 23, CORNERS_OF_REST = 480 };

/* Houses from left to right. chance: of a window, in 65536ths; returns how many windows there would be room for. */
static unsigned houses(const struct canvas *c, uint32_t *state, unsigned chance)
{
    unsigned horizon = c->height * HORIZON / 100, room = 0;

    for (unsigned x = 0; x + 16 < c->width;) {
        unsigned width = c->width / 12 + mc_random(state) % (c->width / 8);
        unsigned height = horizon / 3 + mc_random(state) % (horizon / 2);
        unsigned top = horizon - height;
        width = mc_least(width, c->width - x);
        fill(c, x, top, width, height, (uint8_t)(90 + mc_random(state) % 50));
        for (unsigned wy = top + 4; wy + PITCH < horizon; wy += PITCH)
            for (unsigned wx = x + 3; wx + PITCH < x + width; wx += PITCH) {
                uint32_t drawn = mc_random(state);
                room++;
                if ((drawn & 0xffff) < chance)
                    fill(c, wx, wy, WINDOW, WINDOW, drawn >> 31 ? 30 : 220);
            }
        x += width + mc_random(state) % 8;
    }
    return room;
}

static void cars(const struct canvas *c, uint32_t *state)
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned width = c->width / 10, height = c->height / 14;
        unsigned x = mc_random(state) % (c->width - width), y = c->height * (66 + 10 * i) / 100;
        fill(c, x, y, width, height, (uint8_t)(40 + 60 * i));
        fill(c, x + width / 5, y - height / 2, width * 3 / 5, height / 2, 180);
        fill(c, x + width / 8, y + height, width / 6, height / 4, 10);
        fill(c, x + width * 6 / 8, y + height, width / 6, height / 4, 10);
    }
}

void image_street(uint8_t *pixels, unsigned width, unsigned height, unsigned density, unsigned noise)
{
    struct canvas c = {pixels, width, height};
    uint32_t state = 20161123, again = state;
    unsigned corners = (unsigned)((uint64_t)width * height * density / 1000);
    unsigned wanted = corners > CORNERS_OF_REST ? (corners - CORNERS_OF_REST) / CORNERS_OF_WINDOW : 0;

    for (unsigned y = 0; y < height; y++)
        memset(pixels + (size_t)y * width,
               (int)(y * 100 < height * HORIZON ? 190 - y * 40 / height : 70 + y * 20 / height), width);
    unsigned room = houses(&c, &state, 0);
    houses(&c, &again, room ? (unsigned)mc_least(wanted * 65536u / room, 65536) : 0);
    for (unsigned x = 0; x + width / 16 < width; x += width / 8)
        fill(&c, x, height * 85 / 100, width / 16, 3, 210);
    cars(&c, &state);
    for (unsigned i = 0; noise && i < width * height; i++) {
        unsigned off = mc_random(&state) % (2 * noise + 1), grey = pixels[i] + off;
        pixels[i] = (uint8_t)(grey < noise ? 0 : mc_least(grey - noise, 255));
    }
}

void image_ball(uint8_t *pixels, unsigned width, unsigned height, unsigned frame)
{
    static uint8_t row[3 * IMAGE_MOST]; /* near: single bytes are dear in main memory */
    uint32_t state = 7 + frame;
    int radius = (int)height / 8, x0 = (int)(width / 5 + frame * width / 12 % (width * 3 / 5)),
        y0 = (int)(height / 4 + frame * height / 20 % (height / 2));

    for (int y = 0; y < (int)height; y++) {
        uint8_t *at = row;
        for (int x = 0; x < (int)width; x++, at += 3) {
            unsigned noise = mc_random(&state) & 15;
            int dx = x - x0, dy = y - y0;
            bool ball = dx * dx + dy * dy < radius * radius;
            at[0] = (uint8_t)(ball ? 200 + noise : 40 + noise);
            at[1] = (uint8_t)(ball ? 40 + noise : 90 + (unsigned)y * 80 / height + noise);
            at[2] = (uint8_t)(ball ? 25 + noise : 60 + (unsigned)x * 120 / width + noise);
        }
        memcpy(pixels + (size_t)y * width * 3, row, (size_t)width * 3);
    }
}

bool image_width_good(unsigned width)
{
    return width % 4 == 0 || mc_wrong("--width %u: expected a multiple of 4", width);
}

bool image_grey(struct image_options *o, uint8_t **pixels)
{
    struct files_image image;

    if (o->file) {
        if (!files_read_image(o->file, 1, &image))
            return false;
        o->width = image.width;
        o->height = image.height;
        *pixels = image.pixels;
        return true;
    }
    bool chess = o->scene && strcmp(o->scene, "chess") == 0;
    if (o->scene && !chess && strcmp(o->scene, "street") != 0)
        return mc_wrong("--scene %s: expected chess or street", o->scene);
    if (chess)
        o->height = o->width;
    if (!image_width_good(o->width))
        return false;
    *pixels = mc_zeros((size_t)o->width * o->height);
    if (*pixels && chess)
        image_chess(*pixels, o->width);
    else if (*pixels)
        image_street(*pixels, o->width, o->height, o->density, o->noise);
    return *pixels;
}
