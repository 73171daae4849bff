/* A thread yields to one without a stack, where there is memory for no other stack. The thread looks for itself in its
 * queue. Meanwhile another vp's loop has taken it out of there, and waits for it to leave its stack. The loop hands it
 * back.
 */
#include "current.h"
#include "fault.h"
#include "psthread.h"
#include "sync_support.h"
#include "uth.h"
#include "vp.h"

#define STACKS_MOST 64
#define ROUNDS 20

static struct vp *home; /* the vp on which the thread yields */
static _Atomic bool away, let_go, holds, handed_back;
static _Atomic unsigned ran;

/* The thread waits here, the first time, until another vp has taken it. */
void __real_os_yield(void);
void __wrap_os_yield(void);
void __wrap_os_yield(void)
{
    if (ps_vp() != home || !ps_xchg_acq_rel(&holds, false)) {
        if (ps_vp() != home && ps_load_acquire(&let_go))
            ps_store_release(&handed_back, true); /* or it searches; it has then looked */
        __real_os_yield();
        return;
    }
    ps_store_release(&let_go, true);
    while (!ps_queue_seems_empty(&home->queue) && !ps_load_acquire(&handed_back))
        usleep(100);
}

/* Keeps the other vp from stealing. */
static void *elsewhere(void *arg)
{
    ps_store_release(&away, true);
    while (!ps_load_acquire(&let_go))
        usleep(100);
    return arg;
}

static void *has_no_stack(void *arg)
{
    ps_add_relaxed(&ran, 1);
    return arg;
}

static void *yields(void *arg)
{
    struct uth *taken[STACKS_MOST];
    unsigned n = 0;
    psthread_t other = start(elsewhere, NULL), last;
    while (!ps_load_acquire(&away))
        usleep(100);
    home = ps_vp();
    fault_arm(FAULT_STACK_MAP, 0, FAULT_ALL_FOLLOWING);
    while (n < STACKS_MOST && (taken[n] = uth_get(&home->run.stacks)) != NULL)
        n++;
    CHECK(n < STACKS_MOST);
    last = start(has_no_stack, NULL);
    ps_store_release(&holds, true);
    psthread_yield();
    CHECK(!ps_load_acquire(&holds) && fault_failures(FAULT_STACK_MAP) > 1);
    CHECK(ps_vp() == home); /* there was no other way */
    fault_disarm_all();
    while (n > 0)
        uth_put(&home->run.stacks, taken[--n]);
    CHECK(psthread_join(other, NULL) == 0 && psthread_join(last, NULL) == 0);
    return arg;
}

static void it_is_handed_back(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2}; /* no spares */
    for (unsigned i = 1; i <= ROUNDS; i++) {
        CHECK(psthread_init(&config) == 0);
        ps_store_relaxed(&away, false);
        ps_store_relaxed(&let_go, false);
        ps_store_relaxed(&handed_back, false);
        assert_int_equal(psthread_join(start(yields, NULL), NULL), 0);
        assert_int_equal(ps_load_relaxed(&ran), i);
        assert_int_equal(psthread_finalize(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_handed_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
