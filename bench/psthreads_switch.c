/* What does a switch from one user-level thread to another cost? Two threads on one virtual processor yield to each
 * other. A child does the same with thread-local blocks (PSTHREADS_TLS=always, once in a process): what is more is
 * their price.
 * Twin: two kernel threads on one processor do the same with sched_yield. */
#include "psthread.h"
#include "sample.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 15 };
static const unsigned long user_yields = 1000 * 1000, kernel_yields = 50 * 1000;

static void *yield_user(void *arg)
{
    for (unsigned long i = 0; i < *(unsigned long *)arg; i++)
        psthread_yield();
    return NULL;
}

static void *yield_kernel(void *arg)
{
    for (unsigned long i = 0; i < *(unsigned long *)arg; i++)
        sched_yield();
    return NULL;
}

static void need(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "psthreads_switch: %s: error %d\n", what, error);
        exit(1);
    }
}

/* ns a switch */
static double user_sample(void)
{
    unsigned long n = user_yields;
    psthread_t t[2];
    for (int i = 0; i < 2; i++) {
        need(psthread_create(&t[i], NULL, yield_user, &n), "psthread_create");
        need(psthread_enqueue(t[i], 0), "psthread_enqueue");
    }
    double start = sample_now();
    need(psthread_waitall(), "psthread_waitall");
    return (sample_now() - start) / (2.0 * (double)n) * 1e9;
}

static double kernel_sample(void)
{
    unsigned long n = kernel_yields;
    pthread_t t;
    double start = sample_now();
    need(pthread_create(&t, NULL, yield_kernel, &n), "pthread_create");
    yield_kernel(&n);
    pthread_join(t, NULL);
    return (sample_now() - start) / (2.0 * (double)n) * 1e9;
}

static void start(void)
{
    psthread_config_t config = {.num_vps = 1};
    need(psthread_init(&config), "psthread_init");
    user_sample();
}

static int with_blocks(void)
{
    double user[SAMPLES];
    setenv("PSTHREADS_TLS", "always", 1);
    start();
    for (int i = 0; i < SAMPLES; i++)
        user[i] = user_sample();
    sample_print("switch, psthreads, thread-local blocks", "ns", user, SAMPLES);
    return psthread_finalize();
}

int main(void)
{
    double user[SAMPLES], kernel[SAMPLES];
    int status = 1;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t child = fork();
    if (child == 0)
        exit(with_blocks());
    need(waitpid(child, &status, 0) != child || status != 0, "the child");
    start();
    for (int i = 0; i < SAMPLES; i++) {
        user[i] = user_sample();
        kernel[i] = kernel_sample();
    }
    sample_print("switch, psthreads", "ns", user, SAMPLES);
    sample_print("switch, pthreads", "ns", kernel, SAMPLES);
    return psthread_finalize();
}
