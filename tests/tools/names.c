/* Threads of psthread.h, with names and without, each of which waits for ever. Prints
 * "ready" and waits too. */
#include "psthread.h"

#include <stdio.h>
#include <stdlib.h>

static psthread_sem_t never;

static void *waits(void *name)
{
    if (name)
        psthread_setname(name);
    psthread_sem_wait(&never);
    return NULL;
}

int main(void)
{
    static char *const names[] = {"alpha", "a name with spaces", NULL};
    psthread_setname("the first of all");
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        psthread_t t;
        if (psthread_create(&t, NULL, waits, names[i]) != 0 || psthread_enqueue(t, PSTHREAD_VP_ANY) != 0)
            return 1;
    }
    for (int i = 0; i < 10; i++)
        psthread_yield();
    puts("ready");
    fflush(stdout);
    psthread_waitall();
    return 0;
}
