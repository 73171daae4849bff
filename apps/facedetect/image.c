/* See image.h. */
#include "image.h"
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>

#include <jerror.h>
#include <png.h>

enum { JPEG_QUALITY = 90 };

static bool complain(const char *name, const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", PROGRAM_NAME, name, what);
    return false;
}

/* Memory for an image of this size; false: it was told why not. */
static bool make_room(struct image *image, unsigned long width, unsigned long height, int channels, const char *name)
{
    if (width == 0 || height == 0)
        return complain(name, "the image has no pixels");
    if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX) {
        fprintf(stderr, "%s: %s: %lu x %lu pixels; at most %d million are read\n", PROGRAM_NAME, name, width, height,
                IMAGE_PIXELS_MAX / 1000000);
        return false;
    }
    if (!image->pixels || image->width != (int)width || image->height != (int)height || image->channels != channels) {
        image_free(image);
        image->pixels = malloc(width * height * (size_t)channels);
        if (!image->pixels)
            return complain(name, "no memory for the image");
        image->width = (int)width;
        image->height = (int)height;
        image->channels = channels;
    }
    return true;
}

void image_free(struct image *image)
{
    free(image->pixels);
    *image = (struct image){0};
}

/* The whole file; NULL: it was told why not. */
static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    size_t room = 0;
    *size = 0;
    if (!file) {
        complain(path, strerror(errno));
        return NULL;
    }
    for (;;) {
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            unsigned char *more = realloc(data, room);
            if (!more) {
                complain(path, "no memory for the file");
                break;
            }
            data = more;
        }
        size_t got = fread(data + *size, 1, room - *size, file);
        *size += got;
        if (got == 0) {
            if (!ferror(file)) {
                fclose(file);
                return data;
            }
            complain(path, strerror(errno));
            break;
        }
    }
    fclose(file);
    free(data);
    return NULL;
}

static bool decode_png(struct image *image, const unsigned char *data, size_t size, const char *name)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    const png_color grey = {128, 128, 128}; /* below what is transparent */
    bool good = png_image_begin_read_from_memory(&png, data, size);
    if (good) {
        png.format = PNG_FORMAT_RGB;
        if (!make_room(image, png.width, png.height, 3, name)) {
            png_image_free(&png);
            return false;
        }
        good = png_image_finish_read(&png, &grey, image->pixels, 0, NULL);
    }
    if (!good)
        fprintf(stderr, "%s: %s: not a whole PNG file: %s\n", PROGRAM_NAME, name, png.message);
    png_image_free(&png);
    return good;
}

struct jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf out;
    char what[JMSG_LENGTH_MAX];
};

static void jpeg_fail(j_common_ptr jpeg)
{
    struct jpeg_errors *errors = (struct jpeg_errors *)jpeg->err;
    errors->base.format_message(jpeg, errors->what);
    longjmp(errors->out, 1);
}

/* libjpeg fills with grey what a file lacks, and only warns; here that is an error, other oddities are none. */
static void jpeg_message(j_common_ptr jpeg, int level)
{
    if (level == -1 && (jpeg->err->msg_code == JWRN_JPEG_EOF || jpeg->err->msg_code == JWRN_HIT_MARKER))
        jpeg_fail(jpeg);
}

bool image_decode_jpeg(struct image *image, const unsigned char *data, size_t size, bool grey, const char *name)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_errors errors;
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_fail;
    errors.base.emit_message = jpeg_message;
    jpeg_create_decompress(&jpeg);
    if (setjmp(errors.out)) {
        fprintf(stderr, "%s: %s: not a whole JPEG file: %s\n", PROGRAM_NAME, name, errors.what);
        jpeg_destroy_decompress(&jpeg);
        return false;
    }
    jpeg_mem_src(&jpeg, data, size);
    jpeg_read_header(&jpeg, TRUE);
    bool has_grey = jpeg.jpeg_color_space == JCS_YCbCr || jpeg.jpeg_color_space == JCS_GRAYSCALE;
    jpeg.out_color_space = grey && has_grey ? JCS_GRAYSCALE : JCS_RGB;
    if (!make_room(image, jpeg.image_width, jpeg.image_height, grey && has_grey ? 1 : 3, name)) {
        jpeg_destroy_decompress(&jpeg);
        return false;
    }
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = image->pixels + (size_t)jpeg.output_scanline * (size_t)image->width * (size_t)image->channels;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return true;
}

bool image_read(struct image *image, const char *path)
{
    size_t size;
    unsigned char *data = read_file(path, &size);
    bool good = false;
    if (!data)
        return false;
    if (size == 0)
        complain(path, "the file is empty; a PNG or JPEG image is expected");
    else if (size >= 4 && memcmp(data, "\x89PNG", 4) == 0)
        good = decode_png(image, data, size, path);
    else if (size >= 2 && data[0] == 0xff && data[1] == 0xd8)
        good = image_decode_jpeg(image, data, size, false, path);
    else
        complain(path, "neither a PNG nor a JPEG image");
    free(data);
    return good;
}

void image_show(const struct image *image, struct detector *detector)
{
    const unsigned char *p = image->pixels;
    for (int y = 0; y < image->height; y++) {
        float *row = detector_row(detector, y);
        if (image->channels == 1)
            for (int x = 0; x < image->width; x++)
                row[x] = (float)p[x] * (1 / 127.5f) - 1;
        else
            for (int x = 0; x < image->width; x++)
                row[x] = (0.299f * (float)p[3 * x] + 0.587f * (float)p[3 * x + 1] + 0.114f * (float)p[3 * x + 2]) *
                             (1 / 127.5f) -
                         1;
        p += (size_t)image->width * (size_t)image->channels;
    }
}

static void draw_point(struct image *image, int x, int y)
{
    static const unsigned char colour[3] = {40, 220, 40};
    if (x >= 0 && y >= 0 && x < image->width && y < image->height)
        memcpy(image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x), colour, 3);
}

void image_draw(struct image *image, const struct face *faces, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        const struct face *f = &faces[k];
        int left = (int)lroundf(f->x), top = (int)lroundf(f->y);
        int right = (int)lroundf(f->x + f->width), bottom = (int)lroundf(f->y + f->height);
        int thick = 1 + (int)(f->width / 80);
        for (int t = 0; t < thick; t++) {
            for (int x = left; x <= right; x++) {
                draw_point(image, x, top + t);
                draw_point(image, x, bottom - t);
            }
            for (int y = top; y <= bottom; y++) {
                draw_point(image, left + t, y);
                draw_point(image, right - t, y);
            }
        }
    }
}

/* What is being written; empty: nothing. A signal for the process may be handled on any of its threads. So the handler
 * says that the process ends, then waits until no file is between its creation and its name here. image_write says that
 * it creates one, then looks whether the process ends. Both are sequentially consistent: one of the two sees the other.
 * The creating thread has the signals blocked, so the handler never waits for the thread that it has interrupted. */
static char unfinished[4096];
static atomic_bool creates, ends;

static void remove_unfinished(int number)
{
    atomic_store(&ends, true);
    while (atomic_load(&creates))
        sched_yield();
    if (unfinished[0])
        unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

void image_watch_signals(void)
{
    struct sigaction action = {.sa_handler = remove_unfinished};
    sigemptyset(&action.sa_mask);
    for (int k = 0; k < 3; k++) {
        static const int numbers[3] = {SIGINT, SIGTERM, SIGHUP};
        struct sigaction old;
        if (sigaction(numbers[k], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[k], &action, NULL);
    }
}

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcasecmp(path + length - tail, end) == 0;
}

static bool is_jpeg(const char *path) { return ends_in(path, ".jpg") || ends_in(path, ".jpeg"); }

static bool is_no_file(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

bool image_can_write(const char *path) { return ends_in(path, ".png") || is_jpeg(path) || is_no_file(path); }

static bool write_jpeg(const struct image *image, const char *path, FILE *file)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_errors errors;
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_fail;
    jpeg_create_compress(&jpeg);
    if (setjmp(errors.out)) {
        jpeg_destroy_compress(&jpeg);
        return complain(path, errors.what);
    }
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (JDIMENSION)image->width;
    jpeg.image_height = (JDIMENSION)image->height;
    jpeg.input_components = image->channels;
    jpeg.in_color_space = image->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, JPEG_QUALITY, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = image->pixels + (size_t)jpeg.next_scanline * (size_t)image->width * (size_t)image->channels;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return true;
}

/* path: for messages. */
static bool write_all(const struct image *image, bool as_jpeg, const char *path, FILE *file)
{
    if (!file)
        return complain(path, strerror(errno));
    if (as_jpeg)
        return write_jpeg(image, path, file);
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)image->width,
                     .height = (png_uint_32)image->height,
                     .format = image->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};
    return png_image_write_to_stdio(&png, file, 0, image->pixels, 0, NULL) || complain(path, png.message);
}

/* To what is there already and is no file (a device, a pipe), which another file must not take the place of. */
static bool write_directly(const struct image *image, const char *path)
{
    FILE *file = fopen(path, "wb");
    bool good = write_all(image, is_jpeg(path), path, file);
    if (file && fclose(file) != 0 && good)
        good = complain(path, strerror(errno));
    return good;
}

bool image_write(const struct image *image, const char *path)
{
    char name[sizeof unfinished], target[PATH_MAX];
    bool as_jpeg = is_jpeg(path);
    if (is_no_file(path))
        return write_directly(image, path);
    if (realpath(path, target)) /* a link stays one */
        path = target;
    if (snprintf(name, sizeof name, "%s.XXXXXX", path) >= (int)sizeof name)
        return complain(path, strerror(ENAMETOOLONG));
    sigset_t ours, old;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ours, &old); /* the file and its name appear together */
    atomic_store(&creates, true);
    if (atomic_load(&ends)) { /* another thread is in the handler */
        atomic_store(&creates, false);
        for (;;)
            pause();
    }
    int fd = mkstemp(name);
    if (fd >= 0)
        memcpy(unfinished, name, sizeof name);
    int why = errno;
    atomic_store(&creates, false);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (fd < 0)
        return complain(path, strerror(why));
    mode_t mask = umask(0);
    umask(mask);
    FILE *file = fdopen(fd, "wb");
    bool good = write_all(image, as_jpeg, path, file);
    if (file && fchmod(fd, 0666 & ~mask) != 0 && good)
        good = complain(path, strerror(errno));
    if (file && fclose(file) != 0 && good)
        good = complain(path, strerror(errno));
    if (good && rename(name, path) != 0)
        good = complain(path, strerror(errno));
    if (!good)
        unlink(name);
    unfinished[0] = 0;
    return good;
}
