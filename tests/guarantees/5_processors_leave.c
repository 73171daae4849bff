/* Processors go and come back while regions run: another process narrows the mask of every kernel thread of this one to
 * one processor and widens it again, as a processor that goes offline or a cpuset that shrinks does. Results stay
 * right, and the mask is left alone. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_all(pid_t pid, const cpu_set_t *set)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return;
    for (struct dirent *e; (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.')
            sched_setaffinity(atoi(e->d_name), sizeof *set, set);
    closedir(tasks);
}

static void narrow_and_widen(pid_t parent, const cpu_set_t *all)
{
    for (int round = 0; round < 20; round++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        int skip = round % CPU_COUNT(all), cpu = 0;
        while (!CPU_ISSET(cpu, all) || skip-- > 0)
            cpu++;
        CPU_SET(cpu, &one);
        set_all(parent, round % 2 ? all : &one);
        usleep(10000);
    }
    set_all(parent, all);
}

int main(void)
{
    cpu_set_t all, after;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0 && omp_get_num_procs() == CPU_COUNT(&all));
    pid_t parent = getpid(), child = fork();
    if (!child) {
        narrow_and_widen(parent, &all);
        _exit(0);
    }
    omp_set_max_active_levels(2);
    int status, rounds = 0;
    while (waitpid(child, &status, WNOHANG) == 0 || rounds < 10) {
        int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
        {
            int inner = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner)
            {
#pragma omp barrier
                inner++;
            }
            sum += inner;
        }
        CHECK(sum == 12 && omp_get_num_procs() >= 1);
        rounds++;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    set_all(parent, &all); /* kernel threads that began in between */
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&all, &after));
    CHECK(omp_get_num_procs() == CPU_COUNT(&all));
    return 0;
}
