/* The tools interface's C types and numbers that are used here, as omp-tools.h has them (OpenMP 5.1 chapter 4). They
 * are written from the specification, because GCC installs no such header. Our own tools in tests/ompt include this
 * header too. */
#ifndef PS_ABI_OMPT_H
#define PS_ABI_OMPT_H

#include <stddef.h>
#include <stdint.h>

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef struct {
    ompt_data_t exit_frame, enter_frame;
    int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

typedef void (*ompt_callback_t)(void);
typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);

typedef struct {
    int (*initialize)(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool_data);
    void (*finalize)(ompt_data_t *tool_data);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;

typedef enum {
    ompt_set_error = 0,
    ompt_set_never = 1,
    ompt_set_impossible = 2,
    ompt_set_sometimes = 3,
    ompt_set_sometimes_paired = 4,
    ompt_set_always = 5
} ompt_set_result_t;

enum { OMPT_CALLBACK_LAST = 38 };

#endif
