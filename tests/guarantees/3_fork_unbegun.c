/* A child forked by a member is that thread alone. Members that had not begun do not begin in the child, and tasks that
 * no thread had begun do not run there, while the child opens regions of its own and waits in them. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

#define MEMBERS 16
#define TASKS 40

static int region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp barrier
        sum++;
        usleep(500);
#pragma omp barrier
    }
    return sum;
}

static void in_child(void)
{
    int ok = 1;
    for (int i = 0; i < 3; i++)
        ok &= region() == 4;
    _exit(ok ? 0 : 1);
}

static void fork_here(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
        in_child();
    int status;
    while (waitpid(child, &status, 0) != child)
        continue;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child that runs what is its parent's ends: its other thread may wait for anything. */
static void belongs_to(pid_t process)
{
    if (getpid() != process)
        _exit(2);
}

static void members(pid_t process)
{
#pragma omp parallel num_threads(MEMBERS)
    {
        belongs_to(process);
        fork_here();
    }
}

static void nested(pid_t process)
{
#pragma omp parallel num_threads(3)
    {
        belongs_to(process);
#pragma omp parallel num_threads(3)
        {
            belongs_to(process);
            fork_here();
        }
    }
}

static void tasks(pid_t process)
{
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        {
            belongs_to(process);
            if (i % 8 == 0)
                fork_here();
        }
    }
}

int main(void)
{
    pid_t process = getpid();
    omp_set_max_active_levels(4);
    for (int round = 0; round < 4; round++) {
        members(process);
        nested(process);
        tasks(process);
    }
    return 0;
}
