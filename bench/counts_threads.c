/* As counts.c, for the threads library: counts_threads NAME REPETITIONS */
#include "psthread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long times;

static void need(int error)
{
    if (error) {
        fprintf(stderr, "counts_threads: error %d\n", error);
        exit(1);
    }
}

static void *yield_often(void *arg)
{
    for (unsigned long i = 0; i < times / 2; i++)
        psthread_yield();
    return arg;
}

static void *end_at_once(void *arg) { return arg; }

static void thread_switch(void)
{
    psthread_t t;
    for (int i = 0; i < 2; i++) {
        need(psthread_create(&t, NULL, yield_often, NULL));
        need(psthread_enqueue(t, 0));
    }
    need(psthread_waitall());
}

/* Created, submitted, run, recycled; by the thousand. */
static void thread_life(void)
{
    for (unsigned long i = 0; i < times; i += 1000) {
        for (int k = 0; k < 1000; k++) {
            psthread_t t;
            need(psthread_create(&t, NULL, end_at_once, NULL));
            need(psthread_enqueue(t, 0));
        }
        need(psthread_waitall());
    }
}

int main(int argc, char **argv)
{
    psthread_config_t config = {.num_vps = 1};
    if (argc < 3) {
        puts("thread_switch\nthread_life");
        return argc > 1 ? 2 : 0;
    }
    times = strtoul(argv[2], NULL, 10);
    need(psthread_init(&config));
    if (strcmp(argv[1], "thread_switch") == 0)
        thread_switch();
    else if (strcmp(argv[1], "thread_life") == 0)
        thread_life();
    else
        return 2;
    need(psthread_finalize());
    return 0;
}
