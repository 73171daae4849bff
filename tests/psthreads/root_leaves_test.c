/* The first signal to a root is sent when the root is on its own stack, in its own storage, and cannot leave any more
 * (lone_root.h, "A root may be about to leave"). The root stands still here between two steps of its own. */
#include "current.h"
#include "lone_root.h"
#include "promote.h"
#include "run.h"
#include "sync_support.h"
#include "vp.h"
#include "vp_tls.h"

#include <pthread.h>

#define LOOKS 5 /* while the sender looks, each tenth of a millisecond, for 2 s and 1000 times at least */

static _Atomic bool may_send;
static _Atomic uint32_t interrupts; /* of kernel threads: each time that a sender has looked in vain */

int __real_os_interrupt(int tid, bool (*handler)(void *frame));
int __wrap_os_interrupt(int tid, bool (*handler)(void *frame));
int __wrap_os_interrupt(int tid, bool (*handler)(void *frame))
{
    ps_add_seq(&interrupts, 1);
    return __real_os_interrupt(tid, handler);
}

static void *sends_to_the_root(void *arg)
{
    ps_ready_root_for_signals(NULL, (int)getpid());
    ps_store_seq(&may_send, true);
    return arg;
}

static void await(const char *what, bool (*is_so)(void))
{
    for (int i = 0; !is_so(); i++) {
        PS_CHECK(i < 100000, "%s has not come", what);
        usleep(100);
    }
}
static bool is_lone(void) { return ps_load_seq(&vp_run(ps_vp())->lone) & PS_LONE_SIGNALS; }
static bool is_sent(void) { return ps_load_seq(&may_send); }

/* False: there are no thread-local blocks here, and roots are not alone. */
static bool begin(void)
{
    psthread_config_t config = {.num_vps = 2};
    CHECK(psthread_init(&config) == 0);
    ps_store_seq(&vp_run(ps_vp())->lone, 0); /* as if no signal had been sent to it before */
    ps_store_seq(&may_send, false);
    if (ps_tls_on())
        return true;
    CHECK(psthread_finalize() == 0);
    return false;
}

static void sender_goes_on_after(void (*goes)(bool goes))
{
    pthread_t sender;
    if (!begin())
        skip();
    goes(true);
    CHECK(pthread_create(&sender, NULL, sends_to_the_root, NULL) == 0);
    await("the sender", is_lone);
    for (int i = 0; i < LOOKS; i++)
        usleep(100);
    CHECK(!is_sent());
    goes(false);
    await("the signal", is_sent);
    CHECK(pthread_join(sender, NULL) == 0);
    CHECK(psthread_finalize() == 0);
}

static void calls(bool goes)
{
    struct uth *stack = vp_run(ps_vp())->own_uth;
    goes ? root_goes(stack) : root_is_back(stack);
}

/* A thread that the root has called calls others, and goes on. */
static void calls_still(bool goes)
{
    calls(goes);
    if (goes) {
        calls(true);
        calls(false);
    }
}

static void yields(bool goes) { root_yields(vp_run(ps_vp())->own_uth, goes ? vp_run(ps_vp())->current : NULL); }

static void waits(bool goes) { vp_run(ps_vp())->own_uth->wait.thread = goes ? vp_run(ps_vp())->current : NULL; }

static void a_root_that_calls_others_is_waited_for(void **state)
{
    (void)state;
    sender_goes_on_after(calls);
}

static void calls_nest(void **state)
{
    (void)state;
    sender_goes_on_after(calls_still);
}

static void a_root_that_yields_is_waited_for(void **state)
{
    (void)state;
    sender_goes_on_after(yields);
}

static void a_root_that_is_about_to_wait_is_waited_for(void **state)
{
    (void)state;
    sender_goes_on_after(waits);
}

static void sleeps(bool asleep)
{
    ps_store_seq(&vp_alone(ps_vp())->sleeps, asleep);
    waits(asleep);
}

static void a_root_that_sleeps_on_its_stack_is_not(void **state)
{
    pthread_t sender;
    (void)state;
    if (!begin())
        skip();
    sleeps(true);
    CHECK(pthread_create(&sender, NULL, sends_to_the_root, NULL) == 0);
    await("the signal", is_sent);
    CHECK(pthread_join(sender, NULL) == 0);
    sleeps(false);
    CHECK(psthread_finalize() == 0);
}

static void a_root_does_not_wait_for_itself(void **state)
{
    (void)state;
    if (!begin())
        skip();
    calls(true); /* in a handler, say */
    uint32_t before = ps_load_seq(&interrupts);
    ps_ready_root_for_signals(NULL, (int)getpid());
    assert_int_equal(ps_load_seq(&interrupts), before);
    calls(false);
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root_that_calls_others_is_waited_for),
        cmocka_unit_test(calls_nest),
        cmocka_unit_test(a_root_that_yields_is_waited_for),
        cmocka_unit_test(a_root_that_is_about_to_wait_is_waited_for),
        cmocka_unit_test(a_root_that_sleeps_on_its_stack_is_not),
        cmocka_unit_test(a_root_does_not_wait_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
