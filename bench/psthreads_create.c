/* What does a user-level thread that does not block cost, from creation to end? A million are made, submitted, run and
 * recycled; on one virtual processor, then on all. Twin: kernel threads created and joined, in batches of a hundred. */
#include "psthread.h"
#include "sample.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 7, BATCH = 100 };
static const unsigned num_user = 1000 * 1000, num_kernel = 5000;
static atomic_uint ran;

static void *count(void *arg)
{
    unsigned *counter = arg;
    ++*counter;
    return NULL;
}

static void *count_shared(void *arg)
{
    (void)arg;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
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
static double user_sample(unsigned vps, unsigned batch)
{
    unsigned own = 0;
    atomic_store_explicit(&ran, 0, memory_order_relaxed);
    double start = sample_now();
    for (unsigned i = 0; i < num_user; i += batch) {
        for (unsigned k = 0; k < batch; k++) {
            psthread_t t;
            need(psthread_create(&t, NULL, vps == 1 ? count : count_shared, &own), "psthread_create");
            need(psthread_enqueue(t, PSTHREAD_VP_ANY), "psthread_enqueue");
        }
        need(psthread_waitall(), "psthread_waitall");
    }
    double took = sample_now() - start;
    need(own + atomic_load_explicit(&ran, memory_order_relaxed) != num_user, "not every thread ran");
    return took / num_user * 1e9;
}

static double kernel_sample(void)
{
    pthread_t t[BATCH];
    double start = sample_now();
    for (unsigned i = 0; i < num_kernel; i += BATCH) {
        for (unsigned k = 0; k < BATCH; k++)
            need(pthread_create(&t[k], NULL, count_shared, NULL), "pthread_create");
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
    user_sample(vps, batch);
    for (int i = 0; i < SAMPLES; i++)
        ns[i] = user_sample(vps, batch);
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
