/* Thread-local blocks: how a kernel thread enters one, and how a thread ends in it. The contract is tls.h; tls.c makes
 * the blocks. */
#define _GNU_SOURCE
#include "tls_blocks.h"

#include "cpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>

struct key_data { /* struct pthread_key_data */
    /* The key's sequence number when the value was set; if the key has another number now, it was deleted meanwhile. */
    uintptr_t sequence;
    void *value;
};

void uth_tls_set_stack(struct uth_tls *tls, void *stack, size_t bytes)
{
    tls->stack = stack;
    *(void **)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.stack_base) = stack;
    *(size_t *)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.stack_size) = bytes;
}

void uth_tls_stack(const struct uth_tls *tls, void **stack, size_t *bytes)
{
    *stack = *(void **)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.stack_base);
    *bytes = *(size_t *)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.stack_size);
}

void uth_tls_enter(struct uth_tls *tls, const void *carrier, int tid)
{
    if (PS_UNLIKELY(tls->adopted))
        *uth_tls_current_in(tls->tp) = carrier == tls->home ? NULL : tls;
    else if (!uth_blocks.numbered)
        *tls->tid = tid;
    ps_store_relaxed(&tls->cached, NULL);
    ps_store_relaxed(&tls->carrier, carrier);
    tls->carrier_tid = tid;
    cpu_set_tp(tls->tp);
    if (PS_UNLIKELY(tls->fresh)) {
        tls->fresh = false;
        tls->used = true;
        uth_blocks.layout.ctype_init();
    }
}

void uth_tls_keep_cached(struct uth_tls *tls)
{
    if (uth_blocks.numbered)
        ps_store_seq(&tls->cached, ps_load_relaxed(&tls->carrier));
}

void uth_tls_drop_cached(struct uth_tls *tls) { ps_store_seq(&tls->cached, NULL); }

void uth_tls_keep_flags(void)
{
    cpu_float_keep_flags();
    ps_spin_lock(&uth_blocks.lock);
    for (struct uth_tls *tls = uth_blocks.all; tls != NULL; tls = tls->next_of_all)
        uth_tls_drop_cached(tls);
    ps_spin_unlock(&uth_blocks.lock);
}

void uth_tls_take_away(struct uth_tls *tls)
{
    uth_tls_drop_cached(tls);
    ps_store_seq(&tls->carrier, NULL);
}

/* Returns true if any value of this array of keys' values is set. */
static bool any_value(const struct key_data *kept)
{
    uintptr_t any = 0;
    for (unsigned i = 0; i < UTH_TLS_KEYS_A_BLOCK; i += 4)
        any |= (uintptr_t)kept[i].value | (uintptr_t)kept[i + 1].value | (uintptr_t)kept[i + 2].value |
               (uintptr_t)kept[i + 3].value;
    return any != 0;
}

/* Returns the first key from `key` on whose value is not NULL; PTHREAD_KEYS_MAX: there is none. Reads the values in
 * place. Every thread has the first array, and calls of pthread_getspecific for all keys of that array would take most
 * of the time of a short thread's end. */
static unsigned next_key(const struct uth_tls *tls, unsigned key)
{
    void **specific = (void **)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.specific);
    unsigned i = key % UTH_TLS_KEYS_A_BLOCK;
    for (unsigned block = key / UTH_TLS_KEYS_A_BLOCK; block < PTHREAD_KEYS_MAX / UTH_TLS_KEYS_A_BLOCK; block++, i = 0) {
        const struct key_data *kept = specific[block];
        if (PS_LIKELY(kept == NULL) || PS_LIKELY(!any_value(kept)))
            continue;
        for (; i < UTH_TLS_KEYS_A_BLOCK; i++)
            if (kept[i].value != NULL)
                return block * UTH_TLS_KEYS_A_BLOCK + i;
    }
    return PTHREAD_KEYS_MAX;
}

/* Calls the destructors of POSIX keys' values in rounds, as at a kernel thread's end, because a destructor may set
 * other values. */
static void destroy_keys(struct uth_tls *tls)
{
    bool more = true;
    for (unsigned round = 0; more && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
        more = false;
        for (unsigned key = next_key(tls, 0); key < PTHREAD_KEYS_MAX; key = next_key(tls, key + 1)) {
            void *value = pthread_getspecific(key); /* NULL if the value belongs to a key that was deleted meanwhile */
            if (value == NULL)
                continue;
            pthread_setspecific(key, NULL);
            more = true;
            if (uth_blocks.layout.keys[key].destroy != NULL)
                uth_blocks.layout.keys[key].destroy(value);
        }
    }
}

void uth_tls_end(struct uth_tls *tls)
{
    uth_blocks.layout.call_destructors();
    if (uth_tls_any_key_used(tls))
        destroy_keys(tls);
    uselocale(LC_GLOBAL_LOCALE);
    dlerror();
    h_errno = 0;
    errno = 0;
}
