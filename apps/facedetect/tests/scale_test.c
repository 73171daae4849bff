/* scale_test PORTRAITS.jpg - four faces are found, and nothing else, at any size from 0.4 to 2 times the picture's.
 *
 * The picture: Eileen Collins (NASA) and Grace Hopper (US Navy), each beside the mirror image. The faces are 88 pixels
 * wide, so the smallest ones are a little wider than the network's window. */
#include "detect.h"
#include "image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const float middles[][2] = {{100, 100}, {300, 100}, {100, 300}, {300, 300}};
enum { FACES = sizeof middles / sizeof *middles };

/* The picture's brightness between pixels, from 0 to 255. */
static double between(const struct image *picture, double x, double y)
{
    x = fmin(fmax(x, 0), picture->width - 1.001);
    y = fmin(fmax(y, 0), picture->height - 1.001);
    const size_t stride = (size_t)picture->width * (size_t)picture->channels;
    const unsigned char *p = picture->pixels + (size_t)y * stride + (size_t)x * (size_t)picture->channels;
    double right = x - floor(x), down = y - floor(y);
    return (p[0] * (1 - right) + p[picture->channels] * right) * (1 - down) +
           (p[stride] * (1 - right) + p[stride + (size_t)picture->channels] * right) * down;
}

/* A pixel is the mean of what it covers. */
static struct image resized(const struct image *picture, int size)
{
    const double step = (double)picture->width / size;
    const int parts = (int)ceil(step);
    struct image to = {malloc((size_t)size * (size_t)size), size, size, 1};
    for (int y = 0; to.pixels && y < size; y++)
        for (int x = 0; x < size; x++) {
            double sum = 0;
            for (int k = 0; k < parts * parts; k++)
                sum += between(picture, (x + (k % parts + 0.5) / parts) * step - 0.5,
                               (y + (k / parts + 0.5) / parts) * step - 0.5);
            to.pixels[y * size + x] = (unsigned char)lround(sum / (parts * parts));
        }
    return to;
}

static bool is_at(const struct face *face, const float middle[2], double scale)
{
    return fabs(face->x + face->width / 2 - middle[0] * scale) < 24 * scale &&
           fabs(face->y + face->height / 2 - middle[1] * scale) < 24 * scale && face->width > 60 * scale &&
           face->width < 130 * scale;
}

static bool check(const struct net *net, const struct image *picture, int size)
{
    struct image image = resized(picture, size);
    struct detector detector;
    struct faces faces;
    if (!image.pixels || !detector_make(&detector, net, size, size, 1, 1, DETECT_VOLUME))
        abort();
    image_show(&image, &detector);
    if (!detector_run(&detector, &faces))
        abort();
    const double scale = (double)size / picture->width;
    unsigned found = 0;
    for (int k = 0; k < FACES; k++)
        for (unsigned i = 0; i < faces.count; i++)
            found += is_at(&faces.list[i], middles[k], scale);
    bool good = found == FACES && faces.count == FACES;
    if (!good) {
        fprintf(stderr, "%d x %d (times %.3f): %u of %d faces, %u other places\n", size, size, scale, found, FACES,
                faces.count - found);
        for (unsigned i = 0; i < faces.count; i++)
            fprintf(stderr, "  %.1f %.1f, width %.1f, score %.2f\n", faces.list[i].x, faces.list[i].y,
                    faces.list[i].width, faces.list[i].score);
    }
    free(faces.list);
    detector_free(&detector);
    image_free(&image);
    return good;
}

int main(int argc, char **argv)
{
    struct net net;
    struct image picture = {0};
    if (argc != 2 || !image_read(&picture, argv[1]))
        return 2;
    net_fold(&net, net_weights);
    int sizes = 0, lost = 0;
    for (int tenth = picture.width * 4; tenth <= picture.width * 20; tenth += 160, sizes++)
        lost += !check(&net, &picture, tenth / 10);
    for (int more = -8; more <= 8; more++, sizes++) /* pixel by pixel */
        lost += !check(&net, &picture, picture.width + more);
    image_free(&picture);
    printf("%d of %d sizes have the four faces alone\n", sizes - lost, sizes);
    return lost != 0;
}
