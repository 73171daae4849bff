/* Between the files of src/abi/ompd: the process, as the debugger's callbacks show it, and the handles.
 *
 * A process's tables (base/debug_layout.h) are read once, when it is initialized; no structure is known but by the
 * names in them. Reading keeps the first failure in `failed`, and answers 0 from then on: a function reads what it
 * needs, and returns process_end. Callers: one thread of the debugger at a time, as the interface has it. */
#ifndef PS_OMPD_PROCESS_H
#define PS_OMPD_PROCESS_H

#include "debug_layout.h"
#include "ompd.h"

#define PROCESS_FIELDS_MAX 512
#define PROCESS_MOST 100000 /* steps along a list or an array of the process, which may be in the middle of a change */

struct ompd_aspace_handle {
    ompd_address_space_context_t *context;
    ompd_rc_t failed;
    unsigned num_fields;
    struct ps_debug_field field[PROCESS_FIELDS_MAX];
};
/* A native thread is one ort_thread in each region that it is in; which is the innermost is found anew each time
 * (thread_now). lwp: what this kernel thread runs. 0: the thread that `at` belongs to, an ort_thread. */
struct ompd_thread_handle {
    struct ompd_aspace_handle *process;
    uint64_t at, lwp;
};
struct ompd_parallel_handle { /* ort_team */
    struct ompd_aspace_handle *process;
    uint64_t at;
};
/* ort_task. team: it is an implicit task of this one, and may not have begun; 0: the task itself tells. */
struct ompd_task_handle {
    struct ompd_aspace_handle *process;
    uint64_t at, team;
};

extern const ompd_callbacks_t *process_callbacks; /* NULL: not initialized */

/* --- reading --- */

static inline void process_begin(struct ompd_aspace_handle *p) { p->failed = ompd_rc_ok; }
/* What the reading since process_begin came to. */
static inline ompd_rc_t process_end(const struct ompd_aspace_handle *p) { return p->failed; }
static inline uint64_t process_fails(struct ompd_aspace_handle *p, ompd_rc_t why)
{
    if (p->failed == ompd_rc_ok)
        p->failed = why;
    return 0;
}
/* A field's value; one that the process's runtime does not have is ompd_rc_incompatible. */
uint64_t process_field(struct ompd_aspace_handle *p, const char *name);
bool process_has(const struct ompd_aspace_handle *p, const char *name);
/* The number of so many bytes at an address; the same in a structure at `at`: of 8 bytes, of 4. */
uint64_t process_number(struct ompd_aspace_handle *p, uint64_t address, size_t bytes);
uint64_t process_pointer_in(struct ompd_aspace_handle *p, uint64_t at, const char *field);
uint32_t process_word_in(struct ompd_aspace_handle *p, uint64_t at, const char *field);
/* The address of an object of the process that every drop-in has; 0: it cannot be found. */
uint64_t process_symbol(struct ompd_aspace_handle *p, const char *name);
/* Text of the process's, at most `bytes` with its zero. */
void process_text(struct ompd_aspace_handle *p, uint64_t address, char *to, size_t bytes);

/* --- memory of the debugger's --- */

/* NULL, and a failure: there is none. */
void *process_memory(struct ompd_aspace_handle *p, size_t bytes);
ompd_rc_t process_give(void *memory);
/* A copy in *to. */
ompd_rc_t process_string(struct ompd_aspace_handle *p, const char *text, const char **to);

/* --- handles --- */

/* The beginning of a function with a handle: no handle is a stale one. */
#define PROCESS_OF(handle)                                 \
    do {                                                   \
        if ((handle) == NULL || (handle)->process == NULL) \
            return ompd_rc_stale_handle;                   \
        if (process_callbacks == NULL)                     \
            return ompd_rc_callback_error;                 \
        process_begin((handle)->process);                  \
    } while (0)
/* The ort_thread that the handle's thread is now; 0, and a failure: none. */
uint64_t thread_now(const ompd_thread_handle_t *thread);
ompd_rc_t parallel_handle_for(struct ompd_aspace_handle *p, uint64_t team, ompd_parallel_handle_t **handle);
ompd_rc_t task_handle_for(struct ompd_aspace_handle *p, uint64_t task, ompd_task_handle_t **handle);
int handle_order(uint64_t one, uint64_t other);

/* States, frames, scheduling tasks and a tool's data are kept: a tool or a debugger listens. Else a failure. */
bool process_is_tracked(struct ompd_aspace_handle *p);
/* The address of a tool's part of a task. */
uint64_t task_record(struct ompd_aspace_handle *p, uint64_t task);
/* Member `number` of a team, as it is in this team; 0, and a failure: there is none. */
uint64_t team_member(struct ompd_aspace_handle *p, uint64_t team, int number);

#endif
