/* What the process has of the system now, by /proc: for checks that nothing is left behind. */
#ifndef USAGE_H
#define USAGE_H

#include "check.h"

#include <dirent.h>
#include <unistd.h>

struct usage {
    long resident_kib, maps, files, kernel_threads;
};

static inline long count_entries(const char *folder)
{
    long n = 0;
    DIR *d = opendir(folder);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static inline struct usage usage_now(void)
{
    struct usage u = {0, 0, 0, 0};
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    u.resident_kib = pages * (sysconf(_SC_PAGESIZE) / 1024);
    f = fopen("/proc/self/maps", "r");
    CHECK(f != NULL);
    for (int c; (c = getc(f)) != EOF;)
        u.maps += c == '\n';
    fclose(f);
    u.files = count_entries("/proc/self/fd");
    u.kernel_threads = count_entries("/proc/self/task");
    return u;
}

#endif
