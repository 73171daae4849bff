/* Park and wake: what the results mean, and that no wake is lost. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void differing_word_does_not_sleep(void **state)
{
    (void)state;
    _Atomic uint32_t word = 3;
    errno = 77;
    assert_int_equal(os_park(&word, 4, OS_FOREVER), EAGAIN);
    assert_int_equal(os_wake(&word, 1), 0);
    assert_int_equal(errno, 77);
}

static void time_out(void **state)
{
    (void)state;
    _Atomic uint32_t word = 0;
    uint64_t before = os_now_ns();
    int result;
    do /* other reasons are allowed to come first */
        result = os_park(&word, 0, 2000000);
    while (result == 0 || result == EINTR);
    assert_int_equal(result, ETIMEDOUT);
    assert_true(os_now_ns() - before >= 2000000);
    do
        result = os_park(&word, 0, 0);
    while (result == 0 || result == EINTR);
    assert_int_equal(result, ETIMEDOUT);
}

#define ROUNDS 3000
static _Atomic uint32_t turn;

/* Takes its turns when the word is odd. */
static void *odd_player(void *arg)
{
    (void)arg;
    for (uint32_t i = 1; i < 2 * ROUNDS; i += 2) {
        uint32_t seen;
        while ((seen = ps_load_acquire(&turn)) != i)
            os_park(&turn, seen, OS_FOREVER);
        ps_store_release(&turn, i + 1);
        os_wake(&turn, 1);
    }
    return NULL;
}

/* Each side sleeps until the other's store; a lost wake hangs. */
static void ping_pong(void **state)
{
    (void)state;
    os_thread t;
    assert_int_equal(os_thread_start(&t, odd_player, NULL, 0, true), 0);
    for (uint32_t i = 0; i < 2 * ROUNDS; i += 2) {
        uint32_t seen;
        while ((seen = ps_load_acquire(&turn)) != i)
            os_park(&turn, seen, OS_FOREVER);
        ps_store_release(&turn, i + 1);
        os_wake(&turn, 1);
    }
    os_thread_join(t);
    assert_int_equal(ps_load_relaxed(&turn), 2 * ROUNDS);
}

#define SLEEPERS 5
static _Atomic uint32_t gate, asleep;

static void *sleeper(void *arg)
{
    (void)arg;
    ps_add_release(&asleep, 1);
    while (ps_load_acquire(&gate) == 0)
        os_park(&gate, 0, OS_FOREVER);
    return NULL;
}

static void wake_counts(void **state)
{
    (void)state;
    os_thread t[SLEEPERS];
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(os_thread_start(&t[i], sleeper, NULL, 0, true), 0);
    while (ps_load_acquire(&asleep) != SLEEPERS)
        os_yield();
    int woken = os_wake(&gate, 2); /* they look and sleep again: the gate is shut */
    assert_in_range(woken, 0, 2);
    ps_store_release(&gate, 1);
    woken = os_wake(&gate, SLEEPERS);
    assert_in_range(woken, 0, SLEEPERS);
    for (int i = 0; i < SLEEPERS; i++)
        os_thread_join(t[i]);
    assert_int_equal(os_wake(&gate, SLEEPERS), 0);
}

#if !PS_PORTABLE
static void nothing(int number) { (void)number; }

struct interrupted {
    _Atomic uint32_t word, result;
    _Atomic uint32_t inside;
};

static void *park_to_be_interrupted(void *arg)
{
    struct interrupted *i = arg;
    ps_store_release(&i->inside, 1);
    int result;
    do
        result = os_park(&i->word, 0, OS_FOREVER);
    while (result == 0);
    ps_store_release(&i->result, (uint32_t)result);
    return NULL;
}

static void signal_interrupts(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGUSR2, &action, NULL);
    struct interrupted i = {0};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, park_to_be_interrupted, &i), 0);
    while (ps_load_acquire(&i.inside) == 0)
        os_yield();
    while (ps_load_acquire(&i.result) == 0) { /* one may come before it sleeps */
        pthread_kill(t, SIGUSR2);
        usleep(1000);
    }
    pthread_join(t, NULL);
    assert_int_equal(ps_load_relaxed(&i.result), EINTR);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differing_word_does_not_sleep),
        cmocka_unit_test(time_out),
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(wake_counts),
#if !PS_PORTABLE
        cmocka_unit_test(signal_interrupts),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
