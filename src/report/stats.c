/* The command psthreads-report stats: where the time went. See profile.h. */
#include <getopt.h>

#include "commands.h"
#include "memory.h"
#include "os.h"
#include "output.h"
#include "profile_print.h"

/* Adds the recordings up. Writes a message for each that cannot be read. Returns false if none could be read. */
static bool add_recordings(struct profile *p, struct places *places, char **names, int num, bool live)
{
    struct recording_file *files = memory_new((size_t)num, sizeof *files);
    char why[256];
    for (int i = 0; i < num; i++) {
        if (!recording_file_open(&files[i], names[i], why)) {
            fprintf(stderr, "psthreads-report: %s\n", why);
            continue;
        }
        profile_add(p, places, &files[i], live);
    }
    for (int i = 0; i < num; i++)
        if (files[i].bytes)
            recording_file_close(&files[i]);
    free(files);
    return p->processes > 0;
}

static bool print_to(const struct profile *p, const char *json)
{
    struct output output;
    if (!output_begin(&output, json ? json : "-"))
        return false;
    if (json)
        profile_print_json(p, output.stream);
    else
        profile_print(p, output.stream);
    return output_end(&output);
}

int command_stats(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", required_argument, NULL, 'j'}, {"live", no_argument, NULL, 'l'}, {0}};
    const char *json = NULL;
    bool live = false;
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1 && c != '?') {
        json = c == 'j' ? optarg : json;
        live |= c == 'l';
    }
    if (c != -1 || optind >= argc) {
        fprintf(stderr, "psthreads-report: stats: wanted [--json OUT] [--live] RECORDING...\n");
        return COMMAND_USAGE;
    }
    struct profile p = {.quota = os_cpu_quota()};
    struct places *places = places_new();
    bool done = add_recordings(&p, places, argv + optind, argc - optind, live);
    if (done) {
        profile_finish(&p);
        done = print_to(&p, json);
    }
    profile_free(&p);
    places_free(places);
    return done ? 0 : COMMAND_FAILED;
}
