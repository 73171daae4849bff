/* Locks of the runtime's own data; see own_lock.h. */
#include "own_lock.h"

static struct ort_own_lock *locks;
static struct ort_child_frees *words;

void ort_own_lock_made(struct ort_own_lock *lock)
{
    lock->next = locks;
    locks = lock;
}

void ort_child_frees_made(struct ort_child_frees *w)
{
    w->next = words;
    words = w;
}

void ort_own_before_fork(void)
{
    for (struct ort_own_lock *l = locks; l != NULL; l = l->next)
        ort_own_lock(l);
}

void ort_own_after_fork(void)
{
    for (struct ort_own_lock *l = locks; l != NULL; l = l->next)
        ort_own_unlock(l);
}

void ort_own_after_fork_in_child(void)
{
    ort_own_after_fork();
    for (struct ort_child_frees *w = words; w != NULL; w = w->next)
        for (size_t i = 0; i < w->n; i++)
            ps_store_relaxed((_Atomic uint32_t *)(void *)((char *)w->first + i * w->stride), 0);
}
