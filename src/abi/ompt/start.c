/* Finding a tool, starting it, and ending it.
 *
 * The search follows OpenMP 5.1 section 4.2.2, if OMP_TOOL allows it. The first candidate is a function ompt_start_tool
 * in the process (the program's own, or that of a linked or preloaded library). Then comes the function in each library
 * of OMP_TOOL_LIBRARIES, in order. The first candidate that returns a result is the tool. In programs under
 * ThreadSanitizer libomp would then try Archer. psthreads does not, because the runtime tells the sanitizer itself what
 * orders threads (src/base/race.h). Archer attaches if OMP_TOOL_LIBRARIES names it. OMP_TOOL_VERBOSE_INIT is disabled,
 * stdout, stderr or a file, to which the runtime writes how the search went. It uses libomp's words, because scripts of
 * libomp's users read them.
 *
 * The tool starts before the first OpenMP thread exists, on that thread's kernel thread. It ends in a handler of exit,
 * or by ompt_finalize_tool. Bad input: an invalid value of OMP_TOOL is reported by one line, and no tool is started. */
#include "ompt_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check.h"
#include "os.h"

#define RUNTIME "psthreads"

typedef ompt_start_tool_result_t *(*start_function)(unsigned omp_version, const char *runtime);

static ompt_start_tool_result_t *tool;
static FILE *log_file;

#define SAY(...)                            \
    do {                                    \
        if (log_file != NULL)               \
            fprintf(log_file, __VA_ARGS__); \
    } while (0)

/* --- finding --- */

/* Converts dlsym's result to the type of the function. */
static start_function function_at(void *symbol)
{
    start_function f;
    _Static_assert(sizeof f == sizeof symbol, "a function's address is one");
    memcpy(&f, &symbol, sizeof f);
    return f;
}

/* A program or a library may define this function. Because this library defines it too, the linker exports a program's
 * own definition. The definition here calls the next one in the process, if there is one. */
PS_EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime);
PS_EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime)
{
    start_function next = function_at(dlsym(RTLD_NEXT, "ompt_start_tool"));
    return next != NULL ? next(omp_version, runtime) : NULL;
}

static ompt_start_tool_result_t *in_process(void)
{
    SAY("Search for OMP tool in current address space... ");
    start_function start = function_at(dlsym(RTLD_DEFAULT, "ompt_start_tool"));
    ompt_start_tool_result_t *found = start != NULL ? start(ORT_OPENMP, RUNTIME) : ompt_start_tool(ORT_OPENMP, RUNTIME);
    SAY(found != NULL ? "Success.\n" : "Failed.\n");
    return found;
}

static ompt_start_tool_result_t *in_library(const char *name)
{
    SAY("Opening %s... ", name);
    void *library = dlopen(name, RTLD_LAZY);
    if (library == NULL) {
        SAY("Failed: %s\n", dlerror());
        return NULL;
    }
    SAY("Success.\nSearching for ompt_start_tool in %s... ", name);
    dlerror();
    start_function start = function_at(dlsym(library, "ompt_start_tool"));
    ompt_start_tool_result_t *found = NULL;
    if (start == NULL) {
        const char *why = dlerror();
        SAY("Failed: %s\n", why != NULL ? why : "ompt_start_tool = NULL");
    } else if ((found = start(ORT_OPENMP, RUNTIME)) != NULL) {
        SAY("Success.\n");
        return found; /* the library stays open */
    } else {
        SAY("Found but not using the OMPT interface.\nContinuing search...\n");
    }
    dlclose(library);
    return NULL;
}

static ompt_start_tool_result_t *in_libraries(void)
{
    const char *list = os_env_trusted("OMP_TOOL_LIBRARIES");
    if (list == NULL) {
        SAY("No OMP_TOOL_LIBRARIES defined.\n");
        return NULL;
    }
    SAY("Searching tool libraries...\nOMP_TOOL_LIBRARIES = %s\n", list);
    char *names = strdup(list), *rest;
    if (names == NULL) {
        ps_warn("no memory to read OMP_TOOL_LIBRARIES; no tool is looked for there");
        return NULL;
    }
    ompt_start_tool_result_t *found = NULL;
    for (char *name = strtok_r(names, ":", &rest); name != NULL && found == NULL; name = strtok_r(NULL, ":", &rest))
        found = in_library(name);
    free(names);
    return found;
}

static ompt_start_tool_result_t *find_tool(void)
{
    SAY("----- START LOGGING OF TOOL REGISTRATION -----\n");
    ompt_start_tool_result_t *found = in_process();
    if (found == NULL)
        found = in_libraries();
    if (found == NULL)
        SAY("...searching tool libraries failed.\n");
    SAY(found != NULL ? "Tool was started and is using the OMPT interface.\n" : "No OMP tool loaded.\n");
    SAY("----- END LOGGING OF TOOL REGISTRATION -----\n");
    return found;
}

/* --- starting and ending --- */

void ompt_finalize(void)
{
    if (ort_tool_attached() && ort_tool_detach() && tool->finalize != NULL)
        tool->finalize(&tool->tool_data);
}

static void open_log(void)
{
    const char *where = os_env_trusted("OMP_TOOL_VERBOSE_INIT");
    if (where == NULL || strcasecmp(where, "disabled") == 0)
        return;
    log_file = strcasecmp(where, "stderr") == 0   ? stderr
               : strcasecmp(where, "stdout") == 0 ? stdout
                                                  : fopen(where, "we");
    if (log_file == NULL)
        ps_warn("OMP_TOOL_VERBOSE_INIT=\"%s\" cannot be opened; using disabled instead", where);
}

static bool enabled(void)
{
    const char *text = os_env("OMP_TOOL");
    if (text == NULL || strcasecmp(text, "enabled") == 0)
        return true;
    if (strcasecmp(text, "disabled") != 0)
        ps_warn("OMP_TOOL=\"%s\" is neither enabled nor disabled; using disabled instead", text);
    else
        SAY("OMP tool disabled.\n");
    return false;
}

static void start_ompt_tool(void)
{
    open_log();
    if (enabled())
        tool = find_tool();
    if (log_file != NULL && log_file != stdout && log_file != stderr)
        fclose(log_file);
    log_file = NULL;
    if (tool == NULL || tool->initialize == NULL || tool->initialize(ompt_lookup, 0, &tool->tool_data) == 0)
        return;
    ort_tool_attach();
    atexit(ompt_finalize);
}

__attribute__((constructor)) static void register_tool_start(void) { ort_tool_start = start_ompt_tool; }
