/* As counts.c, for the threads library: counts_threads NAME REPETITIONS */
#include "counted.h"
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

/* The same, one of them called on the root's stack by its joiner. */
static void root_switch(void)
{
    psthread_t t[2];
    for (int i = 0; i < 2; i++) {
        need(psthread_create(&t[i], NULL, yield_often, NULL));
        need(psthread_enqueue(t[i], 0));
    }
    for (int i = 0; i < 2; i++)
        need(psthread_join(t[i], NULL));
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

/* Each joined by its maker, before the next is made. */
static void thread_join(void)
{
    for (unsigned long i = 0; i < times; i++) {
        psthread_t t;
        need(psthread_create(&t, NULL, end_at_once, NULL));
        need(psthread_enqueue(t, 0));
        need(psthread_join(t, NULL));
    }
}

static void thread_spawn(void)
{
    for (unsigned long i = 0; i < times; i++) {
        psthread_t t;
        need(psthread_spawn(&t, NULL, end_at_once, NULL));
        need(psthread_join(t, NULL));
    }
}

/* Locked and unlocked, with nobody waiting. */
static void mutex(void)
{
    static psthread_mutex_t m;
    for (unsigned long i = 0; i < times; i++) {
        psthread_mutex_lock(&m);
        psthread_mutex_unlock(&m);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"thread_switch", thread_switch}, {"root_switch", root_switch},   {"thread_life", thread_life},
               {"thread_join", thread_join},     {"thread_spawn", thread_spawn}, {"mutex", mutex}};
    const unsigned num = sizeof all / sizeof all[0];
    unsigned which = 0;
    psthread_config_t config = {.num_vps = 1};
    if (argc < 3) {
        for (unsigned i = 0; i < num; i++)
            puts(all[i].name);
        return argc > 1 ? 2 : 0;
    }
    while (which < num && strcmp(argv[1], all[which].name) != 0)
        which++;
    if (which == num)
        return 2;
    times = strtoul(argv[2], NULL, 10);
    need(psthread_init(&config));
    COUNTED_BEGIN;
    all[which].run();
    COUNTED_END;
    need(psthread_finalize());
    return 0;
}
