/* psrun: runs an unmodified OpenMP program on our runtime. It sets the loader's variables (plan.h says which, and why),
 * then becomes the program: exit status and signals are the program's own. With --trace or --stats it stays as the
 * program's parent (trace.h). */
#include "psrun.h"

#include "trace.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns whether the next argument is the command `name`. If the argument "--" precedes it, it is not: then it names a
 * program. */
static bool is_command(int argc, char **argv, const char *name, const struct wishes *w)
{
    if (optind >= argc || strcmp(argv[optind], name) != 0 || strcmp(argv[optind - 1], "--") == 0)
        return false;
    if (w->traces_by_option)
        fprintf(stderr, "psrun: %s: --trace and --stats have no effect\n", name);
    return true;
}

int main(int argc, char **argv)
{
    struct wishes w;
    int status = wishes_read(argc, argv, &w);
    if (status != GO_ON)
        return status;
    if (is_command(argc, argv, "doctor", &w)) {
        optind++;
        return doctor(argc, argv, &w);
    }
    if (is_command(argc, argv, "dump", &w)) {
        if (argc - optind != 2) {
            fprintf(stderr, "psrun: dump: wanted a process's number\n");
            return EXIT_USAGE;
        }
        return dump_pid(argv[optind + 1]);
    }
    if (is_command(argc, argv, "stats", &w)) {
        if (argc - optind != 2) {
            fprintf(stderr, "psrun: stats: wanted a process's number\n");
            return EXIT_USAGE;
        }
        return stats_of_pid(argv[optind + 1]);
    }
    if (is_command(argc, argv, "top", &w))
        return top(argv + optind + 1);
    if (is_command(argc, argv, "report", &w)) {
        if (argc - optind < 2) {
            fprintf(stderr, "psrun: report: wanted a trace, and -o with the page's file\n");
            return EXIT_USAGE;
        }
        return report_page(argv + optind + 1);
    }
    if (optind >= argc) {
        fprintf(stderr, "psrun: no program given; try psrun --help\n");
        return EXIT_USAGE;
    }
    static struct plan plan;
    start_options(&plan, &w);
    if (plan_make(&plan, argv[optind], w.entities, w.dropin_dir, w.verbose, false)) {
        fprintf(stderr, "psrun: %s\n", plan.why);
        return plan.status;
    }
    start_report(&plan, &w);
    struct trace trace;
    trace_make(&trace, &plan, &w);
    start_environment(&plan, &w);
    if (!trace.on)
        return start_program(&plan, argv + optind);
    trace_environment(&trace);
    return trace_run(&trace, &plan, argv + optind);
}
