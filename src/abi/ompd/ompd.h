/* The debuggers' interface: its C types, numbers and functions, as omp-tools.h has them (OpenMP 5.1 chapter 5). They
 * are written from the specification, because GCC installs no such header. The functions of libompd.so run in the
 * debugger. The names under "in the process" belong to the runtime. Our tests in tests/ompd include this header too. */
#ifndef PS_ABI_OMPD_H
#define PS_ABI_OMPD_H

#include <stdint.h>

typedef uint64_t ompd_size_t;
typedef uint64_t ompd_wait_id_t;
typedef uint64_t ompd_addr_t;
typedef int64_t ompd_word_t;
typedef uint64_t ompd_seg_t;
typedef uint64_t ompd_device_t;
typedef uint64_t ompd_thread_id_t;
typedef uint64_t ompd_icv_id_t;
enum { OMPD_THREAD_ID_PTHREAD = 0, OMPD_THREAD_ID_LWP = 1 };
enum { OMPD_SEGMENT_UNSPECIFIED = 0 };

typedef enum {
    ompd_scope_global = 1,
    ompd_scope_address_space = 2,
    ompd_scope_thread = 3,
    ompd_scope_parallel = 4,
    ompd_scope_implicit_task = 5,
    ompd_scope_task = 6
} ompd_scope_t;

typedef enum {
    ompd_rc_ok = 0,
    ompd_rc_unavailable = 1,
    ompd_rc_stale_handle = 2,
    ompd_rc_bad_input = 3,
    ompd_rc_error = 4,
    ompd_rc_unsupported = 5,
    ompd_rc_needs_state_tracking = 6,
    ompd_rc_incompatible = 7,
    ompd_rc_device_read_error = 8,
    ompd_rc_device_write_error = 9,
    ompd_rc_nomem = 10,
    ompd_rc_incomplete = 11,
    ompd_rc_callback_error = 12
} ompd_rc_t;

typedef struct {
    ompd_seg_t segment;
    ompd_addr_t address;
} ompd_address_t;

typedef struct {
    ompd_address_t frame_address;
    ompd_word_t frame_flag;
} ompd_frame_info_t;

typedef struct {
    uint8_t sizeof_char, sizeof_short, sizeof_int, sizeof_long, sizeof_long_long, sizeof_pointer;
} ompd_device_type_sizes_t;

typedef struct ompd_aspace_context ompd_address_space_context_t;
typedef struct ompd_thread_context ompd_thread_context_t;
typedef struct ompd_aspace_handle ompd_address_space_handle_t;
typedef struct ompd_thread_handle ompd_thread_handle_t;
typedef struct ompd_parallel_handle ompd_parallel_handle_t;
typedef struct ompd_task_handle ompd_task_handle_t;

/* Functions of the debugger. The interface defines their order. */
typedef struct {
    ompd_rc_t (*alloc_memory)(ompd_size_t bytes, void **memory);
    ompd_rc_t (*free_memory)(void *memory);
    ompd_rc_t (*print_string)(const char *string, int category);
    ompd_rc_t (*sizeof_type)(ompd_address_space_context_t *, ompd_device_type_sizes_t *sizes);
    ompd_rc_t (*symbol_addr_lookup)(ompd_address_space_context_t *, ompd_thread_context_t *, const char *symbol,
                                    ompd_address_t *address, const char *file);
    ompd_rc_t (*read_memory)(ompd_address_space_context_t *, ompd_thread_context_t *, const ompd_address_t *from,
                             ompd_size_t bytes, void *to);
    ompd_rc_t (*write_memory)(ompd_address_space_context_t *, ompd_thread_context_t *, const ompd_address_t *to,
                              ompd_size_t bytes, const void *from);
    ompd_rc_t (*read_string)(ompd_address_space_context_t *, ompd_thread_context_t *, const ompd_address_t *from,
                             ompd_size_t bytes, void *to);
    ompd_rc_t (*device_to_host)(ompd_address_space_context_t *, const void *input, ompd_size_t unit, ompd_size_t count,
                                void *output);
    ompd_rc_t (*host_to_device)(ompd_address_space_context_t *, const void *input, ompd_size_t unit, ompd_size_t count,
                                void *output);
    ompd_rc_t (*get_thread_context_for_thread_id)(ompd_address_space_context_t *, ompd_thread_id_t kind,
                                                  ompd_size_t bytes, const void *id, ompd_thread_context_t **);
} ompd_callbacks_t;

/* --- in the process --- */

/* paths of libompd.so, with NULL as the last; the pointer itself is NULL until they are known */
extern const char **ompd_dll_locations;
void ompd_dll_locations_valid(void);
void ompd_bp_parallel_begin(void);
void ompd_bp_parallel_end(void);
void ompd_bp_task_begin(void);
void ompd_bp_task_end(void);
void ompd_bp_thread_begin(void);
void ompd_bp_thread_end(void);
void ompd_bp_device_begin(void);
void ompd_bp_device_end(void);

/* --- in the debugger: the library and the process --- */

ompd_rc_t ompd_initialize(ompd_word_t version, const ompd_callbacks_t *callbacks);
ompd_rc_t ompd_finalize(void);
ompd_rc_t ompd_get_api_version(ompd_word_t *version);
ompd_rc_t ompd_get_version_string(const char **string);
ompd_rc_t ompd_process_initialize(ompd_address_space_context_t *context, ompd_address_space_handle_t **handle);
ompd_rc_t ompd_device_initialize(ompd_address_space_handle_t *process, ompd_address_space_context_t *context,
                                 ompd_device_t kind, ompd_size_t bytes, void *id, ompd_address_space_handle_t **handle);
ompd_rc_t ompd_rel_address_space_handle(ompd_address_space_handle_t *handle);
ompd_rc_t ompd_get_omp_version(ompd_address_space_handle_t *handle, ompd_word_t *version);
ompd_rc_t ompd_get_omp_version_string(ompd_address_space_handle_t *handle, const char **string);
ompd_rc_t ompd_enumerate_states(ompd_address_space_handle_t *handle, ompd_word_t current, ompd_word_t *next,
                                const char **name, ompd_word_t *more);

/* --- threads --- */

ompd_rc_t ompd_get_thread_handle(ompd_address_space_handle_t *handle, ompd_thread_id_t kind, ompd_size_t bytes,
                                 const void *id, ompd_thread_handle_t **thread);
ompd_rc_t ompd_get_thread_in_parallel(ompd_parallel_handle_t *region, int number, ompd_thread_handle_t **thread);
ompd_rc_t ompd_get_thread_id(ompd_thread_handle_t *thread, ompd_thread_id_t kind, ompd_size_t bytes, void *id);
ompd_rc_t ompd_get_state(ompd_thread_handle_t *thread, ompd_word_t *state, ompd_wait_id_t *wait_id);
ompd_rc_t ompd_thread_handle_compare(ompd_thread_handle_t *one, ompd_thread_handle_t *other, int *result);
ompd_rc_t ompd_rel_thread_handle(ompd_thread_handle_t *thread);

/* --- regions --- */

ompd_rc_t ompd_get_curr_parallel_handle(ompd_thread_handle_t *thread, ompd_parallel_handle_t **region);
ompd_rc_t ompd_get_enclosing_parallel_handle(ompd_parallel_handle_t *region, ompd_parallel_handle_t **outer);
ompd_rc_t ompd_get_task_parallel_handle(ompd_task_handle_t *task, ompd_parallel_handle_t **region);
ompd_rc_t ompd_parallel_handle_compare(ompd_parallel_handle_t *one, ompd_parallel_handle_t *other, int *result);
ompd_rc_t ompd_rel_parallel_handle(ompd_parallel_handle_t *region);

/* --- tasks --- */

ompd_rc_t ompd_get_curr_task_handle(ompd_thread_handle_t *thread, ompd_task_handle_t **task);
ompd_rc_t ompd_get_generating_task_handle(ompd_task_handle_t *task, ompd_task_handle_t **creator);
ompd_rc_t ompd_get_scheduling_task_handle(ompd_task_handle_t *task, ompd_task_handle_t **below);
ompd_rc_t ompd_get_task_in_parallel(ompd_parallel_handle_t *region, int number, ompd_task_handle_t **task);
ompd_rc_t ompd_get_task_function(ompd_task_handle_t *task, ompd_address_t *entry);
ompd_rc_t ompd_get_task_frame(ompd_task_handle_t *task, ompd_frame_info_t *exit, ompd_frame_info_t *enter);
ompd_rc_t ompd_task_handle_compare(ompd_task_handle_t *one, ompd_task_handle_t *other, int *result);
ompd_rc_t ompd_rel_task_handle(ompd_task_handle_t *task);

/* --- internal control variables, and tools' data --- */

ompd_rc_t ompd_enumerate_icvs(ompd_address_space_handle_t *handle, ompd_icv_id_t current, ompd_icv_id_t *next,
                              const char **name, ompd_scope_t *scope, int *more);
ompd_rc_t ompd_get_icv_from_scope(void *handle, ompd_scope_t scope, ompd_icv_id_t id, ompd_word_t *value);
ompd_rc_t ompd_get_icv_string_from_scope(void *handle, ompd_scope_t scope, ompd_icv_id_t id, const char **string);
ompd_rc_t ompd_get_tool_data(void *handle, ompd_scope_t scope, ompd_word_t *value, ompd_address_t *address);
ompd_rc_t ompd_get_display_control_vars(ompd_address_space_handle_t *handle, const char *const **variables);
ompd_rc_t ompd_rel_display_control_vars(const char *const **variables);

#endif
