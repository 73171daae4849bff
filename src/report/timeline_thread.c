/* Threads, slices and tracks of a timeline: see timeline_thread.h. */
#include "timeline_thread.h"

#include <string.h>

#include "memory.h"

/* --- names --- */

static const char *const waits[REC_WAITS] = {
    [REC_WAIT_BARRIER] = "barrier",     [REC_WAIT_IMPLICIT] = "implicit barrier",
    [REC_WAIT_JOIN] = "join",           [REC_WAIT_TASKWAIT] = "taskwait",
    [REC_WAIT_TASKGROUP] = "taskgroup", [REC_WAIT_REDUCTION] = "reduction",
    [REC_WAIT_LOCK] = "lock",           [REC_WAIT_CRITICAL] = "critical",
    [REC_WAIT_ATOMIC] = "atomic",       [REC_WAIT_ORDERED] = "ordered",
    [REC_WAIT_OUTSIDE] = "MPI",         [REC_WAIT_DEPENDENCE] = "dependence",
};

/* By ompt_work_t. */
static const char *const works[] = {"work",        "loop",         "sections",    "single", "single",
                                    "workshare",   "distribute",   "taskloop",    "scope",  "loop",
                                    "static loop", "dynamic loop", "guided loop", "loop"};

static const char *const scheduler[REC_KINDS] = {
    [REC_PARK] = "parked",
    [REC_STEAL] = "steal",
    [REC_SPARE_BEGIN] = "spare begins",
    [REC_SPARE_END] = "spare ends",
    [REC_ROOT_LEAVES] = "root leaves",
    [REC_ROOT_HOME] = "root home",
    [REC_STALL] = "stall",
};

static const char *text_of(const char *const *texts, size_t num, unsigned i)
{
    return i < num && texts[i] ? texts[i] : "other";
}
#define TEXT_OF(texts, i) text_of(texts, sizeof(texts) / sizeof *(texts), i)

static uint64_t name_of_slice(struct timeline_board *b, const struct timeline_slice *s, const struct place *place)
{
    bool counts = s->kind == TIMELINE_MEMBER;
    uint64_t key = (uint64_t)s->kind << 60 | (uint64_t)(s->sub & 0xff) << 52 | (uint64_t)(s->code & 0xfff) << 40;
    if (counts)
        key |= (uint64_t)(s->number & 0xfffff) << 20 | (s->threads & 0xfffff);
    uint64_t known = trace_writer_name(b->writer, key, NULL);
    if (known)
        return known;
    char *name;
    switch (s->kind) {
    case TIMELINE_REGION:
        name = memory_text("parallel %s", place->brief);
        break;
    case TIMELINE_MEMBER:
        name = s->threads ? memory_text("%s [%u/%u]", place->brief, s->number, s->threads)
                          : memory_text("%s [%u]", place->brief, s->number);
        break;
    case TIMELINE_TASK:
        name = memory_text("task %s", place->brief);
        break;
    case TIMELINE_CREATE:
        name = memory_text("create task %s", place->brief);
        break;
    case TIMELINE_WAIT:
        name = memory_text("%s", TEXT_OF(waits, s->sub));
        break;
    case TIMELINE_LOOP:
        name = s->code ? memory_text("%s %s", TEXT_OF(works, s->sub), place->brief)
                       : memory_text("%s", TEXT_OF(works, s->sub));
        break;
    default:
        name = memory_text("%s", TEXT_OF(scheduler, s->sub));
        break;
    }
    known = trace_writer_name(b->writer, key, name);
    free(name);
    return known;
}

bool timeline_is_lock(unsigned wait)
{
    return wait == REC_WAIT_LOCK || wait == REC_WAIT_CRITICAL || wait == REC_WAIT_ATOMIC || wait == REC_WAIT_ORDERED;
}

void timeline_event(struct timeline_board *b, const struct timeline_slice *s, struct trace_event *e)
{
    static const enum trace_category categories[] = {
        [TIMELINE_REGION] = TRACE_REGION,  [TIMELINE_MEMBER] = TRACE_MEMBER, [TIMELINE_TASK] = TRACE_TASK,
        [TIMELINE_CREATE] = TRACE_TASK,    [TIMELINE_WAIT] = TRACE_WAIT,     [TIMELINE_LOOP] = TRACE_LOOP,
        [TIMELINE_SCHEDULER] = TRACE_SCHED};
    e->category = categories[s->kind];
    e->num_notes = e->num_flows = e->num_ends = 0;
    e->place = s->kind == TIMELINE_SCHEDULER ? NULL : places_find(b->places, b->file, s->code);
    e->code = s->code;
    struct timeline_slice named = *s;
    named.code = s->kind == TIMELINE_WAIT ? 0 : s->code; /* a wait's name is the same everywhere: "barrier" */
    named.sub = s->kind == TIMELINE_WAIT || s->kind == TIMELINE_LOOP || s->kind == TIMELINE_SCHEDULER ? s->sub : 0;
    e->name = name_of_slice(b, &named, e->place);
    if (s->kind != TIMELINE_SCHEDULER)
        trace_event_note(e, TRACE_ID, s->id);
    if (s->kind == TIMELINE_REGION || s->kind == TIMELINE_MEMBER)
        trace_event_note(e, TRACE_THREADS, s->threads);
    if (s->kind == TIMELINE_MEMBER) {
        trace_event_note(e, TRACE_REGION_ID, s->other);
        trace_event_note(e, TRACE_MEMBER_NUMBER, s->number);
    } else if (s->kind == TIMELINE_LOOP && s->number) {
        trace_event_note(e, TRACE_ITERATIONS, s->number);
    } else if (s->kind == TIMELINE_WAIT && timeline_is_lock(s->sub)) {
        trace_event_note(e, TRACE_LOCK, s->other);
    }
}

/* --- the board --- */

void timeline_board_begin(struct timeline_board *b, const struct recording_file *f, FILE *out)
{
    unsigned tracks = f->num_tracks + 1; /* track 0 is the process */
    *b = (struct timeline_board){.file = f, .writer = trace_writer_new(out, tracks), .places = places_new()};
    b->track = memory_new(tracks, sizeof *b->track);
}

void timeline_board_end(struct timeline_board *b, uint64_t ns)
{
    for (unsigned i = 1; i <= b->file->num_tracks; i++)
        timeline_bring(b, NULL, i, ns);
}

static void forget_thread(struct timeline_board *b, struct timeline_thread *t)
{
    if (t->track)
        b->track[t->track].thread = NULL;
    if (id_table_get(&b->by_task, t->task) == t)
        id_table_take(&b->by_task, t->task);
    *t->at = t->next;
    if (t->next)
        t->next->at = t->at;
    free(t->slice);
    free(t);
}

void timeline_board_free(struct timeline_board *b)
{
    for (struct timeline_thread *t = b->threads, *next; t; t = next) {
        next = t->next;
        free(t->slice);
        free(t);
    }
    for (size_t i = 0; i < b->regions.capacity; i++)
        free(b->regions.entry[i].value);
    id_table_free(&b->regions);
    id_table_free(&b->by_task);
    trace_writer_free(b->writer);
    places_free(b->places);
    free(b->track);
}

/* --- threads --- */

struct timeline_thread *timeline_thread_known(const struct timeline_board *b, uint64_t task)
{
    return id_table_get(&b->by_task, task);
}

struct timeline_thread *timeline_thread_new(struct timeline_board *b, uint64_t task)
{
    struct timeline_thread *t = memory_new(1, sizeof *t);
    t->task = task;
    t->next = b->threads;
    t->at = &b->threads;
    if (t->next)
        t->next->at = &t->next;
    b->threads = t;
    timeline_thread_runs(b, t, task);
    return t;
}

struct timeline_thread *timeline_thread_of(struct timeline_board *b, uint64_t task)
{
    struct timeline_thread *t = timeline_thread_known(b, task);
    return t ? t : timeline_thread_new(b, task);
}

void timeline_thread_runs(struct timeline_board *b, struct timeline_thread *t, uint64_t task)
{
    id_table_put(&b->by_task, task, t);
}

static void begin_slice(struct timeline_board *b, const struct timeline_thread *t, const struct timeline_slice *s,
                        uint64_t ns, const struct trace_event *ends, bool resumed)
{
    struct trace_event e;
    timeline_event(b, s, &e);
    if (resumed)
        trace_event_note(&e, TRACE_RESUMED, 1);
    if (ends && ends->num_ends) {
        e.num_ends = ends->num_ends;
        memcpy(e.end, ends->end, ends->num_ends * sizeof *e.end);
    }
    trace_writer_begin(b->writer, t->track, ns, &e);
}

void timeline_leave(struct timeline_board *b, struct timeline_thread *t, uint64_t ns)
{
    if (!t->track)
        return;
    for (unsigned i = t->num; i-- > 0;)
        trace_writer_end(b->writer, t->track, ns, NULL, 0);
    b->track[t->track].thread = NULL;
    t->track = 0;
}

void timeline_bring(struct timeline_board *b, struct timeline_thread *t, unsigned track, uint64_t ns)
{
    struct timeline_track *to = &b->track[track];
    timeline_unpark(b, track, ns);
    if (to->thread == t)
        return;
    if (to->thread)
        timeline_leave(b, to->thread, ns);
    if (!t)
        return;
    timeline_leave(b, t, ns);
    to->thread = t;
    t->track = track;
    for (unsigned i = 0; i < t->num; i++)
        begin_slice(b, t, &t->slice[i], ns, NULL, true);
}

/* --- slices --- */

void timeline_push(struct timeline_board *b, struct timeline_thread *t, const struct timeline_slice *s, uint64_t ns,
                   const struct trace_event *ends)
{
    if (t->num == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 8;
        t->slice = memory_more(t->slice, t->capacity * sizeof *t->slice);
    }
    t->slice[t->num++] = *s;
    begin_slice(b, t, s, ns, ends, false);
}

/* Returns the number of the innermost slice of that kind, counted from 1; 0: there is none. */
static unsigned slice_number(const struct timeline_thread *t, enum timeline_kind kind, uint64_t which)
{
    for (unsigned i = t->num; i > 0; i--) {
        const struct timeline_slice *s = &t->slice[i - 1];
        if (s->kind == kind && (kind == TIMELINE_WAIT || kind == TIMELINE_LOOP ? s->sub : s->id) == which)
            return i;
    }
    return 0;
}

bool timeline_has(const struct timeline_thread *t, enum timeline_kind kind, uint64_t which)
{
    return slice_number(t, kind, which) > 0;
}

/* Removes the slice's task or region from the tables. */
static void forget_slice(struct timeline_board *b, const struct timeline_thread *t, const struct timeline_slice *s)
{
    if ((s->kind == TIMELINE_MEMBER || s->kind == TIMELINE_TASK) && id_table_get(&b->by_task, s->id) == t)
        id_table_take(&b->by_task, s->id);
    else if (s->kind == TIMELINE_REGION)
        free(id_table_take(&b->regions, s->id));
}

struct timeline_thread *timeline_pop(struct timeline_board *b, struct timeline_thread *t, enum timeline_kind kind,
                                     uint64_t which, uint64_t ns, const struct trace_event *begins)
{
    unsigned number = slice_number(t, kind, which);
    if (number == 0)
        return t;
    while (t->num >= number) {
        const struct timeline_slice *s = &t->slice[--t->num];
        if (t->track) {
            bool last = t->num + 1 == number && begins;
            trace_writer_end(b->writer, t->track, ns, last ? begins->flow : NULL, last ? begins->num_flows : 0);
        }
        forget_slice(b, t, s);
    }
    if (t->num > 0)
        return t;
    forget_thread(b, t);
    return NULL;
}

void timeline_region_begin(struct timeline_board *b, uint64_t id, unsigned threads, struct timeline_thread *opener)
{
    struct timeline_region *r = memory_new(1, sizeof *r);
    *r = (struct timeline_region){threads, opener};
    free(id_table_take(&b->regions, id));
    id_table_put(&b->regions, id, r);
}

const struct timeline_region *timeline_region_of(const struct timeline_board *b, uint64_t id)
{
    return id_table_get(&b->regions, id);
}

/* --- vps that sleep --- */

void timeline_park(struct timeline_board *b, unsigned track, uint64_t ns)
{
    struct timeline_slice s = {.kind = TIMELINE_SCHEDULER, .sub = REC_PARK};
    struct trace_event e;
    timeline_bring(b, NULL, track, ns);
    timeline_event(b, &s, &e);
    trace_writer_begin(b->writer, track, ns, &e);
    b->track[track].is_parked = true;
}

void timeline_unpark(struct timeline_board *b, unsigned track, uint64_t ns)
{
    if (!b->track[track].is_parked)
        return;
    trace_writer_end(b->writer, track, ns, NULL, 0);
    b->track[track].is_parked = false;
}
