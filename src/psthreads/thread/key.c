/* Thread-specific values: up to PSTHREAD_KEYS_MAX keys, each with a value per thread.
 *
 * Callers: any thread. Nothing here blocks, except that a destructor may. Foreign kernel threads become roots at their
 * first psthread_setspecific.
 *
 * A thread's descriptor holds one pointer (ps_thread_keys_slot). The pointer is NULL until the thread sets its first
 * value, so threads without values cost nothing. The pointer leads to a table that grows in steps of TABLE_STEP keys up
 * to the highest one used. Only the thread itself uses its table: no lock, no atomics.
 *
 * A key is a slot in a global array. `generation` is odd while the key exists, and grows at each creation and deletion.
 * Each value carries the generation of its key at the time when it was set. So a later key in the same slot does not
 * see values of the deleted key, and psthread_key_delete need not visit all threads. (A generation returns after 2^31
 * reuses of one slot.)
 *   generation  even -> odd   psthread_key_create, compare-and-swap claims the slot; the destructor is stored
 *                             right after
 *               odd -> even   psthread_key_delete, compare-and-swap
 * Shared fields: generation: written as above, read (acquire) by all threads. destructor: written by
 * psthread_key_create before it returns the key, so before any other thread can know the key. A thread that ends reads
 * destructor, then checks generation again: so it does not call the destructor of a newer key in the same slot.
 *
 * Failures: EAGAIN, all keys exist; ENOMEM, a thread's table; EINVAL, no such key. Cost: getspecific, some loads
 * and compares more than finding the current thread. Rejected: all PSTHREAD_KEYS_MAX values in each table (2 KiB for a
 * thread that uses one key). */
#include "key.h"
#include "exit.h"

#include "psthread.h"
#include "scheduler.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_STEP 16u

static struct key {
    _Atomic uint32_t generation;
    _Atomic(void (*)(void *)) destructor;
} keys[PSTHREAD_KEYS_MAX];

struct value {
    void *value;
    uint32_t generation;
};
struct table {
    unsigned num;
    struct value values[];
};

static bool exists(uint32_t generation) { return generation & 1; }

int psthread_key_create(psthread_key_t *key, void (*destructor)(void *))
{
    for (unsigned i = 0; i < PSTHREAD_KEYS_MAX; i++) {
        uint32_t g = ps_load_relaxed(&keys[i].generation);
        if (exists(g) || !ps_cas_acq_rel(&keys[i].generation, &g, g + 1))
            continue;
        ps_store_release(&keys[i].destructor, destructor);
        *key = i;
        return 0;
    }
    return EAGAIN;
}

int psthread_key_delete(psthread_key_t key)
{
    if (key >= PSTHREAD_KEYS_MAX)
        return EINVAL;
    uint32_t g = ps_load_acquire(&keys[key].generation);
    return exists(g) && ps_cas_acq_rel(&keys[key].generation, &g, g + 1) ? 0 : EINVAL;
}

/* Enlarges the table so that it has a value for `key`. Returns NULL, with the old table unchanged, if there is no
 * memory. */
static struct table *grow_key_table(void **slot, psthread_key_t key)
{
    struct table *old = *slot;
    unsigned before = old ? old->num : 0, num = (key / TABLE_STEP + 1) * TABLE_STEP;
    struct table *t = realloc(old, sizeof(*t) + num * sizeof(t->values[0]));
    if (!t)
        return NULL;
    for (unsigned i = before; i < num; i++)
        t->values[i] = (struct value){NULL, 0};
    t->num = num;
    *slot = t;
    return t;
}

int psthread_setspecific(psthread_key_t key, const void *value)
{
    if (key >= PSTHREAD_KEYS_MAX)
        return EINVAL;
    uint32_t g = ps_load_acquire(&keys[key].generation);
    if (!exists(g))
        return EINVAL;
    void **slot = ps_thread_keys_slot(ps_self());
    struct table *t = *slot;
    if (!t || key >= t->num) {
        if (!value)
            return 0;
        t = grow_key_table(slot, key);
        if (!t)
            return ENOMEM;
    }
    t->values[key] = (struct value){(void *)(uintptr_t)value, g};
    return 0;
}

void *psthread_getspecific(psthread_key_t key)
{
    struct psthread *self = ps_current();
    const struct table *t = self ? *ps_thread_keys_slot(self) : NULL;
    if (!t || key >= t->num || t->values[key].generation != ps_load_acquire(&keys[key].generation))
        return NULL;
    return t->values[key].value;
}

/* Calls a destructor. If the destructor calls psthread_exit, only the destructor ends, not the stack: the thread is
 * ending already, and may run as a call on another thread's stack. */
static PS_NOINLINE void call_destructor(void (*destructor)(void *), void *value)
{
    struct ps_exit here;
    ps_exit_push(&here, NULL, (uintptr_t)call_destructor);
    if (_setjmp(here.jump) == 0) {
        destructor(value);
        ps_exit_pop(&here);
    }
}

/* Sets the thread's value for key i to NULL, and calls the key's destructor with the old value. Returns whether a
 * destructor was called: not if the value is NULL, or the key is deleted or has no destructor. */
static bool destroy_value(void **slot, unsigned i)
{
    struct value *v = &((struct table *)*slot)->values[i];
    void *value = v->value;
    uint32_t g = v->generation;
    if (!value)
        return false;
    v->value = NULL;
    if (ps_load_acquire(&keys[i].generation) != g)
        return false;
    void (*destructor)(void *) = ps_load_acquire(&keys[i].destructor);
    if (!destructor || ps_load_acquire(&keys[i].generation) != g)
        return false;
    call_destructor(destructor, value); /* may reallocate the table */
    return true;
}

void ps_keys_run_destructors(void **slot)
{
    bool again = *slot != NULL;
    for (int round = 0; again && round < PSTHREAD_DESTRUCTOR_ITERATIONS; round++) {
        again = false;
        for (unsigned i = 0; i < ((struct table *)*slot)->num; i++)
            again |= destroy_value(slot, i);
    }
    free(*slot);
    *slot = NULL;
}
