/* See picture.h. A file is written under another name and renamed when it is whole. What is there already and is no
 * file (a device, a pipe) is written to directly, for another file must not take its place. */
#include "picture.h"
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <png.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static char unready[4096];

static void stopped(int number)
{
    unlink(unready);
    signal(number, SIG_DFL);
    raise(number);
}

static bool write_png(FILE *file, const unsigned char *pixels, unsigned width, unsigned height)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (unsigned y = 0; y < height; y++)
        png_write_row(png, pixels + (size_t)y * width * 3);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

static bool not_written(const char *path, int error)
{
    fprintf(stderr, "%s: %s: it could not be written: %s\n", PROGRAM_NAME, path, strerror(error));
    return false;
}

static bool write_directly(const char *path, const unsigned char *pixels, unsigned width, unsigned height)
{
    FILE *file = fopen(path, "wb");
    bool written = file && write_png(file, pixels, width, height);
    int error = errno;
    if (file && fclose(file) != 0 && written) {
        written = false;
        error = errno;
    }
    return written || not_written(path, error);
}

static bool is_no_file(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

const char *picture_refusal(const char *path)
{
    size_t length = strlen(path);
    bool fits = length > 4 && strcasecmp(path + length - 4, ".png") == 0;
    return fits || is_no_file(path) ? NULL : "a name that ends in .png is expected";
}

bool picture_write(const char *path, const unsigned char *pixels, unsigned width, unsigned height)
{
    char target[PATH_MAX];
    if (is_no_file(path))
        return write_directly(path, pixels, width, height);
    if (realpath(path, target)) /* a link stays one */
        path = target;
    if (snprintf(unready, sizeof unready, "%s.part", path) >= (int)sizeof unready) {
        fprintf(stderr, "%s: %s: the name is too long\n", PROGRAM_NAME, path);
        return false;
    }
    signal(SIGINT, stopped);
    signal(SIGTERM, stopped);
    FILE *file = fopen(unready, "wb");
    if (!file) {
        fprintf(stderr, "%s: %s: %s\n", PROGRAM_NAME, path, strerror(errno));
        return false;
    }
    bool written = write_png(file, pixels, width, height);
    written = fflush(file) == 0 && written;
    int error = errno;
    fclose(file);
    if (written && rename(unready, path) == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        return true;
    }
    error = written ? errno : error;
    unlink(unready);
    return not_written(path, error);
}
