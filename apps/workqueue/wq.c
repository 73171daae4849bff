/* See wq.h. */
#include "wq.h"
#include "program.h"
#include "sample.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES_MAX = 1000, THREADS_MAX = 1024, NUMBERS_MAX = 8 };

void *wq_alloc(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
    if (!p) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", PROGRAM_NAME, bytes);
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

long wq_read_number(const char *option, const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most) {
        fprintf(stderr, "%s: %s '%s': a number from %ld to %ld is expected\n", PROGRAM_NAME, option, text, least, most);
        exit(1);
    }
    return value;
}

void wq_threads(int threads)
{
    char number[16];
    snprintf(number, sizeof number, "%d", threads);
    setenv("PSTHREADS_NUM_VPS", number, 0);
}

double wq_now(void) { return sample_now(); }

static void usage(const struct wq *w, FILE *to)
{
    fprintf(to, "Usage: %s [--threads T] [--samples N] [--json]", PROGRAM_NAME);
    for (const struct wq_number *n = w->numbers; n->name; n++)
        fprintf(to, " [--%s N]", n->name);
    fprintf(to, "\n%s\n", w->what);
    fprintf(to, "  --threads T   threads that run tasks (default: processors)\n"
                "  --samples N   runs of each kind (default 3); medians are said\n"
                "  --json        the times as a line of JSON\n"
                "  --version     the version\n");
    for (const struct wq_number *n = w->numbers; n->name; n++)
        fprintf(to, "  --%s N   %s, from %ld to %ld (default %ld)\n", n->name, n->what, n->least, n->most, n->value);
}

struct run {
    int threads, samples, json;
};

static struct run read_arguments(const struct wq *w, int argc, char **argv)
{
    struct run run = {(int)sysconf(_SC_NPROCESSORS_ONLN), 3, 0};
    struct option options[NUMBERS_MAX + 6] = {{"threads", required_argument, NULL, 't'},
                                              {"samples", required_argument, NULL, 's'},
                                              {"json", no_argument, NULL, 'j'},
                                              {"help", no_argument, NULL, 'h'},
                                              {"version", no_argument, NULL, 'v'}};
    for (int k = 0; k < NUMBERS_MAX && w->numbers[k].name; k++)
        options[5 + k] = (struct option){w->numbers[k].name, required_argument, NULL, 256 + k};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 't') {
            run.threads = (int)wq_read_number("--threads", optarg, 1, THREADS_MAX);
        } else if (o == 's') {
            run.samples = (int)wq_read_number("--samples", optarg, 1, SAMPLES_MAX);
        } else if (o == 'j') {
            run.json = 1;
        } else if (o == 'h') {
            usage(w, stdout);
            exit(0);
        } else if (o == 'v') {
            program_print_version();
            exit(0);
        } else if (o >= 256) {
            struct wq_number *n = &w->numbers[o - 256];
            char option[32];
            snprintf(option, sizeof option, "--%s", n->name);
            n->value = wq_read_number(option, optarg, n->least, n->most);
        } else {
            exit(1);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: '%s' is not expected; --help says what is\n", PROGRAM_NAME, argv[optind]);
        exit(1);
    }
    return run;
}

static void check(const struct wq *w, bool serial)
{
    const char *wrong = w->check(serial);
    if (!wrong)
        return;
    fprintf(stderr, "%s, %s: %s\n", PROGRAM_NAME, serial ? "sequential" : "with tasks", wrong);
    exit(1);
}

static double timed(const struct wq *w, bool serial, int threads)
{
    w->setup();
    double start = sample_now();
    if (serial)
        w->serial();
    else
        w->parallel(threads);
    double ms = (sample_now() - start) * 1e3;
    check(w, serial);
    return ms;
}

/* On a terminal, from half a second on: how many runs are done, and how long the others may take. */
static void show_runs(int done, int all, double start)
{
    static bool shown;
    double passed = sample_now() - start;
    if (!isatty(STDERR_FILENO) || (!shown && passed < 0.5))
        return;
    if (done < all)
        fprintf(stderr, "\rrun %d of %d, about %.0f s to go\033[K", done, all, passed / done * (all - done));
    else
        fprintf(stderr, "\r\033[K");
    shown = true;
}

int wq_main(const struct wq *w, int argc, char **argv)
{
    static double serial[SAMPLES_MAX], parallel[SAMPLES_MAX];
    char result[200];
    struct run run = read_arguments(w, argc, argv);
    wq_threads(run.threads);
    double start = sample_now();
    int all = 2 * run.samples + 2;
    timed(w, true, 1);
    show_runs(1, all, start);
    timed(w, false, run.threads); /* threads come into being here */
    show_runs(2, all, start);
    for (int i = 0; i < run.samples; i++) {
        serial[i] = timed(w, true, 1);
        show_runs(2 * i + 3, all, start);
        parallel[i] = timed(w, false, run.threads);
        show_runs(2 * i + 4, all, start);
    }
    struct sample_summary s = sample_summarize(serial, (unsigned)run.samples),
                          p = sample_summarize(parallel, (unsigned)run.samples);
    w->say(result, sizeof result);
    if (run.json)
        printf("{\"bench\": \"%s\", \"unit\": \"ms\", \"threads\": %d, \"median\": %.4f, \"least\": %.4f, "
               "\"serial\": %.4f, \"tasks\": %lu, \"samples\": %d}\n",
               w->name, run.threads, p.median, p.least, s.median, w->tasks(), run.samples);
    else
        printf("%s: %s; sequential %.2f ms, %d threads %.2f ms, %.2f times as fast; %lu tasks\n", w->name, result,
               s.median, run.threads, p.median, s.median / p.median, w->tasks());
    return 0;
}
