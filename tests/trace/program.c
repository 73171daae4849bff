/* What the recorder has to record: a program that says on standard output, in words that recorder_test.py reads, how
 * much of each it did. The first argument chooses what. */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int number; /* the second argument */

static long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long body(long ns)
{
    long begin = now_ns(), past;
    while ((past = now_ns() - begin) < ns)
        continue;
    return past;
}

/* `number` tasks, whose times are told. */
static void tasks(void)
{
    long *ns = calloc((size_t)number, sizeof *ns);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < number; i++) {
#pragma omp task
        ns[i] = body(500000);
    }
    for (int i = 0; i < number; i++)
        printf("ns %ld\n", ns[i]);
    free(ns);
}

/* Short tasks, without a clock; errno stays. */
static void short_tasks(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < number; i++) {
        errno = i % 100 + 1;
#pragma omp task firstprivate(i)
        __asm__ volatile("" : : "r"(i));
        if (errno != i % 100 + 1)
            wrong++;
    }
    printf("wrong %d\n", wrong);
}

static void regions(void)
{
    for (int i = 0; i < number; i++) {
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
#pragma omp parallel num_threads(2)
            __asm__ volatile("");
        }
    }
}

static void nested_tasks(int depth)
{
    if (depth == 0)
        return;
#pragma omp task
    nested_tasks(depth - 1);
#pragma omp task
    nested_tasks(depth - 1);
#pragma omp taskwait
}

static void tree(void)
{
#pragma omp parallel num_threads(4)
#pragma omp single
    nested_tasks(number);
}

static void locks(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
    for (int i = 0; i < number; i++) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
#pragma omp critical(name)
        __asm__ volatile("");
    }
    omp_destroy_lock(&lock);
}

/* A chain: none of them runs before all are made. */
static void dependences(void)
{
    int chain = 0;
    _Atomic int made = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < number; i++) {
#pragma omp task depend(inout : chain) shared(made)
            while (!made)
                sched_yield();
        }
        made = 1;
    }
    (void)chain;
}

static void loops(void)
{
    for (int i = 0; i < number; i++) {
#pragma omp parallel num_threads(2)
        {
            __asm__ volatile("" : : "r"(i));
#pragma omp for schedule(dynamic)
            for (int k = 0; k < 10; k++)
                __asm__ volatile("" : : "r"(k));
#pragma omp single
            __asm__ volatile("" : : "r"(i));
        }
    }
}

static void *foreign_thread(void *unused)
{
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
    return unused;
}

static void foreign(void)
{
    enum { TOGETHER = 4 };
    pthread_t thread[TOGETHER];
    for (int i = 0; i < number; i += TOGETHER) {
        for (int k = 0; k < TOGETHER; k++)
            pthread_create(&thread[k], NULL, foreign_thread, NULL);
        for (int k = 0; k < TOGETHER; k++)
            pthread_join(thread[k], NULL);
    }
}

static void forks(void)
{
    regions();
    for (int i = 0; i < 2; i++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            regions();
            exit(0);
        }
        printf("child %d\n", (int)pid);
        waitpid(pid, NULL, 0);
    }
    regions();
}

/* Leaves a child, which runs until its standard input ends. */
static void background(void)
{
    char c;
    int told[2];
    regions();
    if (pipe(told) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        regions();
        close(told[0]);
        close(told[1]);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        _exit(read(STDIN_FILENO, &c, 1) == 0 ? 0 : 1);
    }
    close(told[1]);
    printf("child %d %d\n", (int)pid, (int)read(told[0], &c, 1));
}

static void interrupted(int unused) { (void)unused; }

static void signals(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}};
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    short_tasks();
}

/* Thread 0 waits for thread 1 so long that its vp sleeps. Thread 0 sees the other one begin: it is on another vp. */
static void uneven(void)
{
    _Atomic int begun = 0;
#pragma omp parallel num_threads(2)
    {
        begun++;
        while (begun < 2)
            continue;
        if (omp_get_thread_num() == 1)
            body(number * 1000000L);
    }
}

/* Ends in the middle of a region. */
static void ends(const char *how)
{
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        for (int i = 0; i < number; i++) {
#pragma omp task
            __asm__ volatile("");
        }
#pragma omp taskwait
        if (strcmp(how, "kill") == 0)
            raise(SIGKILL);
        else if (strcmp(how, "abort") == 0)
            abort();
        else if (strcmp(how, "_exit") == 0)
            _exit(7);
        else if (strcmp(how, "quick_exit") == 0)
            quick_exit(7);
    }
}

/* Says that it has begun, and what it then reads. */
static void waits(void)
{
    char line[100] = "";
    regions();
    puts("begun");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) != NULL)
        printf("read %s", line);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"tasks", tasks},          {"short_tasks", short_tasks}, {"regions", regions}, {"tree", tree},
                 {"locks", locks},          {"dependences", dependences}, {"loops", loops},     {"foreign", foreign},
                 {"forks", forks},          {"signals", signals},         {"waits", waits},     {"uneven", uneven},
                 {"background", background}};
    const char *mode = argc > 2 ? argv[1] : "";
    number = argc > 2 ? atoi(argv[2]) : 0;
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].name, mode) == 0) {
            modes[i].run();
            return argc > 3 ? atoi(argv[3]) : 0;
        }
    if (strcmp(mode, "exec") == 0) {
        regions();
        execl(argv[0], argv[0], "regions", argv[2], (char *)NULL);
    }
    ends(mode);
    return 9;
}
