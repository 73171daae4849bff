/* What a profiler is to show: 5 regions of 3 threads, a critical section in each member, a task in each region. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int sleeps(const char *thread)
{
    char path[300], text[300] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *f = fopen(path, "r");
    const char *end = f != NULL && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    if (f != NULL)
        fclose(f);
    return end != NULL && end[2] == 'S';
}

/* All kernel threads but this one. */
static int all_sleep(void)
{
    char own[16];
    int all = 1;
    snprintf(own, sizeof own, "%d", (int)getpid());
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        exit(2);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;)
        all &= e->d_name[0] == '.' || strcmp(e->d_name, own) == 0 || sleeps(e->d_name);
    closedir(tasks);
    return all;
}

int main(void)
{
    volatile int sum = 0,
                 by_tasks = 0; /* a task may run beside a member that has not been in the critical section yet */
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(3)
        {
#pragma omp critical
            sum++;
#pragma omp single
            {
#pragma omp task
                by_tasks += 100;
            }
        }
    }
    sum += by_tasks;
    /* EZTrace writes a broken trace where a kernel thread begins in the middle of its end. The watchdog starts one in
     * its first ticks. */
    for (int looks = 0; looks < 3; looks = all_sleep() ? looks + 1 : 0)
        usleep(10000);
    printf("%d\n", sum);
    return sum != 515;
}
