/* The library's start, reading, and the process's tables. See process.h. */
#include "process.h"

#include <string.h>

#include "tool_events.h"

/* The version of OpenMP 5.0. LLVM's plug-in asks for it, and gets 5.1's functions. */
#define API_OLDEST 201811
#define API_VERSION 202011

const ompd_callbacks_t *process_callbacks;

/* --- the library --- */

PS_EXPORT ompd_rc_t ompd_initialize(ompd_word_t version, const ompd_callbacks_t *c)
{
    if (c == NULL || c->alloc_memory == NULL || c->free_memory == NULL || c->sizeof_type == NULL ||
        c->symbol_addr_lookup == NULL || c->read_memory == NULL || c->read_string == NULL)
        return ompd_rc_bad_input;
    if (version < API_OLDEST || version > API_VERSION)
        return ompd_rc_unsupported;
    process_callbacks = c;
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_finalize(void)
{
    if (process_callbacks == NULL)
        return ompd_rc_unsupported;
    process_callbacks = NULL;
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_get_api_version(ompd_word_t *version)
{
    if (version == NULL)
        return ompd_rc_bad_input;
    *version = API_VERSION;
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_get_version_string(const char **string)
{
    if (string == NULL)
        return ompd_rc_bad_input;
    *string = "psthreads " PS_VERSION ", OMPD 5.1";
    return ompd_rc_ok;
}

/* --- reading --- */

static const struct ps_debug_field *find_in_tables(const struct ompd_aspace_handle *p, const char *name)
{
    for (unsigned i = 0; i < p->num_fields; i++)
        if (strcmp(p->field[i].name, name) == 0)
            return &p->field[i];
    return NULL;
}

bool process_has(const struct ompd_aspace_handle *p, const char *name) { return find_in_tables(p, name) != NULL; }

uint64_t process_field(struct ompd_aspace_handle *p, const char *name)
{
    const struct ps_debug_field *field = find_in_tables(p, name);
    return field != NULL ? field->value : process_fails(p, ompd_rc_incompatible);
}

static void read_from(struct ompd_aspace_handle *p, uint64_t address, void *to, size_t bytes)
{
    const ompd_address_t from = {OMPD_SEGMENT_UNSPECIFIED, address};
    memset(to, 0, bytes);
    if (p->failed != ompd_rc_ok)
        return;
    /* A null pointer of the process leads to an address below 4096. Such an address is not read. */
    ompd_rc_t rc = ompd_rc_unavailable;
    if (address >= 4096)
        rc = process_callbacks->read_memory(p->context, NULL, &from, bytes, to);
    if (rc != ompd_rc_ok)
        process_fails(p, rc);
}

uint64_t process_number(struct ompd_aspace_handle *p, uint64_t address, size_t bytes)
{
    /* Little-endian: so are all processors for which libompd.so is built. */
    uint64_t value = 0;
    read_from(p, address, &value, bytes);
    return p->failed == ompd_rc_ok ? value : 0;
}

static uint64_t number_in_process(struct ompd_aspace_handle *p, uint64_t at, const char *name, size_t bytes)
{
    return process_number(p, at != 0 ? at + process_field(p, name) : 0, bytes);
}
uint64_t process_pointer_in(struct ompd_aspace_handle *p, uint64_t at, const char *name)
{
    return number_in_process(p, at, name, 8);
}
uint32_t process_word_in(struct ompd_aspace_handle *p, uint64_t at, const char *name)
{
    return (uint32_t)number_in_process(p, at, name, 4);
}

uint64_t process_symbol(struct ompd_aspace_handle *p, const char *name)
{
    ompd_address_t address = {OMPD_SEGMENT_UNSPECIFIED, 0};
    ompd_rc_t rc = process_callbacks->symbol_addr_lookup(p->context, NULL, name, &address, NULL);
    /* For a symbol that does not exist, LLVM's plug-in for gdb reports success and the address -1. */
    return rc == ompd_rc_ok && address.address != UINT64_MAX ? address.address : 0;
}

void process_text(struct ompd_aspace_handle *p, uint64_t address, char *to, size_t bytes)
{
    const ompd_address_t from = {OMPD_SEGMENT_UNSPECIFIED, address};
    to[0] = '\0';
    if (p->failed != ompd_rc_ok || address == 0)
        return;
    ompd_rc_t rc = process_callbacks->read_string(p->context, NULL, &from, bytes, to);
    to[bytes - 1] = '\0';
    if (rc != ompd_rc_ok && rc != ompd_rc_incomplete)
        process_fails(p, rc);
}

/* --- memory --- */

void *process_memory(struct ompd_aspace_handle *p, size_t bytes)
{
    void *memory = NULL;
    if (p->failed != ompd_rc_ok)
        return NULL;
    ompd_rc_t rc = process_callbacks->alloc_memory(bytes, &memory);
    if (rc != ompd_rc_ok || memory == NULL) {
        process_fails(p, rc != ompd_rc_ok ? rc : ompd_rc_nomem);
        return NULL;
    }
    return memory;
}

ompd_rc_t process_give(void *memory)
{
    return process_callbacks != NULL ? process_callbacks->free_memory(memory) : ompd_rc_callback_error;
}

ompd_rc_t process_string(struct ompd_aspace_handle *p, const char *text, const char **to)
{
    size_t bytes = strlen(text) + 1;
    char *copy = process_memory(p, bytes);
    if (copy != NULL)
        *to = memcpy(copy, text, bytes);
    return process_end(p);
}

/* --- the process --- */

/* Appends the fields of the table at `address` to the known fields. */
static void load_fields(struct ompd_aspace_handle *p, uint64_t address)
{
    struct ps_debug_layout head;
    read_from(p, address, &head, sizeof head);
    if (p->failed != ompd_rc_ok)
        return;
    if (memcmp(head.magic, PS_DEBUG_MAGIC, sizeof head.magic) != 0 || head.version != PS_DEBUG_VERSION ||
        head.field_size != sizeof(struct ps_debug_field)) {
        process_fails(p, ompd_rc_incompatible);
        return;
    }
    for (address += sizeof head; p->num_fields < PROCESS_FIELDS_MAX; address += sizeof(struct ps_debug_field)) {
        struct ps_debug_field *field = &p->field[p->num_fields];
        read_from(p, address, field, sizeof *field);
        if (p->failed != ompd_rc_ok || field->name[0] == '\0')
            return;
        field->name[sizeof field->name - 1] = '\0';
        p->num_fields++;
    }
}

static ompd_rc_t same_sizes(ompd_address_space_context_t *context)
{
    ompd_device_type_sizes_t sizes;
    ompd_rc_t rc = process_callbacks->sizeof_type(context, &sizes);
    if (rc != ompd_rc_ok)
        return rc;
    return sizes.sizeof_pointer == 8 && sizes.sizeof_int == 4 ? ompd_rc_ok : ompd_rc_incompatible;
}

PS_EXPORT ompd_rc_t ompd_process_initialize(ompd_address_space_context_t *context, ompd_address_space_handle_t **handle)
{
    if (context == NULL || handle == NULL)
        return ompd_rc_bad_input;
    if (process_callbacks == NULL)
        return ompd_rc_callback_error;
    ompd_rc_t rc = same_sizes(context);
    if (rc != ompd_rc_ok)
        return rc;
    void *memory = NULL;
    rc = process_callbacks->alloc_memory(sizeof(struct ompd_aspace_handle), &memory);
    if (rc != ompd_rc_ok)
        return rc;
    struct ompd_aspace_handle *p = memory;
    memset(p, 0, sizeof *p);
    p->context = context;
    uint64_t core = process_symbol(p, "ort_debug_layout");
    if (core == 0)
        process_fails(p, ompd_rc_incompatible); /* The process has another runtime, or none. */
    load_fields(p, core);
    load_fields(p, process_symbol(p, "kmpc_debug_layout"));
    load_fields(p, process_number(p, process_field(p, "&ee_debug_layout"), 8));
    if (p->failed != ompd_rc_ok) {
        rc = p->failed;
        process_give(p);
        return rc;
    }
    *handle = p;
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_device_initialize(ompd_address_space_handle_t *process, ompd_address_space_context_t *context,
                                           ompd_device_t kind, ompd_size_t bytes, void *id,
                                           ompd_address_space_handle_t **handle)
{
    (void)kind, (void)bytes, (void)id;
    if (process == NULL)
        return ompd_rc_stale_handle;
    return context == NULL || handle == NULL ? ompd_rc_bad_input : ompd_rc_unavailable; /* There are no devices. */
}

PS_EXPORT ompd_rc_t ompd_rel_address_space_handle(ompd_address_space_handle_t *p)
{
    return p != NULL ? process_give(p) : ompd_rc_stale_handle;
}

PS_EXPORT ompd_rc_t ompd_get_omp_version(ompd_address_space_handle_t *p, ompd_word_t *version)
{
    if (p == NULL)
        return ompd_rc_stale_handle;
    if (version == NULL)
        return ompd_rc_bad_input;
    process_begin(p);
    *version = (ompd_word_t)process_field(p, "openmp");
    return process_end(p);
}

PS_EXPORT ompd_rc_t ompd_get_omp_version_string(ompd_address_space_handle_t *p, const char **string)
{
    if (p == NULL)
        return ompd_rc_stale_handle;
    if (string == NULL)
        return ompd_rc_bad_input;
    *string = "OpenMP 5.1";
    return ompd_rc_ok;
}

bool process_is_tracked(struct ompd_aspace_handle *p)
{
    bool tracked = process_number(p, process_field(p, "&ort_tool_task_bytes"), 8) != 0;
    if (!tracked)
        process_fails(p, ompd_rc_needs_state_tracking);
    return tracked;
}

/* --- states --- */

PS_EXPORT ompd_rc_t ompd_enumerate_states(ompd_address_space_handle_t *p, ompd_word_t current, ompd_word_t *next,
                                          const char **name, ompd_word_t *more)
{
    static const struct {
        int number;
        const char *name;
    } states[] = {
        {ORT_STATE_UNDEFINED, "ompt_state_undefined"},
        {ORT_STATE_WORK_SERIAL, "ompt_state_work_serial"},
        {ORT_STATE_WORK_PARALLEL, "ompt_state_work_parallel"},
        {ORT_STATE_WORK_REDUCTION, "ompt_state_work_reduction"},
        {ORT_STATE_WAIT_BARRIER_PARALLEL, "ompt_state_wait_barrier_implicit_parallel"},
        {ORT_STATE_WAIT_BARRIER_WORKSHARE, "ompt_state_wait_barrier_implicit_workshare"},
        {ORT_STATE_WAIT_BARRIER_EXPLICIT, "ompt_state_wait_barrier_explicit"},
        {ORT_STATE_WAIT_BARRIER_IMPLEMENTATION, "ompt_state_wait_barrier_implementation"},
        {ORT_STATE_WAIT_BARRIER_TEAMS, "ompt_state_wait_barrier_teams"},
        {ORT_STATE_WAIT_TASKWAIT, "ompt_state_wait_taskwait"},
        {ORT_STATE_WAIT_TASKGROUP, "ompt_state_wait_taskgroup"},
        {ORT_STATE_WAIT_LOCK, "ompt_state_wait_lock"},
        {ORT_STATE_WAIT_CRITICAL, "ompt_state_wait_critical"},
        {ORT_STATE_WAIT_ATOMIC, "ompt_state_wait_atomic"},
        {ORT_STATE_WAIT_ORDERED, "ompt_state_wait_ordered"},
        {ORT_STATE_OVERHEAD, "ompt_state_overhead"},
    };
    const unsigned n = sizeof states / sizeof states[0];
    if (p == NULL)
        return ompd_rc_stale_handle;
    if (next == NULL || name == NULL || more == NULL)
        return ompd_rc_bad_input;
    process_begin(p);
    for (unsigned i = 0; i + 1 < n; i++)
        if (states[i].number == current) {
            *next = states[i + 1].number;
            *more = i + 2 < n;
            return process_string(p, states[i + 1].name, name);
        }
    return ompd_rc_bad_input;
}
