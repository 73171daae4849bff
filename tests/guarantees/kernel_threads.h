/* Kernel threads of this process, without the runtime's watchdog and spares: those come where a loaded machine makes a
 * member look stuck. A spare has the watchdog's name at first, the watchdog its starter's. */
#ifndef PS_GUARANTEES_KERNEL_THREADS_H
#define PS_GUARANTEES_KERNEL_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Not one that has ended by now, either. with_state: only one in this state (/proc/PID/stat), 0: in any. */
static bool is_counted(const char *thread, char with_state)
{
    char path[300], text[300] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    const char *end = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    fclose(f);
    if (end == NULL || strstr(text, "(psthreads-watch)") || strstr(text, "(psthreads-spare)"))
        return false;
    return with_state == 0 || end[2] == with_state;
}

static long count_kernel_threads(char with_state)
{
    long n = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;)
        n += e->d_name[0] != '.' && is_counted(e->d_name, with_state);
    closedir(tasks);
    return n;
}

#endif
