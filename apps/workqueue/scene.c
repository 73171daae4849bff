/* See scene.h. A line is a thing: a word that says what, then names and numbers. */
#include "scene.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    unsigned line;
    char *at;
};

__attribute__((format(printf, 2, 3), noreturn)) static void wrong(const struct reader *r, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    fprintf(stderr, "%s:%u: ", r->path, r->line);
    vfprintf(stderr, format, more);
    fputc('\n', stderr);
    va_end(more);
    exit(1);
}

static char *word(struct reader *r, const char *what)
{
    r->at += strspn(r->at, " \t");
    if (!*r->at)
        wrong(r, "%s is expected", what);
    char *first = r->at;
    r->at += strcspn(r->at, " \t");
    if (*r->at)
        *r->at++ = '\0';
    return first;
}

static double number(struct reader *r, const char *what, double least, double most)
{
    char *text = word(r, what), *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) {
        if (least > -1e300 || most < 1e300)
            wrong(r, "%s: a number from %g to %g is expected, not '%s'", what, least, most, text);
        wrong(r, "%s: a number is expected, not '%s'", what, text);
    }
    return value;
}

#define ANY -1e300, 1e300

static struct vec vector(struct reader *r, const char *what, double least, double most)
{
    struct vec v;
    v.x = number(r, what, least, most);
    v.y = number(r, what, least, most);
    v.z = number(r, what, least, most);
    return v;
}

static void *grow(const struct reader *r, void *array, size_t num, size_t bytes)
{
    if (num & (num - 1) && num) /* it grows when num is a power of two */
        return array;
    void *more = realloc(array, (num ? 2 * num : 1) * bytes);
    if (!more)
        wrong(r, "no memory for so many things");
    return more;
}

static unsigned material(struct reader *r, const struct scene *s)
{
    const char *name = word(r, "a material's name");
    for (size_t k = 0; k < s->num_materials; k++)
        if (strcmp(s->materials[k].name, name) == 0)
            return (unsigned)k;
    wrong(r, "there is no material '%s' above", name);
}

static void read_material(struct reader *r, struct scene *s)
{
    struct material m = {.gloss = 32};
    const char *name = word(r, "a material's name");
    if (strlen(name) >= sizeof m.name)
        wrong(r, "the name '%s' is longer than %zu bytes", name, sizeof m.name - 1);
    strcpy(m.name, name);
    for (size_t k = 0; k < s->num_materials; k++)
        if (strcmp(s->materials[k].name, name) == 0)
            wrong(r, "there is a material '%s' already", name);
    m.colour = vector(r, "a colour", 0, 1);
    while (r->at += strspn(r->at, " \t"), *r->at) {
        const char *what = word(r, "a property");
        if (strcmp(what, "shine") == 0) {
            m.shine = number(r, "shine", 0, 1);
            m.gloss = number(r, "gloss", 1, 1e4);
        } else if (strcmp(what, "mirror") == 0) {
            m.mirror = number(r, "mirror", 0, 1);
        } else {
            wrong(r, "a material has shine and mirror, not '%s'", what);
        }
    }
    s->materials = grow(r, s->materials, s->num_materials, sizeof m);
    s->materials[s->num_materials++] = m;
}

static double length2(struct vec v) { return v.x * v.x + v.y * v.y + v.z * v.z; }

static void read_shape(struct reader *r, struct scene *s, enum shape_kind kind)
{
    struct shape shape = {.kind = kind, .material = material(r, s)};
    if (kind == SPHERE) {
        shape.a = vector(r, "the centre", ANY);
        shape.size = number(r, "the radius", 1e-9, 1e300);
    } else if (kind == TRIANGLE) {
        shape.a = vector(r, "a corner", ANY);
        shape.b = vector(r, "a corner", ANY);
        shape.c = vector(r, "a corner", ANY);
    } else {
        shape.a = vector(r, "the normal", ANY);
        double length = sqrt(length2(shape.a));
        if (!(length > 0))
            wrong(r, "the normal has no direction");
        shape.a = (struct vec){shape.a.x / length, shape.a.y / length, shape.a.z / length};
        shape.size = number(r, "the distance", ANY);
    }
    s->shapes = grow(r, s->shapes, s->num_shapes, sizeof shape);
    s->shapes[s->num_shapes++] = shape;
}

static void read_light(struct reader *r, struct scene *s)
{
    struct light light;
    light.at = vector(r, "the light's place", ANY);
    light.colour = vector(r, "the light's colour", 0, 100);
    s->lights = grow(r, s->lights, s->num_lights, sizeof light);
    s->lights[s->num_lights++] = light;
}

static void read_line(struct reader *r, struct scene *s)
{
    const char *what = word(r, "a word");
    if (strcmp(what, "image") == 0) {
        s->width = (unsigned)number(r, "the width", 1, 32768);
        s->height = (unsigned)number(r, "the height", 1, 32768);
    } else if (strcmp(what, "camera") == 0) {
        s->eye = vector(r, "the eye's place", ANY);
        s->look = vector(r, "what is looked at", ANY);
        s->angle = number(r, "the angle", 0.1, 179);
        if (!(length2((struct vec){s->look.x - s->eye.x, 0, s->look.z - s->eye.z}) > 0))
            wrong(r, "the camera may not look straight up or down, or at itself");
    } else if (strcmp(what, "background") == 0) {
        s->background = vector(r, "a colour", 0, 1);
    } else if (strcmp(what, "ambient") == 0) {
        s->ambient = vector(r, "a colour", 0, 1);
    } else if (strcmp(what, "light") == 0) {
        read_light(r, s);
    } else if (strcmp(what, "material") == 0) {
        read_material(r, s);
    } else if (strcmp(what, "sphere") == 0) {
        read_shape(r, s, SPHERE);
    } else if (strcmp(what, "triangle") == 0) {
        read_shape(r, s, TRIANGLE);
    } else if (strcmp(what, "plane") == 0) {
        read_shape(r, s, PLANE);
    } else {
        wrong(r,
              "'%s' is not known: image, camera, background, ambient, light, material, sphere, triangle and plane are",
              what);
    }
    r->at += strspn(r->at, " \t");
    if (*r->at)
        wrong(r, "'%s' is too much here", r->at);
}

void scene_read(struct scene *s, const char *path)
{
    struct reader r = {path, 0, NULL};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t bytes = 0;
    *s = (struct scene){.width = 640, .height = 480, .angle = 40, .ambient = {0.1, 0.1, 0.1}};
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    for (ssize_t length; (length = getline(&line, &bytes, file)) != -1;) {
        r.line++;
        if (memchr(line, '\0', (size_t)length))
            wrong(&r, "this is no text");
        line[strcspn(line, "#\r\n")] = '\0';
        r.at = line + strspn(line, " \t");
        if (*r.at)
            read_line(&r, s);
    }
    if (ferror(file)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    fclose(file);
    free(line);
    if (!s->num_shapes)
        wrong(&r, "the file ends without a sphere, a triangle or a plane");
    if (!(length2((struct vec){s->look.x - s->eye.x, 0, s->look.z - s->eye.z}) > 0))
        wrong(&r, "the file ends without a camera");
}

void scene_free(struct scene *s)
{
    render_forget(s);
    free(s->materials);
    free(s->shapes);
    free(s->lights);
}
