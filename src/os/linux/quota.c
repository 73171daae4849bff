/* The CPU-time quota that the process's control groups set.
 *
 * Does: finds the process's group in version 2 and in version 1's cpu hierarchy, and takes the tightest quota of the
 * group and all its visible ancestors. Does not: cache (a quota may change while the process runs), watch, or read
 * weights, which limit nothing while processors are idle.
 * Callers: any thread, on any stack. No shared state. errno is kept. No malloc: the kernel thread that asks repeatedly
 * would get an arena of 64 MiB for it.
 * Failures: what cannot be read sets no limit. Cost: some tens of microseconds, a handful of files.
 *
 * The group's path:    /proc/self/cgroup     "0::/path" (version 2)   "4:cpu,cpuacct:/path" (version 1)
 * the group's folder:  /sys/fs/cgroup/path (version 2), /sys/fs/cgroup/cpu/path (version 1), as systemd and containers
 *                      have it. Other places are not looked for.
 * A container without a cgroup namespace of its own sees its group at /sys/fs/cgroup itself, while /proc/self/cgroup
 * has a path that does not exist there. A folder without files sets no limit. So the walk up to the root finds the
 * container's group.
 *
 * Quotas are rounded up: 1.5 processors are two that are busy three quarters of the time; one would waste a third. */
#include "quota.h"
#include "file.h"
#include "os.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers. They are mapped, because the caller may have a small stack. */
struct scratch {
    char groups[4 * PATH_MAX], folder[2 * PATH_MAX], path[2 * PATH_MAX + 32];
};

/* Returns whether `word` is one of the comma-separated words of `list`. */
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Reads the file s->path as text; returns false if it is empty or cannot be read. Calls the C library's open, which
 * tests replace (5_quota.h). */
static bool read_path(const struct scratch *s, char *text, size_t bytes)
{
    int file = open(s->path, O_RDONLY | O_CLOEXEC);
    long length = file < 0 ? 0 : file_read(file, text, bytes - 1);
    if (file >= 0)
        file_close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static bool read_in_folder(struct scratch *s, const char *file, char text[64])
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->folder, file);
    return read_path(s, text, 64);
}

/* Returns how many processors the files of s->folder allow, rounded up; UINT_MAX: no limit. */
static unsigned quota_of_folder(struct scratch *s, bool version2)
{
    char first[64], second[64], *rest = second;
    if (version2 ? !read_in_folder(s, "cpu.max", first)
                 : !read_in_folder(s, "cpu.cfs_quota_us", first) || !read_in_folder(s, "cpu.cfs_period_us", second))
        return UINT_MAX;
    long long quota = strtoll(first, version2 ? &rest : NULL, 10), period = strtoll(rest, NULL, 10);
    if (quota <= 0 || period <= 0) /* "max" or -1: no limit */
        return UINT_MAX;
    long long processors = quota / period + (quota % period != 0);
    return processors > INT_MAX ? UINT_MAX : (unsigned)processors;
}

/* Returns the tightest quota of the group's folder and the folders above it, up to the topmost folder of the
 * hierarchy. */
static unsigned tightest(struct scratch *s, const char *root, const char *group, bool version2)
{
    size_t base = strlen(root) + strlen(version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
    unsigned least = UINT_MAX;
    snprintf(s->folder, sizeof s->folder, "%s/sys/fs/cgroup%s%s", root, version2 ? "" : "/cpu", group);
    for (;;) {
        unsigned here = quota_of_folder(s, version2);
        if (here < least)
            least = here;
        char *slash = strrchr(s->folder, '/');
        if (slash < s->folder + base)
            return least;
        *slash = '\0';
    }
}

static unsigned quota_below(const char *root, struct scratch *s)
{
    unsigned least = UINT_MAX;
    char *save = NULL;
    snprintf(s->path, sizeof s->path, "%s/proc/self/cgroup", root);
    read_path(s, s->groups, sizeof s->groups);
    for (char *line = strtok_r(s->groups, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':'), *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        bool version2 = controllers[1] == '\0';
        unsigned here = version2 || list_has(controllers + 1, "cpu") ? tightest(s, root, group, version2) : UINT_MAX;
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
