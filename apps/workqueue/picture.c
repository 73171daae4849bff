/* See scene.h. The file is written under another name and renamed when it is whole. */
#include "scene.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

bool picture_write(const char *path, const unsigned char *pixels, unsigned width, unsigned height)
{
    if (snprintf(unready, sizeof unready, "%s.part", path) >= (int)sizeof unready) {
        fprintf(stderr, "%s: the name is too long\n", path);
        return false;
    }
    FILE *file = fopen(unready, "wb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    signal(SIGINT, stopped);
    signal(SIGTERM, stopped);
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
    fprintf(stderr, "%s: it could not be written: %s\n", path, strerror(error));
    return false;
}
