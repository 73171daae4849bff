/* Turns the callbacks of the tool interface into events and sums. See recorder.h.
 *
 * A callback runs on the stack of its OpenMP thread. It finds the track of the vp that carries this thread, adds the
 * time since the last event to the vp's present state, writes its event, and sets the vp's next state. So after a
 * thread has begun to wait, its vp's time counts as that wait until another thread has an event there, although the vp
 * searched or switched in between. And after a yield, which is no event, the time counts for the thread that yielded
 * until another thread has an event there. */
#include "recorder.h"

#include <string.h>

#include "ort/core/tool_events.h"

static uint64_t short_wait; /* about a microsecond, in ticks: only a longer wait for a lock counts as a wait */
static int (*task_info)(int, int *, ompt_data_t **, ompt_frame_t **, ompt_data_t **, int *);
static ompt_data_t *(*thread_data)(void);
static _Atomic uint64_t serials;
static _Atomic(struct frame *) free_frames; /* given back by tracks; a track takes all of them at once */
static uint32_t num_threads, num_free_numbers;
static uint16_t free_number[MAX_VPS];

/* --- tracks, frames, ids --- */

struct track *recorder_here(void)
{
    unsigned number;
    if (recorder_layer != NULL) {
        number = recorder_layer->vp();
    } else {
        const ompt_data_t *data = thread_data();
        number = data != NULL ? (unsigned)data->value - 1 : MAX_VPS;
    }
    if (PS_UNLIKELY(number >= MAX_VPS))
        return NULL;
    struct track *k = ps_load_acquire(&recorder_own->tracks[number]);
    return PS_LIKELY(k != NULL) ? k : file_open_track(number);
}

struct frame *events_current(void)
{
    ompt_data_t *task = NULL;
    return task_info(0, NULL, &task, NULL, NULL, NULL) != 0 ? frame_of(task) : NULL;
}

enum { CHUNK = 32, KEPT = 64 };
_Static_assert(sizeof(struct region) <= sizeof(struct frame) &&
                   offsetof(struct region, member) == offsetof(struct frame, member),
               "a region takes a frame's place");

/* Takes all frames that tracks have given back, or makes new ones. Returns one of them, and adds the others to k's free
 * frames. NULL: no memory. */
PS_NOINLINE struct frame *events_more_frames(struct track *k)
{
    struct frame *f = ps_xchg_acquire(&free_frames, NULL);
    if (f == NULL && (f = file_private(CHUNK * sizeof *f)) != NULL)
        for (unsigned i = 0; i + 1 < CHUNK; i++)
            f[i].next = &f[i + 1];
    if (f == NULL)
        return NULL;
    k->free = f->next;
    k->num_free = 0;
    return f;
}

static inline struct frame *take_frame(struct track *k)
{
    struct frame *f = k->free;
    if (PS_UNLIKELY(f == NULL))
        return events_more_frames(k);
    k->free = f->next;
    k->num_free -= k->num_free != 0;
    return f;
}

static PS_NOINLINE void give_back_frames(struct track *k)
{
    struct frame *first = k->free, *last = first;
    while (last->next != NULL)
        last = last->next;
    struct frame *before = ps_load_relaxed(&free_frames);
    do
        last->next = before;
    while (!ps_cas_release(&free_frames, &before, first));
    k->free = NULL;
    k->num_free = 0;
}

static inline void give_frame(struct track *k, struct frame *f)
{
    f->next = k->free;
    k->free = f;
    if (PS_UNLIKELY(++k->num_free == KEPT))
        give_back_frames(k);
}

static inline uint64_t new_id(struct track *k, unsigned code)
{
    enum { BLOCK = 1 << 16 };
    if (PS_UNLIKELY(k->serial == k->serial_end)) {
        k->serial = ps_add_relaxed(&serials, BLOCK) + 1;
        k->serial_end = k->serial + BLOCK;
    }
    return REC_ID(code, k->serial++);
}

static inline unsigned code_of(struct track *k, const void *address)
{
    if (PS_LIKELY(address == k->code_address))
        return k->code;
    k->code = codes_find(address);
    k->code_address = address;
    return k->code;
}

static inline uint64_t id_of_frame(const struct frame *f) { return f != NULL ? f->id : 0; }

static void begin_frame(struct frame *f, uint64_t id, struct frame *member, struct region *region, unsigned work)
{
    f->id = id;
    f->is_other = false;
    f->own = f->total = 0;
    f->member = member != NULL ? member : f;
    f->region = region;
    f->state = f->work = (uint16_t)work;
    f->next_held = 0;
    f->waits_at = NULL;
    for (unsigned i = 0; i < HELD; i++)
        f->held[i].lock = 0;
}

/* --- regions and members --- */

static void parallel_begin(ompt_data_t *task, const ompt_frame_t *unused, ompt_data_t *parallel, unsigned n, int flags,
                           const void *caller)
{
    (void)unused;
    (void)flags;
    struct track *k = recorder_here();
    struct frame *f = frame_of(task);
    struct region *region = k != NULL ? (struct region *)(void *)take_frame(k) : NULL;
    parallel->ptr = region;
    if (region == NULL)
        return;
    if (PS_UNLIKELY(recorder_own->recording->num_vps == 0))
        file_num_vps();
    uint64_t now = track_until_now(k);
    unsigned code = code_of(k, caller);
    *region =
        (struct region){.id = new_id(k, code), .member = (struct frame *)(void *)region, .begin = now, .parent = f};
    track_put(k, now, REC_REGION_BEGIN, 0, 0, n, region->id, id_of_frame(f));
    track_is(k, NULL, REC_IN_RUNTIME, code);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *caller)
{
    (void)flags;
    (void)caller;
    struct track *k = recorder_here();
    struct region *region = parallel->ptr;
    struct frame *f = frame_of(task);
    parallel->ptr = NULL;
    if (k == NULL || region == NULL)
        return;
    uint64_t now = track_until_now(k), members = ps_load_relaxed(&region->members);
    struct recording_sums *sums = &k->shared->sums[REC_ID_CODE(region->id)];
    track_add(&sums->regions, 1);
    track_add(&sums->threads, members);
    track_add(&sums->wall, now - region->begin);
    track_add(&sums->useful, ps_load_relaxed(&region->useful));
    track_add(&sums->longest, ps_load_relaxed(&region->longest) * members);
    bool inner = f != NULL && f->member->region != NULL;
    if (inner)
        track_add(&sums->inner, 1);
    if (members == 1)
        track_add(&sums->serialized, 1);
    if (inner && members == 1)
        recorder_own->recording->nested_off = recorder_active_levels != NULL && recorder_active_levels() == 1;
    track_put(k, now, REC_REGION_END, 0, 0, members, region->id, id_of_frame(f));
    give_frame(k, (struct frame *)(void *)region);
    track_runs(k, f);
    if (now > ps_load_relaxed(&recorder_own->next_look))
        file_look();
}

static void member_begins(struct track *k, struct region *region, ompt_data_t *task, unsigned n, unsigned number,
                          bool team)
{
    struct frame *f = take_frame(k);
    task->ptr = f;
    if (f == NULL)
        return;
    uint64_t now = track_until_now(k);
    uint64_t id = new_id(k, region != NULL ? REC_ID_CODE(region->id) : 0);
    begin_frame(f, id, NULL, region, region != NULL ? REC_USEFUL : REC_SERIAL);
    if (region != NULL) {
        f->is_other = number != 0;
        ps_store_relaxed(&region->members, n);
        track_put(k, now, REC_MEMBER_BEGIN, team, 0, number, id, region->id);
    }
    track_runs(k, f);
}

static void member_ends(struct track *k, ompt_data_t *task, bool first)
{
    struct frame *f = frame_of(task);
    task->value = 0;
    if (f == NULL)
        return;
    uint64_t now = track_until_now(k);
    struct region *region = f->region;
    unsigned code = 0;
    if (region != NULL) {
        track_put(k, now, REC_MEMBER_END, 0, 0, 0, f->id, region->id);
        ps_add_relaxed(&region->useful, f->total);
        uint64_t longest = ps_load_relaxed(&region->longest);
        while (longest < f->total && !ps_cas_relaxed(&region->longest, &longest, f->total))
            continue;
        code = first ? REC_ID_CODE(region->id) : 0;
        if (first && region->parent != NULL)
            region->parent->member->total += f->total;
    }
    give_frame(k, f);
    track_is(k, NULL, REC_IN_RUNTIME, code);
}

static void implicit_task(int scope, ompt_data_t *parallel, ompt_data_t *task, unsigned n, unsigned number, int flags)
{
    struct track *k = recorder_here();
    bool team = flags & ORT_TOOL_TASK_INITIAL;
    if (k == NULL)
        task->value = scope == ORT_SCOPE_BEGIN ? 0 : task->value;
    else if (scope == ORT_SCOPE_BEGIN)
        member_begins(k, parallel != NULL ? parallel->ptr : NULL, task, n, number, team);
    else
        member_ends(k, task, number == 0);
}

/* --- tasks --- */

void events_waits(struct track *k, struct frame *f, unsigned state)
{
    if (f == NULL)
        return;
    f->state = (uint16_t)state;
    f->waits_at = k;
}

void events_waits_no_longer(const struct track *k, struct frame *f, uint64_t now)
{
    if (f == NULL)
        return;
    struct track *before = f->waits_at;
    if (before != NULL && before != k && ps_load_relaxed(&before->frame) == f)
        ps_store_relaxed(&before->shared->wait_over, now);
    f->state = f->work;
    f->waits_at = NULL;
}

static void wait_begins(struct track *k, struct frame *f, unsigned state, unsigned wait, uint64_t number,
                        uint64_t other)
{
    uint64_t now = track_until_now(k);
    track_put(k, now, REC_WAIT_BEGIN, wait, 0, number, id_of_frame(f), other);
    events_waits(k, f, state);
    track_is(k, f, state, f != NULL ? REC_ID_CODE(f->id) : 0);
}

static void wait_ends(struct track *k, struct frame *f, unsigned wait, uint64_t number, uint64_t other)
{
    uint64_t now = track_until_now(k);
    track_put(k, now, REC_WAIT_END, wait, 0, number, id_of_frame(f), other);
    events_waits_no_longer(k, f, now);
    track_runs(k, f);
}

static void task_create(ompt_data_t *task, const ompt_frame_t *unused, ompt_data_t *made, int flags, int depends,
                        const void *caller)
{
    (void)unused;
    (void)depends;
    struct track *k = recorder_here();
    if (k == NULL) {
        made->value = IS_ID;
        return;
    }
    struct frame *f = frame_of(task);
    unsigned code = code_of(k, caller);
    uint64_t id = new_id(k, code);
    made->value = id | IS_ID;
    if (flags & ORT_TOOL_TASK_TASKWAIT) {
        wait_begins(k, f, REC_TASKS, REC_WAIT_DEPENDENCE, 0, REC_ID(code, 0));
        return;
    }
    track_add(&k->shared->sums[code].created, 1);
    if (recorder_keeps_events && !(flags & ORT_TOOL_TASK_UNDEFERRED))
        track_put(k, track_until_now(k), REC_TASK_CREATE, 0, 0, (uint32_t)flags, id, id_of_frame(f));
}

static void task_begins(struct track *k, const ompt_data_t *before, ompt_data_t *next)
{
    struct frame *below = frame_of(before), *f = take_frame(k);
    if (f == NULL)
        return;
    uint64_t now = track_until_now(k);
    begin_frame(f, next->value & ~IS_ID, below != NULL ? below->member : NULL, NULL, REC_USEFUL);
    next->ptr = f;
    track_put(k, now, REC_TASK_BEGIN, 0, 0, 0, f->id, id_of_frame(below));
    track_is(k, f, REC_USEFUL, REC_ID_CODE(f->id));
}

/* If the task's REC_TASK_BEGIN is the track's last event, as for most tasks, turns it into one REC_TASK_RUN. Returns
 * whether it did. */
static bool ran_undisturbed(struct track *k, const struct frame *f, uint64_t now, int status)
{
    struct recording_event *e = k->next;
    if (e == NULL)
        return false;
    e--;
    if (e->id != f->id || e->kind != REC_TASK_BEGIN || now - e->time > UINT32_MAX)
        return false;
    e->number = (uint32_t)(now - e->time);
    e->sub = (uint8_t)status;
    e->kind = REC_TASK_RUN;
    return true;
}

static void task_ends(struct track *k, ompt_data_t *before, int status, const ompt_data_t *next)
{
    struct frame *f = frame_of(before), *below = frame_of(next);
    if (f == NULL)
        return;
    uint64_t now = track_until_now(k);
    struct recording_sums *sums = &k->shared->sums[REC_ID_CODE(f->id)];
    track_add(&sums->tasks, 1);
    track_add(&sums->task_ticks, f->own);
    track_add(&k->shared->task_sizes[63 - __builtin_clzll(f->own | 1)], 1);
    if (!ran_undisturbed(k, f, now, status))
        track_put(k, now, REC_TASK_END, (unsigned)status, 0, 0, f->id, id_of_frame(below));
    __atomic_store_n(&before->value, f->id | IS_ID, __ATOMIC_RELEASE);
    give_frame(k, f);
    track_runs(k, below);
}

static void task_schedule(ompt_data_t *before, int status, ompt_data_t *next)
{
    struct track *k = recorder_here();
    if (k == NULL)
        return;
    if (status == ORT_SWITCH_SWITCH || status == ORT_SWITCH_YIELD)
        task_begins(k, before, next);
    else if (status == ORT_SWITCH_COMPLETE || status == ORT_SWITCH_CANCEL || status == ORT_SWITCH_DETACH)
        task_ends(k, before, status, next);
    else if (status == ORT_SWITCH_TASKWAIT_COMPLETE)
        wait_ends(k, frame_of(next), REC_WAIT_DEPENDENCE, 0, REC_ID(REC_ID_CODE(id_of_task(before)), 0));
}

static void task_dependence(ompt_data_t *first, ompt_data_t *second)
{
    struct track *k = recorder_here();
    if (k != NULL && recorder_keeps_events)
        track_put(k, track_until_now(k), REC_DEPENDENCE, 0, 0, 0, id_of_task(first), id_of_task(second));
}

/* --- waits --- */

static const struct {
    uint8_t wait, state;
} kinds_of_wait[] = {
    [ORT_SYNC_BARRIER] = {REC_WAIT_BARRIER, REC_IMBALANCE},
    [ORT_SYNC_BARRIER_EXPLICIT] = {REC_WAIT_BARRIER, REC_IMBALANCE},
    [ORT_SYNC_BARRIER_IMPLEMENTATION] = {REC_WAIT_IMPLICIT, REC_IMBALANCE},
    [ORT_SYNC_TASKWAIT] = {REC_WAIT_TASKWAIT, REC_TASKS},
    [ORT_SYNC_TASKGROUP] = {REC_WAIT_TASKGROUP, REC_TASKS},
    [ORT_SYNC_REDUCTION] = {REC_WAIT_REDUCTION, REC_IMBALANCE},
    [ORT_SYNC_BARRIER_WORKSHARE] = {REC_WAIT_IMPLICIT, REC_IMBALANCE},
    [ORT_SYNC_BARRIER_PARALLEL] = {REC_WAIT_JOIN, REC_IMBALANCE},
    [ORT_SYNC_BARRIER_TEAMS] = {REC_WAIT_JOIN, REC_IMBALANCE},
};

static void sync_region_wait(int kind, int scope, ompt_data_t *parallel, ompt_data_t *task, const void *caller)
{
    (void)parallel;
    struct track *k = recorder_here();
    if (k == NULL || (unsigned)kind >= sizeof kinds_of_wait / sizeof kinds_of_wait[0])
        return;
    uint64_t code = REC_ID(code_of(k, caller), 0);
    if (scope == ORT_SCOPE_BEGIN)
        wait_begins(k, frame_of(task), kinds_of_wait[kind].state, kinds_of_wait[kind].wait, 0, code);
    else
        wait_ends(k, frame_of(task), kinds_of_wait[kind].wait, 0, code);
}

/* --- locks --- */

static unsigned kind_of_lock(int kind)
{
    return kind == ORT_MUTEX_CRITICAL  ? REC_WAIT_CRITICAL
           : kind == ORT_MUTEX_ATOMIC  ? REC_WAIT_ATOMIC
           : kind == ORT_MUTEX_ORDERED ? REC_WAIT_ORDERED
                                       : REC_WAIT_LOCK;
}

/* omp_test_lock and omp_test_nest_lock begin no wait: if the test fails, no second event would end the wait. */
static bool is_test(int kind) { return kind == ORT_MUTEX_TEST_LOCK || kind == ORT_MUTEX_TEST_NEST_LOCK; }

static void mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t lock, const void *caller)
{
    (void)hint;
    (void)impl;
    struct track *k = is_test(kind) ? NULL : recorder_here();
    if (k == NULL)
        return;
    struct frame *f = events_current();
    wait_begins(k, f, REC_LOCKS, kind_of_lock(kind), code_of(k, caller), lock);
    if (f != NULL)
        f->wait_since = k->last;
}

/* Called after a short wait for a lock. If the wait's REC_WAIT_BEGIN is the track's last event, turns it into
 * REC_LOCK_HELD. Returns whether it did. */
static bool was_free(struct track *k, const struct frame *f, uint64_t lock)
{
    struct recording_event *e = k->next;
    if (e == NULL)
        return false;
    e--;
    if (e->kind != REC_WAIT_BEGIN || e->id != id_of_frame(f) || e->other != lock)
        return false;
    e->kind = REC_LOCK_HELD;
    return true;
}

static void lock_is_held(struct track *k, struct frame *f, uint64_t lock, const void *caller, unsigned wait, bool test)
{
    uint64_t now = track_until_now(k);
    unsigned code = code_of(k, caller);
    uint64_t waited = f != NULL && !test ? now - f->wait_since : 0;
    struct recording_sums *sums = &k->shared->sums[code];
    track_add(&sums->locks, 1);
    if (waited > short_wait) {
        track_add(&sums->lock_waits, 1);
        track_add(&sums->lock_ticks, waited);
    }
    if (test)
        track_put(k, now, REC_LOCK_HELD, wait, 0, code, id_of_frame(f), lock);
    else if (waited > short_wait || !was_free(k, f, lock))
        track_put(k, now, REC_WAIT_END, wait, 0, code, id_of_frame(f), lock);
    events_waits_no_longer(k, f, now);
    if (f != NULL) {
        f->held[f->next_held].lock = lock;
        f->held[f->next_held].since = now;
        f->held[f->next_held].code = code;
        f->next_held = (uint16_t)((f->next_held + 1) % HELD);
    }
    track_runs(k, f);
}

static void mutex_acquired(int kind, uint64_t lock, const void *caller)
{
    struct track *k = recorder_here();
    if (k != NULL)
        lock_is_held(k, events_current(), lock, caller, kind_of_lock(kind), is_test(kind));
}

/* The owner of a nest lock has taken it again: ends the wait that mutex_acquire began. */
static void nest_lock(int scope, uint64_t lock, const void *caller)
{
    struct track *k = scope == ORT_SCOPE_BEGIN ? recorder_here() : NULL;
    struct frame *f = k != NULL ? events_current() : NULL;
    if (f != NULL && f->state == REC_LOCKS)
        wait_ends(k, f, REC_WAIT_LOCK, code_of(k, caller), lock);
}

static void mutex_released(int kind, uint64_t lock, const void *caller)
{
    struct track *k = recorder_here();
    struct frame *f = k != NULL ? events_current() : NULL;
    if (f == NULL)
        return;
    uint64_t now = track_until_now(k);
    unsigned code = 0;
    for (unsigned i = 0; i < HELD; i++)
        if (f->held[i].lock == lock) {
            code = f->held[i].code;
            track_add(&k->shared->sums[code].lock_held, now - f->held[i].since);
            f->held[i].lock = 0;
        }
    (void)caller;
    track_put(k, now, REC_LOCK_FREE, kind_of_lock(kind), 0, code, f->id, lock);
    track_runs(k, f);
}

/* --- loops, cancellation, threads --- */

/* Counts a loop and its iterations, in the sums of the region, or of `code` outside of regions. Every member reports
 * the whole loop, so only the report of the region's first member counts. Only one thread reports a taskloop, so that
 * always counts. sections, single and scope do not count. */
static void count_loop(struct track *k, int kind, const struct frame *f, uint64_t count, unsigned code)
{
    if (kind == ORT_WORK_SECTIONS || kind == ORT_WORK_SINGLE_EXECUTOR || kind == ORT_WORK_SCOPE ||
        (f != NULL && f->is_other && kind != ORT_WORK_TASKLOOP))
        return;
    const struct region *region = f != NULL ? f->member->region : NULL;
    struct recording_sums *sums = &k->shared->sums[region != NULL ? REC_ID_CODE(region->id) : code];
    track_add(&sums->loops, 1);
    track_add(&sums->iterations, count);
}

static void work(int kind, int scope, ompt_data_t *parallel, ompt_data_t *task, uint64_t count, const void *caller)
{
    (void)parallel;
    struct track *k = kind != ORT_WORK_SINGLE_OTHER ? recorder_here() : NULL;
    if (k == NULL)
        return;
    unsigned code = code_of(k, caller);
    struct frame *f = frame_of(task);
    if (scope == ORT_SCOPE_BEGIN)
        count_loop(k, kind, f, count, code);
    if (!recorder_keeps_events)
        return;
    track_put(k, track_until_now(k), scope == ORT_SCOPE_BEGIN ? REC_WORK_BEGIN : REC_WORK_END, (unsigned)kind, 0,
              count < UINT32_MAX ? count : UINT32_MAX, id_of_frame(f), REC_ID(code, 0));
}

static void cancel(ompt_data_t *task, int flags, const void *caller)
{
    (void)caller;
    struct track *k = recorder_here();
    if (k != NULL && recorder_keeps_events)
        track_put(k, track_until_now(k), REC_CANCEL, 0, 0, (uint32_t)flags, id_of_task(task), 0);
}

/* Where OpenMP threads are kernel threads, each has a track. When a thread ends, the next new thread gets its track. */
static void thread_begin(int kind, ompt_data_t *thread)
{
    (void)kind;
    recorder_lock(&recorder_own->threads_lock);
    uint32_t n = num_free_numbers > 0 ? free_number[--num_free_numbers] : num_threads++;
    recorder_unlock(&recorder_own->threads_lock);
    thread->value = n < MAX_VPS ? n + 1 : 0;
}

static void thread_end(ompt_data_t *thread)
{
    recorder_lock(&recorder_own->threads_lock);
    if (thread->value != 0)
        free_number[num_free_numbers++] = (uint16_t)(thread->value - 1);
    recorder_unlock(&recorder_own->threads_lock);
}

void events_set(ompt_function_lookup_t lookup)
{
    int (*set)(int, ompt_callback_t);
    ompt_interface_fn_t f = lookup("ompt_set_callback");
    memcpy(&set, &f, sizeof set);
    f = lookup("ompt_get_task_info");
    memcpy(&task_info, &f, sizeof task_info);
    f = lookup("ompt_get_thread_data");
    memcpy(&thread_data, &f, sizeof thread_data);
    static const struct {
        int number;
        ompt_callback_t function;
    } callbacks[] = {
        {3, (ompt_callback_t)parallel_begin},  {4, (ompt_callback_t)parallel_end},
        {5, (ompt_callback_t)task_create},     {6, (ompt_callback_t)task_schedule},
        {7, (ompt_callback_t)implicit_task},   {16, (ompt_callback_t)sync_region_wait},
        {17, (ompt_callback_t)mutex_released}, {19, (ompt_callback_t)task_dependence},
        {20, (ompt_callback_t)work},           {26, (ompt_callback_t)mutex_acquire},
        {27, (ompt_callback_t)mutex_acquired}, {28, (ompt_callback_t)nest_lock},
        {30, (ompt_callback_t)cancel},
    };
    for (unsigned i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++)
        set(callbacks[i].number, callbacks[i].function);
    if (recorder_layer == NULL) {
        set(1, (ompt_callback_t)thread_begin);
        set(2, (ompt_callback_t)thread_end);
    }
    short_wait = recorder_ticks_per_us();
}
