/* Reads a recording: see recording_file.h. */
#include "recording_file.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_TRACKS 65536

/* Returns whether `num` items of `bytes` bytes each lie in the file from offset `at` on, aligned to 8 bytes. */
static bool is_inside(const struct recording_file *f, uint64_t at, uint64_t num, uint64_t bytes)
{
    return at % 8 == 0 && at <= f->size && num <= (f->size - at) / bytes;
}

static bool find_parts(struct recording_file *f)
{
    const struct recording *h = f->head;
    uint64_t codes = ps_load_acquire(&h->num_codes);
    if (h->num_tracks == 0 || h->num_tracks > MAX_TRACKS || h->num_vps > h->num_tracks ||
        !is_inside(f, h->tracks_at, h->num_tracks, sizeof(uint64_t)) ||
        !is_inside(f, h->codes_at, REC_MAX_CODES, sizeof *f->codes) || !is_inside(f, h->texts_at, h->texts_bytes, 1))
        return false;
    f->num_tracks = h->num_tracks;
    f->num_codes = (unsigned)(codes < REC_MAX_CODES ? codes : REC_MAX_CODES);
    f->codes = (const void *)(f->bytes + h->codes_at);
    return !h->keeps_events || (h->segment_events > 0 && h->segment_events <= f->size &&
                                is_inside(f, h->segments_at, h->max_segments, sizeof(struct recording_segment)));
}

const struct recording_track *recording_file_track(const struct recording_file *f, unsigned number)
{
    const _Atomic uint64_t *offsets = (const void *)(f->bytes + f->head->tracks_at);
    uint64_t at = ps_load_acquire(&offsets[number]);
    return at && is_inside(f, at, 1, sizeof(struct recording_track)) ? (const void *)(f->bytes + at) : NULL;
}

static void find_clock(struct recording_file *f)
{
    const struct recording *h = f->head;
    uint64_t ticks = ps_load_relaxed(&h->now.ticks), ns = ps_load_relaxed(&h->now.ns);
    f->first_ticks = ps_load_relaxed(&h->begin.ticks);
    f->first_ns = ps_load_relaxed(&h->begin.ns);
    f->ns_per_tick = 1;
    if (ticks > f->first_ticks && ns > f->first_ns)
        f->ns_per_tick = (double)(ns - f->first_ns) / (double)(ticks - f->first_ticks);
}

bool recording_file_open(struct recording_file *f, const char *name, char why[256])
{
    memset(f, 0, sizeof *f);
    f->name = name;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat s;
    if (fd < 0 || os_fstat(fd, &s) != 0) {
        snprintf(why, 256, "%.200s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    f->size = (uint64_t)s.st_size;
    void *at = MAP_FAILED;
    if (S_ISREG(s.st_mode) && f->size >= sizeof *f->head)
        at = mmap(NULL, f->size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        snprintf(why, 256, "%.200s: no recording", name);
        return false;
    }
    f->bytes = at;
    f->head = at;
    bool right = f->head->magic == RECORDING_MAGIC;
    if (!right)
        snprintf(why, 256, "%.200s: no recording", name);
    else if (!(right = f->head->version == RECORDING_VERSION && f->head->header_bytes == sizeof *f->head))
        snprintf(why, 256, "%.160s: a recording of another version (%u, wanted %d)", name, f->head->version,
                 RECORDING_VERSION);
    else if (!(right = find_parts(f)))
        snprintf(why, 256, "%.160s: the recording is damaged, or cut short (%llu bytes)", name,
                 (unsigned long long)f->size);
    if (right)
        find_clock(f);
    else
        recording_file_close(f);
    return right;
}

void recording_file_close(struct recording_file *f)
{
    munmap((void *)f->bytes, f->size);
    f->bytes = NULL;
}

const char *recording_file_text(const struct recording_file *f, uint64_t at)
{
    const struct recording *h = f->head;
    if (at >= h->texts_bytes)
        return "";
    const char *text = (const char *)f->bytes + h->texts_at + at;
    return memchr(text, '\0', h->texts_bytes - at) ? text : "";
}

double recording_file_duration_ns(const struct recording_file *f, uint64_t ticks)
{
    return (double)ticks * f->ns_per_tick;
}

uint64_t recording_file_ns(const struct recording_file *f, uint64_t ticks)
{
    if (ticks < f->first_ticks)
        return f->first_ns;
    return f->first_ns + (uint64_t)recording_file_duration_ns(f, ticks - f->first_ticks);
}

uint64_t recording_file_end(const struct recording_file *f)
{
    uint64_t end = ps_load_relaxed(&f->head->ended_ticks);
    if (end)
        return end;
    end = ps_load_relaxed(&f->head->now.ticks);
    for (unsigned i = 0; i < f->num_tracks; i++) {
        const struct recording_track *t = recording_file_track(f, i);
        uint64_t last = t ? ps_load_relaxed(&t->last) : 0;
        end = last > end ? last : end;
    }
    return end;
}

/* --- events --- */

struct recording_ring {
    const struct recording_track *track;
    uint64_t *segment, num_segments; /* offsets in the file; 0: the segment is not there */
    uint64_t capacity;
    uint64_t next, end;  /* numbers of events, counted from the track's first */
    uint64_t first_time; /* the previous event's time; an earlier event gets this time */
    bool is_run;         /* `event` is the begin of a REC_TASK_RUN; its end comes next */
    struct recording_event event;
};

/* Returns 1 if the program runs or was killed: then the oldest event of a full ring may be half overwritten. Otherwise
 * 0. */
static unsigned has_writer(const struct recording_file *f) { return ps_load_relaxed(&f->head->ended_ticks) == 0; }

/* Reads the event of this number. Returns false if it is not in the file, or is being overwritten. */
static bool read_event(const struct recording_file *f, const struct recording_ring *r, uint64_t number,
                       struct recording_event *to)
{
    uint64_t slot = number % r->capacity, segment = slot / f->head->segment_events;
    if (segment >= r->num_segments || r->segment[segment] == 0)
        return false;
    memcpy(to, f->bytes + r->segment[segment] + slot % f->head->segment_events * sizeof *to, sizeof *to);
    atomic_thread_fence(memory_order_acquire);
    return ps_load_relaxed(&r->track->written) - number <= r->capacity - has_writer(f);
}

/* Reads the track's next readable event into its ring. Returns false if there is none. */
static bool ring_advance(struct recording_events *e, unsigned track)
{
    struct recording_ring *r = &e->ring[track];
    if (r->is_run) {
        r->is_run = false;
        r->event.kind = REC_TASK_END;
        r->event.time += r->event.number;
        r->first_time = r->event.time;
        return true;
    }
    while (r->next < r->end) {
        bool read = read_event(e->file, r, r->next++, &r->event);
        if (!read || r->event.kind == REC_NONE || r->event.kind >= REC_KINDS) {
            e->unreadable++;
            continue;
        }
        if (r->event.time < r->first_time)
            r->event.time = r->first_time;
        r->first_time = r->event.time;
        e->read++;
        r->is_run = r->event.kind == REC_TASK_RUN;
        if (r->is_run)
            r->event.kind = REC_TASK_BEGIN;
        return true;
    }
    return false;
}

static bool is_earlier(const struct recording_events *e, unsigned a, unsigned b)
{
    uint64_t x = e->ring[e->heap[a]].event.time, y = e->ring[e->heap[b]].event.time;
    return x < y || (x == y && e->heap[a] < e->heap[b]);
}

static void sift_down(struct recording_events *e, unsigned i)
{
    for (unsigned child; (child = 2 * i + 1) < e->num_heap; i = child) {
        if (child + 1 < e->num_heap && is_earlier(e, child + 1, child))
            child++;
        if (is_earlier(e, i, child))
            return;
        unsigned was = e->heap[i];
        e->heap[i] = e->heap[child];
        e->heap[child] = was;
    }
}

/* Gives each track its segments. Returns false if there is no memory. */
static bool find_segments(struct recording_events *e)
{
    const struct recording_file *f = e->file;
    const struct recording_segment *s = (const void *)(f->bytes + f->head->segments_at);
    for (uint64_t i = 0; i < f->head->max_segments; i++) {
        uint64_t at = ps_load_acquire(&s[i].offset);
        if (at == 0 || s[i].track >= f->num_tracks || s[i].index >= f->head->max_segments ||
            !is_inside(f, at, f->head->segment_events, sizeof(struct recording_event)))
            continue;
        struct recording_ring *r = &e->ring[s[i].track];
        if (s[i].index >= r->num_segments) {
            uint64_t num = s[i].index + UINT64_C(1), *more = realloc(r->segment, num * sizeof *more);
            if (!more)
                return false;
            memset(more + r->num_segments, 0, (num - r->num_segments) * sizeof *more);
            r->segment = more;
            r->num_segments = num;
        }
        r->segment[s[i].index] = at;
    }
    return true;
}

static void begin_ring(struct recording_events *e, unsigned track)
{
    const struct recording_file *f = e->file;
    struct recording_ring *r = &e->ring[track];
    r->track = recording_file_track(f, track);
    if (!r->track)
        return;
    r->capacity = ps_load_acquire(&r->track->capacity);
    r->end = ps_load_acquire(&r->track->written);
    r->first_time = f->first_ticks;
    if (r->capacity == 0 || r->capacity > f->size / sizeof r->event) { /* no segment, or the file is cut short */
        *(r->capacity == 0 ? &e->overwritten : &e->unreadable) += r->end;
        r->end = 0;
    } else if (r->end + has_writer(f) > r->capacity) {
        r->next = r->end + has_writer(f) - r->capacity;
        e->overwritten += r->next;
    }
    if (ring_advance(e, track))
        e->heap[e->num_heap++] = track;
}

bool recording_events_begin(struct recording_events *e, const struct recording_file *f)
{
    *e = (struct recording_events){.file = f};
    e->ring = calloc(f->num_tracks, sizeof *e->ring);
    e->heap = calloc(f->num_tracks, sizeof *e->heap);
    if (!e->ring || !e->heap || !find_segments(e))
        return false;
    for (unsigned i = 0; i < f->num_tracks; i++)
        begin_ring(e, i);
    for (unsigned i = e->num_heap / 2; i-- > 0;)
        sift_down(e, i);
    return true;
}

bool recording_events_next(struct recording_events *e, struct recording_event *event, unsigned *track)
{
    if (e->num_heap == 0)
        return false;
    *track = e->heap[0];
    *event = e->ring[*track].event;
    if (!ring_advance(e, *track))
        e->heap[0] = e->heap[--e->num_heap];
    sift_down(e, 0);
    return true;
}

void recording_events_end(struct recording_events *e)
{
    for (unsigned i = 0; i < e->file->num_tracks; i++)
        free(e->ring[i].segment);
    free(e->ring);
    free(e->heap);
}
