/* A call with a relative time limit ends in time, however often an interrupt ends it before and it is made anew; and
 * never before. The next call at the same place has the whole limit again. Nothing else of the program's is changed by
 * that: its registers, what ends a call, what unwinders find. Nor by a transfer that goes on after an interrupt. */
#define _GNU_SOURCE
#include "test.h"

#include "atomic.h"
#include "linux/restart_block.h"
#include "os.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define LIMIT_MS 100
#define AWAY_MS 20
#define MOST_MS 1500    /* on a busy machine; where absence did not count: 2000 */
#define LONGEST_MS 5000 /* an interrupt every two ms until then */
#define PROGRAMS SIGUSR1

static const struct timespec limit = {.tv_nsec = LIMIT_MS * 1000000L};

/* As the program's calls of `syscall` under the drop-in, whose number an interrupt finds. */
static long call_by_number(long number, const void *a, const void *b, long c, const void *d, const void *e)
{
    long result =
        os_system_call(number, (long)(intptr_t)a, (long)(intptr_t)b, c, (long)(intptr_t)d, (long)(intptr_t)e, 0);
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static void by_poll(void) { assert_int_equal(poll(NULL, 0, LIMIT_MS), 0); }
static void by_ppoll(void) { assert_int_equal(ppoll(NULL, 0, &limit, NULL), 0); }
static void by_pselect(void) { assert_int_equal(pselect(0, NULL, NULL, NULL, &limit, NULL), 0); }
static void by_select(void)
{
    struct timeval time = {.tv_usec = LIMIT_MS * 1000L};
    assert_int_equal(select(0, NULL, NULL, NULL, &time), 0);
    assert_true(time.tv_sec == 0 && time.tv_usec == 0);
}
static void by_old_select(void)
{
    struct timeval time = {.tv_usec = LIMIT_MS * 1000L};
    assert_int_equal(call_by_number(SYS_select, NULL, NULL, 0, NULL, &time), 0);
    assert_true(time.tv_sec == 0 && time.tv_usec == 0);
}
/* The kernel cannot write there what is left. */
static void by_ppoll_with_constant(void)
{
    assert_int_equal(call_by_number(SYS_ppoll, NULL, NULL, (long)(intptr_t)&limit, NULL, NULL), 0);
}
static void by_epoll_wait(void)
{
    struct epoll_event event;
    int file = epoll_create1(0);
    assert_int_equal(epoll_wait(file, &event, 1, LIMIT_MS), 0);
    close(file);
}
static void by_epoll_pwait2(void)
{
    struct epoll_event event;
    int file = epoll_create1(0);
    assert_int_equal(call_by_number(SYS_epoll_pwait2, (void *)(intptr_t)file, &event, 1, &limit, NULL), 0);
    close(file);
}
static void by_nanosleep(void) { assert_int_equal(nanosleep(&limit, NULL), 0); }
static void by_nanosleep_with_rest(void)
{
    struct timespec rest;
    assert_int_equal(nanosleep(&limit, &rest), 0);
}
static void by_old_nanosleep(void) { assert_int_equal(call_by_number(SYS_nanosleep, &limit, NULL, 0, NULL, NULL), 0); }
static void by_sigtimedwait(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    assert_int_equal(sigtimedwait(&set, NULL, &limit), -1);
    assert_int_equal(errno, EAGAIN);
}
static void by_semtimedop(void)
{
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf take = {0, -1, 0};
    assert_int_equal(semtimedop(set, &take, 1, &limit), -1);
    assert_int_equal(errno, EAGAIN);
    semctl(set, 0, IPC_RMID);
}
static void by_futex(void)
{
    int word = 0;
    assert_int_equal(call_by_number(SYS_futex, &word, (void *)FUTEX_WAIT_PRIVATE, 0, &limit, NULL), -1);
    assert_int_equal(errno, ETIMEDOUT);
}

static void (*const calls[])(void) = {
    by_poll,         by_ppoll,        by_pselect,    by_select,
    by_old_select,   by_epoll_wait,   by_nanosleep,  by_nanosleep_with_rest,
    by_futex,        by_epoll_pwait2, by_semtimedop, by_old_nanosleep,
    by_sigtimedwait,
};
#define CALLS (sizeof calls / sizeof *calls)

/* --- a thread that calls, and is interrupted again and again --- */

static _Atomic int tid;
static _Atomic uint32_t ended;
static bool as_if_left(void *frame)
{
    os_interrupt_leaves(frame);
    return true;
}

struct caller {
    void (*call)(void);
    int times;
};
static void *calls_thread(void *arg)
{
    const struct caller *c = arg;
    ps_store_release(&tid, os_thread_id());
    for (int i = 0; i < c->times; i++) {
        uint64_t begin = os_now_ns();
        c->call();
        assert_true(os_now_ns() - begin >= LIMIT_MS * UINT64_C(1000000));
    }
    ps_store_release(&ended, 1);
    return NULL;
}

static _Atomic uint32_t away;

/* How many interrupts. */
static int interrupt_until_ended(os_interrupt_fn *fn)
{
    int n = 0;
    while (!ps_load_acquire(&tid))
        usleep(100);
    for (uint64_t until = os_now_ns() + LONGEST_MS * UINT64_C(1000000); os_now_ns() < until; usleep(2000)) {
        if (ps_load_acquire(&ended))
            return n;
        if (!ps_load_acquire(&away))
            n += os_interrupt(ps_load_relaxed(&tid), fn) == 0;
    }
    fail_msg("not in time, after %d interrupts", n);
    return n;
}

static void interrupt_some_times(void)
{
    while (!ps_load_acquire(&tid))
        usleep(100);
    for (int n = 0; n < 5; usleep(3000))
        n += os_interrupt(ps_load_relaxed(&tid), as_if_left) == 0;
}

static pthread_t start(void *(*thread)(void *), void *arg)
{
    pthread_t handle;
    ps_store_relaxed(&tid, 0);
    ps_store_relaxed(&ended, 0);
    assert_int_equal(pthread_create(&handle, NULL, thread, arg), 0);
    return handle;
}

static void a_limit_is_met_and_not_before(void **state)
{
    (void)state;
    if (!restart_block_works())
        skip();
    for (size_t i = 0; i < CALLS; i++) {
        struct caller caller = {calls[i], 2};
        pthread_t thread = start(calls_thread, &caller);
        assert_true(interrupt_until_ended(as_if_left) > 0);
        pthread_join(thread, NULL);
    }
}

static void a_limit_that_cannot_be_written_is_not_cut_short(void **state)
{
    struct caller caller = {by_ppoll_with_constant, 1};
    (void)state;
    if (!restart_block_works())
        skip();
    pthread_t thread = start(calls_thread, &caller);
    interrupt_some_times();
    pthread_join(thread, NULL);
}

/* The thread is somewhere else most of the time. That counts as well. */
static bool is_long_away(void *frame)
{
    (void)frame;
    ps_store_release(&away, 1);
    usleep(AWAY_MS * 1000);
    ps_store_release(&away, 0);
    return true;
}
static void absence_counts(void **state)
{
    (void)state;
    if (!restart_block_works())
        skip();
    for (size_t i = 0; i < CALLS; i++) {
        struct caller caller = {calls[i], 1};
        uint64_t begin = os_now_ns();
        pthread_t thread = start(calls_thread, &caller);
        assert_true(interrupt_until_ended(is_long_away) > 0);
        pthread_join(thread, NULL);
        assert_true(os_now_ns() - begin < MOST_MS * UINT64_C(1000000));
    }
}

/* --- what the program finds afterwards --- */

#if defined(__x86_64__)
/* A call by hand, with a red zone below it; all registers that a call keeps are as they were, and the flags. They are
 * looked at before any function is called. */
static void by_hand(void)
{
    register long r10 __asm__("r10") = 10, r8 __asm__("r8") = 8, r9 __asm__("r9") = 9;
    long rdi = 0, rsi = 0, rdx = LIMIT_MS, result;
    double number = 1.25;
    __asm__ volatile("movq $77, -16(%%rsp)\n\t"
                     "stc\n\t"
                     "mov $7, %%eax\n\t" /* poll; the code tells which call it is (restart.c) */
                     "syscall\n\t"
                     "jc 1f\n\tud2\n1:\t"
                     "cmpq $77, -16(%%rsp)\n\t"
                     "je 1f\n\tud2\n1:"
                     : "=a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9), "+x"(number)
                     :
                     : "rcx", "r11", "memory", "cc");
    assert_true(result == 0 && rdi == 0 && rsi == 0 && rdx == LIMIT_MS && r10 == 10 && r8 == 8 && r9 == 9 &&
                number == 1.25);
}

/* A transfer that waits for room; each interrupt finds it in another part of it. */
#define PARTS 40
#define PART_BYTES 5000
#define READ_BYTES 50000 /* a pipe has room for more than that and less than twice that */
static char bytes_sent[PARTS * PART_BYTES], bytes_read[PARTS * PART_BYTES];
static void *reads_in_parts(void *arg)
{
    int from = *(int *)arg;
    for (size_t at = 0; at < sizeof bytes_read;) {
        usleep(at % READ_BYTES ? 0 : LIMIT_MS * 1000L);
        ssize_t bytes = read(from, bytes_read + at, READ_BYTES - at % READ_BYTES);
        assert_true(bytes > 0);
        at += (size_t)bytes;
    }
    return NULL;
}
#define WRITE_BY_HAND(call)                                                                         \
    __asm__ volatile("stc\n\t"                                                                      \
                     "mov %[number], %%eax\n\t"                                                     \
                     "syscall\n\t"                                                                  \
                     "jc 1f\n\tud2\n1:"                                                             \
                     : "=a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9) \
                     : [number] "i"(call)                                                           \
                     : "rcx", "r11", "memory", "cc")
static void write_by_hand(bool in_parts)
{
    struct iovec part[PARTS];
    int end[2] = {-1, -1};
    pthread_t reader = 0;
    for (size_t i = 0; i < sizeof bytes_sent; i++)
        bytes_sent[i] = (char)(i % 251);
    for (size_t i = 0; i < PARTS; i++)
        part[i] = (struct iovec){bytes_sent + i * PART_BYTES, PART_BYTES};
    memset(bytes_read, 0, sizeof bytes_read);
    assert_true(pipe(end) == 0 && pthread_create(&reader, NULL, reads_in_parts, end) == 0);
    long buffer = in_parts ? (long)(intptr_t)part : (long)(intptr_t)bytes_sent;
    long length = in_parts ? PARTS : sizeof bytes_sent;
    long rdi = end[1], rsi = buffer, rdx = length, result;
    register long r10 __asm__("r10") = 10, r8 __asm__("r8") = 8, r9 __asm__("r9") = 9;
    if (in_parts)
        WRITE_BY_HAND(SYS_writev);
    else
        WRITE_BY_HAND(SYS_write);
    assert_true(result == sizeof bytes_sent && rdi == end[1] && rsi == buffer && rdx == length && r10 == 10 &&
                r8 == 8 && r9 == 9);
    pthread_join(reader, NULL);
    assert_memory_equal(bytes_sent, bytes_read, sizeof bytes_sent);
    close(end[0]);
    close(end[1]);
}
static void by_hand_write(void) { write_by_hand(false); }
static void by_hand_writev(void) { write_by_hand(true); }

/* The transfer's second call fails: what the first one has transferred is the result. */
static void *closes_later(void *arg)
{
    usleep(LIMIT_MS * 1000L);
    close(*(int *)arg);
    return NULL;
}
static void by_write_to_be_closed(void)
{
    int end[2] = {-1, -1};
    pthread_t reader = 0;
    assert_true(pipe(end) == 0 && pthread_create(&reader, NULL, closes_later, end) == 0);
    int room = fcntl(end[1], F_GETPIPE_SZ);
    assert_true(room > 0 && room < (int)sizeof bytes_sent);
    assert_int_equal(write(end[1], bytes_sent, sizeof bytes_sent), room);
    assert_int_equal(write(end[1], bytes_sent, sizeof bytes_sent), -1);
    assert_int_equal(errno, EPIPE);
    pthread_join(reader, NULL);
    close(end[1]);
}

static void by_hand_with_vectors(void)
{
    static const double before[4] = {1.25, 2.5, 3.75, 5};
    double after[4] = {0};
    long rdi = 0, rsi = 0, rdx = LIMIT_MS, result;
    if (!__builtin_cpu_supports("avx")) {
        by_hand();
        return;
    }
    __asm__ volatile("vmovupd %[before], %%ymm7\n\t"
                     "mov %%rsp, %%r12\n\t"
                     "and $-64, %%rsp\n\t" /* the frame's last bytes are close below */
                     "mov $7, %%eax\n\t"
                     "syscall\n\t"
                     "mov %%r12, %%rsp\n\t"
                     "vmovupd %%ymm7, %[after]\n\t"
                     "vzeroupper"
                     : "=a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), [after] "=m"(after)
                     : [before] "m"(before)
                     : "rcx", "r11", "r12", "xmm7", "memory", "cc");
    assert_int_equal(result, 0);
    assert_memory_equal(before, after, sizeof before);
}

/* A handler calls on an alternate stack. The kernel lays the next handler's frame right below it there. */
static volatile sig_atomic_t calls_vectors;
static void calls_in_handler(int number)
{
    (void)number;
    if (calls_vectors)
        by_hand_with_vectors();
    else
        by_hand();
}
static void is_passed(int number, siginfo_t *info, void *frame)
{
    (void)info;
    os_signal_passed(frame, number);
}
static void by_handler_on_own_stack(void)
{
    static char room[256 * 1024];
    const stack_t own = {.ss_sp = room, .ss_size = sizeof room}, none = {.ss_flags = SS_DISABLE};
    assert_int_equal(sigaltstack(&own, NULL), 0);
    assert_int_equal(raise(PROGRAMS), 0);
    assert_int_equal(sigaltstack(&none, NULL), 0);
}
static void nor_changes_what_is_passed_on_its_own_stack(void **state)
{
    struct sigaction outer = {.sa_handler = calls_in_handler, .sa_flags = SA_ONSTACK};
    struct sigaction inner = {.sa_sigaction = is_passed, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    (void)state;
    if (!restart_block_works())
        skip();
    assert_int_equal(sigaction(PROGRAMS, &outer, NULL), 0);
    assert_int_equal(sigaction(SIGUSR2, &inner, NULL), 0);
    for (int vectors = 0; vectors < 2; vectors++) {
        struct caller caller = {by_handler_on_own_stack, 3};
        calls_vectors = vectors;
        pthread_t thread = start(calls_thread, &caller);
        for (; !ps_load_acquire(&ended); usleep(2000))
            pthread_kill(thread, SIGUSR2);
        pthread_join(thread, NULL);
    }
    signal(SIGUSR2, SIG_DFL);
}

static void registers_are_as_they_were(void **state)
{
    static void (*const by[])(void) = {by_hand, by_hand_write, by_hand_writev, by_write_to_be_closed};
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    if (!restart_block_works())
        skip();
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        struct caller caller = {by[i], 3};
        pthread_t thread = start(calls_thread, &caller);
        assert_true(interrupt_until_ended(as_if_left) > 0);
        pthread_join(thread, NULL);
    }
}
#endif

/* --- what ends such a call before --- */

static volatile sig_atomic_t unwound;
static void ends(int number)
{
    void *at[64];
    (void)number;
    unwound = backtrace(at, 64);
}
static void *polls_long(void *arg)
{
    (void)arg;
    ps_store_release(&tid, os_thread_id());
    assert_int_equal(poll(NULL, 0, 20 * LONGEST_MS), -1);
    assert_int_equal(errno, EINTR);
    return NULL;
}

static void a_signal_ends_it(void **state)
{
    struct sigaction action = {.sa_handler = ends};
    void *at[4];
    (void)state;
    if (!restart_block_works())
        skip();
    backtrace(at, 4); /* loads the unwinder */
    assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
    pthread_t thread = start(polls_long, NULL);
    interrupt_some_times();
    assert_int_equal(pthread_kill(thread, PROGRAMS), 0);
    pthread_join(thread, NULL);
    assert_true(unwound >= 5); /* the handler, its return, the call, poll, polls_long */
}

/* What is left of a sleep that ends with EINTR counts the thread's absence, too. */
static bool is_away_while_a_signal_comes(void *frame)
{
    static _Atomic uint64_t handled;
    ps_store_relaxed(&handled, UINT64_C(1) << (PROGRAMS - 1));
    os_interrupt_leaves(frame);
    usleep(3 * AWAY_MS * 1000);
    os_interrupt_handled(frame, &handled);
    return true;
}
static void *sleeps_and_is_told(void *arg)
{
    struct timespec whole = {.tv_sec = 10}, *rest = arg;
    ps_store_release(&tid, os_thread_id());
    assert_int_equal(nanosleep(&whole, rest), -1);
    assert_int_equal(errno, EINTR);
    return NULL;
}
static void what_is_left_is_told(void **state)
{
    struct sigaction action = {.sa_handler = ends};
    struct timespec rest = {0};
    (void)state;
    if (!restart_block_works())
        skip();
    assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
    uint64_t begin = os_now_ns();
    pthread_t thread = start(sleeps_and_is_told, &rest);
    interrupt_some_times();
    while (os_interrupt(ps_load_relaxed(&tid), is_away_while_a_signal_comes) != 0)
        usleep(1000);
    pthread_join(thread, NULL);
    double took = (double)(os_now_ns() - begin) / 1e9, left = (double)rest.tv_sec + (double)rest.tv_nsec / 1e9;
    assert_true(left <= 10 - 0.06 && left >= 10 - took);
}

static void note_cancelled(void *arg) { *(bool *)arg = true; }
static void *is_cancelled(void *arg)
{
    pthread_cleanup_push(note_cancelled, arg);
    polls_long(NULL);
    pthread_cleanup_pop(0);
    return NULL;
}
static void so_does_cancellation(void **state)
{
    bool cancelled = false;
    void *result;
    (void)state;
    if (!restart_block_works())
        skip();
    pthread_t thread = start(is_cancelled, &cancelled);
    interrupt_some_times();
    assert_int_equal(pthread_cancel(thread), 0);
    pthread_join(thread, &result);
    assert_true(cancelled && result == PTHREAD_CANCELED);
}

static sigjmp_buf outside;
static void jumps(int number)
{
    (void)number;
    siglongjmp(outside, 1);
}
static void *leaves_by_a_jump(void *arg)
{
    if (sigsetjmp(outside, 1) == 0)
        polls_long(NULL);
    by_poll();
    *(bool *)arg = true;
    return NULL;
}
static void so_does_a_jump(void **state)
{
    struct sigaction action = {.sa_handler = jumps};
    bool through = false;
    (void)state;
    if (!restart_block_works())
        skip();
    assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
    pthread_t thread = start(leaves_by_a_jump, &through);
    interrupt_some_times();
    assert_int_equal(pthread_kill(thread, PROGRAMS), 0);
    pthread_join(thread, NULL);
    assert_true(through);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_met_and_not_before),
        cmocka_unit_test(a_limit_that_cannot_be_written_is_not_cut_short),
        cmocka_unit_test(absence_counts),
        cmocka_unit_test(what_is_left_is_told),
        cmocka_unit_test(a_signal_ends_it),
        cmocka_unit_test(so_does_cancellation),
        cmocka_unit_test(so_does_a_jump),
#if defined(__x86_64__)
        cmocka_unit_test(registers_are_as_they_were),
        cmocka_unit_test(nor_changes_what_is_passed_on_its_own_stack),
#endif
    };
    return PS_TSAN ? 77 : cmocka_run_group_tests(tests, NULL, NULL); /* it delivers signals when it likes */
}
