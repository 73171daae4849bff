/* OMPD: threads. The table of the entities tells which kernel thread runs what. It has the vps of user-level threads,
 * or the list of kernel threads (src/ee/pthreads). */
#include "process.h"

#include <string.h>

/* A kernel thread, and the innermost ort_thread that it runs. */
struct carrier {
    /* lwp: its number; itself: its pthread_self(), or 0 if not known; runs: the ort_thread, or 0 if it runs no OpenMP
     * thread */
    uint64_t lwp, itself, runs;
};

static uint64_t next_of_list(struct ompd_aspace_handle *p, uint64_t *node, struct carrier *c)
{
    uint64_t head = process_field(p, "&kernel_threads_all");
    *node = process_pointer_in(p, *node == 0 ? head : *node, "ps_list.next");
    if (*node == 0 || *node == head)
        return 0;
    uint64_t thread = *node - process_field(p, "kernel_thread.link");
    c->lwp = process_word_in(p, thread, "kernel_thread.tid");
    c->itself = process_pointer_in(p, thread, "kernel_thread.itself");
    c->runs = process_pointer_in(p, process_pointer_in(p, thread, "ee_carrier.running"), "ee_running.local");
    return thread;
}

/* Reads vp number *i, or the next vp that has a kernel thread, into c. Advances *i. Returns the vp's address; 0: none
 * is left. */
static uint64_t next_of_vps(struct ompd_aspace_handle *p, uint64_t *i, struct carrier *c)
{
    uint64_t rt = process_field(p, "&ps_rt"), n = process_word_in(p, rt, "ps_runtime.table_size");
    while (*i < n && *i < PROCESS_MOST) {
        uint64_t vp = process_pointer_in(p, rt + 8 * (*i)++, "ps_runtime.vp");
        if (vp == 0 || process_word_in(p, vp, "vp.attached") == 0)
            continue;
        uint64_t thread = process_pointer_in(p, vp, "vp.current");
        c->lwp = process_word_in(p, vp, "vp.tid");
        c->itself = process_has(p, "vp.itself") ? process_pointer_in(p, vp, "vp.itself") : 0;
        c->runs = thread != 0 ? process_pointer_in(p, thread, "psthread.local") : 0;
        return vp;
    }
    return 0;
}

/* Reads the next kernel thread after the cursor, which is 0 at first, into c. Returns false if none is left. */
static bool next_carrier(struct ompd_aspace_handle *p, uint64_t *cursor, struct carrier *c)
{
    uint64_t found = process_has(p, "&ps_rt") ? next_of_vps(p, cursor, c) : next_of_list(p, cursor, c);
    return p->failed == ompd_rc_ok && found != 0;
}

/* Returns the innermost ort_thread of the OpenMP thread to which `thread` belongs. It follows the regions that this
 * OpenMP thread has opened: in each of them it is member 0. */
static uint64_t innermost(struct ompd_aspace_handle *p, uint64_t thread)
{
    for (unsigned steps = 0; thread != 0 && steps < PROCESS_MOST; steps++) {
        uint64_t team = process_pointer_in(p, thread, "ort_thread.open");
        if (team == 0)
            break;
        thread = team + process_field(p, "ort_team.threads");
    }
    return thread;
}

/* Finds the kernel thread that runs the OpenMP thread now, and stores it in *c. Returns false if no kernel thread runs
 * it. */
static bool carrier_of(struct ompd_aspace_handle *p, uint64_t thread, struct carrier *c)
{
    uint64_t inner = innermost(p, thread);
    for (uint64_t cursor = 0, steps = 0; steps++ < PROCESS_MOST && next_carrier(p, &cursor, c);)
        if (c->runs != 0 && innermost(p, c->runs) == inner)
            return true;
    return false;
}

static bool carrier_with(struct ompd_aspace_handle *p, ompd_thread_id_t kind, uint64_t id, struct carrier *c)
{
    for (uint64_t cursor = 0, steps = 0; steps++ < PROCESS_MOST && next_carrier(p, &cursor, c);)
        if (id == (kind == OMPD_THREAD_ID_LWP ? c->lwp : c->itself))
            return true;
    return false;
}

/* Returns the innermost ort_thread of the handle's thread. It is taken from the kernel thread that runs the thread, if
 * there is one: this value is right even while the thread opens or closes a region. */
uint64_t thread_now(const ompd_thread_handle_t *thread)
{
    struct ompd_aspace_handle *p = thread->process;
    struct carrier c = {.runs = 0};
    if (thread->lwp == 0)
        return carrier_of(p, thread->at, &c) ? c.runs : innermost(p, thread->at);
    return carrier_with(p, OMPD_THREAD_ID_LWP, thread->lwp, &c) && c.runs != 0 ? c.runs
                                                                               : process_fails(p, ompd_rc_unavailable);
}

static ompd_rc_t thread_handle_for(struct ompd_aspace_handle *p, uint64_t at, uint64_t lwp,
                                   ompd_thread_handle_t **handle)
{
    ompd_thread_handle_t *made = process_memory(p, sizeof *made);
    if (made != NULL) {
        *made = (ompd_thread_handle_t){.process = p, .at = at, .lwp = lwp};
        *handle = made;
    }
    return process_end(p);
}

static ompd_rc_t id_is_good(ompd_thread_id_t kind, ompd_size_t bytes, const void *id)
{
    if (id == NULL)
        return ompd_rc_bad_input;
    if (kind != OMPD_THREAD_ID_PTHREAD && kind != OMPD_THREAD_ID_LWP)
        return ompd_rc_unsupported;
    return bytes == 8 || (bytes == 4 && kind == OMPD_THREAD_ID_LWP) ? ompd_rc_ok : ompd_rc_bad_input;
}

PS_EXPORT ompd_rc_t ompd_get_thread_handle(ompd_address_space_handle_t *p, ompd_thread_id_t kind, ompd_size_t bytes,
                                           const void *id, ompd_thread_handle_t **thread)
{
    uint64_t wanted = 0;
    struct carrier c = {.runs = 0};
    if (p == NULL)
        return ompd_rc_stale_handle;
    ompd_rc_t rc = thread != NULL ? id_is_good(kind, bytes, id) : ompd_rc_bad_input;
    if (rc != ompd_rc_ok)
        return rc;
    memcpy(&wanted, id, bytes);
    process_begin(p);
    if (!carrier_with(p, kind, wanted, &c) || c.runs == 0)
        process_fails(p, ompd_rc_unavailable);
    return thread_handle_for(p, c.runs, c.lwp, thread);
}

PS_EXPORT ompd_rc_t ompd_get_thread_in_parallel(ompd_parallel_handle_t *region, int number,
                                                ompd_thread_handle_t **thread)
{
    PROCESS_OF(region);
    if (thread == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = region->process;
    return thread_handle_for(p, team_member(p, region->at, number), 0, thread);
}

PS_EXPORT ompd_rc_t ompd_get_thread_id(ompd_thread_handle_t *thread, ompd_thread_id_t kind, ompd_size_t bytes, void *id)
{
    struct carrier c;
    PROCESS_OF(thread);
    ompd_rc_t rc = id_is_good(kind, bytes, id);
    if (rc != ompd_rc_ok)
        return rc;
    struct ompd_aspace_handle *p = thread->process;
    if (thread->lwp != 0 ? !carrier_with(p, OMPD_THREAD_ID_LWP, thread->lwp, &c) : !carrier_of(p, thread->at, &c))
        /* No kernel thread runs the thread: it waits, or its kernel thread has ended. */
        return p->failed != ompd_rc_ok ? p->failed : ompd_rc_unavailable;
    uint64_t number = kind == OMPD_THREAD_ID_LWP ? c.lwp : c.itself;
    if (number == 0)
        return ompd_rc_unsupported;
    memcpy(id, &number, bytes);
    return ompd_rc_ok;
}

PS_EXPORT ompd_rc_t ompd_get_state(ompd_thread_handle_t *thread, ompd_word_t *state, ompd_wait_id_t *wait_id)
{
    PROCESS_OF(thread);
    if (state == NULL)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = thread->process;
    if (!process_is_tracked(p))
        return process_end(p);
    uint64_t now = thread_now(thread);
    *state = process_word_in(p, now, "ort_thread.state");
    /* 0: the thread works. The answer is then work_parallel (1) in a region, and work_serial (0) outside. */
    if (*state == 0)
        *state = process_word_in(p, process_pointer_in(p, now, "ort_thread.team"), "ort_team.level") > 0;
    if (wait_id != NULL)
        *wait_id = process_pointer_in(p, now, "ort_thread.wait_id");
    return process_end(p);
}

int handle_order(uint64_t one, uint64_t other) { return one < other ? -1 : one > other; }

PS_EXPORT ompd_rc_t ompd_thread_handle_compare(ompd_thread_handle_t *one, ompd_thread_handle_t *other, int *result)
{
    PROCESS_OF(one);
    PROCESS_OF(other);
    if (result == NULL || one->process != other->process)
        return ompd_rc_bad_input;
    struct ompd_aspace_handle *p = one->process;
    *result = handle_order(innermost(p, thread_now(one)), innermost(p, thread_now(other)));
    return process_end(one->process);
}

PS_EXPORT ompd_rc_t ompd_rel_thread_handle(ompd_thread_handle_t *thread)
{
    return thread != NULL ? process_give(thread) : ompd_rc_stale_handle;
}
