/* Signals that are taken without a wait, and signals that are sent on. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(number) (UINT64_C(1) << ((number)-1))

static int take(uint64_t numbers, siginfo_t *info)
{
    memset(info, 0, sizeof *info);
    return os_take_signal(numbers, info);
}

static void send_with_value(int tid, int number, int value)
{
    siginfo_t info = {.si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid(), .si_value = {.sival_int = value}};
    assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, number, &info), 0);
}

static void what_is_pending_is_taken(void **state)
{
    (void)state;
    siginfo_t info;
    uint64_t before = os_swap_signal_mask(OS_ALL_SIGNALS), both = BIT(SIGUSR1) | BIT(SIGRTMIN);
    assert_int_equal(take(both, &info), 0);
    send_with_value(os_thread_id(), SIGRTMIN, 1);
    send_with_value(os_thread_id(), SIGRTMIN, 2);
    kill(getpid(), SIGUSR1);
    assert_int_equal(take(BIT(SIGUSR2), &info), 0);
    for (int i = 1; i <= 2; i++) { /* this kernel thread's come first */
        assert_int_equal(take(both, &info), SIGRTMIN);
        assert_int_equal(info.si_code, SI_QUEUE);
        assert_int_equal(info.si_value.sival_int, i);
    }
    assert_int_equal(take(both, &info), SIGUSR1);
    assert_int_equal(info.si_code, SI_USER);
    assert_int_equal(take(both, &info), 0);
    assert_int_equal(os_signals_pending(), 0);
    os_set_signal_mask(before);
}

/* --- sent on --- */

static _Atomic uint32_t step;
static int receiver;
static siginfo_t received;

static void go_to(uint32_t next)
{
    ps_store_release(&step, next);
    os_wake(&step, 1);
}
static void await_step(uint32_t wanted)
{
    uint32_t now;
    while ((now = ps_load_acquire(&step)) < wanted)
        os_park(&step, now, OS_FOREVER);
}

static void *receive(void *arg)
{
    receiver = os_thread_id();
    go_to(1);
    await_step(2);
    assert_int_equal(take(BIT(SIGUSR1), &received), SIGUSR1);
    return arg;
}

/* From another kernel thread than the process's first one, which may send the kernel's own codes to no other. */
static void *send_on(void *arg)
{
    siginfo_t info;
    const int *code = arg;
    if (*code == SI_TKILL)
        syscall(SYS_tgkill, getpid(), os_thread_id(), SIGUSR1);
    else
        kill(getpid(), SIGUSR1);
    assert_int_equal(take(BIT(SIGUSR1), &info), SIGUSR1);
    assert_int_equal(info.si_code, *code);
    assert_true(os_signal_to_thread(receiver, SIGUSR1, &info));
    assert_true(os_signal_to_thread(os_thread_id(), SIGUSR1, &info));
    assert_int_equal(take(BIT(SIGUSR1), &info), SIGUSR1);
    return NULL;
}

static void codes_survive(void **state)
{
    (void)state;
    int codes[] = {SI_USER, SI_TKILL};
    uint64_t before = os_swap_signal_mask(OS_ALL_SIGNALS);
    for (int i = 0; i < 2; i++) {
        os_thread to, from;
        ps_store_relaxed(&step, 0);
        assert_int_equal(os_thread_start(&to, receive, NULL, 0, true), 0);
        await_step(1);
        assert_int_equal(os_thread_start(&from, send_on, &codes[i], 0, true), 0);
        os_thread_join(from);
        go_to(2);
        os_thread_join(to);
        os_signal_as_sent(&received);
        assert_int_equal(received.si_code, codes[i]);
        assert_int_equal(received.si_errno, 0);
        assert_int_equal(received.si_pid, getpid());
        enum os_signal_sent sent = os_signal_sent(SIGUSR1, &received);
        assert_int_equal(sent == OS_SIGNAL_TO_PROCESS, codes[i] == SI_USER);
    }
    os_set_signal_mask(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_pending_is_taken),
        cmocka_unit_test(codes_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
