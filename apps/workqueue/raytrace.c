/* Raytrace: a picture of a scene, by rays (in the manner of SPLASH-2's Raytrace; nthlib-2004 figure 4).
 *
 * The picture is cut into tiles of TILE x TILE pixels; each row of tiles is a task that opens a queue of its tiles,
 * since rows are of very different work. `--compare` renders sequentially too, and says whether both pictures are the
 * same to the last bit. */
#include "picture.h"
#include "program.h"
#include "sample.h"
#include "scene.h"
#include "wq.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TILE = 16, SAMPLES_MAX = 1000 };

static struct scene scene;
static unsigned side = 2; /* rays a pixel: its square */
static struct vec *pixels;

static void render_tile(unsigned left, unsigned top)
{
    unsigned right = left + TILE < scene.width ? left + TILE : scene.width;
    unsigned bottom = top + TILE < scene.height ? top + TILE : scene.height;
    for (unsigned y = top; y < bottom; y++)
        for (unsigned x = left; x < right; x++)
            pixels[(size_t)y * scene.width + x] = render_pixel(&scene, x, y, side);
}

static void render_serial(void)
{
    for (unsigned top = 0; top < scene.height; top += TILE)
        for (unsigned left = 0; left < scene.width; left += TILE)
            render_tile(left, top);
}

static void progress(unsigned long done, unsigned long all, double start)
{
    double passed = wq_now() - start;
    fprintf(stderr, "\r%3.0f%%, about %.0f s to go ", 100.0 * (double)done / (double)all,
            passed / (double)done * (double)(all - done));
    if (done == all)
        fprintf(stderr, "\r%30s\r", "");
}

static void render_tasks(int threads, bool show)
{
    unsigned long done = 0, all = (scene.height + TILE - 1) / TILE;
    double start = wq_now(), shown = start;
#pragma omp parallel taskq num_threads(threads)
    for (unsigned top = 0; top < scene.height; top += TILE) {
#pragma omp task
        {
#pragma omp taskq
            for (unsigned left = 0; left < scene.width; left += TILE) {
#pragma omp task captureprivate(top)
                render_tile(left, top);
            }
            if (show) {
#pragma omp critical(wq_progress)
                if (done++, wq_now() - shown > 0.2 || (done == all && shown > start)) {
                    shown = wq_now();
                    progress(done, all, start);
                }
            }
        }
    }
}

static unsigned char to_byte(double value)
{
    double corrected = pow(value < 0 ? 0 : value > 1 ? 1 : value, 1 / 2.2);
    return (unsigned char)(corrected * 255 + 0.5);
}

static bool write_picture(const char *path)
{
    size_t num = (size_t)scene.width * scene.height;
    unsigned char *bytes = wq_alloc(num * 3);
    for (size_t k = 0; k < num; k++) {
        bytes[3 * k] = to_byte(pixels[k].x);
        bytes[3 * k + 1] = to_byte(pixels[k].y);
        bytes[3 * k + 2] = to_byte(pixels[k].z);
    }
    bool written = picture_write(path, bytes, scene.width, scene.height);
    free(bytes);
    return written;
}

/* Rendered both ways, in turns: times, and whether the pictures are the same. */
static void compare(int threads, int samples, bool json)
{
    static double serial[SAMPLES_MAX], parallel[SAMPLES_MAX];
    size_t bytes = (size_t)scene.width * scene.height * sizeof *pixels;
    struct vec *twin = wq_alloc(bytes);
    for (int k = 0; k < samples; k++) {
        double start = wq_now();
        render_serial();
        serial[k] = (wq_now() - start) * 1e3;
        memcpy(twin, pixels, bytes);
        memset(pixels, 0, bytes);
        start = wq_now();
        render_tasks(threads, false);
        parallel[k] = (wq_now() - start) * 1e3;
        if (memcmp(twin, pixels, bytes)) {
            fprintf(stderr, "%s: with tasks the picture is not the sequential one\n", PROGRAM_NAME);
            exit(1);
        }
    }
    struct sample_summary s = sample_summarize(serial, (unsigned)samples),
                          p = sample_summarize(parallel, (unsigned)samples);
    unsigned long across = (scene.width + TILE - 1) / TILE, down = (scene.height + TILE - 1) / TILE,
                  tasks = down + across * down;
    if (json)
        printf("{\"bench\": \"raytrace\", \"unit\": \"ms\", \"threads\": %d, \"median\": %.4f, \"least\": %.4f, "
               "\"serial\": %.4f, \"tasks\": %lu, \"samples\": %d}\n",
               threads, p.median, p.least, s.median, tasks, samples);
    else
        printf("raytrace: %u x %u, %zu shapes; sequential %.2f ms, %d threads %.2f ms, %.2f times as fast; %lu tasks\n",
               scene.width, scene.height, scene.num_shapes, s.median, threads, p.median, s.median / p.median, tasks);
    free(twin);
}

static void read_size(const char *text)
{
    char rest;
    unsigned width, height;
    if (sscanf(text, "%ux%u%c", &width, &height, &rest) != 2 || width < 1 || height < 1 || width > 32768 ||
        height > 32768) {
        fprintf(stderr, "%s: --size '%s': WIDTHxHEIGHT is expected, from 1 to 32768 each\n", PROGRAM_NAME, text);
        exit(1);
    }
    scene.width = width;
    scene.height = height;
}

static const char USAGE[] = "Usage: %1$s [--threads T] [--size WxH] [--rays N] [-o OUT.png] SCENE\n"
                            "       %1$s --compare [--samples N] [--json] ... SCENE\n"
                            "Renders a scene (apps/workqueue/README.md says how one is written) and writes a picture.\n"
                            "  --threads T  threads that run tasks (default: processors)\n"
                            "  --size WxH   the picture's size, in place of the scene's\n"
                            "  --rays N     N x N rays a pixel (default 2)\n"
                            "  -o OUT.png   the picture (default: none is written with --compare, else raytrace.png)\n"
                            "  --compare    renders sequentially too, in turns, and compares\n"
                            "  --samples N  how often (default 3)\n"
                            "  --json       the times as a line of JSON\n"
                            "  --version    the version\n";

int main(int argc, char **argv)
{
    static const struct option options[] = {{"threads", required_argument, NULL, 't'},
                                            {"size", required_argument, NULL, 'z'},
                                            {"rays", required_argument, NULL, 'r'},
                                            {"compare", no_argument, NULL, 'c'},
                                            {"samples", required_argument, NULL, 's'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {0}};
    int threads = (int)sysconf(_SC_NPROCESSORS_ONLN), samples = 3;
    bool twice = false, json = false;
    const char *out = NULL, *size = NULL;
    for (int o; (o = getopt_long(argc, argv, "o:", options, NULL)) != -1;) {
        if (o == 't') {
            threads = (int)wq_read_number("--threads", optarg, 1, 1024);
        } else if (o == 's') {
            samples = (int)wq_read_number("--samples", optarg, 1, SAMPLES_MAX);
        } else if (o == 'r') {
            side = (unsigned)wq_read_number("--rays", optarg, 1, 64);
        } else if (o == 'z') {
            size = optarg;
        } else if (o == 'o') {
            out = optarg;
            if (picture_refusal(out)) {
                fprintf(stderr, "%s: -o %s: %s\n", PROGRAM_NAME, out, picture_refusal(out));
                return 1;
            }
        } else if (o == 'c') {
            twice = true;
        } else if (o == 'j') {
            json = true;
        } else if (o == 'h') {
            printf(USAGE, PROGRAM_NAME);
            return 0;
        } else if (o == 'v') {
            program_print_version();
            return 0;
        } else {
            return 1;
        }
    }
    if (optind + 1 != argc) {
        fprintf(stderr, "%s: one scene is expected, not %d; --help says more\n", PROGRAM_NAME, argc - optind);
        return 1;
    }
    wq_threads(threads);
    scene_read(&scene, argv[optind]);
    if (size)
        read_size(size);
    render_prepare(&scene);
    pixels = wq_alloc((size_t)scene.width * scene.height * sizeof *pixels);
    if (twice)
        compare(threads, samples, json);
    else
        render_tasks(threads, isatty(2));
    bool written = (twice && !out) || write_picture(out ? out : "raytrace.png");
    free(pixels);
    scene_free(&scene);
    return written ? 0 : 1;
}
