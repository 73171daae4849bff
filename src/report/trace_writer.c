/* Writes Perfetto's format: see trace_writer.h. A trace is a sequence of packets, so each packet is written when it is
 * complete. */
#include "trace_writer.h"

#include <string.h>

#include "id_table.h"
#include "memory.h"
#include "perfetto.pb-c.h"

enum { CLOCK_MONOTONIC_ID = 3, STATE_CLEARED = 1, NEEDS_STATE = 2, BY_RANK = 3 };
#define NO_TID 0x40000000 /* larger than any number that Linux gives to a thread */

static const char *const categories[TRACE_CATEGORIES] = {
    [TRACE_REGION] = "region", [TRACE_MEMBER] = "member", [TRACE_TASK] = "task",           [TRACE_WAIT] = "wait",
    [TRACE_LOOP] = "loop",     [TRACE_SCHED] = "sched",   [TRACE_RECORDING] = "recording",
};

static const char *const notes[TRACE_NOTES] = {
    [TRACE_ID] = "id",
    [TRACE_REGION_ID] = "region",
    [TRACE_THREADS] = "threads",
    [TRACE_MEMBER_NUMBER] = "member",
    [TRACE_ITERATIONS] = "iterations",
    [TRACE_VICTIM] = "victim",
    [TRACE_DISTANCE] = "distance",
    [TRACE_LOCK] = "lock",
    [TRACE_RESUMED] = "resumed",
    [TRACE_VP] = "vp",
    [TRACE_MS] = "ms",
    [TRACE_EVENTS] = "events",
    [TRACE_LOST] = "lost",
    [TRACE_VPS] = "vps",
    [TRACE_PROCESSORS] = "processors",
    [TRACE_VERSION] = "version",
    [TRACE_COMMAND] = "command",
    [TRACE_WALL_NS] = "wall_ns",
    [TRACE_RANK] = "rank",
    [TRACE_MPI_INIT_NS] = "mpi_init_ns",
};

/* A set of numbers, as bits. */
struct told {
    uint64_t *bits;
    uint64_t capacity; /* in words of 64 bits */
};

struct sequence {
    bool begun;
    uint32_t categories, notes; /* bit n is set once number n has been written */
    struct told names, places;
};

struct name {
    uint64_t number;
    char *text;
};

struct trace_writer {
    FILE *out;
    int pid;
    unsigned num_tracks;
    struct sequence *sequence;
    struct id_table names; /* struct name, by its key */
    struct name **name;    /* [number], from 1 on */
    uint64_t num_names;
    uint8_t *packed;
    size_t packed_bytes;
};

struct trace_writer *trace_writer_new(FILE *out, unsigned tracks)
{
    struct trace_writer *w = memory_new(1, sizeof *w);
    w->out = out;
    w->num_tracks = tracks;
    w->sequence = memory_new(tracks, sizeof *w->sequence);
    w->name = memory_new(1, sizeof *w->name);
    return w;
}

void trace_writer_free(struct trace_writer *w)
{
    for (unsigned i = 0; i < w->num_tracks; i++) {
        free(w->sequence[i].names.bits);
        free(w->sequence[i].places.bits);
    }
    for (uint64_t i = 1; i <= w->num_names; i++) {
        free(w->name[i]->text);
        free(w->name[i]);
    }
    free(w->name);
    id_table_free(&w->names);
    free(w->sequence);
    free(w->packed);
    free(w);
}

/* Adds the number to the set. Returns whether it was not there before. */
static bool is_new(struct told *t, uint64_t number)
{
    uint64_t word = number / 64, bit = UINT64_C(1) << number % 64;
    if (word >= t->capacity) {
        uint64_t capacity = 2 * word + 4;
        t->bits = memory_more(t->bits, capacity * sizeof *t->bits);
        memset(t->bits + t->capacity, 0, (capacity - t->capacity) * sizeof *t->bits);
        t->capacity = capacity;
    }
    bool was = t->bits[word] & bit;
    t->bits[word] |= bit;
    return !was;
}

/* --- packets --- */

static uint64_t track_uuid(const struct trace_writer *w, unsigned track)
{
    return ((uint64_t)(uint32_t)w->pid << 20) + track + 1;
}

static void write_packet(struct trace_writer *w, unsigned track, Perfetto__TracePacket *p)
{
    struct sequence *s = &w->sequence[track];
    Perfetto__TrackEventDefaults event_defaults = PERFETTO__TRACK_EVENT_DEFAULTS__INIT;
    Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
    p->has_trusted_packet_sequence_id = p->has_sequence_flags = 1;
    p->trusted_packet_sequence_id = track + 1;
    p->sequence_flags = NEEDS_STATE;
    if (!s->begun) {
        s->begun = true;
        p->sequence_flags = STATE_CLEARED | NEEDS_STATE;
        event_defaults.has_track_uuid = defaults.has_timestamp_clock_id = 1;
        event_defaults.track_uuid = track_uuid(w, track);
        defaults.timestamp_clock_id = CLOCK_MONOTONIC_ID;
        defaults.track_event_defaults = &event_defaults;
        p->trace_packet_defaults = &defaults;
        p->has_first_packet_on_sequence = p->first_packet_on_sequence = 1;
    }
    Perfetto__Trace trace = PERFETTO__TRACE__INIT;
    trace.n_packet = 1;
    trace.packet = &p;
    size_t bytes = perfetto__trace__get_packed_size(&trace);
    if (bytes > w->packed_bytes) {
        w->packed_bytes = 2 * bytes;
        w->packed = memory_more(w->packed, w->packed_bytes);
    }
    perfetto__trace__pack(&trace, w->packed);
    fwrite(w->packed, 1, bytes, w->out);
}

static Perfetto__TracePacket packet_at(uint64_t ns)
{
    Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;
    p.has_timestamp = 1;
    p.timestamp = ns;
    return p;
}

static void write_clock(struct trace_writer *w, uint64_t ns)
{
    Perfetto__ClockSnapshot__Clock clock = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT, *clocks = &clock;
    Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
    Perfetto__TracePacket p = packet_at(ns);
    clock.has_clock_id = clock.has_timestamp = 1;
    clock.clock_id = CLOCK_MONOTONIC_ID;
    clock.timestamp = ns;
    snapshot.n_clocks = 1;
    snapshot.clocks = &clocks;
    snapshot.has_primary_trace_clock = 1;
    snapshot.primary_trace_clock = CLOCK_MONOTONIC_ID;
    p.clock_snapshot = &snapshot;
    write_packet(w, 0, &p);
}

void trace_writer_process(struct trace_writer *w, uint64_t ns, int pid, const char *command)
{
    Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__TracePacket p = packet_at(ns);
    char *line = memory_text("%s", command), *name = memory_text("%.*s", (int)strcspn(command, " "), command);
    w->pid = pid;
    write_clock(w, ns);
    process.has_pid = 1;
    process.pid = pid;
    process.n_cmdline = 1;
    process.cmdline = &line;
    process.process_name = name;
    track.has_uuid = track.has_child_ordering = 1;
    track.uuid = track_uuid(w, 0);
    track.child_ordering = BY_RANK;
    track.process = &process;
    p.track_descriptor = &track;
    write_packet(w, 0, &p);
    free(line);
    free(name);
}

void trace_writer_track(struct trace_writer *w, unsigned number, uint64_t ns, const char *name, int64_t tid)
{
    Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__TracePacket p = packet_at(ns);
    thread.has_pid = thread.has_tid = 1;
    thread.pid = w->pid;
    thread.tid = tid > 0 ? tid : NO_TID + (int64_t)number;
    thread.thread_name = (char *)name;
    track.has_uuid = track.has_parent_uuid = track.has_sibling_order_rank = 1;
    track.uuid = track_uuid(w, number);
    track.parent_uuid = track_uuid(w, 0);
    track.sibling_order_rank = (int32_t)number;
    track.name = (char *)name;
    track.thread = &thread;
    p.track_descriptor = &track;
    write_packet(w, number, &p);
}

/* --- names --- */

uint64_t trace_writer_name(struct trace_writer *w, uint64_t key, const char *text)
{
    struct name *n = id_table_get(&w->names, key);
    if (n || !text)
        return n ? n->number : 0;
    n = memory_new(1, sizeof *n);
    n->number = ++w->num_names;
    n->text = memory_text("%s", text);
    if ((n->number & (n->number - 1)) == 0)
        w->name = memory_more(w->name, 2 * n->number * sizeof *w->name);
    w->name[n->number] = n;
    id_table_put(&w->names, key, n);
    return n->number;
}

/* --- events --- */

void trace_event_note(struct trace_event *e, enum trace_note note, uint64_t number)
{
    e->note[e->num_notes].note = note;
    e->note[e->num_notes].text = NULL;
    e->note[e->num_notes++].number = number;
}

void trace_event_text(struct trace_event *e, enum trace_note note, const char *text)
{
    trace_event_note(e, note, 0);
    e->note[e->num_notes - 1].text = text;
}

/* The parts of an event's packet, on the caller's stack. */
struct parts {
    Perfetto__TracePacket packet;
    Perfetto__TrackEvent event;
    Perfetto__InternedData interned;
    Perfetto__EventCategory category, *categories;
    Perfetto__EventName name, *names;
    Perfetto__SourceLocation place, *places;
    Perfetto__DebugAnnotationName word[TRACE_MOST_NOTES], *words[TRACE_MOST_NOTES];
    Perfetto__DebugAnnotation note[TRACE_MOST_NOTES], *note_at[TRACE_MOST_NOTES];
    uint64_t category_number;
};

static void add_notes(struct sequence *s, struct parts *p, const struct trace_event *e)
{
    for (unsigned i = 0; i < e->num_notes; i++) {
        Perfetto__DebugAnnotation *a = p->note_at[i] = &p->note[i];
        perfetto__debug_annotation__init(a);
        enum trace_note word = e->note[i].note;
        a->has_name_iid = 1;
        a->name_iid = word;
        if (e->note[i].text) {
            a->string_value = (char *)e->note[i].text;
        } else if (word == TRACE_RESUMED) {
            a->has_bool_value = a->bool_value = 1;
        } else if (word == TRACE_LOCK) {
            a->has_pointer_value = 1;
            a->pointer_value = e->note[i].number;
        } else {
            a->has_uint_value = 1;
            a->uint_value = e->note[i].number;
        }
        if (s->notes & 1u << word)
            continue;
        s->notes |= 1u << word;
        Perfetto__DebugAnnotationName *n = &p->word[p->interned.n_debug_annotation_names];
        p->words[p->interned.n_debug_annotation_names++] = n;
        perfetto__debug_annotation_name__init(n);
        n->has_iid = 1;
        n->iid = word;
        n->name = (char *)notes[word];
        p->packet.interned_data = &p->interned;
    }
    p->interned.debug_annotation_names = p->words;
    p->event.n_debug_annotations = e->num_notes;
    p->event.debug_annotations = p->note_at;
}

static void add_place(struct sequence *s, struct parts *p, const struct trace_event *e)
{
    if (!e->place || (!e->place->file && !e->place->function))
        return;
    p->event.has_source_location_iid = 1;
    p->event.source_location_iid = e->code + 1;
    if (!is_new(&s->places, e->code))
        return;
    perfetto__source_location__init(&p->place);
    p->place.has_iid = 1;
    p->place.iid = e->code + 1;
    p->place.file_name = (char *)e->place->file;
    p->place.function_name = (char *)e->place->function;
    p->place.has_line_number = e->place->line > 0;
    p->place.line_number = e->place->line;
    p->places = &p->place;
    p->interned.n_source_locations = 1;
    p->interned.source_locations = &p->places;
    p->packet.interned_data = &p->interned;
}

static void add_name(const struct trace_writer *w, struct sequence *s, struct parts *p, const struct trace_event *e)
{
    p->category_number = e->category;
    p->event.n_category_iids = 1;
    p->event.category_iids = &p->category_number;
    p->event.has_name_iid = 1;
    p->event.name_iid = e->name;
    if (!(s->categories & 1u << e->category)) {
        s->categories |= 1u << e->category;
        perfetto__event_category__init(&p->category);
        p->category.has_iid = 1;
        p->category.iid = e->category;
        p->category.name = (char *)categories[e->category];
        p->categories = &p->category;
        p->interned.n_event_categories = 1;
        p->interned.event_categories = &p->categories;
        p->packet.interned_data = &p->interned;
    }
    if (is_new(&s->names, e->name)) {
        perfetto__event_name__init(&p->name);
        p->name.has_iid = 1;
        p->name.iid = e->name;
        p->name.name = w->name[e->name]->text;
        p->names = &p->name;
        p->interned.n_event_names = 1;
        p->interned.event_names = &p->names;
        p->packet.interned_data = &p->interned;
    }
}

static void write_event(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e,
                        Perfetto__TrackEvent__Type type)
{
    struct parts p;
    p.packet = packet_at(ns);
    perfetto__track_event__init(&p.event);
    perfetto__interned_data__init(&p.interned);
    p.event.has_type = 1;
    p.event.type = type;
    add_name(w, &w->sequence[track], &p, e);
    add_notes(&w->sequence[track], &p, e);
    add_place(&w->sequence[track], &p, e);
    p.event.n_flow_ids = e->num_flows;
    p.event.flow_ids = (uint64_t *)e->flow;
    p.event.n_terminating_flow_ids = e->num_ends;
    p.event.terminating_flow_ids = (uint64_t *)e->end;
    p.packet.track_event = &p.event;
    write_packet(w, track, &p.packet);
}

void trace_writer_begin(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e)
{
    write_event(w, track, ns, e, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
}

void trace_writer_instant(struct trace_writer *w, unsigned track, uint64_t ns, const struct trace_event *e)
{
    write_event(w, track, ns, e, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
}

void trace_writer_end(struct trace_writer *w, unsigned track, uint64_t ns, const uint64_t *flow, unsigned num_flows)
{
    Perfetto__TracePacket p = packet_at(ns);
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    event.has_type = 1;
    event.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
    event.n_flow_ids = num_flows;
    event.flow_ids = (uint64_t *)flow;
    p.track_event = &event;
    write_packet(w, track, &p);
}
