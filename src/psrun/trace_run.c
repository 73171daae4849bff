/* The program's parent. See trace.h.
 *
 * The program stays in psrun's process group: it has the terminal, and the terminal's signals reach it by themselves.
 * What was sent to psrun alone psrun passes on. Where a sender sends to the whole group (kill -- -PGID), the program
 * has the signal twice: nothing tells the two apart. If psrun is killed (SIGKILL), the program is killed as well.
 * Later, while a report is made, psrun alone takes signals that ask for an end, and ends the report. */
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
static int num_signals, signals[MOST_SIGNALS]; /* those, and the real-time ones */
static struct sigaction before[MOST_SIGNALS];

static volatile sig_atomic_t program, reporter; /* their pids; 0: it does not run */
static volatile sig_atomic_t last_passed;       /* of those that ask for an end */
static volatile sig_atomic_t stopped;

bool trace_is_stopped(void) { return stopped; }

void trace_reporter(int pid) { reporter = pid; }

static void pass_on(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    int kept = errno;
    /* A key at the terminal: it reaches the others by itself. */
    bool by_key = info->si_code > 0 && (number == SIGINT || number == SIGQUIT);
    bool asks_end = number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
    if (info->si_code <= 0 && info->si_pid == getpid())
        return; /* its standard error has no reader */
    if (program > 0) {
        if (!by_key)
            kill((pid_t)program, number);
        if (asks_end && !by_key)
            last_passed = number;
    } else if (asks_end && (by_key || number != last_passed)) { /* `timeout` sends twice: to psrun, to the group */
        stopped = 1;
        if (reporter > 0)
            kill((pid_t)reporter, SIGKILL);
    }
    errno = kept;
}

/* Standard descriptors that are closed would be those of the next files. They are closed in the program again. */
static void fill_descriptors(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
        continue;
    if (fd >= 0)
        close(fd);
}

/* psthreads-report has them. */
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

/* It runs as if psrun had become it. */
static int run_unrecorded(const struct trace *t, const struct plan *p, char **argv, const char *what)
{
    fprintf(stderr, "psrun: no %s: %s; the program runs without a recording\n", what, strerror(errno));
    trace_give_up(t);
    unsetenv("PSTHREADS_RECORDING"); /* the recorder declines */
    return start_program(p, argv);
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

/* The child becomes the program. */
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
    sigprocmask(SIG_BLOCK, &all, &mask); /* until the handler knows the program */
    take_signals();
    sigaction(SIGCHLD, &usual, &before_child); /* ignored, it would leave nothing to wait for */
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
    for (int i = 0; i < num_signals; i++) /* what psrun's parent wants to be ignored psrun ignores, too */
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
