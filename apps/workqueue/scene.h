/* scene.h - what the ray tracer looks at, and how it is read from a file (README.md describes the format). */
#ifndef WQ_SCENE_H
#define WQ_SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct vec {
    double x, y, z;
};

struct material {
    char name[32];
    struct vec colour;
    double shine, gloss; /* strength and exponent of highlights */
    double mirror;       /* part of the light that is reflected */
};

enum shape_kind { SPHERE, TRIANGLE, PLANE };

struct shape {
    enum shape_kind kind;
    unsigned material;
    struct vec a, b, c; /* sphere: centre; triangle: corners; plane: normal */
    double size;        /* sphere: radius; plane: distance of the origin along the normal */
};

struct light {
    struct vec at, colour;
};

struct grid;

struct scene {
    unsigned width, height;
    struct vec eye, look, background, ambient;
    double angle; /* of the picture's height, in degrees */
    struct material *materials;
    struct shape *shapes;
    struct light *lights;
    size_t num_materials, num_shapes, num_lights;
    unsigned *planes; /* which shapes are */
    size_t num_planes;
    struct grid *grid; /* the others */
};

/* Reads a scene; what is wrong is said with the file's name and line, and ends the program with status 1. */
void scene_read(struct scene *scene, const char *path);
void scene_free(struct scene *scene);

/* --- render.c --- */

/* Before the first ray. */
void render_prepare(struct scene *scene);
void render_forget(struct scene *scene);
/* The colour of a pixel, the mean of `side` x `side` rays. Any number of threads may call it. */
struct vec render_pixel(const struct scene *scene, unsigned x, unsigned y, unsigned side);

#endif
