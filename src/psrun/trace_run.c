/* The program's parent. See trace.h.
 *
 * The program stays in psrun's process group: it has the terminal, and the terminal's signals reach it by themselves.
 * psrun ignores those that ask for an end by a key, and passes on what was sent to psrun alone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"

static const int by_key[] = {SIGINT, SIGQUIT};
static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { BY_KEY = sizeof by_key / sizeof by_key[0], PASSED = sizeof passed / sizeof passed[0] };

static volatile sig_atomic_t program; /* its pid */

static void pass_on(int number)
{
    int kept = errno;
    if (program > 0)
        kill((pid_t)program, number);
    errno = kept;
}

/* Ends psrun as the program ended, without a core of psrun's own. */
static void die_of(int number)
{
    const struct rlimit none = {0, 0};
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/* Whether pid has become the program: its end of the pipe closes then. What it writes before that is why not. */
static bool has_begun(int fd)
{
    char word;
    ssize_t n;
    while ((n = read(fd, &word, 1)) < 0 && errno == EINTR)
        continue;
    close(fd);
    return n == 0;
}

int trace_run(const struct trace *t, const struct plan *p, char **argv)
{
    int ends[2], ended = 0;
    struct sigaction before[BY_KEY + PASSED], before_child;
    const struct sigaction ignored = {.sa_handler = SIG_IGN}, passing = {.sa_handler = pass_on};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t all, mask;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fprintf(stderr, "psrun: no pipe: %s; the program runs without a trace\n", strerror(errno));
        return start_program(p, argv);
    }
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* until the handlers know the program */
    for (unsigned i = 0; i < BY_KEY; i++)
        sigaction(by_key[i], &ignored, &before[i]);
    for (unsigned i = 0; i < PASSED; i++)
        sigaction(passed[i], &passing, &before[BY_KEY + i]);
    sigaction(SIGCHLD, &usual, &before_child); /* ignored, it would leave nothing to wait for */
    pid_t pid = fork();
    if (pid <= 0) {
        for (unsigned i = 0; i < BY_KEY; i++)
            sigaction(by_key[i], &before[i], NULL);
        for (unsigned i = 0; i < PASSED; i++)
            sigaction(passed[i], &before[BY_KEY + i], NULL);
        sigaction(SIGCHLD, &before_child, NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        if (pid < 0)
            fprintf(stderr, "psrun: no process: %s; the program runs without a trace\n", strerror(errno));
        int status = start_program(p, argv);
        if (pid == 0) {
            if (write(ends[1], "", 1) != 1)
                _exit(EXIT_USAGE);
            _exit(status);
        }
        return status;
    }
    program = pid;
    for (unsigned i = 0; i < PASSED; i++) /* what psrun's parent wants to be ignored the program ignores */
        if (before[BY_KEY + i].sa_handler == SIG_IGN)
            sigaction(passed[i], &ignored, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    bool begun = has_begun(ends[0]);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        continue;
    program = 0;
    if (begun)
        trace_report(t, pid);
    else
        trace_give_up(t);
    if (WIFSIGNALED(ended))
        die_of(WTERMSIG(ended));
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : EXIT_USAGE;
}
