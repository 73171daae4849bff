/* Runs the program as its parent. See trace.h.
 *
 * The program stays in psrun's process group: it has the terminal, and the terminal's signals reach it directly.
 * psrun passes signals that are sent to psrun alone (`passed`, and real-time signals) on to the program. If a sender
 * sends to the whole group (kill -- -PGID), the program gets the signal twice: psrun cannot tell the two cases apart.
 * If psrun is killed (SIGKILL), the program is killed as well. After the program's end, while a report is made, only
 * psrun takes signals that ask for an end; it then kills psthreads-report. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"

static const int passed[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,    SIGUSR1, SIGUSR2,
                             SIGALRM, SIGPIPE, SIGPROF, SIGVTALRM, SIGIO};
enum { PASSED = sizeof passed / sizeof passed[0], MOST_SIGNALS = PASSED + 64 };
static int num_signals, signals[MOST_SIGNALS]; /* those of `passed`, and the real-time signals */
static struct sigaction before[MOST_SIGNALS];

static volatile sig_atomic_t program, reporter; /* pids of the program and of psthreads-report; 0: it does not run */
static volatile sig_atomic_t last_passed;       /* the last signal passed on that asks for an end */
static volatile sig_atomic_t stopped;

bool trace_is_stopped(void) { return stopped; }

void trace_reporter(int pid) { reporter = pid; }

static void pass_on(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    int kept = errno;
    /* A key at the terminal has caused the signal: the program gets the signal directly, too. */
    bool by_key = info->si_code > 0 && (number == SIGINT || number == SIGQUIT);
    bool asks_end = number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
    if (info->si_code <= 0 && info->si_pid == getpid())
        return; /* psrun itself has caused this SIGPIPE: its standard error has no reader */
    if (program > 0) {
        if (!by_key)
            kill((pid_t)program, number);
        if (asks_end && !by_key)
            last_passed = number;
    } else if (asks_end && (by_key || number != last_passed)) { /* `timeout` sends twice: the second is ignored */
        stopped = 1;
        if (reporter > 0)
            kill((pid_t)reporter, SIGKILL);
    }
    errno = kept;
}

/* Opens /dev/null for standard descriptors that are closed: otherwise the next files would get their numbers. In the
 * program they are closed again. */
static void fill_descriptors(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
        continue;
    if (fd >= 0)
        close(fd);
}

/* Lets psthreads-report inherit the standard descriptors. */
static void keep_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        fcntl(fd, F_SETFD, 0);
}

static void take_signals(void)
{
    const struct sigaction passing = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < PASSED; i++)
        signals[num_signals++] = passed[i];
    for (int number = SIGRTMIN; number <= SIGRTMAX && num_signals < MOST_SIGNALS; number++)
        signals[num_signals++] = number;
    for (int i = 0; i < num_signals; i++)
        sigaction(signals[i], &passing, &before[i]);
}

static void give_signals_back(void)
{
    for (int i = 0; i < num_signals; i++)
        sigaction(signals[i], &before[i], NULL);
}

/* Writes that `what` could not be made. Then psrun becomes the program, without a recording. Returns psrun's exit
 * status, only if that fails. */
static int run_unrecorded(const struct trace *t, const struct plan *p, char **argv, const char *what)
{
    fprintf(stderr, "psrun: no %s: %s; the program runs without a recording\n", what, strerror(errno));
    trace_give_up(t);
    unsetenv("PSTHREADS_RECORDING"); /* without this variable the recorder declines */
    return start_program(p, argv);
}

/* Ends psrun by the signal that has ended the program, without a core file of psrun. */
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

/* Returns whether the child has become the program. Then exec closes the child's end of the pipe, and nothing was
 * written. A child that cannot become the program writes a byte. */
static bool has_begun(int fd)
{
    char word;
    ssize_t n;
    while ((n = read(fd, &word, 1)) < 0 && errno == EINTR)
        continue;
    close(fd);
    return n == 0;
}

/* The child becomes the program. If that fails, it writes a byte into the pipe and ends. */
static void become_program(const struct plan *p, char **argv, pid_t parent, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        raise(SIGKILL);
    int status = start_program(p, argv);
    if (write(fd, "", 1) != 1)
        status = EXIT_USAGE;
    _exit(status);
}

int trace_run(const struct trace *t, const struct plan *p, char **argv)
{
    int ends[2], ended = 0;
    struct sigaction before_child;
    const struct sigaction usual = {.sa_handler = SIG_DFL}, ignored = {.sa_handler = SIG_IGN};
    sigset_t all, mask;
    pid_t parent = getpid();
    fill_descriptors();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return run_unrecorded(t, p, argv, "pipe");
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* signals stay blocked until `program` has the child's pid */
    take_signals();
    sigaction(SIGCHLD, &usual, &before_child); /* if SIGCHLD were ignored, waitpid would return no status */
    pid_t pid = fork();
    if (pid <= 0) {
        give_signals_back();
        sigaction(SIGCHLD, &before_child, NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        if (pid == 0)
            become_program(p, argv, parent, ends[1]);
        return run_unrecorded(t, p, argv, "process");
    }
    program = pid;
    for (int i = 0; i < num_signals; i++) /* psrun also ignores the signals that its parent has made it ignore */
        if (before[i].sa_handler == SIG_IGN)
            sigaction(signals[i], &ignored, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    keep_descriptors();
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
