/* A child process is the child of the thread that has made it, and of no other. That thread alone reaps the child where
 * it asks for its own (__WNOTHREAD), and traces it. The child is told of that thread's end (PR_SET_PDEATHSIG), and of
 * no other's. Over all waits, and in the next region, where the thread is a member again. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#define N 8
#define STATUS 20 /* of member 0's child, one more of the next one's */

/* --- each maker of processes: its child ends with this status --- */

static char *const shell[] = {"sh", "-c", "exit $STATUS", NULL};
struct setting {
    char text[20], *list[2];
};
static char *const *set_status(struct setting *to, int status)
{
    snprintf(to->text, sizeof to->text, "STATUS=%d", status);
    to->list[0] = to->text;
    to->list[1] = NULL;
    return to->list;
}

static pid_t by_fork(int status)
{
    pid_t child = fork();
    if (child == 0)
        _exit(status);
    return child;
}
static pid_t by_fork_alone(int status)
{
    pid_t child = _Fork();
    if (child == 0)
        _exit(status);
    return child;
}
__attribute__((noinline)) static pid_t by_vfork(int status)
{
    struct setting setting;
    char *const *settings = set_status(&setting, status);
    pid_t child = vfork();
    if (child == 0) {
        execve("/bin/sh", shell, settings);
        _exit(1);
    }
    return child;
}
static pid_t by_spawn(int status)
{
    struct setting setting;
    pid_t child;
    CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, shell, set_status(&setting, status)) == 0);
    return child;
}
static pid_t by_spawnp(int status)
{
    struct setting setting;
    pid_t child;
    CHECK(posix_spawnp(&child, "sh", NULL, NULL, shell, set_status(&setting, status)) == 0);
    return child;
}
/* Not closed: the question here is which thread reaps the child. */
static pid_t by_popen(int status)
{
    char command[60], text[30] = "";
    snprintf(command, sizeof command, "echo $$; exit %d", status);
    FILE *pipe = popen(command, "re");
    CHECK(pipe && fgets(text, sizeof text, pipe));
    return atoi(text);
}
static int end_clone(void *status) { _exit((int)(long)status); }
static pid_t by_clone(int status)
{
    char stack[8192] __attribute__((aligned(16)));
    return clone(end_clone, stack + sizeof stack, SIGCHLD, (void *)(long)status);
}
static pid_t by_system_call(int status)
{
    pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child == 0)
        _exit(status);
    return child;
}
static pid_t by_forkpty(int status)
{
    int terminal;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0)
        _exit(status);
    return child;
}

/* The calling thread's own child ends so; it has no other. */
static void reap_own(pid_t child, int status)
{
    int ended = 0;
    pid_t got;
    while ((got = waitpid(child, &ended, __WNOTHREAD)) == -1 && errno == EINTR)
        continue;
    CHECK(got == child && WIFEXITED(ended) && WEXITSTATUS(ended) == status);
    CHECK(waitpid(-1, &ended, WNOHANG | __WNOTHREAD) == -1 && errno == ECHILD);
}

static void by_each(pid_t (*make)(int status))
{
    pid_t kept[N];
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            if (round > 0)
                reap_own(kept[id], STATUS + id);
            pid_t child = make(STATUS + id);
            CHECK(child > 0);
            wait_in_all_ways();
            reap_own(child, STATUS + id);
            wait_in_a_barrier();
            if (round < 2)
                CHECK((kept[id] = make(STATUS + id)) > 0);
        }
    }
}

#define MAKER(name) \
    static void each_##name(void) { by_each(by_##name); }
MAKER(fork)
MAKER(fork_alone)
MAKER(vfork)
MAKER(spawn)
MAKER(spawnp)
MAKER(popen)
MAKER(clone)
MAKER(system_call)
MAKER(forkpty)

/* --- what a child is told --- */

/* All members are in a system call at once, so there were as many kernel threads; some of them go again. */
static void told_of_an_end(void)
{
    pid_t child[N];
    int go_on[2], all[2];
    CHECK(pipe(go_on) == 0 && pipe(all) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num(), ready[2];
        char none = 0;
        CHECK(pipe(ready) == 0 && (child[id] = fork()) >= 0);
        if (child[id] == 0) {
            close(go_on[1]);
            CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && write(ready[1], &none, 1) == 1);
            _exit(read(go_on[0], &none, 1) == 0 ? STATUS + id : 1); /* its end */
        }
        CHECK(read(ready[0], &none, 1) == 1);
        if (id == 0) {
            usleep(100000);
            for (int i = 1; i < N; i++)
                CHECK(write(all[1], &none, 1) == 1);
        } else {
            CHECK(read(all[0], &none, 1) == 1);
        }
    }
    for (int i = 0; i < 20; i++) {
        usleep(30000);
#pragma omp parallel num_threads(N)
        wait_in_a_barrier();
    }
    close(go_on[1]);
    for (int id = 0; id < N; id++) {
        int status;
        CHECK(waitpid(child[id], &status, 0) == child[id]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS + id);
    }
}

/* --- the tracer --- */

static void trace(pid_t child, int status)
{
    siginfo_t info;
    int stopped;
    CHECK(waitpid(child, &stopped, 0) == child && WIFSTOPPED(stopped) && WSTOPSIG(stopped) == SIGSTOP);
    for (int i = 0; i < 3; i++) {
        wait_in_all_ways();
        CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && info.si_signo == SIGSTOP);
    }
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    reap_own(child, status);
}

static bool traces; /* that is allowed here */

static void traced(void)
{
    for (int round = 0; traces && round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num();
            pid_t child = fork();
            CHECK(child >= 0);
            if (child == 0) {
                CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0);
                _exit(STATUS + id);
            }
            trace(child, STATUS + id);
        }
    }
}

/* Of children that the program's thread has made. */
static void attached(void)
{
    pid_t child[N];
    int go_on[2];
    char none;
    CHECK(pipe(go_on) == 0);
    for (int id = 0; id < N; id++) {
        CHECK((child[id] = fork()) >= 0);
        if (child[id] == 0) {
            close(go_on[1]);
            while (read(go_on[0], &none, 1) == -1)
                CHECK(errno == EINTR);
            _exit(STATUS + id);
        }
    }
#pragma omp parallel num_threads(N)
    if (traces) {
        int id = omp_get_thread_num(), stopped;
        struct user_regs_struct registers;
        CHECK(ptrace(PTRACE_ATTACH, child[id], NULL, NULL) == 0);
        CHECK(waitpid(child[id], &stopped, 0) == child[id] && WIFSTOPPED(stopped));
        for (int i = 0; i < 3; i++) {
            wait_in_all_ways();
            CHECK(ptrace(PTRACE_GETREGS, child[id], NULL, &registers) == 0);
        }
        CHECK(ptrace(PTRACE_DETACH, child[id], NULL, NULL) == 0);
    }
    close(go_on[1]);
    for (int id = 0; id < N; id++) {
        int status;
        CHECK(waitpid(child[id], &status, 0) == child[id]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS + id);
    }
}

static bool may_trace(void)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
    CHECK(waitpid(child, &status, 0) == child);
    return status == 0;
}

int main(int argc, char **argv)
{
#define MADE_BY(name)      \
    {                      \
#name, each_##name \
    }
    static const struct kind_of kinds[] = {
        MADE_BY(fork),      MADE_BY(fork_alone),
        MADE_BY(vfork),     MADE_BY(spawn),
        MADE_BY(spawnp),    MADE_BY(popen),
        MADE_BY(clone),     MADE_BY(system_call),
        MADE_BY(forkpty),   {"told_of_an_end", told_of_an_end},
        {"traced", traced}, {"attached", attached},
    };
    traces = may_trace();
    if (!traces)
        fprintf(stderr, "processes may not be traced here: that is left out\n");
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
