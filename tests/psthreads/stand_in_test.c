/* A root whose kernel thread carries it alone has a spare that stands in for it: it is there for what the root waits
 * for next, is not started anew each time, and ends with the library. */
#include "current.h"
#include "lone_root.h"
#include "runtime.h"
#include "sync_support.h"
#include "vp.h"
#include "watchdog.h"

#define ROUNDS 100u

static void *stays_away_from_the_root(void *arg)
{
    CHECK(ps_vp() != ps_vp_at(0));
    return arg;
}

/* False: there are no thread-local blocks here, and roots are not alone. */
static bool begin(void)
{
    psthread_config_t config = {.num_vps = 1, .max_spares = 10};
    CHECK(psthread_init(&config) == 0);
    ps_root_counted(NULL); /* its processor time is asked for */
    if (lone_root_count() == 1)
        return true;
    CHECK(psthread_finalize() == 0);
    return false;
}

static void make_and_join(void)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, stays_away_from_the_root, NULL) == 0);
    CHECK(psthread_enqueue(t, 0) == 0);
    CHECK(psthread_join(t, NULL) == 0);
}

static void it_stays_for_the_next_wait(void **state)
{
    (void)state;
    if (!begin())
        skip();
    uint32_t before = ps_load_relaxed(&ps_watchdog.spares_ever);
    for (unsigned i = 0; i < ROUNDS; i++) {
        make_and_join();
        usleep(2000); /* long enough for one that does not stay to be gone */
    }
    CHECK(ps_load_relaxed(&ps_watchdog.spares_ever) - before < ROUNDS / 2);
    CHECK(psthread_finalize() == 0);
    assert_int_equal(ps_load_relaxed(&ps_watchdog.spares), 0);
    assert_int_equal(ps_load_relaxed(&ps_watchdog.standing), 0);
}

static void it_ends_with_the_library(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        if (!begin())
            skip();
        for (unsigned k = 0; k < i % 4; k++)
            make_and_join();
        CHECK(psthread_finalize() == 0);
        assert_int_equal(ps_load_relaxed(&ps_watchdog.spares), 0);
        assert_int_equal(watchdog_runs(), 0); /* a spare that ends asks for it where no thread searches any more */
    }
}

static void a_child_has_none(void **state)
{
    (void)state;
    if (PS_TSAN || !begin()) /* a forked child may have no second thread there */
        skip();
    make_and_join();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (unsigned i = 0; i < 3; i++)
            make_and_join();
        CHECK(psthread_finalize() == 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    make_and_join();
    CHECK(psthread_finalize() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_stays_for_the_next_wait),
                                       cmocka_unit_test(it_ends_with_the_library), cmocka_unit_test(a_child_has_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
