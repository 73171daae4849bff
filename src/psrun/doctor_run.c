/* psrun doctor by a run: the program, and the processes that it starts, append their pools to a file when they end, or
 * with --until-idle once they are idle (PSTHREADS_CENSUS, src/pools/census.c). */
#include "doctor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plan_parts.h"

/* Makes a file for the reports and returns its name. Returns NULL, after a message, if none can be made. */
static char *census_file(void)
{
    const char *folder = setting("TMPDIR");
    char *name = plan_text("%s/psrun-doctor-XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(name);
    if (fd >= 0) {
        close(fd);
        return name;
    }
    fprintf(stderr, "psrun: doctor: no file can be made in %s: %s\n", folder ? folder : "/tmp", strerror(errno));
    free(name);
    return NULL;
}

/* Lets psrun ignore interrupts from the terminal: an interrupt ends only the program, and psrun still reports its
 * pools. */
static void ignore_interrupts(struct sigaction before[2])
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignored, &before[0]);
    sigaction(SIGQUIT, &ignored, &before[1]);
}

static void restore_interrupts(const struct sigaction before[2])
{
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGQUIT, &before[1], NULL);
}

static bool has_told(const char *name, pid_t pid)
{
    long number = 0;
    bool found = false;
    FILE *census = fopen(name, "re");
    while (census && !found && fscanf(census, "%ld%*[^\n]", &number) == 1)
        found = number == pid;
    if (census)
        fclose(census);
    return found;
}

/* Waits until the program has ended. With until_idle it looks ten times a second whether the program has reported its
 * pools in the file `name`, which the program does when it is idle. Then it sends the program SIGTERM. */
static void await_end(pid_t pid, const char *name, bool until_idle, int *ended)
{
    pid_t got;
    while ((got = waitpid(pid, ended, until_idle ? WNOHANG : 0)) <= 0) {
        if (got < 0 && errno != EINTR)
            return;
        if (got == 0) {
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
            if (has_told(name, pid)) {
                kill(pid, SIGTERM);
                until_idle = false;
            }
        }
    }
}

int doctor_run(struct plan *p, const struct wishes *w, char **argv, bool until_idle, struct report *r, int *ended)
{
    char *name = census_file();
    if (!name)
        return 0;
    if (!plan_add_census(p))
        fprintf(stderr, "psrun: doctor: the pools of %s cannot be counted: %s\n", p->file,
                "it has a sanitizer, or libpsthreads-pools.so is not beside the runtime");
    start_report(p, w);
    fflush(NULL);
    /* If SIGCHLD is ignored, waitpid does not return a child's status. */
    struct sigaction of_children, told = {.sa_handler = SIG_DFL}, interrupts[2];
    sigaction(SIGCHLD, &told, &of_children);
    ignore_interrupts(interrupts);
    pid_t pid = fork();
    if (pid == 0) {
        restore_interrupts(interrupts);
        sigaction(SIGCHLD, &of_children, NULL);
        start_environment(p, w);
        if (setenv("PSTHREADS_CENSUS", name, 1) != 0 || (until_idle && setenv("PSTHREADS_CENSUS_AT", "idle", 1) != 0))
            _exit(EXIT_USAGE);
        _exit(start_program(p, argv));
    }
    if (pid < 0)
        fprintf(stderr, "psrun: doctor: %s cannot be started: %s\n", p->file, strerror(errno));
    if (pid > 0)
        await_end(pid, name, until_idle, ended);
    restore_interrupts(interrupts);
    FILE *census = fopen(name, "re");
    if (census) {
        report_read_census(r, census);
        fclose(census);
    }
    unlink(name);
    free(name);
    return pid > 0 ? pid : 0;
}
