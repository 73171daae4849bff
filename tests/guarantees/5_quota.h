/* A control group of the test's own: its files are looked up in a folder of ours, since this program's fopen and open
 * come before the C library's. */
#ifndef QUOTA_H
#define QUOTA_H
#include "check.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/5_quota.XXXXXX";
static const char *const redirected[] = {"/proc/self/cgroup", "/sys/fs/cgroup"};

static const char *redirect(const char *path, char whole[4096])
{
    for (unsigned i = 0; i < sizeof redirected / sizeof redirected[0]; i++)
        if (!strncmp(path, redirected[i], strlen(redirected[i]))) {
            snprintf(whole, 4096, "%s%s", root, path);
            return whole;
        }
    return path;
}

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    char whole[4096];
    return next(redirect(path, whole), mode);
}
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    char whole[4096];
    va_list more;
    va_start(more, flags);
    unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    return next(redirect(path, whole), flags, mode);
}

/* Whole at once, so that no reader sees a half. */
static void write_file(const char *path, const char *text)
{
    char whole[4096], fresh[4200];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    snprintf(fresh, sizeof fresh, "%s.new", whole);
    FILE *f = fopen(fresh, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0 && rename(fresh, whole) == 0);
}

static void make_group(int version)
{
    CHECK(mkdtemp(root));
    write_file("/proc/self/cgroup", version == 2 ? "0::/here\n" : "4:cpu,cpuacct:/here\n");
    if (version == 1)
        write_file("/sys/fs/cgroup/cpu/here/cpu.cfs_period_us", "100000\n");
}

/* hundredths of a processor; 0: no limit. */
static void set_quota(int version, unsigned hundredths)
{
    char text[64] = "-1\n";
    if (hundredths)
        snprintf(text, sizeof text, version == 2 ? "%u000 100000\n" : "%u000\n", hundredths);
    else if (version == 2)
        strcpy(text, "max 100000\n");
    write_file(version == 2 ? "/sys/fs/cgroup/here/cpu.max" : "/sys/fs/cgroup/cpu/here/cpu.cfs_quota_us", text);
}

static void remove_group(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0);
}
#endif
