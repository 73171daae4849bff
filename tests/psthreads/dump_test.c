/* A process that ends while it is looked at: before its first line, in the middle, and not at all. */
#include "dump.h"

#include "debug_layout.h"
#include "psthread.h"
#include "sync_support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct ps_debug_layout ps_debug_layout;

static pid_t child;
static enum { NEVER, IN_THE_PAUSE, AT_THE_FIRST_LINE } ends;
static unsigned lines;
static char last[512];

static void end_child(void)
{
    CHECK(kill(child, SIGKILL) == 0);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) ==
          0); /* as a process is that its parent does not know */
}

int __real_usleep(unsigned us);
int __wrap_usleep(unsigned us);
int __wrap_usleep(unsigned us)
{
    if (ends == IN_THE_PAUSE)
        end_child();
    return __real_usleep(us);
}

static void take_line(void *context, const char *line)
{
    (void)context;
    if (lines++ == 0 && ends == AT_THE_FIRST_LINE)
        end_child();
    snprintf(last, sizeof last, "%s", line);
}

/* Of a child that has two virtual processors, as this process. */
static int dump_child(void)
{
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        for (;;)
            pause();
    lines = 0;
    const struct dump_process process = {.pid = child, .layout = (uintptr_t)&ps_debug_layout};
    int result = dump_state(&process, take_line, NULL);
    if (ends == NEVER)
        end_child();
    CHECK(waitpid(child, NULL, 0) == child);
    return result;
}

int main(void)
{
    psthread_config_t config = {.num_vps = 2};
    CHECK(psthread_init(&config) == 0);
    int result = dump_child();
    if (result == EPERM || result == ENOSYS) {
        fprintf(stderr, "no process may look at another one here\n");
        return 77;
    }
    CHECK(result == 0 && lines >= 2 && strstr(last, "threads wait") != NULL);
    ends = IN_THE_PAUSE;
    CHECK(dump_child() == ESRCH && lines == 0);
    ends = AT_THE_FIRST_LINE;
    CHECK(dump_child() == 0 && lines >= 2 && strstr(last, "has ended meanwhile") != NULL);
    CHECK(psthread_finalize() == 0);
    return 0;
}
