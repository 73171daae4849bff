/* The command psthreads-report pftrace: makes the timeline of a recording.
 *
 * A recording has what ran on each vp. A slice of the timeline belongs to an OpenMP thread, which may leave its vp when
 * it waits, and go on on another one. So each thread has a stack of open slices (timeline_thread.h). An event moves its
 * thread to the vp that recorded it. Then the slices of the thread that was there are ended, and those of the thread
 * that comes are begun again.
 *
 * The events are read twice, each time in the order of time: first for the arrows, which need both ends, then to write.
 * Only names, open slices and unfinished arrows are kept, so a trace of any length needs little memory. */
#include <getopt.h>
#include <string.h>

#include "commands.h"
#include "memory.h"
#include "output.h"
#include "timeline_arrows.h"
#include "timeline_thread.h"

struct timeline {
    struct recording_file file;
    struct timeline_board board;
    struct arrows arrows;
    uint64_t events;
};

static struct timeline_slice slice_of(enum timeline_kind kind, const struct recording_event *r)
{
    return (struct timeline_slice){
        .kind = kind, .sub = r->sub, .number = r->number, .id = r->id, .other = r->other, .code = REC_ID_CODE(r->id)};
}

/* Returns the thread that runs a task, after moving it to the event's track. For task 0, which means an unknown task,
 * returns the track's own thread for such tasks. */
static struct timeline_thread *thread_here(struct timeline *t, uint64_t task, unsigned track, uint64_t ns)
{
    struct timeline_thread *thread = timeline_thread_of(&t->board, task ? task : UINT64_C(1) << 62 | track);
    timeline_bring(&t->board, thread, track, ns);
    return thread;
}

/* Ends the thread's slice of this kind, and moves the thread to the event's track. A thread on another track first
 * leaves that track, then loses the slice: so the slice does not begin again on the new track only to be ended. */
static void end_on_track(struct timeline *t, struct timeline_thread *thread, enum timeline_kind kind, uint64_t which,
                         unsigned track, uint64_t ns)
{
    if (!thread)
        return;
    if (thread->track != track)
        timeline_leave(&t->board, thread, ns);
    thread = timeline_pop(&t->board, thread, kind, which, ns, NULL);
    timeline_bring(&t->board, thread, track, ns);
}

/* --- regions and members --- */

static void on_region_begin(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    struct timeline_slice s = slice_of(TIMELINE_REGION, r);
    s.threads = r->number;
    struct timeline_thread *thread = thread_here(t, r->other, track, ns);
    timeline_push(&t->board, thread, &s, ns, NULL);
    timeline_region_begin(&t->board, r->id, r->number, thread);
}

static void on_region_end(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    const struct timeline_region *region = timeline_region_of(&t->board, r->id);
    end_on_track(t, region ? region->opener : NULL, TIMELINE_REGION, r->id, track, ns);
}

/* Member 0 is the thread that opened the region: it runs inside the region's slice. */
static void on_member_begin(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    const struct timeline_region *region = timeline_region_of(&t->board, r->other);
    struct timeline_thread *thread;
    if (region && r->number == 0) {
        thread = region->opener;
        timeline_thread_runs(&t->board, thread, r->id);
    } else {
        thread = timeline_thread_new(&t->board, r->id);
    }
    struct timeline_slice s = slice_of(TIMELINE_MEMBER, r);
    s.code = REC_ID_CODE(r->other);
    s.threads = region ? region->threads : 0;
    timeline_bring(&t->board, thread, track, ns);
    timeline_push(&t->board, thread, &s, ns, NULL);
}

/* --- tasks --- */

static void on_task_create(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    struct timeline_slice s = slice_of(TIMELINE_CREATE, r);
    struct trace_event e;
    thread_here(t, r->other, track, ns);
    timeline_event(&t->board, &s, &e);
    arrows_task_made(&t->arrows, r->id, &e);
    trace_writer_instant(t->board.writer, track, ns, &e);
}

static void on_task_begin(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    struct timeline_slice s = slice_of(TIMELINE_TASK, r);
    struct timeline_thread *thread = thread_here(t, r->other, track, ns);
    struct trace_event ends = {0};
    arrows_task_begins(&t->arrows, r->id, &ends);
    timeline_thread_runs(&t->board, thread, r->id);
    timeline_push(&t->board, thread, &s, ns, &ends);
}

static void on_task_end(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    struct timeline_thread *thread = timeline_thread_known(&t->board, r->id);
    if (!thread)
        return;
    timeline_bring(&t->board, thread, track, ns);
    struct trace_event begins = {0};
    if (timeline_has(thread, TIMELINE_TASK, r->id))
        arrows_task_ends(&t->arrows, r->id, &begins);
    timeline_pop(&t->board, thread, TIMELINE_TASK, r->id, ns, &begins);
}

/* --- waits and loops --- */

static void on_begin_within(struct timeline *t, enum timeline_kind kind, const struct recording_event *r,
                            unsigned track, uint64_t ns)
{
    struct timeline_slice s = slice_of(kind, r);
    bool is_lock = kind == TIMELINE_WAIT && timeline_is_lock(r->sub);
    s.code = is_lock ? r->number : r->sub == REC_WAIT_OUTSIDE && kind == TIMELINE_WAIT ? 0 : REC_ID_CODE(r->other);
    timeline_push(&t->board, thread_here(t, r->id, track, ns), &s, ns, NULL);
}

/* --- the scheduler --- */

static void on_scheduler(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    struct timeline_slice s = {.kind = TIMELINE_SCHEDULER, .sub = r->kind, .number = r->number};
    struct trace_event e;
    timeline_event(&t->board, &s, &e);
    if (r->kind == REC_STEAL) {
        trace_event_note(&e, TRACE_VICTIM, r->vp);
        trace_event_note(&e, TRACE_DISTANCE, r->sub);
    } else if (r->kind == REC_STALL) {
        trace_event_note(&e, TRACE_VP, r->vp);
        trace_event_note(&e, TRACE_MS, r->id / 1000000);
    } else if (r->kind == REC_ROOT_LEAVES || r->kind == REC_ROOT_HOME) {
        trace_event_note(&e, TRACE_VP, r->vp);
    }
    trace_writer_instant(t->board.writer, track, ns, &e);
}

/* Returns a copy of the event. A thread that runs no task may wait outside of OpenMP. Then the copy has, as the task's
 * id, the thread's number with bit 63 set. */
static struct recording_event with_thread(const struct recording_event *r)
{
    struct recording_event e = *r;
    if (r->sub == REC_WAIT_OUTSIDE && r->id == 0)
        e.id = r->other | UINT64_C(1) << 63;
    return e;
}

static void on_wait(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    struct recording_event e = with_thread(r);
    if (r->kind == REC_WAIT_BEGIN)
        on_begin_within(t, TIMELINE_WAIT, &e, track, ns);
    else
        end_on_track(t, timeline_thread_known(&t->board, e.id), TIMELINE_WAIT, r->sub, track, ns);
}

static void on_event(struct timeline *t, const struct recording_event *r, unsigned track, uint64_t ns)
{
    switch (r->kind) {
    case REC_REGION_BEGIN:
        on_region_begin(t, r, track, ns);
        break;
    case REC_REGION_END:
        on_region_end(t, r, track, ns);
        break;
    case REC_MEMBER_BEGIN:
        on_member_begin(t, r, track, ns);
        break;
    case REC_MEMBER_END:
        end_on_track(t, timeline_thread_known(&t->board, r->id), TIMELINE_MEMBER, r->id, track, ns);
        break;
    case REC_TASK_CREATE:
        on_task_create(t, r, track, ns);
        break;
    case REC_TASK_BEGIN:
        on_task_begin(t, r, track, ns);
        break;
    case REC_TASK_END:
        on_task_end(t, r, track, ns);
        break;
    case REC_DEPENDENCE:
        arrows_dependence(&t->arrows, r->id, r->other);
        break;
    case REC_WAIT_BEGIN:
    case REC_WAIT_END:
        on_wait(t, r, track, ns);
        break;
    case REC_WORK_BEGIN:
        on_begin_within(t, TIMELINE_LOOP, r, track, ns);
        break;
    case REC_WORK_END:
        end_on_track(t, timeline_thread_known(&t->board, r->id), TIMELINE_LOOP, r->sub, track, ns);
        break;
    case REC_PARK:
        if (r->sub == 0)
            timeline_park(&t->board, track, ns);
        break;
    case REC_UNPARK:
        timeline_unpark(&t->board, track, ns);
        break;
    case REC_STEAL:
    case REC_SPARE_BEGIN:
    case REC_SPARE_END:
    case REC_ROOT_LEAVES:
    case REC_ROOT_HOME:
    case REC_STALL:
        on_scheduler(t, r, track, ns);
        break;
    default: /* locks held, cancellation: not shown */
        break;
    }
}

/* --- the whole timeline --- */

/* Returns the kernel thread's number for a track; 0 if an earlier track has the same: Perfetto would draw both as
 * one. */
static int64_t own_tid(const struct recording_file *f, unsigned number, const struct recording_track *track)
{
    uint32_t tid = ps_load_relaxed(&track->tid);
    for (unsigned i = 0; i < number; i++) {
        const struct recording_track *other = recording_file_track(f, i);
        if (other && ps_load_relaxed(&other->tid) == tid)
            return 0;
    }
    return tid;
}

static void track_name(const struct recording_file *f, unsigned i, const struct recording_track *track, char name[48])
{
    unsigned long long thread = ps_load_relaxed(&track->thread);
    if (i + 1 == f->num_tracks && i > 0)
        snprintf(name, 48, "watchdog");
    else if (thread)
        snprintf(name, 48, "thread %llu", thread);
    else if (ps_load_relaxed(&track->is_spare))
        snprintf(name, 48, "spare vp %u", i);
    else
        snprintf(name, 48, i == 0 ? "vp %u (main)" : "vp %u", i);
}

static void write_tracks(const struct timeline *t, uint64_t ns)
{
    const struct recording_file *f = &t->file;
    char *command = output_clean_text(recording_file_text(f, f->head->command_at));
    trace_writer_process(t->board.writer, ns, (int)f->head->pid, command);
    free(command);
    for (unsigned i = 0; i < f->num_tracks; i++) {
        char name[48];
        const struct recording_track *track = recording_file_track(f, i);
        if (!track)
            continue;
        track_name(f, i, track, name);
        trace_writer_track(t->board.writer, i + 1, ns, name, own_tid(f, i, track));
    }
}

/* Writes facts about the whole trace, as one instant of the process. */
static void write_facts(struct timeline *t, uint64_t lost, uint64_t ns)
{
    const struct recording_file *f = &t->file;
    const struct recording *h = f->head;
    char *command = output_clean_text(recording_file_text(f, h->command_at));
    char *runtime = memory_text("%.*s", (int)sizeof h->runtime, h->runtime), *version = output_clean_text(runtime);
    struct trace_event e = {.category = TRACE_RECORDING, .name = trace_writer_name(t->board.writer, 1, "recording")};
    trace_event_note(&e, TRACE_EVENTS, t->events);
    trace_event_note(&e, TRACE_LOST, lost);
    trace_event_note(&e, TRACE_VPS, h->num_vps);
    trace_event_note(&e, TRACE_PROCESSORS, h->num_processors);
    trace_event_text(&e, TRACE_VERSION, version);
    trace_event_text(&e, TRACE_COMMAND, command);
    trace_event_note(&e, TRACE_WALL_NS, recording_file_ns(f, recording_file_end(f)) - f->first_ns);
    if (h->rank >= 0)
        trace_event_note(&e, TRACE_RANK, (uint64_t)h->rank);
    if (ps_load_relaxed(&h->mpi_init_ns))
        trace_event_note(&e, TRACE_MPI_INIT_NS, ps_load_relaxed(&h->mpi_init_ns));
    trace_writer_instant(t->board.writer, 0, ns, &e);
    free(version);
    free(runtime);
    free(command);
}

static bool read_for_arrows(struct timeline *t)
{
    struct recording_events events;
    struct recording_event r;
    unsigned track;
    if (!recording_events_begin(&events, &t->file))
        return false;
    while (recording_events_next(&events, &r, &track))
        if (r.kind == REC_TASK_CREATE)
            arrows_see_making(&t->arrows, r.id);
        else if (r.kind == REC_TASK_BEGIN)
            arrows_see_begin(&t->arrows, r.id);
    recording_events_end(&events);
    return true;
}

static void write_timeline(struct timeline *t, FILE *out)
{
    struct recording_events events;
    struct recording_event r;
    unsigned track;
    uint64_t ns = t->file.first_ns;
    if (!read_for_arrows(t) || !recording_events_begin(&events, &t->file))
        memory_is_short();
    timeline_board_begin(&t->board, &t->file, out);
    write_tracks(t, ns);
    while (recording_events_next(&events, &r, &track)) {
        ns = recording_file_ns(&t->file, r.time);
        on_event(t, &r, track + 1, ns);
    }
    timeline_board_end(&t->board, ns);
    t->events = events.read;
    write_facts(t, events.overwritten + events.unreadable, ns);
    if (events.unreadable)
        fprintf(stderr, "psthreads-report: %s: %llu events cannot be read, the others are in the timeline\n",
                t->file.name, (unsigned long long)events.unreadable);
    recording_events_end(&events);
    timeline_board_free(&t->board);
    arrows_free(&t->arrows);
}

int command_pftrace(int argc, char **argv)
{
    const char *name = NULL;
    int c;
    while ((c = getopt(argc, argv, "o:")) != -1 && c == 'o')
        name = optarg;
    if (c != -1 || !name || argc - optind != 1) {
        fprintf(stderr, "psthreads-report: pftrace: wanted one recording and -o OUT\n");
        return COMMAND_USAGE;
    }
    struct timeline t = {0};
    struct output output;
    char why[256];
    if (!recording_file_open(&t.file, argv[optind], why)) {
        fprintf(stderr, "psthreads-report: %s\n", why);
        return COMMAND_FAILED;
    }
    bool done = false;
    if (!t.file.head->keeps_events)
        fprintf(stderr, "psthreads-report: %s has no events, but sums only: no timeline\n", t.file.name);
    else if (output_begin(&output, name)) {
        write_timeline(&t, output.stream);
        done = output_end(&output);
    }
    recording_file_close(&t.file);
    return done ? 0 : COMMAND_FAILED;
}
