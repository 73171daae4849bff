/* A pipeline of a thousand threads: each adds one to what comes from its neighbour and passes it on. Two semaphores a
 * stage; no kernel thread waits. */
#include <psthread.h>
#include <stdio.h>

enum { STAGES = 1000, ITEMS = 100 };

static struct stage {
    psthread_sem_t full, empty;
    long item;
} stage[STAGES + 1];

static void put(struct stage *s, long item)
{
    psthread_sem_wait(&s->empty);
    s->item = item;
    psthread_sem_post(&s->full);
}
static long get(struct stage *s)
{
    psthread_sem_wait(&s->full);
    long item = s->item;
    psthread_sem_post(&s->empty);
    return item;
}

static void *adds_one(void *arg)
{
    struct stage *in = arg;
    for (int i = 0; i < ITEMS; i++)
        put(in + 1, get(in) + 1);
    return NULL;
}
static void *feeds(void *arg)
{
    for (long i = 0; i < ITEMS; i++)
        put(stage, i);
    return arg;
}

int main(void)
{
    const psthread_attr_t detached = {0, PSTHREAD_ATTR_DETACHED};
    psthread_t t;
    for (int i = 0; i <= STAGES; i++)
        psthread_sem_init(&stage[i].empty, 1);
    for (int i = 0; i <= STAGES; i++) {
        if (psthread_create(&t, &detached, i < STAGES ? adds_one : feeds, &stage[i]))
            return 1;
        psthread_enqueue(t, PSTHREAD_VP_ANY);
    }
    for (long i = 0; i < ITEMS; i++)
        if (get(&stage[STAGES]) != i + STAGES)
            return 1;
    printf("%d items came through %d threads\n", ITEMS, STAGES);
    return psthread_finalize();
}
