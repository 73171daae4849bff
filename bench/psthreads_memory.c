/* How much memory do a million ready threads take? The threads are made and submitted; hardly any runs before all are
 * there. Twin: kernel threads that wait (a thousand; a million of them no system gives). */
#include "psthread.h"
#include "sample.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_USER = 1000 * 1000, NUM_KERNEL = 1000 };

static unsigned char ran[NUM_USER];

static void *mark(void *arg)
{
    *(unsigned char *)arg = 1;
    return NULL;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return arg;
}

static void need(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "psthreads_memory: %s: error %d\n", what, error);
        exit(1);
    }
}

int main(void)
{
    memset(ran, 2, sizeof ran); /* in memory before it counts */
    psthread_config_t config = {.num_vps = 1};
    need(psthread_init(&config), "psthread_init");
    size_t before = sample_resident_bytes();
    for (int i = 0; i < NUM_USER; i++) {
        psthread_t t;
        need(psthread_create(&t, NULL, mark, &ran[i]), "psthread_create");
        need(psthread_enqueue(t, 0), "psthread_enqueue");
    }
    double user = (double)(sample_resident_bytes() - before);
    need(psthread_waitall(), "psthread_waitall");
    need(memchr(ran, 2, sizeof ran) != NULL, "not every thread ran");
    double megabytes = user / 1e6, each = user / NUM_USER;
    sample_print("a million ready psthreads", "MB", &megabytes, 1);
    sample_print("a ready psthread", "bytes", &each, 1);
    need(psthread_finalize(), "psthread_finalize");

    pthread_t kernel[NUM_KERNEL];
    pthread_mutex_lock(&gate);
    before = sample_resident_bytes();
    for (int i = 0; i < NUM_KERNEL; i++)
        need(pthread_create(&kernel[i], NULL, wait_at_gate, NULL), "pthread_create");
    each = (double)(sample_resident_bytes() - before) / NUM_KERNEL; /* the kernel's own part is not seen */
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < NUM_KERNEL; i++)
        pthread_join(kernel[i], NULL);
    sample_print("a waiting pthread", "bytes", &each, 1);
    return 0;
}
