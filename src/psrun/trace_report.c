/* Makes timelines and profiles of recordings, by psthreads-report, a program beside the recorder. See trace.h. */
#include "os.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plan_parts.h"
#include "trace.h"
#include "trace/recording.h"

extern char **environ;

struct found {
    char *path;
    int pid;
    unsigned number;       /* counts the programs that the process has run; 0: the first */
    uint64_t events, lost; /* events in the recording; older ones that were overwritten */
    bool no_room;          /* the file could not grow */
    bool unfinished;       /* the process has not noted its end in the recording */
};

/* Returns psthreads-report's file, in the folder found from psrun's own place. Returns NULL, after a message, if it is
 * not there. */
static char *report_file(void)
{
    struct plan p = {.entities = "psthreads"};
    char *file = plan_open_dropin(&p, NULL) ? NULL : plan_layer_file(&p, "trace", "psthreads-report");
    if (!file)
        fprintf(stderr, "psrun: there is no psthreads-report beside the runtime (its build wants libprotobuf-c-dev, "
                        "protobuf-c-compiler "
                        "and libdw-dev)\n");
    return file;
}

/* Runs psthreads-report; its output goes to psrun's standard error. Returns whether it succeeded. It writes its own
 * messages. */
static bool run_report(const char *file, char **arguments, char **environment)
{
    pid_t pid;
    int ended = 0;
    if (trace_is_stopped())
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t psruns; /* blocked in psthreads-report: if the whole group gets them, only psrun acts */
    sigemptyset(&psruns);
    sigaddset(&psruns, SIGINT);
    sigaddset(&psruns, SIGQUIT);
    sigaddset(&psruns, SIGTERM);
    sigaddset(&psruns, SIGHUP);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &psruns);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int error = posix_spawn(&pid, file, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        fprintf(stderr, "psrun: %s cannot be run: %s\n", file, strerror(error));
        return false;
    }
    trace_reporter(pid);
    if (trace_is_stopped())
        kill(pid, SIGKILL);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        continue;
    trace_reporter(0);
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

/* Reads the numbers of events from the recording. Returns false if it is no recording of this version. */
static bool count_events(struct found *f)
{
    struct stat st;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    bool there = fd >= 0 && os_fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(struct recording);
    size_t bytes = there ? (size_t)st.st_size : 0;
    const char *at = there ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return false;
    const struct recording *r = (const void *)at;
    bool known = r->magic == RECORDING_MAGIC && r->version == RECORDING_VERSION && r->tracks_at < bytes &&
                 r->num_tracks <= (bytes - r->tracks_at) / sizeof(uint64_t);
    f->no_room = known && r->segments_failed > 0;
    f->unfinished = known && r->ended_ticks == 0;
    for (unsigned i = 0; known && i < r->num_tracks; i++) {
        uint64_t offset = ((const uint64_t *)(const void *)(at + r->tracks_at))[i];
        if (offset == 0 || offset > bytes - sizeof(struct recording_track))
            continue;
        const struct recording_track *k = (const void *)(at + offset);
        uint64_t written = k->written, capacity = k->capacity;
        f->events += written < capacity ? written : capacity;
        f->lost += written < capacity ? 0 : written - capacity;
    }
    munmap((void *)(uintptr_t)at, bytes);
    return known;
}

static int by_process; /* the pid that is sorted first */
static int compare_found(const void *one, const void *two)
{
    const struct found *a = one, *b = two;
    if ((a->pid == by_process) != (b->pid == by_process))
        return a->pid == by_process ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Returns all recordings of this run, the program's own first. *num gets their number. */
static struct found *find_recordings(const struct trace *t, int first, size_t *num)
{
    glob_t g;
    char *escaped = plan_text("%s", "");
    for (const char *at = t->prefix; *at; at++) { /* escapes characters that have a meaning in glob's patterns */
        char *longer = plan_text("%s%s%c", escaped, strchr("*?[]\\", *at) ? "\\" : "", *at);
        free(escaped);
        escaped = longer;
    }
    char *pattern = plan_text("%s.*.recording", escaped);
    int error = glob(pattern, 0, NULL, &g);
    free(pattern);
    free(escaped);
    struct found *found = calloc(error ? 1 : g.gl_pathc, sizeof *found);
    *num = 0;
    for (size_t i = 0; found && !error && i < g.gl_pathc; i++) {
        struct found *f = &found[*num];
        if (sscanf(g.gl_pathv[i] + strlen(t->prefix), ".%d.%u.recording", &f->pid, &f->number) != 2)
            continue;
        f->path = plan_text("%s", g.gl_pathv[i]);
        *num += 1;
    }
    if (!error)
        globfree(&g);
    by_process = first;
    if (found)
        qsort(found, *num, sizeof *found, compare_found);
    return found;
}

/* Returns the number as text such as "12 345". */
static char *grouped(uint64_t n)
{
    char *text = n < 1000 ? plan_text("%u", (unsigned)n) : NULL;
    if (!text) {
        char *front = grouped(n / 1000);
        text = plan_text("%s %03u", front, (unsigned)(n % 1000));
        free(front);
    }
    return text;
}

/* Returns the timeline's file. The first recording gets the name that was asked for; other names also have the
 * process's number. */
static char *timeline_name(const char *out, const struct found *f, bool first)
{
    size_t n = trace_stem(out);
    if (first)
        return plan_text("%s", out);
    return f->number ? plan_text("%.*s-%d.%u%s", (int)n, out, f->pid, f->number, out + n)
                     : plan_text("%.*s-%d%s", (int)n, out, f->pid, out + n);
}

static bool make_timeline(const struct trace *t, const char *report, const struct found *f, bool first)
{
    char *name = timeline_name(t->out, f, first);
    char pftrace[] = "pftrace", o[] = "-o";
    char *arguments[] = {(char *)(uintptr_t)report, pftrace, f->path, o, name, NULL};
    bool made = run_report(report, arguments, t->environment);
    if (made) {
        char *events = grouped(f->events), *lost = grouped(f->lost);
        fprintf(stderr, "psrun: trace of %s events in %s; open it in ui.perfetto.dev\n", events, name);
        if (f->lost)
            fprintf(stderr, "psrun: %s older events are not in it (%s)\n", lost,
                    f->no_room ? "the disk is full, or files may not be longer: ulimit -f"
                               : "--trace-limit SIZE keeps more");
        free(events);
        free(lost);
    }
    free(name);
    return made;
}

static bool make_profile(const struct trace *t, const char *report, const struct found *found, size_t num)
{
    char stats[] = "stats", json[] = "--json";
    char **arguments = calloc(num + 5, sizeof *arguments);
    size_t n = 0;
    if (!arguments)
        return false;
    arguments[n++] = (char *)(uintptr_t)report;
    arguments[n++] = stats;
    if (t->json) {
        arguments[n++] = json;
        arguments[n++] = t->json;
    }
    for (size_t i = 0; i < num; i++)
        arguments[n++] = found[i].path;
    bool made = run_report(report, arguments, t->environment);
    free(arguments);
    if (made && t->json)
        fprintf(stderr, "psrun: profile in %s\n", t->json);
    return made;
}

/* Removes the files that were made in advance: nothing was written into them. */
void trace_give_up(const struct trace *t)
{
    if (t->out)
        unlink(t->out);
    if (t->json)
        unlink(t->json);
}

/* Tells the user where the recording is. If the message cannot be written, removes the recording. */
static void leave_recording(const char *path)
{
    if (fprintf(stderr, "psrun: the recording stays in %s\n", path) < 0)
        unlink(path);
}

/* Tells the user if a process other than the program still runs: its later events are in no trace. */
static void say_runs_on(const struct found *f)
{
    if (f->unfinished && kill(f->pid, 0) == 0)
        fprintf(stderr, "psrun: process %d still runs: what it does from here on is not shown\n", f->pid);
}

void trace_report(const struct trace *t, int first)
{
    size_t num = 0;
    struct found *found = find_recordings(t, first, &num);
    if (num == 0) {
        fprintf(
            stderr,
            "psrun: no %s: the program opened no parallel region, has a tool of its own (OMPT), or could not record\n",
            !t->out                ? "profile"
            : t->json || t->screen ? "trace and no profile"
                                   : "trace");
        trace_give_up(t);
    }
    char *report = num ? report_file() : NULL;
    bool timeline = false, profile = !t->json && !t->screen;
    if (report && !profile)
        profile = make_profile(t, report, found, num);
    for (size_t i = 0; i < num; i++) {
        bool known = report && count_events(&found[i]);
        bool made = report && (!t->out || (known && make_timeline(t, report, &found[i], i == 0)));
        timeline = timeline || (i == 0 && made);
        if (found[i].pid != first)
            say_runs_on(&found[i]);
        if (made && profile)
            unlink(found[i].path);
        else
            leave_recording(found[i].path);
        free(found[i].path);
    }
    if (num && t->out && !timeline)
        unlink(t->out);
    if (num && t->json && !profile)
        unlink(t->json);
    free(report);
    free(found);
}

/* --- psrun stats PID, psrun report --- */

/* Returns the recording that the process has mapped; NULL: none. */
static char *recording_of(int pid)
{
    char path[64], line[4400], *found = NULL;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = '\0';
        char *name = strchr(line, '/');
        size_t n = name ? strlen(name) : 0;
        if (n > sizeof ".recording" && strcmp(name + n - sizeof ".recording" + 1, ".recording") == 0)
            found = plan_text("%s", name);
    }
    if (maps)
        fclose(maps);
    return found;
}

/* Returns the recording of the process, or of one of its children: the process may be psrun itself, or a shell. */
static char *recording_at(int pid)
{
    char path[64], *found = recording_of(pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *children = found ? NULL : fopen(path, "re");
    for (int child; children && !found && fscanf(children, "%d", &child) == 1;)
        found = recording_of(child);
    if (children)
        fclose(children);
    return found;
}

int stats_of_pid(const char *number)
{
    int pid = read_pid(number);
    if (!pid) {
        fprintf(stderr, "psrun: stats %s: wanted a process's number\n", number);
        return EXIT_USAGE;
    }
    char *recording = recording_at(pid), *report = recording ? report_file() : NULL;
    if (!recording)
        fprintf(stderr,
                "psrun: stats %d: no such process, or it may not be looked at, or it does not record: start it with "
                "psrun --stats\n",
                pid);
    if (!report)
        return 1;
    execl(report, report, "stats", "--live", recording, (char *)NULL);
    fprintf(stderr, "psrun: %s cannot be run: %s\n", report, strerror(errno));
    return 1;
}

int report_page(char **arguments)
{
    char *report = report_file(), page[] = "page";
    size_t num = 0;
    while (arguments[num])
        num++;
    char **all = report ? calloc(num + 3, sizeof *all) : NULL;
    if (all) {
        all[0] = report;
        all[1] = page;
        memcpy(all + 2, arguments, num * sizeof *arguments);
        execv(report, all);
        fprintf(stderr, "psrun: %s cannot be run: %s\n", report, strerror(errno));
    }
    free(all);
    free(report);
    return EXIT_USAGE;
}
