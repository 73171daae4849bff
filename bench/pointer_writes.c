/* How often does a construct write the thread pointer? With thread-local blocks a region of n members cannot do with
 * less than n writes on one processor (n - 1 members, and back), a barrier of n not with less than n - 1 (the last one
 * goes on). Twin: - (the limit itself).
 *
 * pointer_writes parallel|inner|barrier THREADS. Runs the construct in a child process, instruction by instruction
 * (ptrace), and looks for wrfsbase; for PSTHREADS_NUM_VPS=1, where one kernel thread runs all. `inner`: a region inside
 * another one. Prints the number of writes, and of instructions, a construct (`mean`). x86-64 only (77 elsewhere). */
#include "sample.h"

#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <sys/user.h>

enum { WARM = 2000, COUNTED = 4, BREAKPOINT = 0xcc };

static void mark(void) { __asm__ volatile("int3"); }
static void nothing(void) { __asm__ volatile("" ::: "memory"); }

static void regions(int n)
{
    for (int i = 0; i < WARM + COUNTED + 1; i++) {
        if (i >= WARM)
            mark();
#pragma omp parallel num_threads(n)
        nothing();
    }
}

static void inner_regions(int n)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        regions(n);
}

static void barriers(int n)
{
#pragma omp parallel num_threads(n)
    for (int i = 0; i < WARM + COUNTED + 1; i++) {
        if (i >= WARM && omp_get_thread_num() == 0)
            mark();
#pragma omp barrier
    }
}

static int run_child(const char *construct, int n)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 1;
    if (strcmp(construct, "parallel") == 0)
        regions(n);
    else if (strcmp(construct, "inner") == 0)
        inner_regions(n);
    else
        barriers(n);
    return 0;
}

static unsigned char *instruction(pid_t child, long *word)
{
    struct user_regs_struct registers;
    ptrace(PTRACE_GETREGS, child, NULL, &registers);
    *word = ptrace(PTRACE_PEEKTEXT, child, (void *)registers.rip, NULL);
    return (unsigned char *)word;
}

/* f3 (a prefix for wide registers) 0f ae /2 */
static int writes_pointer(const unsigned char *code)
{
    int at = 1 + ((code[1] & 0xf0) == 0x40);
    return code[0] == 0xf3 && code[at] == 0x0f && code[at + 1] == 0xae && (code[at + 2] >> 3 & 7) == 2;
}

/* Goes on until the child stops at a mark (1) or at the next instruction (0), or has ended (-1). */
static int go_on(pid_t child, int request)
{
    int status;
    long word;
    for (int signal = 0;; signal = WSTOPSIG(status)) {
        if (ptrace(request, child, NULL, (void *)(long)signal) != 0 || waitpid(child, &status, 0) < 0 ||
            !WIFSTOPPED(status))
            return -1;
        if (WSTOPSIG(status) == SIGTRAP)
            return request == PTRACE_CONT || *instruction(child, &word) == BREAKPOINT;
    }
}

/* From mark to mark. */
static int count(pid_t child, double *writes, double *steps)
{
    int at;
    long word;
    *writes = *steps = 0;
    while ((at = go_on(child, PTRACE_SINGLESTEP)) == 0) {
        *writes += writes_pointer(instruction(child, &word));
        ++*steps;
    }
    return at;
}

int main(int argc, char **argv)
{
    int status, n = argc == 3 ? atoi(argv[2]) : 0;
    double writes[COUNTED], steps[COUNTED];
    if (n < 1) {
        fprintf(stderr, "pointer_writes parallel|inner|barrier THREADS\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0)
        _exit(run_child(argv[1], n));
    int here = child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status) ? -1 : 1;
    while (here == 1 && WSTOPSIG(status) != SIGTRAP)
        if (ptrace(PTRACE_CONT, child, NULL, (void *)(long)WSTOPSIG(status)) != 0 || waitpid(child, &status, 0) < 0 ||
            !WIFSTOPPED(status))
            here = -1;
    for (int i = 0; i < COUNTED && here == 1; i++)
        here = count(child, &writes[i], &steps[i]);
    if (child > 0)
        kill(child, SIGKILL);
    if (here != 1) {
        fprintf(stderr, "pointer_writes: the child did not come to its end\n");
        return 1;
    }
    sample_print("thread pointer written", "times", writes, COUNTED);
    sample_print("instructions", "instructions", steps, COUNTED);
    return 0;
}
#else
int main(void)
{
    puts("nobody looks for other processors' instructions");
    return 77;
}
#endif
