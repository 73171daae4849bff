/* psthreads-report: makes timelines and profiles of recordings (src/trace/recording.h). psrun calls it after a run, and
 * for the commands psrun stats and psrun report.
 *
 * Each command is a function. A command writes a plain file under a temporary name, and renames it when it is complete
 * (output.h). */
#include <stdio.h>
#include <string.h>

#include "commands.h"

static const char usage[] = "psthreads-report pftrace RECORDING -o OUT\n"
                            "psthreads-report page TRACE... -o OUT.html\n"
                            "psthreads-report stats [--json OUT] [--live] RECORDING...\n"
                            "\n"
                            "pftrace  writes the timeline of a recording for ui.perfetto.dev\n"
                            "page     makes one page of HTML of timelines, which needs no network\n"
                            "stats    prints where the time went, on one screen; several recordings are added up\n"
                            "         --json OUT writes the same numbers as JSON instead (-: to standard output)\n"
                            "         --live     the programs still run: sums up to now\n"
                            "\n"
                            "Recordings are what psrun --trace and psrun --stats make; psrun calls this program.\n"
                            "Exit status: 0 it is done, 1 it could not be done, 125 the arguments were wrong.\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"pftrace", command_pftrace},
    {"page", command_page},
    {"stats", command_stats},
};

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    for (unsigned i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "psthreads-report: wanted a command: pftrace, page or stats; --help tells more\n");
    return COMMAND_USAGE;
}
