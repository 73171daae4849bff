/* Reads a trace in Perfetto's format, as psthreads-report pftrace writes it, packet by packet. Ignores flows (the
 * arrows that ui.perfetto.dev draws), counters and clocks: each time is taken as one of CLOCK_MONOTONIC. */
#include "os.h"
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "id_table.h"
#include "perfetto.pb-c.h"

#define PACKET_TAG 0x0a /* field 1 of a trace, with a length */
#define STATE_CLEARED 1
#define MOST_NUMBER (1 << 20) /* largest number of a name; a larger one is damage */
#define OWN_NAMES 256         /* names that a sequence caches; a power of two */

typedef Perfetto__TrackEvent event;

/* Texts to which the packets of one sequence refer by numbers: at[number]. */
struct interned {
    char **at;
    size_t num;
};

struct own_name {
    uint64_t name, category, location; /* the numbers by which the sequence refers to these */
    struct page_name *is;
};

struct sequence {
    uint32_t id;
    uint64_t default_track;
    struct page_track *last_track;
    struct interned categories, names, annotations;
    Perfetto__SourceLocation **locations; /* copies; [number] */
    size_t num_locations;
    struct own_name own[OWN_NAMES];
};

struct reader {
    struct page_model *model;
    struct page_process *process;
    struct id_table sequences, tracks; /* by their ids in the trace */
    struct sequence *last;
};

static void intern(struct interned *in, bool has_iid, uint64_t iid, const char *text)
{
    if (!has_iid || !text || iid > MOST_NUMBER)
        return;
    if (iid >= in->num) {
        size_t num = 2 * iid + 16;
        char **at = memory_new(num, sizeof *at);
        if (in->num)
            memcpy(at, in->at, in->num * sizeof *at);
        free(in->at);
        in->at = at;
        in->num = num;
    }
    free(in->at[iid]);
    in->at[iid] = memory_text("%s", text);
}

static const char *interned_text(const struct interned *in, uint64_t iid) { return iid < in->num ? in->at[iid] : NULL; }

static void take_interned(struct sequence *s, const Perfetto__InternedData *data)
{
    memset(s->own, 0, sizeof s->own); /* a number may now stand for another text */
    for (size_t i = 0; i < data->n_event_categories; i++)
        intern(&s->categories, data->event_categories[i]->has_iid, data->event_categories[i]->iid,
               data->event_categories[i]->name);
    for (size_t i = 0; i < data->n_event_names; i++)
        intern(&s->names, data->event_names[i]->has_iid, data->event_names[i]->iid, data->event_names[i]->name);
    for (size_t i = 0; i < data->n_debug_annotation_names; i++)
        intern(&s->annotations, data->debug_annotation_names[i]->has_iid, data->debug_annotation_names[i]->iid,
               data->debug_annotation_names[i]->name);
    for (size_t i = 0; i < data->n_source_locations; i++) {
        Perfetto__SourceLocation *from = data->source_locations[i];
        if (!from->has_iid || from->iid > MOST_NUMBER)
            continue;
        if (from->iid >= s->num_locations) {
            size_t num = 2 * from->iid + 16;
            Perfetto__SourceLocation **at = memory_new(num, sizeof *at);
            if (s->num_locations)
                memcpy(at, s->locations, s->num_locations * sizeof *at);
            free(s->locations);
            s->locations = at;
            s->num_locations = num;
        }
        if (!s->locations[from->iid])
            s->locations[from->iid] = memory_new(1, sizeof *from);
        Perfetto__SourceLocation *to = s->locations[from->iid];
        free(to->file_name);
        free(to->function_name);
        *to = *from;
        to->file_name = memory_text("%s", from->file_name ? from->file_name : "");
        to->function_name = memory_text("%s", from->function_name ? from->function_name : "");
    }
}

static struct sequence *find_sequence(struct reader *r, uint32_t id)
{
    if (r->last && r->last->id == id)
        return r->last;
    r->last = id_table_get(&r->sequences, id);
    if (!r->last) {
        r->last = memory_new(1, sizeof *r->last);
        r->last->id = id;
        id_table_put(&r->sequences, id, r->last);
    }
    return r->last;
}

static struct page_track *find_track(struct reader *r, struct sequence *s, uint64_t uuid)
{
    if (s->last_track && s->last_track->uuid == uuid)
        return s->last_track;
    s->last_track = id_table_get(&r->tracks, uuid);
    if (!s->last_track) {
        s->last_track = page_add_track(r->process, uuid);
        id_table_put(&r->tracks, uuid, s->last_track);
    }
    return s->last_track;
}

static void keep_text(char **to, const char *text)
{
    if (!text || !*text)
        return;
    free(*to);
    *to = memory_text("%s", text);
}

static void take_track(struct reader *r, struct sequence *s, const Perfetto__TrackDescriptor *d)
{
    struct page_track *t = find_track(r, s, d->uuid);
    keep_text(&t->name, d->thread && d->thread->thread_name ? d->thread->thread_name : NULL);
    keep_text(&t->name, d->name);
    t->has_vp = t->name && sscanf(t->name, "vp %u", &t->vp) == 1;
    if (d->has_parent_uuid)
        t->parent = d->parent_uuid;
    if (d->has_sibling_order_rank)
        t->rank = d->sibling_order_rank;
    if (d->process) {
        t->is_process = true;
        if (d->process->has_pid)
            r->process->pid = d->process->pid;
        keep_text(&r->process->name, d->process->process_name);
    }
}

/* Returns the place of a slice; NULL: it has none. If the trace has no source location, the place is taken from the
 * name: P of "parallel P", "task P" and "P [3/8]". */
static struct page_place *place_in_trace(struct reader *r, const char *text, const char *category,
                                         const Perfetto__SourceLocation *at)
{
    char label[512];
    if (at && at->file_name && *at->file_name && at->has_line_number) {
        const char *slash = strrchr(at->file_name, '/');
        snprintf(label, sizeof(label), "%s:%u", slash ? slash + 1 : at->file_name, at->line_number);
        return page_find_place(r->model, label, at->file_name, at->function_name, at->line_number);
    }
    bool has_place =
        strcmp(category, "region") == 0 || strcmp(category, "member") == 0 || strcmp(category, "task") == 0;
    if (!has_place)
        return NULL;
    static const char *const before[] = {"parallel ", "task "};
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        if (strncmp(text, before[i], strlen(before[i])) == 0)
            text += strlen(before[i]);
    const char *member = strstr(text, " [");
    snprintf(label, sizeof(label), "%.*s", member ? (int)(member - text) : (int)strlen(text), text);
    return page_find_place(r->model, label, NULL, NULL, 0);
}

static struct page_name *name_in_trace(struct reader *r, struct sequence *s, const event *e)
{
    uint64_t category = e->n_category_iids ? e->category_iids[0] : 0;
    uint64_t hash = (e->name_iid * 31 + category * 7 + e->source_location_iid) & (OWN_NAMES - 1);
    struct own_name *own = &s->own[hash];
    bool by_number = e->has_name_iid && !e->name && !e->n_categories && !e->source_location;
    if (by_number && own->is && own->name == e->name_iid && own->category == category &&
        own->location == e->source_location_iid)
        return own->is;
    const char *text = e->name ? e->name : interned_text(&s->names, e->name_iid);
    const char *category_text = e->n_categories ? e->categories[0] : interned_text(&s->categories, category);
    const Perfetto__SourceLocation *at = e->source_location;
    if (!at && e->source_location_iid < s->num_locations)
        at = s->locations[e->source_location_iid];
    text = text ? text : "without a name";
    category_text = category_text ? category_text : "";
    struct page_name *name = page_find_name(r->model, text, category_text, place_in_trace(r, text, category_text, at));
    if (by_number)
        *own = (struct own_name){e->name_iid, category, e->source_location_iid, name};
    return name;
}

static uint64_t number_in(const Perfetto__DebugAnnotation *a)
{
    return a->has_uint_value      ? a->uint_value
           : a->has_int_value     ? (uint64_t)a->int_value
           : a->has_pointer_value ? a->pointer_value
           : a->has_double_value  ? (uint64_t)a->double_value
                                  : (uint64_t)a->bool_value;
}

static const char *annotation_name(const struct sequence *s, const Perfetto__DebugAnnotation *a)
{
    const char *name = a->name ? a->name : interned_text(&s->annotations, a->name_iid);
    return name ? name : "";
}

/* Reads facts about the whole trace from e, the trace's instant event "recording". */
static void take_recording(struct page_process *p, const struct sequence *s, const event *e)
{
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"events", &p->events},         {"lost", &p->lost},       {"vps", &p->vps},
                   {"processors", &p->processors}, {"wall_ns", &p->wall_ns}, {"mpi_init_ns", &p->mpi_init_ns}};
    for (size_t i = 0; i < e->n_debug_annotations; i++) {
        const Perfetto__DebugAnnotation *a = e->debug_annotations[i];
        const char *name = annotation_name(s, a);
        if (strcmp(name, "command") == 0)
            keep_text(&p->command, a->string_value);
        else if (strcmp(name, "version") == 0)
            keep_text(&p->version, a->string_value);
        else if (strcmp(name, "rank") == 0)
            p->rank = (int64_t)number_in(a);
        for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
            if (strcmp(name, numbers[j].name) == 0)
                *numbers[j].to = number_in(a);
    }
}

static uint64_t annotated(const struct sequence *s, const event *e, const char *name, uint64_t otherwise)
{
    for (size_t i = 0; i < e->n_debug_annotations; i++)
        if (strcmp(annotation_name(s, e->debug_annotations[i]), name) == 0)
            return number_in(e->debug_annotations[i]);
    return otherwise;
}

/* Returns the track of the vp that has stalled; t if there is none. The watchdog reports stalls in a track of its own,
 * but a page shows them in the vp's row. */
static struct page_track *stalled_track(struct reader *r, struct page_track *t, uint64_t vp)
{
    for (size_t i = 0; i < r->process->num_tracks; i++)
        if (r->process->tracks[i]->has_vp && r->process->tracks[i]->vp == vp)
            return r->process->tracks[i];
    return t;
}

static void take_instant(struct reader *r, struct sequence *s, struct page_track *t, uint64_t time, const event *e)
{
    struct page_name *name = name_in_trace(r, s, e);
    if (t->is_process) {
        if (strcmp(name->text, "recording") == 0)
            take_recording(r->process, s, e);
    } else if (name->kind != PAGE_SCHEDULER) {
        return; /* the making of a task: only arrows need it, and a page has none */
    } else if (strncmp(name->text, "steal", 5) == 0) {
        uint64_t distance = annotated(s, e, "distance", 0);
        t->steals++;
        r->model->distances[distance < PAGE_DISTANCES ? distance : PAGE_DISTANCES - 1]++;
    } else if (strncmp(name->text, "stall", 5) == 0) {
        t = stalled_track(r, t, annotated(s, e, "vp", UINT64_MAX));
        t->stalls++;
        page_mark(r->model, t, time, name);
    } else {
        page_mark(r->model, t, time, name);
    }
}

static void take_begin(struct reader *r, struct sequence *s, struct page_track *t, uint64_t time, const event *e)
{
    struct page_slice more = {.id = annotated(s, e, "id", 0),
                              .threads = annotated(s, e, "threads", 0),
                              .resumed = annotated(s, e, "resumed", 0)};
    struct page_name *name = name_in_trace(r, s, e);
    uint64_t lock = name->state == PAGE_LOCKS ? annotated(s, e, "lock", 0) : 0;
    if (lock) {
        char text[128];
        snprintf(text, sizeof text, "%.80s 0x%llx", name->text, (unsigned long long)lock);
        name = page_find_name(r->model, text, "wait", name->place);
    }
    page_begin(r->model, t, time, name, &more);
}

static void take_packet(struct reader *r, const Perfetto__TracePacket *packet)
{
    struct sequence *s = find_sequence(r, packet->trusted_packet_sequence_id);
    r->process->packets++;
    if (packet->sequence_flags & STATE_CLEARED)
        memset(s->own, 0, sizeof s->own);
    if (packet->interned_data)
        take_interned(s, packet->interned_data);
    if (packet->trace_packet_defaults && packet->trace_packet_defaults->track_event_defaults)
        s->default_track = packet->trace_packet_defaults->track_event_defaults->track_uuid;
    if (packet->track_descriptor)
        take_track(r, s, packet->track_descriptor);
    const event *e = packet->track_event;
    if (!e || !e->has_type)
        return;
    uint64_t time = packet->timestamp <= INT64_MAX ? packet->timestamp : INT64_MAX; /* a larger number is damage */
    struct page_track *t = find_track(r, s, e->has_track_uuid ? e->track_uuid : s->default_track);
    if (e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
        take_begin(r, s, t, time, e);
    else if (e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END)
        page_end(r->model, t, time);
    else if (e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT)
        take_instant(r, s, t, time, e);
}

/* Reads the length at *at, and moves *at behind the length. Returns false if the file ends before the length does. */
static bool take_length(const uint8_t **at, const uint8_t *end, uint64_t *length)
{
    *length = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *length |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Reads packets. Returns how many bytes come before the first packet that is damaged or incomplete. */
static size_t take_packets(struct reader *r, const uint8_t *begin, size_t bytes)
{
    const uint8_t *at = begin, *end = begin + bytes, *good = begin;
    while (at < end && *at++ == PACKET_TAG) {
        uint64_t length;
        if (!take_length(&at, end, &length) || length > (size_t)(end - at))
            break;
        Perfetto__TracePacket *packet = perfetto__trace_packet__unpack(NULL, length, at);
        if (!packet)
            break;
        take_packet(r, packet);
        perfetto__trace_packet__free_unpacked(packet, NULL);
        good = at += length;
    }
    return good - begin;
}

bool page_read(struct page_model *m, const char *file)
{
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* O_NONBLOCK: opening a pipe would wait for its writer */
    struct stat st;
    void *bytes = MAP_FAILED;
    if (fd >= 0 && os_fstat(fd, &st) == 0) {
        if (S_ISREG(st.st_mode) && st.st_size > 0)
            bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        else
            errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL; /* EINVAL: it is empty, or no regular file */
    }
    if (bytes == MAP_FAILED) {
        fprintf(stderr, "psrun: report: %s: %s\n", file, errno == EINVAL ? "no trace" : strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    struct reader r = {.model = m, .process = page_add_process(m, file)};
    size_t good = take_packets(&r, bytes, st.st_size);
    bool any = r.process->packets > 0;
    if (!any)
        fprintf(stderr, "psrun: report: %s: no trace that psrun --trace has written\n", file);
    else if (good < (size_t)st.st_size)
        fprintf(stderr, "psrun: report: %s: damaged at byte %zu of %lld; the page shows what is before\n", file, good,
                (long long)st.st_size);
    page_close(m, r.process);
    id_table_free(&r.sequences);
    id_table_free(&r.tracks);
    munmap(bytes, st.st_size);
    close(fd);
    return any;
}
