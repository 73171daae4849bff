/* uths that go from kernel thread to kernel thread as fast as they can, published before their contexts are saved - as
 * a scheduler does. Every carrier also gets and puts stacks all the time, so that batches cross too. */
#define _GNU_SOURCE
#include "os.h"
#include "uth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define CARRIERS 4
#define UTHS 6
#define SLOTS UTHS

static _Atomic(struct uth *) slot[SLOTS]; /* published, perhaps not saved yet */
static _Atomic long hops_left;
static _Atomic unsigned wrong;

struct work {
    struct uth *uth;
    unsigned long count; /* plain: the hand-over orders it */
    unsigned carriers_seen;
    int last_carrier;
};
static struct work work[UTHS];

static void publish(struct uth *u)
{
    for (unsigned i = 0;; i = (i + 1) % SLOTS) {
        struct uth *none = NULL;
        if (ps_cas_release(&slot[i], &none, u))
            return;
    }
}

static struct uth *take(void)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct uth *u = ps_load_relaxed(&slot[i]) ? ps_xchg_acquire(&slot[i], NULL) : NULL;
        if (u != NULL)
            return u;
    }
    return NULL;
}

struct carrier {
    struct uth root;
    struct uth_cache cache;
    int id;
};

static void wanders(void *transfer, void *arg)
{
    struct work *w = arg;
    unsigned long here = 0; /* on the stack that wanders */
    for (;;) {
        struct carrier *c = transfer;
        uth_switched(&c->root, w->uth);
        if (w->count != here)
            ps_add_relaxed(&wrong, 1);
        w->count++;
        here++;
        if (w->last_carrier != c->id)
            w->carriers_seen++;
        w->last_carrier = c->id;
        publish(w->uth); /* somebody may take it now, and must wait until the switch is done */
        transfer = uth_switch(w->uth, &c->root, w->uth, false);
    }
}

static void *carry(void *arg)
{
    struct carrier *c = arg;
    struct uth *kept[8] = {NULL};
    if (uth_adopt(&c->root) != 0)
        ps_add_relaxed(&wrong, 1);
    uth_cache_init(&c->cache);
    /* At least one hop each: a carrier that starts late still finds all the uths published. */
    for (unsigned n = 0, mine = 0; ps_load_relaxed(&hops_left) > 0 || mine == 0; n++) {
        struct uth **k = &kept[n % 8];
        if (*k != NULL)
            uth_put(&c->cache, *k);
        *k = n % 16 < 12 ? uth_get(&c->cache) : NULL;
        if (*k != NULL)
            memset((*k)->stack, c->id, 64);
        if (n % 1000 == 0)
            uth_cache_trim(&c->cache, 2);
        struct uth *u = take();
        if (u == NULL)
            continue;
        while (!uth_saved_soon(u))
            os_yield();
        struct uth *left = uth_switch(&c->root, u, c, false);
        uth_switched(left, &c->root);
        ps_sub_relaxed(&hops_left, 1);
        mine++;
    }
    for (unsigned i = 0; i < 8; i++)
        if (kept[i] != NULL)
            uth_put(&c->cache, kept[i]);
    uth_cache_drain(&c->cache);
    uth_release(&c->root);
    return NULL;
}

static void test_migrates(void **state)
{
    (void)state;
    static struct carrier carrier[CARRIERS];
    struct uth_cache cache;
    os_thread thread[CARRIERS];
    bool slow = strcmp(CPU_PORT_NAME, "posix") == 0 || PS_TSAN || PS_ASAN;
    long hops = slow ? 20000 : 300000;
    ps_store_relaxed(&hops_left, hops);
    uth_init((size_t)CPU_STACK_MIN + 65536);
    uth_cache_init(&cache);
    for (unsigned i = 0; i < UTHS; i++) {
        work[i] = (struct work){.uth = uth_get(&cache), .last_carrier = -1};
        assert_non_null(work[i].uth);
        assert_int_equal(uth_start(work[i].uth, wanders, &work[i]), 0);
        publish(work[i].uth);
    }
    for (int i = 0; i < CARRIERS; i++) {
        carrier[i].id = i;
        assert_int_equal(os_thread_start(&thread[i], carry, &carrier[i], 0, false), 0);
    }
    for (int i = 0; i < CARRIERS; i++)
        os_thread_join(thread[i]);
    assert_int_equal(ps_load_relaxed(&wrong), 0);
    unsigned long total = 0;
    unsigned moved = 0;
    for (unsigned i = 0; i < UTHS; i++) {
        total += work[i].count;
        moved += work[i].carriers_seen;
        while (!uth_saved_soon(work[i].uth))
            os_yield();
        uth_put(&cache, work[i].uth);
    }
    uth_cache_drain(&cache);
    assert_in_range(total, hops, hops + 2 * CARRIERS);
    assert_true(moved >= CARRIERS); /* they did wander */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_migrates)};
    return cmocka_run_group_tests_name("migration on " CPU_PORT_NAME, tests, NULL, NULL);
}
