/* The CPU-time quota that the process's control groups set.
 *
 * Does: finds the process's group in version 2 and in version 1's cpu hierarchy, and takes the tightest quota of the
 * group and of all its ancestors that can be seen. Does not: cache (a quota may change while the process runs), watch,
 * or read weights, which limit nothing while processors are idle.
 * Callers: any thread, on any stack. No shared state. errno is kept. No malloc: the kernel thread that asks
 * again and again would get an arena of 64 MiB for it.
 * Failures: what cannot be read sets no limit. Cost: some tens of microseconds, a handful of files.
 *
 * Where a group is:    /proc/self/cgroup     "0::/path" (version 2)   "4:cpu,cpuacct:/path" (version 1)
 * where that shows:    /proc/self/mountinfo  "... ROOT MOUNTPOINT ... - cgroup2|cgroup SOURCE OPTIONS"
 * In a container without a namespace of its own, ROOT is the container's group, and only what lies below shows at
 * MOUNTPOINT. A path that is not below ROOT is taken to be MOUNTPOINT itself, because such containers stand there.
 *
 * Quotas round up: 1.5 processors are two that are busy three quarters of the time; one would waste a third. */
#include "quota.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES (PATH_MAX + 512) /* what is longer names no group that fits below either */

/* A file, line by line. */
struct lines {
    int fd;
    size_t at, end; /* of what is in the buffer */
    char buffer[1024], line[LINE_BYTES];
};

struct hierarchy {
    bool version2;
    char group[PATH_MAX]; /* the process's group in it; "" where there is none */
};

/* Buffers for all of this: mapped, since the first caller may have a small stack. */
struct scratch {
    struct hierarchy v2, v1;
    struct lines table, file; /* control groups, then mounts; a file of a group's */
    char folder[PATH_MAX], path[PATH_MAX + 32], whole[2 * PATH_MAX];
};

/* Is `word` one of the comma-separated words of `list`? */
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static bool open_below(struct scratch *s, struct lines *f, const char *root, const char *path)
{
    int length = snprintf(s->whole, sizeof s->whole, "%s%s", root, path);
    f->at = f->end = 0;
    f->fd = length < 0 || (size_t)length >= sizeof s->whole ? -1 : open(s->whole, O_RDONLY | O_CLOEXEC);
    return f->fd >= 0;
}

/* The next character; -1: there is none. */
static int next_character(struct lines *f)
{
    if (f->at == f->end) {
        ssize_t n;
        do
            n = read(f->fd, f->buffer, sizeof f->buffer);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
            return -1;
        f->at = 0;
        f->end = (size_t)n;
    }
    return (unsigned char)f->buffer[f->at++];
}

/* f->line is the next one, without its end; one that is too long is cut. False: there is none, and the file is
 * closed. */
static bool next_line(struct lines *f)
{
    size_t n = 0;
    int c;
    while ((c = next_character(f)) >= 0 && c != '\n')
        if (n < sizeof f->line - 1)
            f->line[n++] = (char)c;
    f->line[n] = '\0';
    if (c >= 0 || n > 0)
        return true;
    close(f->fd);
    return false;
}

/* The file's only line; false: there is none. */
static bool only_line(struct scratch *s, const char *root, const char *path)
{
    struct lines *f = &s->file;
    if (!open_below(s, f, root, path))
        return false;
    bool has = next_line(f);
    if (has)
        close(f->fd);
    return has;
}

/* The mount table escapes blanks as \ooo. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
            from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Fills the process's group in both hierarchies. */
static void read_control_groups(const char *root, struct scratch *s)
{
    if (!open_below(s, &s->table, root, "/proc/self/cgroup"))
        return;
    while (next_line(&s->table)) {
        char *line = s->table.line;
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL)
            continue;
        *controllers++ = '\0';
        *path++ = '\0';
        struct hierarchy *h = NULL;
        if (strcmp(line, "0") == 0 && *controllers == '\0')
            h = &s->v2;
        else if (list_has(controllers, "cpu"))
            h = &s->v1;
        if (h != NULL && strlen(path) < sizeof h->group)
            strcpy(h->group, path);
    }
}

/* A number, and where it ends; -1: there is none ("max"). */
static long long number_at(const char **text)
{
    char *end;
    long long n = strtoll(*text, &end, 10);
    if (end == *text)
        return -1;
    *text = end;
    return n;
}

/* Processors that one folder's files allow, rounded up; UINT_MAX: no limit. */
static unsigned quota_of_folder(const char *root, struct scratch *s, bool version2)
{
    static const char *const files[2][2] = {{"cpu.cfs_quota_us", "cpu.cfs_period_us"}, {"cpu.max", NULL}};
    long long number[2] = {-1, -1}; /* quota, period */
    const char *text = "";
    for (int i = 0; i < 2; i++) {
        const char *file = files[version2][i];
        if (file != NULL) {
            snprintf(s->path, sizeof s->path, "%s/%s", s->folder, file);
            if (!only_line(s, root, s->path))
                return UINT_MAX;
            text = s->file.line;
        }
        number[i] = number_at(&text);
    }
    long long quota = number[0], period = number[1];
    if (quota <= 0 || period <= 0)
        return UINT_MAX;
    long long processors = quota / period + (quota % period != 0);
    return processors > INT_MAX ? UINT_MAX : (unsigned)processors;
}

/* The tightest quota from `group` (as it shows below the mount point) up to the mount point. */
static unsigned tightest(const char *root, struct scratch *s, const char *mount_root, const char *mount_point,
                         const struct hierarchy *h)
{
    const char *below = h->group;
    size_t hidden = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
    if (hidden != 0) {
        bool inside = strncmp(below, mount_root, hidden) == 0 && (below[hidden] == '/' || below[hidden] == '\0');
        below = inside ? below + hidden : "";
    }
    char *folder = s->folder;
    size_t base = strlen(mount_point);
    if (base + strlen(below) >= sizeof s->folder || strstr(below, "/..") != NULL)
        below = "";
    if (base >= sizeof s->folder)
        return UINT_MAX;
    strcpy(folder, mount_point);
    strcpy(folder + base, below);
    unsigned least = UINT_MAX;
    for (;;) {
        unsigned here = quota_of_folder(root, s, h->version2);
        if (here < least)
            least = here;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash < folder + base)
            return least;
        *slash = '\0';
    }
}

/* Splits a line of mountinfo. Returns false for other file systems. */
static bool parse_mount(char *line, char **mount_root, char **mount_point, bool *version2)
{
    char *rest = strstr(line, " - ");
    if (rest == NULL)
        return false;
    *rest = '\0';
    rest += 3;
    char *save, *options = NULL;
    char *type = strtok_r(rest, " ", &save);
    if (type != NULL && strtok_r(NULL, " ", &save) != NULL)
        options = strtok_r(NULL, " ", &save);
    if (type == NULL || options == NULL)
        return false;
    *version2 = strcmp(type, "cgroup2") == 0;
    if (!*version2 && (strcmp(type, "cgroup") != 0 || !list_has(options, "cpu")))
        return false;
    char *field = strtok_r(line, " ", &save);
    for (int i = 0; i < 3 && field != NULL; i++)
        field = strtok_r(NULL, " ", &save);
    *mount_root = field;
    *mount_point = field == NULL ? NULL : strtok_r(NULL, " ", &save);
    if (*mount_point == NULL)
        return false;
    unescape(*mount_root);
    unescape(*mount_point);
    return true;
}

static unsigned quota_below(const char *root, struct scratch *s)
{
    s->v2.version2 = true;
    read_control_groups(root, s);
    if (s->v2.group[0] == '\0' && s->v1.group[0] == '\0')
        return 0;
    if (!open_below(s, &s->table, root, "/proc/self/mountinfo"))
        return 0;
    unsigned least = UINT_MAX;
    while (next_line(&s->table)) {
        char *mount_root, *mount_point;
        bool version2;
        if (!parse_mount(s->table.line, &mount_root, &mount_point, &version2))
            continue;
        const struct hierarchy *h = version2 ? &s->v2 : &s->v1;
        if (h->group[0] == '\0')
            continue;
        unsigned here = tightest(root, s, mount_root, mount_point, h);
        if (here < least)
            least = here;
    }
    return least == UINT_MAX ? 0 : least;
}

unsigned os_cpu_quota_below(const char *root)
{
    int saved_errno = errno, cancelable; /* open and read are cancellation points */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    struct scratch *s = os_map(sizeof *s);
    unsigned quota = s ? quota_below(root, s) : 0;
    if (s)
        os_unmap(s, sizeof *s);
    pthread_setcancelstate(cancelable, NULL);
    errno = saved_errno;
    return quota;
}

unsigned os_cpu_quota(void) { return os_cpu_quota_below(""); }
