/* The command psthreads-report page IN... -o OUT: see page.h. */
#include "page.h"

#include <getopt.h>
#include <sys/stat.h>

#include "commands.h"
#include "os.h"
#include "output.h"

extern const char page_chart_js[], page_chart_js_end[];

static const char usage[] =
    "psrun report TRACE... -o OUT.html\n"
    "\n"
    "Makes one page of HTML of the timelines that psrun --trace has written. It needs no network.\n"
    "An older file of that name is replaced.\n"
    "\n"
    "Exit status: 0 the page is there, 1 it could not be made, 125 the arguments were wrong.\n";

static int wrong_usage(const char *what, const char *which)
{
    fprintf(stderr, "psrun: report: %s%s; wanted psrun report TRACE... -o OUT.html\n", what, which);
    return COMMAND_USAGE;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return os_stat(a, &x) == 0 && os_stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The model is not freed: the program ends right after. */
int command_page(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    const char *name = NULL;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (option != 'o')
            return optopt == 'o' ? wrong_usage("no name for the page", "")
                                 : wrong_usage("unknown option ", argv[optind - 1]);
        name = optarg;
    }
    if (!name || !*name)
        return wrong_usage("no name for the page", "");
    if (optind == argc)
        return wrong_usage("no trace", "");
    for (int i = optind; i < argc; i++)
        if (is_same_file(name, argv[i]))
            return wrong_usage("the page would replace the trace ", argv[i]);
    if (&page_chart_js[0] == &page_chart_js_end[0]) {
        fprintf(stderr, "psrun: report: built without the library that draws plots; "
                        "install Debian's libjs-chart.js and build again (or cmake -DPS_CHART_JS=FILE, Chart.js 3)\n");
        return COMMAND_FAILED;
    }
    struct page_model model = {0};
    for (int i = optind; i < argc; i++)
        if (!page_read(&model, argv[i]))
            return COMMAND_FAILED;
    page_sum_parts(&model);
    struct output output;
    if (!output_begin(&output, name))
        return COMMAND_FAILED;
    page_write(&model, output.stream);
    return output_end(&output) ? 0 : COMMAND_FAILED;
}
