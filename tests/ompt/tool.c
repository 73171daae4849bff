/* A tool in a library: one that declines to be one, and one that counts threads. */
#include "ompt.h"

#include <stdatomic.h>
#include <stdio.h>

#ifdef ANSWER_accepts
static atomic_int threads;

static void thread_begin(int kind, ompt_data_t *data)
{
    (void)kind;
    data->value = 1;
    if (atomic_fetch_add(&threads, 1) == 1)
        puts("tool: 2 threads");
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    int (*set)(int, void (*)(void)) = (int (*)(int, void (*)(void)))lookup("ompt_set_callback");
    (void)device;
    data->value = 7;
    set(1, (void (*)(void))thread_begin);
    puts("tool initialized");
    fflush(stdout);
    return 1;
}

static void finalize(ompt_data_t *data) { puts(data->value == 7 ? "tool finalized" : "not this tool's data"); }
#endif

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    (void)version;
    (void)runtime;
#ifdef ANSWER_accepts
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    return &result;
#else
    puts("tool declines");
    return NULL;
#endif
}
