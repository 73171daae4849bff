/* What the files of src/abi/ompd share: the process, as the debugger's callbacks show it, and the handles.
 *
 * A process's tables (base/debug_layout.h) are read once, when the process is initialized. Structures of the process
 * are known only by the names in these tables. The first failure of a read is kept in `failed`; later reads return 0.
 * So a function reads all that it needs, and then returns process_end. Callers: one thread of the debugger at a time,
 * as the interface demands. */
#ifndef PS_OMPD_PROCESS_H
#define PS_OMPD_PROCESS_H

#include "debug_layout.h"
#include "ompd.h"

#define PROCESS_FIELDS_MAX 512
/* The most steps along a list or an array of the process, which may be in the middle of a change and so seem
 * endless. */
#define PROCESS_MOST 100000

struct ompd_aspace_handle {
    ompd_address_space_context_t *context;
    ompd_rc_t failed;
    unsigned num_fields;
    struct ps_debug_field field[PROCESS_FIELDS_MAX];
};
/* An OpenMP thread has one ort_thread in each region that it is in; thread_now finds the innermost of them each time.
 * lwp not 0: the handle stands for what this kernel thread runs. lwp 0: it stands for the OpenMP thread that has the
 * ort_thread `at`. */
struct ompd_thread_handle {
    struct ompd_aspace_handle *process;
    uint64_t at, lwp;
};
struct ompd_parallel_handle { /* at: address of the ort_team */
    struct ompd_aspace_handle *process;
    uint64_t at;
};
/* at: address of the ort_task. team not 0: the task is an implicit task of this team, and may not have begun. team 0:
 * the ort_task itself tells its team. */
struct ompd_task_handle {
    struct ompd_aspace_handle *process;
    uint64_t at, team;
};

extern const ompd_callbacks_t *process_callbacks; /* NULL: the library is not initialized */

/* --- reading --- */

static inline void process_begin(struct ompd_aspace_handle *p) { p->failed = ompd_rc_ok; }
/* Returns the first failure since process_begin, or ompd_rc_ok. */
static inline ompd_rc_t process_end(const struct ompd_aspace_handle *p) { return p->failed; }
/* Notes a failure, unless one has been noted since process_begin. Returns 0. */
static inline uint64_t process_fails(struct ompd_aspace_handle *p, ompd_rc_t why)
{
    if (p->failed == ompd_rc_ok)
        p->failed = why;
    return 0;
}
/* process_field returns the value of a field of the tables; if the process's runtime does not have the field, the
 * failure is ompd_rc_incompatible. process_has returns whether it has it. */
uint64_t process_field(struct ompd_aspace_handle *p, const char *name);
bool process_has(const struct ompd_aspace_handle *p, const char *name);
/* process_number reads a number of `bytes` bytes at an address. The other two read a field of the structure at `at`:
 * process_pointer_in 8 bytes, process_word_in 4 bytes. */
uint64_t process_number(struct ompd_aspace_handle *p, uint64_t address, size_t bytes);
uint64_t process_pointer_in(struct ompd_aspace_handle *p, uint64_t at, const char *field);
uint32_t process_word_in(struct ompd_aspace_handle *p, uint64_t at, const char *field);
/* Returns the address of the symbol with this name in the process; 0: not found. */
uint64_t process_symbol(struct ompd_aspace_handle *p, const char *name);
/* Reads a text of the process into `to`, at most `bytes` including its zero. A longer text is cut. */
void process_text(struct ompd_aspace_handle *p, uint64_t address, char *to, size_t bytes);

/* --- memory of the debugger's --- */

/* process_memory returns memory from the debugger; NULL: none, which is noted as a failure. process_give frees it. */
void *process_memory(struct ompd_aspace_handle *p, size_t bytes);
ompd_rc_t process_give(void *memory);
/* Sets *to to a copy of the text in the debugger's memory. */
ompd_rc_t process_string(struct ompd_aspace_handle *p, const char *text, const char **to);

/* --- handles --- */

/* Begins a function that takes a handle: returns from the function if there is no handle, or the library is not
 * initialized. */
#define PROCESS_OF(handle)                                 \
    do {                                                   \
        if ((handle) == NULL || (handle)->process == NULL) \
            return ompd_rc_stale_handle;                   \
        if (process_callbacks == NULL)                     \
            return ompd_rc_callback_error;                 \
        process_begin((handle)->process);                  \
    } while (0)
/* Returns the innermost ort_thread of the handle's thread; 0: none, which is noted as a failure. */
uint64_t thread_now(const ompd_thread_handle_t *thread);
/* Each makes a handle for the structure at this address, in the debugger's memory. Address 0 is noted as a failure. */
ompd_rc_t parallel_handle_for(struct ompd_aspace_handle *p, uint64_t team, ompd_parallel_handle_t **handle);
ompd_rc_t task_handle_for(struct ompd_aspace_handle *p, uint64_t task, ompd_task_handle_t **handle);
/* Returns -1, 0 or 1, as the interface's comparisons of handles do. */
int handle_order(uint64_t one, uint64_t other);

/* Returns whether states, frames, scheduling tasks and tools' data are kept, because a tool or a debugger listens.
 * False is noted as a failure. */
bool process_is_tracked(struct ompd_aspace_handle *p);
/* Returns the address of a task's record for tools. */
uint64_t task_record(struct ompd_aspace_handle *p, uint64_t task);
/* Returns the ort_thread of member `number` of the team; 0: there is no such member, which is noted as a failure. */
uint64_t team_member(struct ompd_aspace_handle *p, uint64_t team, int number);

#endif
