/* facedetect: finds faces in pictures and streams. What it prints, takes and exits with: usage_text, README.md. */
#include "detect.h"
#include "image.h"
#include "program.h"
#include "sample.h"
#include "stream.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MAX = 256, SAMPLES_MAX = 10000 };

struct options {
    const char *draw, *weights;
    int threads, levels, samples;
    double rate;
    bool rate_given, bench, stages;
    float volume;
};

static const char usage_text[] =
    "Usage: %1$s [OPTION...] IMAGE|FOLDER...\n"
    "  or:  %1$s [OPTION...] -\n"
    "\n"
    "Finds faces in PNG and JPEG images and in all those of a folder; with -, in a Y4M or MJPEG stream from standard\n"
    "input. Prints a line a face: x y width height scale score (pixels; from the upper left corner), behind the\n"
    "image's name if there are several, behind the frame's number in a stream.\n"
    "\n"
    "Options:\n"
    "  --draw OUT.png   draws the faces (one image); OUT.jpg: as a JPEG\n"
    "  --threads N      of each level; the default is OpenMP's (OMP_NUM_THREADS)\n"
    "  --levels N       1: scales in parallel (the default); 2: each scale's rows too\n"
    "  --score S        least score of a face (default 3): lower finds more, and more that is none\n"
    "  --rate R         a stream's frames a second; what comes too late is dropped. 0: all are looked at.\n"
    "                   The default is the stream's own, else 25\n"
    "  --weights FILE   other parameters of the network than the built-in ones\n"
    "  --stages         the time of each stage, by one thread (standard output)\n"
    "  --bench          the times of one thread and of --threads, in turns, as a line of JSON\n"
    "  --samples N      of --bench and --stages (default 15)\n"
    "  --help           prints this\n"
    "  --version        the version\n"
    "\n"
    "Exit status: 0, also where there is no face; 1 some input could not be read or some output not written; 2 wrong\n"
    "arguments.\n";

static void refuse(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s '%s' (--help says what there is)\n", PROGRAM_NAME, what, which);
    exit(2);
}

static double read_number(const char *option, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) {
        fprintf(stderr, "%s: %s: a number from %g to %g is expected, not '%s'\n", PROGRAM_NAME, option, least, most,
                text);
        exit(2);
    }
    return value;
}

static int read_whole(const char *option, const char *text, int least, int most)
{
    double value = read_number(option, text, least, most);
    if (value != floor(value))
        refuse("a whole number is expected, not", text);
    return (int)value;
}

/* The arguments that are no options are moved to argv's end; the first one's index is returned. */
static int read_options(struct options *o, int argc, char **argv)
{
    enum { DRAW, WEIGHTS, THREADS, LEVELS, SCORE, RATE, SAMPLES, BENCH, STAGES, HELP, VERSION };
    static const struct option names[] = {
        {"draw", required_argument, NULL, DRAW},       {"weights", required_argument, NULL, WEIGHTS},
        {"threads", required_argument, NULL, THREADS}, {"levels", required_argument, NULL, LEVELS},
        {"score", required_argument, NULL, SCORE},     {"rate", required_argument, NULL, RATE},
        {"samples", required_argument, NULL, SAMPLES}, {"bench", no_argument, NULL, BENCH},
        {"stages", no_argument, NULL, STAGES},         {"help", no_argument, NULL, HELP},
        {"version", no_argument, NULL, VERSION},       {NULL, 0, NULL, 0},
    };
    int which;
    *o = (struct options){.threads = omp_get_max_threads(), .levels = 1, .samples = 15, .volume = DETECT_VOLUME};
    if (o->threads > THREADS_MAX)
        o->threads = THREADS_MAX;
    while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (which) {
        case DRAW:
            o->draw = optarg;
            if (!image_can_write(optarg))
                refuse("--draw: a name that ends in .png, .jpg or .jpeg is expected, not", optarg);
            break;
        case WEIGHTS:
            o->weights = optarg;
            break;
        case THREADS:
            o->threads = read_whole("--threads", optarg, 1, THREADS_MAX);
            break;
        case LEVELS:
            o->levels = read_whole("--levels", optarg, 1, 2);
            break;
        case SCORE:
            o->volume = (float)read_number("--score", optarg, 0, 1e6);
            break;
        case SAMPLES:
            o->samples = read_whole("--samples", optarg, 1, SAMPLES_MAX);
            break;
        case BENCH:
            o->bench = true;
            break;
        case STAGES:
            o->stages = true;
            break;
        case RATE:
            o->rate = read_number("--rate", optarg, 0, 1e6);
            o->rate_given = true;
            break;
        case HELP:
            printf(usage_text, PROGRAM_NAME);
            exit(0);
        case VERSION:
            program_print_version();
            exit(0);
        default:
            exit(2); /* it was told why */
        }
    }
    return optind;
}

static bool progress_shown;

/* Results on the same terminal go where the line of progress stands. */
static void hide_progress(void)
{
    if (progress_shown)
        fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

/* One line on a terminal that is written over, a few times a second; nothing elsewhere. */
static void show_progress(const char *line)
{
    static double said;
    double now = sample_now();
    if (!isatty(STDERR_FILENO) || now - said < 0.2)
        return;
    said = now;
    fprintf(stderr, "\r\033[K%s\r", line); /* what is said next is written over it */
    fflush(stderr);
    progress_shown = true;
}

static bool no_memory(const char *name, int width, int height)
{
    fprintf(stderr, "%s: %s: no memory for the scales of %d x %d pixels\n", PROGRAM_NAME, name, width, height);
    return false;
}

/* A detector for images of this size; the one there is, where it fits. */
static bool fit(struct detector *d, const struct net *net, const struct options *o, int width, int height,
                const char *name)
{
    if (d->memory && d->width == width && d->height == height)
        return true;
    detector_free(d);
    return detector_make(d, net, width, height, o->threads, o->levels, o->volume) || no_memory(name, width, height);
}

static void print_faces(const struct faces *faces, const char *before)
{
    if (faces->count && isatty(STDOUT_FILENO))
        hide_progress();
    for (unsigned k = 0; k < faces->count; k++) {
        const struct face *f = &faces->list[k];
        printf("%s%.1f %.1f %.1f %.1f %.3f %.2f\n", before, f->x, f->y, f->width, f->height, f->scale, f->score);
    }
}

static bool run_image(struct detector *d, const struct net *net, const struct options *o, const char *path,
                      bool several)
{
    struct image image = {0};
    struct faces faces = {0};
    bool good = image_read(&image, path) && fit(d, net, o, image.width, image.height, path);
    if (good) {
        image_show(&image, d);
        good = detector_run(d, &faces) || no_memory(path, image.width, image.height);
    }
    if (good) {
        char *before = NULL;
        if (several && asprintf(&before, "%s: ", path) < 0)
            before = NULL;
        print_faces(&faces, before ? before : "");
        free(before);
        if (o->draw) {
            image_draw(&image, faces.list, faces.count);
            good = image_write(&image, o->draw);
        }
    }
    free(faces.list);
    image_free(&image);
    return good;
}

/* Frame k is due at start + k / rate. The one that is taken in after the next one's time is dropped. Where the stream
 * itself is slower, as a camera is at times, the times begin anew: that is no delay of ours. */
static bool run_stream(struct detector *d, const struct net *net, const struct options *o)
{
    struct stream stream;
    struct image image = {0};
    unsigned long dropped = 0, looked = 0;
    enum stream_state state;
    bool good = true;
    if (!stream_open(&stream, stdin, "standard input")) {
        stream_close(&stream);
        return false;
    }
    double rate = o->rate_given ? o->rate : stream.rate > 0 ? stream.rate : 25;
    double begin = sample_now(), due = begin;
    for (;;) {
        bool waiting = stream_waiting(&stream);
        state = stream_next(&stream);
        if (state != STREAM_FRAME)
            break;
        double now = sample_now();
        if (!waiting && now > due)
            due = now;
        char line[100];
        snprintf(line, sizeof line, "%lu frames, %lu dropped, %.1f a second", looked + dropped, dropped,
                 (double)(looked + dropped) / (now - begin + 1e-9));
        show_progress(line);
        if (rate > 0 && now > due + 1 / rate) {
            dropped++;
            due += 1 / rate;
            continue;
        }
        due += rate > 0 ? 1 / rate : 0;
        struct faces faces = {0};
        good = stream_decode(&stream, &image) && fit(d, net, o, image.width, image.height, stream.name);
        if (good) {
            image_show(&image, d);
            good = detector_run(d, &faces) || no_memory(stream.name, image.width, image.height);
        }
        if (!good)
            break;
        char before[40];
        snprintf(before, sizeof before, "frame %lu: ", stream.frame);
        print_faces(&faces, before);
        fflush(stdout);
        free(faces.list);
        looked++;
    }
    double seconds = sample_now() - begin;
    hide_progress();
    fprintf(stderr, "%s: %lu frames, %lu dropped, %.1f a second\n", PROGRAM_NAME, looked + dropped, dropped,
            seconds > 0 ? (double)(looked + dropped) / seconds : 0);
    stream_close(&stream);
    image_free(&image);
    return good && state == STREAM_END;
}

static double timed(struct detector *d)
{
    struct faces faces;
    double begin = sample_now();
    if (!detector_run(d, &faces)) {
        no_memory("--bench", d->width, d->height);
        exit(1);
    }
    double took = sample_now() - begin;
    free(faces.list);
    return took;
}

static double median_us(double *seconds, int count) { return sample_summarize(seconds, (unsigned)count).median * 1e6; }

static void print_stages(struct detector *d, int samples)
{
    static double times[DETECT_STAGES][SAMPLES_MAX], all[SAMPLES_MAX];
    for (int k = -1; k < samples; k++) { /* the first one warms up */
        double took = timed(d);
        if (k < 0)
            continue;
        all[k] = took;
        for (int stage = 0; stage < DETECT_STAGES; stage++)
            times[stage][k] = d->seconds[stage];
    }
    double total = median_us(all, samples);
    for (int stage = 0; stage < DETECT_STAGES; stage++) {
        double us = median_us(times[stage], samples);
        printf("%-12s %8.0f us %5.1f %%\n", detect_stage_names[stage], us, 100 * us / total);
    }
    printf("%-12s %8.0f us, %.0f images a second\n", "whole image", total, 1e6 / total);
}

static bool run_bench(const struct net *net, const struct options *o, const char *path)
{
    static double one[SAMPLES_MAX], many[SAMPLES_MAX];
    struct image image = {0};
    struct detector alone = {0}, together = {0};
    struct options single = *o;
    single.threads = single.levels = 1;
    bool good = image_read(&image, path) && fit(&alone, net, &single, image.width, image.height, path) &&
                fit(&together, net, o, image.width, image.height, path);
    if (good) {
        image_show(&image, &alone);
        image_show(&image, &together);
        if (o->stages)
            print_stages(&alone, o->samples);
    }
    if (good && o->bench) {
        timed(&alone);
        timed(&together);
        for (int k = 0; k < o->samples; k++) {
            one[k] = timed(&alone);
            many[k] = timed(&together);
        }
        double alone_us = median_us(one, o->samples), us = median_us(many, o->samples);
        printf("{\"bench\": \"facedetect\", \"levels\": %d, \"threads\": %d, \"width\": %d, \"height\": %d, "
               "\"samples\": %d, \"sequential_us\": %.1f, \"median_us\": %.1f, \"speedup\": %.3f}\n",
               o->levels, o->threads, image.width, image.height, o->samples, alone_us, us, alone_us / us);
    }
    detector_free(&alone);
    detector_free(&together);
    image_free(&image);
    return good;
}

static int is_picture(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && (!strcasecmp(end, ".png") || !strcasecmp(end, ".jpg") || !strcasecmp(end, ".jpeg"));
}

struct inputs {
    char **paths;
    unsigned long count;
};

static bool add_input(struct inputs *inputs, const char *folder, const char *name)
{
    char **paths = realloc(inputs->paths, (inputs->count + 1) * sizeof *paths);
    if (paths) {
        inputs->paths = paths;
        if (folder ? asprintf(&paths[inputs->count], "%s/%s", folder, name) >= 0
                   : !!(paths[inputs->count] = strdup(name))) {
            inputs->count++;
            return true;
        }
    }
    fprintf(stderr, "%s: no memory for the names\n", PROGRAM_NAME);
    return false;
}

/* A folder's pictures by name, or the path itself. */
static bool expand(struct inputs *inputs, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return add_input(inputs, NULL, path);
    struct dirent **entries;
    int count = scandir(path, &entries, is_picture, alphasort);
    if (count < 0) {
        fprintf(stderr, "%s: %s: %s\n", PROGRAM_NAME, path, strerror(errno));
        return false;
    }
    bool good = count > 0;
    if (!good)
        fprintf(stderr, "%s: %s: no PNG or JPEG file in this folder\n", PROGRAM_NAME, path);
    for (int k = 0; k < count; k++) {
        good = good && add_input(inputs, path, entries[k]->d_name);
        free(entries[k]);
    }
    free(entries);
    return good;
}

static bool run_files(struct detector *d, const struct net *net, const struct options *o, int count, char **paths)
{
    struct inputs inputs = {0};
    bool good = true;
    for (int k = 0; k < count; k++)
        good = expand(&inputs, paths[k]) && good;
    double begin = sample_now();
    if (o->draw && inputs.count != 1) {
        if (good)
            fprintf(stderr, "%s: --draw takes one image, not %lu\n", PROGRAM_NAME, inputs.count);
        good = false;
    } else
        for (unsigned long k = 0; k < inputs.count; k++) {
            char line[100];
            double passed = sample_now() - begin;
            int used = snprintf(line, sizeof line, "%lu of %lu images", k, inputs.count);
            if (k > 0)
                snprintf(line + used, sizeof line - (size_t)used, ", about %.0f s to go",
                         passed / (double)k * (double)(inputs.count - k));
            if (inputs.count > 1)
                show_progress(line);
            good = run_image(d, net, o, inputs.paths[k], inputs.count > 1) && good;
        }
    hide_progress();
    for (unsigned long k = 0; k < inputs.count; k++)
        free(inputs.paths[k]);
    free(inputs.paths);
    return good;
}

int main(int argc, char **argv)
{
    struct options o;
    struct net net;
    struct detector detector = {0};
    int first = read_options(&o, argc, argv), inputs = argc - first;
    char **paths = argv + first;
    if (!inputs) {
        fprintf(stderr, "%s: no image is given (--help says what there is)\n", PROGRAM_NAME);
        return 2;
    }
    bool good, stream = inputs == 1 && strcmp(paths[0], "-") == 0;
    if (!o.weights)
        net_fold(&net, net_weights);
    else if (!net_read(&net, o.weights))
        return 1;
    if (stream && (o.draw || o.bench || o.stages))
        refuse("no stream can have", o.draw ? "--draw" : o.bench ? "--bench" : "--stages");
    omp_set_max_active_levels(o.levels);
    omp_set_dynamic(0);
    image_watch_signals();
    if (o.bench || o.stages) {
        if (inputs > 1)
            refuse("one image is measured, not also", paths[1]);
        good = run_bench(&net, &o, paths[0]);
    } else if (stream)
        good = run_stream(&detector, &net, &o);
    else
        good = run_files(&detector, &net, &o, inputs, paths);
    detector_free(&detector);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "%s: standard output: %s\n", PROGRAM_NAME, strerror(errno));
        good = false;
    }
    return good ? 0 : 1;
}
