/* Keeps a processor busy for about n additions. */
#ifndef WORK_H
#define WORK_H

static inline void work(int n)
{
    for (volatile int i = 0; i < n; i++)
        continue;
}

#endif
