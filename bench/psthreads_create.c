/* What does a user-level thread that does not block cost, from creation to end? A million are made, submitted, run and
 * recycled; on one virtual processor, then on all. Twin: kernel threads created and joined, in batches of a hundred. */
#include "psthread.h"
#include "sample.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 7, BATCH = 100 };
static const unsigned num_user = 1000 * 1000, num_kernel = 5000;
static unsigned char ran[1000 * 1000];

/* Its own byte: threads may run at the same time, even with one vp (the library's watchdog lends a kernel thread to
 * those that wait behind a creator that does not stop). */
static void *mark(void *arg)
{
    *(unsigned char *)arg = 1;
    return NULL;
}

static void need(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "psthreads_create: %s: error %d\n", what, error);
        exit(1);
    }
}

/* ns a thread */
static double user_sample(unsigned batch)
{
    memset(ran, 0, sizeof ran);
    double start = sample_now();
    for (unsigned i = 0; i < num_user; i += batch) {
        for (unsigned k = 0; k < batch; k++) {
            psthread_t t;
            need(psthread_create(&t, NULL, mark, &ran[i + k]), "psthread_create");
            need(psthread_enqueue(t, PSTHREAD_VP_ANY), "psthread_enqueue");
        }
        need(psthread_waitall(), "psthread_waitall");
    }
    double took = sample_now() - start;
    need(memchr(ran, 0, num_user) != NULL, "not every thread ran");
    return took / num_user * 1e9;
}

static double kernel_sample(void)
{
    pthread_t t[BATCH];
    double start = sample_now();
    for (unsigned i = 0; i < num_kernel; i += BATCH) {
        for (unsigned k = 0; k < BATCH; k++)
            need(pthread_create(&t[k], NULL, mark, &ran[k]), "pthread_create");
        for (unsigned k = 0; k < BATCH; k++)
            pthread_join(t[k], NULL);
    }
    return (sample_now() - start) / num_kernel * 1e9;
}

static void measure(const char *name, unsigned vps, unsigned batch)
{
    double ns[SAMPLES];
    psthread_config_t config = {.num_vps = vps};
    need(psthread_init(&config), "psthread_init");
    user_sample(batch);
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = user_sample(batch);
    sample_print(name, "ns", ns, SAMPLES);
    need(psthread_finalize(), "psthread_finalize");
}

int main(void)
{
    double kernel[SAMPLES];
    measure("create to end, psthreads, 1 vp, a million at once", 1, num_user);
    measure("create to end, psthreads, 1 vp, by the thousand", 1, 1000);
    measure("create to end, psthreads, all vps, by the thousand", 0, 1000);
    for (int i = 0; i < SAMPLES; i++)
        kernel[i] = kernel_sample();
    sample_print("create to end, pthreads", "ns", kernel, SAMPLES);
    return 0;
}
