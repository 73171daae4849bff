/* The recording's file: how it is made, and how it grows. See recording.h.
 *
 * A new part is allocated on the disk before it is mapped: on a full disk, a write to a mapped hole of a file would
 * kill the program. If the disk is full, or a limit of the user is reached, rings keep their length. The file is opened
 * by its name each time, because programs close descriptors that they do not know. */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { TEXTS_BYTES = 1 << 17, SMALLEST = 16384, LARGEST = 1 << 18 };
#define LOOK_EVERY_NS 10000000

static struct {
    char prefix[3800];
    char runtime[sizeof((struct recording *)0)->runtime];
    uint64_t limit;  /* most bytes of events; 0: sums only */
    char path[4000]; /* path of this process's recording */
    ino_t inode;
} file;

static uint64_t pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

void recorder_lock(_Atomic uint32_t *word)
{
    while (ps_xchg_acquire(word, 1) != 0)
        syscall(SYS_sched_yield);
}
void recorder_unlock(_Atomic uint32_t *word) { ps_store_release(word, 0); }

void *file_private(size_t bytes)
{
    void *at = mmap(NULL, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* --- settings --- */

bool file_settings(const char *runtime)
{
    const char *prefix = getenv("PSTHREADS_RECORDING"), *limit = getenv("PSTHREADS_TRACE_LIMIT");
    if (prefix == NULL || *prefix != '/' || strlen(prefix) >= sizeof file.prefix)
        return false;
    strcpy(file.prefix, prefix);
    snprintf(file.runtime, sizeof file.runtime, "%s " PS_VERSION, runtime);
    file.limit = limit != NULL ? strtoull(limit, NULL, 10) : 0;
    recorder_keeps_events = file.limit != 0;
    return true;
}

/* --- growing --- */

/* Adds bytes to the end of the file, allocated and mapped. Returns their address, and in *offset their place in the
 * file. Returns NULL if there is no room. */
static void *lengthen(int fd, _Atomic uint64_t *file_bytes, uint64_t bytes, uint64_t *offset)
{
    struct rlimit limit;
    bytes = pages(bytes);
    *offset = ps_add_relaxed(file_bytes, bytes);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < *offset + bytes) {
        errno = EFBIG; /* otherwise the system would send SIGXFSZ */
        return NULL;
    }
    if (syscall(SYS_fallocate, fd, 0, *offset, bytes) != 0 &&
        (errno != EOPNOTSUPP || posix_fallocate(fd, (off_t)*offset, (off_t)bytes) != 0))
        return NULL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)*offset);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_DONTFORK);
    return at;
}

static void *lengthen_recording(struct recording *r, uint64_t bytes, uint64_t *offset)
{
    struct stat st;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    void *at = fd >= 0 && syscall(SYS_fstat, fd, &st) == 0 && st.st_ino == file.inode
                   ? lengthen(fd, &r->file_bytes, bytes, offset)
                   : NULL;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return at;
}

/* --- a new recording --- */

static uint64_t processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
}

static int rank_of_mpi(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (unsigned i = 0; i < 2; i++) {
        const char *rank = getenv(names[i]);
        if (rank != NULL && *rank >= '0' && *rank <= '9')
            return atoi(rank);
    }
    return -1;
}

/* Returns the program's arguments, joined by spaces, as an offset in the texts. */
static uint64_t command(void)
{
    static char text[4096]; /* used under the lock */
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    long n = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        syscall(SYS_close, fd);
    for (long i = 0; i + 1 < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[n > 0 ? n : 0] = '\0';
    return codes_text(text);
}

/* Makes the file, with a name that no other file has: before its last exec the process may have run another program,
 * whose recording stays. Returns the descriptor, or -1 if that fails. */
static int create(void)
{
    for (unsigned n = 0; n < 10000; n++) {
        snprintf(file.path, sizeof file.path, "%s.%d.%u.recording", file.prefix, (int)getpid(), n);
        int fd =
            (int)syscall(SYS_openat, AT_FDCWD, file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static void plan_segments(struct recording *r)
{
    uint64_t bytes = LARGEST;
    while (bytes > SMALLEST && bytes > file.limit / (4 * (r->num_processors + 1)))
        bytes /= 2;
    r->segment_events = bytes / sizeof(struct recording_event);
    r->max_segments = file.limit < bytes ? file.limit != 0 : file.limit / bytes;
}

/* Reads both clocks at the same moment: takes the closest of several attempts. */
static void look_at_both(uint64_t *ticks, uint64_t *ns)
{
    enum { LOOKS = 5 };
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < LOOKS; i++) {
        uint64_t before = recorder_ticks(), between = recorder_ns(), took = recorder_ticks() - before;
        if (took > best)
            continue;
        best = took;
        *ticks = before + took / 2;
        *ns = between;
    }
}

static void fill_head(struct recording *r, const struct recording *like)
{
    *r = *like;
    r->pid = (uint32_t)getpid();
    r->parent_pid = (uint32_t)getppid();
    r->rank = rank_of_mpi();
    memcpy(r->runtime, file.runtime, sizeof r->runtime);
}

static bool say_no(const char *why)
{
    if (!recorder_own->off)
        ps_warn("%s cannot be written: %s; the program runs without a recording", file.path, why);
    recorder_own->off = true;
    return false;
}

static bool begin_locked(void)
{
    struct recording head = {.magic = RECORDING_MAGIC,
                             .version = RECORDING_VERSION,
                             .header_bytes = sizeof head,
                             .num_tracks = MAX_VPS + 1,
                             .num_processors = (uint32_t)processors(),
                             .keeps_events = recorder_keeps_events,
                             .limit_bytes = file.limit,
                             .texts_bytes = TEXTS_BYTES};
    uint64_t ticks = 0, ns = 0;
    /* `begin` is read here, and `now` by file_look below: so the recording has both clocks at two moments, even if the
     * program is killed early. */
    look_at_both(&ticks, &ns);
    ps_store_relaxed(&head.begin.ticks, ticks);
    ps_store_relaxed(&head.begin.ns, ns);
    plan_segments(&head);
    head.codes_at = pages(sizeof head);
    head.texts_at = head.codes_at + REC_MAX_CODES * sizeof(struct recording_code);
    head.tracks_at = head.texts_at + TEXTS_BYTES;
    head.segments_at = head.tracks_at + head.num_tracks * sizeof(uint64_t);
    int fd = create();
    if (fd < 0)
        return say_no(strerror(errno));
    _Atomic uint64_t bytes = 0;
    struct stat st;
    uint64_t offset;
    struct recording *r =
        syscall(SYS_fstat, fd, &st) == 0
            ? lengthen(fd, &bytes, head.segments_at + head.max_segments * sizeof(struct recording_segment), &offset)
            : NULL;
    int error = errno;
    close(fd);
    if (r == NULL) {
        unlink(file.path);
        return say_no(error != 0 ? strerror(error) : "there is no room");
    }
    file.inode = st.st_ino;
    ps_store_relaxed(&head.file_bytes, ps_load_relaxed(&bytes));
    fill_head(r, &head);
    codes_publish(r);
    ps_store_relaxed(&recorder_own->spare_segments, (int64_t)r->max_segments);
    recorder_own->recording = r;
    r->command_at = command();
    file_look();
    return true;
}

bool file_begin(void)
{
    int kept = errno;
    recorder_lock(&recorder_own->lock);
    bool done = recorder_own->recording != NULL || (!recorder_own->off && begin_locked());
    recorder_unlock(&recorder_own->lock);
    errno = kept;
    return done;
}

/* --- tracks and segments --- */

static struct track *open_locked(unsigned number)
{
    struct recording *r = recorder_own->recording;
    struct track *k = file_private(sizeof *k + r->max_segments * sizeof k->segment[0]);
    uint64_t offset;
    struct recording_track *shared = k != NULL ? lengthen_recording(r, sizeof *shared, &offset) : NULL;
    if (shared == NULL)
        return NULL;
    k->shared = shared;
    k->number = (uint16_t)number;
    k->last = recorder_ticks();
    k->full = r->max_segments == 0;
    if (recorder_layer == NULL && number < MAX_VPS)
        ps_store_relaxed(&shared->thread, number + 1);
    ps_store_relaxed(&shared->tid, (uint32_t)syscall(SYS_gettid));
    track_is(k, NULL, REC_IN_RUNTIME, 0);
    ps_store_release((_Atomic uint64_t *)(void *)((char *)r + r->tracks_at) + number, offset);
    ps_store_release(&recorder_own->tracks[number], k);
    return k;
}

struct track *file_open_track(unsigned number)
{
    int kept = errno;
    struct track *k = NULL;
    if (!recorder_own->off && file_begin()) {
        recorder_lock(&recorder_own->lock);
        k = ps_load_relaxed(&recorder_own->tracks[number]);
        if (k == NULL)
            k = open_locked(number);
        if (k == NULL) {
            file.path[0] = '\0'; /* prevents further growth */
            recorder_own->off = true;
        }
        recorder_unlock(&recorder_own->lock);
    }
    errno = kept;
    return k;
}

void file_num_vps(void)
{
    struct recording *r = recorder_own->recording;
    if (recorder_num_vps == NULL)
        return;
    r->num_vps = recorder_num_vps();
    int64_t sure = (int64_t)(r->max_segments / (2 * r->num_vps) * r->num_vps);
    ps_sub_relaxed(&recorder_own->spare_segments, sure);
}

/* Returns whether the track may get another segment. Half of all segments belong to the vps in equal parts; any track
 * that needs one may take from the other half. */
static bool may_have_segment(const struct recording *r, const struct track *k)
{
    if (k->number < r->num_vps && k->num_segments < r->max_segments / (2 * r->num_vps))
        return true;
    return ps_sub_relaxed(&recorder_own->spare_segments, 1) > 0;
}

static struct recording_event *new_segment(struct track *k)
{
    struct recording *r = recorder_own->recording;
    uint64_t offset;
    if (!may_have_segment(r, k))
        return NULL;
    uint64_t at = ps_add_relaxed(&recorder_own->num_segments, 1);
    if (at >= r->max_segments)
        return NULL;
    uint64_t bytes = r->segment_events * sizeof(struct recording_event);
    void *events = lengthen_recording(r, bytes, &offset);
    if (events == NULL) {
        ps_add_relaxed(&r->segments_failed, 1);
        return NULL;
    }
    madvise(events, bytes, MADV_POPULATE_WRITE); /* if the kernel does not know this advice, pages fault one by one */
    struct recording_segment *s = (struct recording_segment *)(void *)((char *)r + r->segments_at) + at;
    s->track = k->number;
    s->index = k->num_segments;
    ps_store_release(&s->offset, offset);
    k->segment[k->num_segments++] = events;
    ps_store_release(&k->shared->capacity, k->num_segments * r->segment_events);
    return events;
}

struct recording_event *file_more_room(struct track *k)
{
    struct recording *r = recorder_own->recording;
    if (!recorder_keeps_events)
        return NULL;
    struct recording_event *events = NULL;
    if (!k->full) {
        int kept = errno;
        events = new_segment(k);
        k->full = events == NULL;
        if (k->full)
            ps_add_relaxed(&r->segments_refused, 1);
        file_look();
        errno = kept;
    }
    if (k->num_segments == 0) {
        /* the event is counted, though no segment has it: so it counts as lost */
        ps_store_release(&k->shared->written, ++k->written);
        return NULL;
    }
    if (events == NULL)
        events = k->segment[k->written / r->segment_events % k->num_segments];
    k->end = events + r->segment_events;
    return events;
}

/* --- looks at the clocks --- */

void file_look(void)
{
    struct recording *r = recorder_own->recording;
    uint64_t now = 0, ns = 0;
    look_at_both(&now, &ns);
    ps_store_relaxed(&r->now.ns, ns);
    ps_store_relaxed(&r->now.ticks, now);
    if (recorder_mpi_init_ns != NULL)
        ps_store_relaxed(&r->mpi_init_ns, *recorder_mpi_init_ns);
    uint64_t past_ns = ns - ps_load_relaxed(&r->begin.ns), past = now - ps_load_relaxed(&r->begin.ticks);
    uint64_t step =
        past_ns > LOOK_EVERY_NS / 100 ? (uint64_t)((double)past / (double)past_ns * LOOK_EVERY_NS) : 1 << 20;
    ps_store_relaxed(&recorder_own->next_look, now + step);
}

void file_end(void)
{
    struct recording *r = recorder_own->recording;
    if (r == NULL)
        return;
    file_look();
    ps_store_release(&r->ended_ticks, recorder_ticks());
}
