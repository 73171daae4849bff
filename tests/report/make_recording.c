/* make_recording FILE < description: a recording as the recorder would write it, with known contents.
 *
 * Lines of the description:
 *   head FIELD NUMBER            of struct recording, by name; before all others: tracks, events (of a segment), rings
 *                                (segments a track)
 *   command TEXT...
 *   code NUMBER ADDRESS OFFSET PATH
 *   track NUMBER FIELD NUMBER
 *   slot TRACK FIELD INDEX NUMBER  of an array
 *   sum TRACK CODE FIELD NUMBER
 *   event TRACK TIME KIND SUB VP NUMBER ID OTHER
 *   many EVENTS                  pairs of tracks that make tasks and run them, for speed */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording.h"

#define TEXTS (1 << 16)

static unsigned tracks = 3, rings = 4, events = 64;
static char *file;
static struct recording *head;

struct field {
    const char *name;
    size_t at, bytes;
};
#define FIELD(type, name)                                                    \
    {                                                                        \
#name, offsetof(struct type, name), sizeof(((struct type *)0)->name) \
    }

static const struct field head_fields[] = {FIELD(recording, pid),
                                           FIELD(recording, parent_pid),
                                           FIELD(recording, rank),
                                           FIELD(recording, num_vps),
                                           FIELD(recording, num_processors),
                                           FIELD(recording, keeps_events),
                                           FIELD(recording, nested_off),
                                           FIELD(recording, ended_ticks),
                                           FIELD(recording, mpi_init_ns),
                                           {"begin.ticks", offsetof(struct recording, begin.ticks), 8},
                                           {"begin.ns", offsetof(struct recording, begin.ns), 8},
                                           {"now.ticks", offsetof(struct recording, now.ticks), 8},
                                           {"now.ns", offsetof(struct recording, now.ns), 8},
                                           {0}};
static const struct field track_fields[] = {
    FIELD(recording_track, last),  FIELD(recording_track, state),    FIELD(recording_track, code),
    FIELD(recording_track, tid),   FIELD(recording_track, is_spare), FIELD(recording_track, thread),
    FIELD(recording_track, parks), FIELD(recording_track, spares),   {0}};
static const struct field slot_fields[] = {FIELD(recording_track, steals), FIELD(recording_track, task_sizes), {0}};
#define STATE(name, number)                                             \
    {                                                                   \
#name, offsetof(struct recording_sums, state) + 8 * (number), 8 \
    }
static const struct field sum_fields[] = {STATE(runtime, REC_IN_RUNTIME),
                                          STATE(useful_state, REC_USEFUL),
                                          STATE(serial, REC_SERIAL),
                                          STATE(imbalance, REC_IMBALANCE),
                                          STATE(for_tasks, REC_TASKS),
                                          STATE(for_locks, REC_LOCKS),
                                          STATE(outside, REC_OUTSIDE),
                                          STATE(parked, REC_PARKED),
                                          FIELD(recording_sums, regions),
                                          FIELD(recording_sums, threads),
                                          FIELD(recording_sums, inner),
                                          FIELD(recording_sums, serialized),
                                          FIELD(recording_sums, wall),
                                          FIELD(recording_sums, useful),
                                          FIELD(recording_sums, longest),
                                          FIELD(recording_sums, created),
                                          FIELD(recording_sums, tasks),
                                          FIELD(recording_sums, task_ticks),
                                          FIELD(recording_sums, loops),
                                          FIELD(recording_sums, iterations),
                                          FIELD(recording_sums, locks),
                                          FIELD(recording_sums, lock_waits),
                                          FIELD(recording_sums, lock_ticks),
                                          FIELD(recording_sums, lock_held),
                                          {0}};

static void fail(const char *what)
{
    fprintf(stderr, "make_recording: %s\n", what);
    exit(1);
}

/* The field's place in an object; its size. */
static void *find_field(const struct field *f, void *in, const char *name, size_t *bytes)
{
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    if (!f->name)
        fail(name);
    *bytes = f->bytes;
    return (char *)in + f->at;
}

static void set_field(const struct field *f, void *in, const char *name, long long number)
{
    size_t bytes;
    void *at = find_field(f, in, name, &bytes);
    memcpy(at, &number, bytes); /* little-endian, as the machines that we have */
}

static struct recording_track *track_at(unsigned i)
{
    if (i >= tracks)
        fail("no such track");
    uint64_t *offsets = (void *)(file + head->tracks_at);
    return (void *)(file + offsets[i]);
}

static void make_file(const char *name)
{
    size_t segment = events * sizeof(struct recording_event), codes = REC_MAX_CODES * sizeof(struct recording_code);
    size_t segments = (size_t)tracks * rings, at = sizeof *head + codes + TEXTS + tracks * 8;
    size_t table = at, after = (table + segments * sizeof(struct recording_segment) + 63) & ~(size_t)63;
    size_t bytes = after + tracks * sizeof(struct recording_track) + segments * segment;
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        fail("the file cannot be made");
    file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        fail("the file cannot be mapped");
    head = (void *)file;
    *head = (struct recording){.magic = RECORDING_MAGIC,
                               .version = RECORDING_VERSION,
                               .header_bytes = sizeof *head,
                               .file_bytes = bytes,
                               .pid = 4711,
                               .rank = -1,
                               .num_tracks = tracks,
                               .num_vps = 2,
                               .num_processors = 2,
                               .keeps_events = 1,
                               .segment_events = events,
                               .max_segments = segments,
                               .codes_at = sizeof *head,
                               .texts_at = sizeof *head + codes,
                               .texts_bytes = TEXTS,
                               .tracks_at = sizeof *head + codes + TEXTS,
                               .segments_at = table,
                               .num_codes = 1,
                               .texts_used = 1,
                               .runtime = "psthreads, a test"};
    uint64_t *offsets = (void *)(file + head->tracks_at);
    struct recording_segment *s = (void *)(file + table);
    uint64_t events_at = after + tracks * sizeof(struct recording_track);
    for (unsigned i = 0; i < tracks; i++) {
        offsets[i] = after + i * sizeof(struct recording_track);
        track_at(i)->capacity = (uint64_t)rings * events;
        track_at(i)->tid = 100 + i;
        for (unsigned k = 0; k < rings; k++) /* not in order, as it may come */
            s[(size_t)k * tracks + i] = (struct recording_segment){events_at + (i * rings + k) * segment, i, k};
    }
}

static void add_event(unsigned track, const struct recording_event *e)
{
    struct recording_track *t = track_at(track);
    uint64_t slot = t->written++ % t->capacity, first = *(uint64_t *)(file + head->tracks_at) + tracks * sizeof *t +
                                                        (uint64_t)track * rings * events * sizeof *e;
    memcpy(file + first + slot * sizeof *e, e, sizeof *e);
    t->last = e->time;
}

static uint64_t add_text(const char *text)
{
    uint64_t at = head->texts_used;
    strcpy(file + head->texts_at + at, text);
    head->texts_used += strlen(text) + 1;
    return at;
}

static void make_many(unsigned long num)
{
    for (unsigned long i = 0; i < num / 3; i++) {
        uint64_t task = REC_ID(1, i + 10), time = 1000 + 300 * i;
        add_event(0, &(struct recording_event){time, REC_TASK_CREATE, 0, 0, 4, task, REC_ID(0, 1)});
        add_event(1, &(struct recording_event){time + 20, REC_TASK_BEGIN, 0, 0, 0, task, REC_ID(0, 2)});
        add_event(1, &(struct recording_event){time + 220, REC_TASK_END, 1, 0, 0, task, REC_ID(0, 2)});
    }
}

static void read_line(char *line)
{
    char word[64] = "", name[64];
    long long n;
    unsigned track, code, index;
    unsigned long long address, offset;
    int at = 0;
    struct recording_event e;
    unsigned kind, sub, vp;
    unsigned long long time, id, other;
    line[strcspn(line, "\n")] = '\0';
    sscanf(line, "%63s", word);
    if (strcmp(word, "head") == 0 && sscanf(line, "%*s %63s %lld", name, &n) == 2)
        set_field(head_fields, head, name, n);
    else if (strcmp(word, "command") == 0)
        head->command_at = add_text(line + 8);
    else if (sscanf(line, "code %u %llx %llx %n", &code, &address, &offset, &at) == 3 && code < REC_MAX_CODES) {
        struct recording_code *c = (void *)(file + head->codes_at);
        c[code].path = line[at] ? add_text(line + at) : 0;
        c[code].offset = offset;
        c[code].address = address;
        head->num_codes = code >= head->num_codes ? code + 1 : head->num_codes;
    } else if (sscanf(line, "track %u %63s %lld", &track, name, &n) == 3)
        set_field(track_fields, track_at(track), name, n);
    else if (sscanf(line, "slot %u %63s %u %lld", &track, name, &index, &n) == 4) {
        size_t bytes;
        uint64_t *array = find_field(slot_fields, track_at(track), name, &bytes);
        array[index] = (uint64_t)n;
    } else if (sscanf(line, "sum %u %u %63s %lld", &track, &code, name, &n) == 4 && code < REC_MAX_CODES)
        set_field(sum_fields, &track_at(track)->sums[code], name, n);
    else if (sscanf(line, "event %u %llu %u %u %u %u %llx %llx", &track, &time, &kind, &sub, &vp, &e.number, &id,
                    &other) == 8) {
        e.time = time;
        e.kind = (uint8_t)kind;
        e.sub = (uint8_t)sub;
        e.vp = (uint16_t)vp;
        e.id = id;
        e.other = other;
        add_event(track, &e);
    } else if (sscanf(line, "many %lld", &n) == 1)
        make_many((unsigned long)n);
    else if (*word)
        fail(line);
}

int main(int argc, char **argv)
{
    char line[1024], name[64];
    unsigned n;
    if (argc != 2)
        fail("wanted a file's name");
    while (fgets(line, sizeof line, stdin)) {
        if (!file && sscanf(line, "head %63s %u", name, &n) == 2) {
            unsigned *sizes[] = {&tracks, &rings, &events};
            const char *names[] = {"tracks", "rings", "events"};
            unsigned i = 0;
            while (i < 3 && strcmp(name, names[i]) != 0)
                i++;
            if (i < 3) {
                *sizes[i] = n;
                continue;
            }
        }
        if (!file)
            make_file(argv[1]);
        read_line(line);
    }
    return 0;
}
