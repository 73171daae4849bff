/* psthreads-report page IN... -o OUT: see page.h. */
#include "page.h"

#include <getopt.h>
#include <string.h>

#include "commands.h"
#include "output.h"

extern const char page_chart_js[], page_chart_js_end[];

static int wrong_usage(const char *what)
{
    fprintf(stderr, "psthreads-report: page: %s; wanted page TRACE... -o OUT.html\n", what);
    return COMMAND_USAGE;
}

/* Linux keeps what the model has until the program ends, which is at once. */
int command_page(int argc, char **argv)
{
    const char *name = NULL;
    for (int option; (option = getopt(argc, argv, "o:")) != -1;) {
        if (option != 'o')
            return COMMAND_USAGE; /* getopt has said why */
        name = optarg;
    }
    if (!name)
        return wrong_usage("no name for the page");
    if (optind == argc)
        return wrong_usage("no trace");
    if (&page_chart_js[0] == &page_chart_js_end[0]) {
        fprintf(stderr, "psthreads-report: page: built without the library that draws plots; "
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
