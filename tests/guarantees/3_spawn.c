/* Other programs started from nested members and from a kernel thread of the program's own: posix_spawn, vfork and
 * exec, system, popen. */
#include "check.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void reap(pid_t child, int expected)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

static void start_one(int how)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    char text[32] = "";
    pid_t child;
    if (how == 0) {
        CHECK(posix_spawnp(&child, "sh", NULL, NULL, argv, environ) == 0);
        reap(child, 7);
    } else if (how == 1) {
        child = vfork();
        if (!child) {
            execvp("sh", argv);
            _exit(127);
        }
        reap(child, 7);
    } else if (how == 2) {
        int status = system("exit 9");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    } else {
        FILE *f = popen("echo from the child", "r");
        CHECK(f && fgets(text, sizeof text, f) && !strcmp(text, "from the child\n"));
        CHECK(pclose(f) == 0);
    }
}

static void *everywhere(void *arg)
{
    omp_set_max_active_levels(2);
    for (int how = 0; how < 4; how++)
        start_one(how);
#pragma omp parallel num_threads(3)
    {
        int outer = omp_get_thread_num();
#pragma omp barrier
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
            start_one((outer + omp_get_thread_num()) % 4);
#pragma omp barrier
            start_one((outer + omp_get_thread_num() + 2) % 4);
        }
    }
    int sum = 0;
#pragma omp parallel num_threads(5) reduction(+ : sum)
    sum++;
    CHECK(sum == 5);
    return arg;
}

int main(void)
{
    pthread_t thread;
    everywhere(NULL);
    CHECK(pthread_create(&thread, NULL, everywhere, NULL) == 0);
    pthread_join(thread, NULL);
    return 0;
}
