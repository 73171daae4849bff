/* How long does a whole process take? whole_process TIMES PROGRAM ARGUMENTS...: starts the program again and again,
 * each time until it has ended; prints the median in ms. What the program writes is thrown away; one that fails ends
 * the measurement. */
#include "sample.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;
enum { TIMES_MAX = 1000 };

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[1]) : 0;
    double ms[TIMES_MAX];
    posix_spawn_file_actions_t actions;
    if (times < 1 || times > TIMES_MAX) {
        fprintf(stderr, "whole_process TIMES PROGRAM ARGUMENTS...\n");
        return 2;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < times; i++) {
        pid_t pid;
        int status;
        double start = sample_now();
        int error = posix_spawn(&pid, argv[2], &actions, NULL, argv + 2, environ);
        if (error || waitpid(pid, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "whole_process: %s failed\n", argv[2]);
            return 1;
        }
        ms[i] = (sample_now() - start) * 1e3;
    }
    sample_print("process", "ms", ms, (unsigned)times);
    return 0;
}
