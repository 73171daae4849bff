/* Runs this program once more with other environment variables: what a runtime reads when it is loaded can be tested no
 * other way. */
#ifndef RESPAWN_H
#define RESPAWN_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* With argv[1] == mode and the given "NAME=value" strings (up to a NULL) set; "NAME" alone takes it away. *out gets
 * what is written to standard error. Returns the exit status, 256 + signal where one ended it. To be called before the
 * first parallel region. */
static inline int respawn(char *out, size_t size, const char *mode, ...)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        va_list list;
        va_start(list, mode);
        for (const char *entry; (entry = va_arg(list, const char *)) != NULL;)
            putenv((char *)entry);
        va_end(list);
        dup2(pipes[1], 2);
        close(pipes[0]);
        close(pipes[1]);
        execl("/proc/self/exe", "respawned", mode, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    size_t got = 0;
    char rest[256];
    for (ssize_t n;
         (n = got + 1 < size ? read(pipes[0], out + got, size - got - 1) : read(pipes[0], rest, sizeof rest)) > 0;)
        if (got + 1 < size)
            got += (size_t)n;
    out[got] = '\0';
    close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* How often `what` stands in `text`. */
static inline int occurrences(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        n++;
    return n;
}

#endif
