/* files.h on the host: libpng reads, NumPy's format 1.0 is written. */
#include "files.h"

#include <errno.h>
#include <limits.h>
#include <png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 8192 }; /* pixels of a side */

bool files_read_image(const char *path, unsigned channels, struct files_image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    const png_color black = {0, 0, 0};
    FILE *file = fopen(path, "rb");

    if (!file)
        return mc_wrong("%s: %s", path, strerror(errno));
    bool good = png_image_begin_read_from_stdio(&png, file);
    image->pixels = NULL;
    if (good && (png.width > MOST || png.height > MOST || png.width < 16 || png.height < 16)) {
        mc_wrong("%s: %u x %u pixels; possible are 16 to %d each way", path, png.width, png.height, MOST);
        png_image_free(&png);
        fclose(file);
        return false;
    }
    if (good) {
        png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
        image->width = png.width;
        image->height = png.height;
        image->channels = channels;
        image->pixels = malloc(PNG_IMAGE_SIZE(png));
        good = image->pixels && png_image_finish_read(&png, &black, image->pixels, 0, NULL);
    }
    if (!good) {
        mc_wrong("%s: not a whole PNG file: %s", path, png.message[0] ? png.message : "no memory");
        free(image->pixels);
    }
    png_image_free(&png);
    fclose(file);
    return good;
}

/* The file that is being written, removed on a signal. */
static char unfinished[PATH_MAX];

static void on_signal(int number)
{
    unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

static bool write_array(FILE *file, const struct mc_array *a)
{
    char head[128] = "\x93NUMPY\x01";
    size_t count = 1, size = (size_t)(a->type[2] - '0');
    int length =
        10 + snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (", a->type);

    for (unsigned i = 0; i < a->axes; i++) {
        count *= a->shape[i];
        length += snprintf(head + length, sizeof head - (size_t)length, "%u,", a->shape[i]);
    }
    length += snprintf(head + length, sizeof head - (size_t)length, ")}");
    memset(head + length, ' ', sizeof head - (size_t)length);
    head[127] = '\n';
    head[8] = 118;
    return fwrite(head, 1, sizeof head, file) == sizeof head && fwrite(a->data, size, count, file) == count;
}

static bool save_one(const char *folder, const struct mc_array *a)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s.npy", folder, a->name) >= PATH_MAX - 8)
        return mc_wrong("--save %s: too long a name", folder);
    snprintf(unfinished, sizeof unfinished, "%.*s.part", PATH_MAX - 8, path);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    FILE *file = fopen(unfinished, "wb");
    bool good = file && write_array(file, a);
    good = file && fclose(file) == 0 && good;
    if (good)
        good = rename(unfinished, path) == 0;
    int error = errno;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (good)
        return true;
    unlink(unfinished);
    return mc_wrong("%s: %s", path, strerror(error));
}

bool files_save(const char *folder, const struct mc_array *sources, const struct mc_array *results)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return mc_wrong("--save %s: %s", folder, strerror(errno));
    for (; sources->name; sources++)
        if (!save_one(folder, sources))
            return false;
    for (; results->name; results++)
        if (!save_one(folder, results))
            return false;
    return true;
}
