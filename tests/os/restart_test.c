/* A system call that the runtime's interrupt has ended is made anew. The call is not made anew where the program would
 * see the difference: a handler of its own came at the same moment or while the interrupt was handled, or the call is
 * close. What the interrupt came upon is laid out here, so that nothing depends on the moment. */
#define _GNU_SOURCE
#include "test.h"

#include "atomic.h"
#include "linux/restart.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define INTERRUPT SIGURG
#define PROGRAMS SIGUSR1

/* The interrupt and a signal of the program's are both there when ppoll lets them in. The kernel takes the one to the
 * thread first, so that its handler is entered first. */
static volatile sig_atomic_t arrived;
static void arrives(int signal)
{
    (void)signal;
    arrived = 1;
}
static bool in_vain(void *frame)
{
    (void)frame;
    return false;
}

static void a_signal_beside_the_interrupt_ends_the_call(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = arrives};
    sigset_t both, none;
    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, PROGRAMS);
    assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
    int e = os_interrupt(os_thread_id(), in_vain); /* installs its handler */
    if (e == ENOTSUP)
        skip();
    assert_int_equal(e, 0);
    struct sigaction found;
    for (int n = 1; n < NSIG; n++) /* whichever signal it takes */
        if (n != PROGRAMS && sigaction(n, NULL, &found) == 0 && found.sa_handler != SIG_DFL &&
            found.sa_handler != SIG_IGN)
            sigaddset(&both, n);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &both, NULL), 0);
    for (int i = 0; i < 20; i++) {
        struct timespec limit = {.tv_sec = 20};
        arrived = 0;
        assert_int_equal(kill(getpid(), PROGRAMS), 0);
        assert_int_equal(syscall(SYS_tgkill, getpid(), os_thread_id(), INTERRUPT), 0);
        errno = 0;
        assert_int_equal(ppoll(NULL, 0, &limit, &none), -1);
        assert_int_equal(errno, EINTR);
        assert_int_equal(arrived, 1);
    }
}

/* Each signal that a program may block stays blocked: in the interrupt, and while one is sent. */
static void what_is_blocked_stays_so_in_the_interrupt(void **state)
{
    (void)state;
    sigset_t all, before;
    sigfillset(&all);
    for (int n = 1; n <= 64; n++)
        assert_int_equal(sigismember(&all, n) == 1, OS_ALL_SIGNALS >> (n - 1) & 1);
    struct sigaction action = {.sa_handler = arrives};
    sigset_t first;
    sigemptyset(&first);
    sigaddset(&first, SIGRTMIN);
    assert_int_equal(sigaction(SIGRTMIN, &action, NULL), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &first, &before), 0);
    arrived = 0;
    assert_int_equal(raise(SIGRTMIN), 0);
    int e = os_interrupt(os_thread_id(), in_vain);
    assert_true(e == 0 || e == ENOTSUP);
    assert_int_equal(arrived, 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(arrived, 1);
}

/* The interrupt comes while a handler of the program's keeps it out, which has ended a call: it is handled when that
 * handler returns, before the program's next instruction. */
static bool leaves_rcx; /* as a processor with FRED */
static void is_interrupted_late(int signal, siginfo_t *info, void *frame)
{
    (void)info;
    syscall(SYS_tgkill, getpid(), os_thread_id(), INTERRUPT);
#if defined(__x86_64__)
    if (leaves_rcx)
        ((ucontext_t *)frame)->uc_mcontext.gregs[REG_RCX] = 0;
#endif
    os_handler_returns(signal, frame);
}
static void a_call_that_a_handler_has_ended_stays_so(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = is_interrupted_late, .sa_flags = SA_SIGINFO};
    static char pages[4 * 4096];
    int channel[2];
    sigset_t all, alarm_only, before;
    sigfillset(&all);
    action.sa_mask = all;
    int e = os_interrupt(os_thread_id(), in_vain); /* installs its handler */
    if (e == ENOTSUP)
        skip();
    assert_true(e == 0 || e == EAGAIN);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &alarm_only, &before), 0);
    for (int i = 0; i < 20; i++) {
        leaves_rcx = i % 2;
        assert_int_equal(raise(SIGALRM), 0);
        errno = 0;
        assert_int_equal(sigsuspend(&before), -1);
        assert_int_equal(errno, EINTR);
    }
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    leaves_rcx = false;
    assert_int_equal(pipe(channel), 0);
    assert_true(fcntl(channel[1], F_SETPIPE_SZ, sizeof pages / 2) > 0);
    const struct itimerval soon = {.it_value.tv_usec = 100000, .it_interval.tv_usec = 100000}, never = {0};
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_true(write(channel[1], pages, sizeof pages) < (ssize_t)sizeof pages); /* a part */
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    signal(SIGALRM, SIG_DFL);
    close(channel[0]);
    close(channel[1]);
}

/* --- a signal that comes while the interrupt is handled --- */

static _Atomic int waiter_tid;
static bool a_signal_comes(void *frame)
{
    (void)frame;
    syscall(SYS_tgkill, getpid(), os_thread_id(), PROGRAMS);
    return false;
}

/* The same where signals are let in before the handler ends: the thread may come back to where it was, or stay. */
static bool one_is_let_in(void *frame)
{
    a_signal_comes(frame);
    os_interrupt_leaves(frame);
    return false;
}
static bool one_is_let_in_and_back(void *frame) { return !one_is_let_in(frame); }
static void arrives_and_returns(int signal, siginfo_t *info, void *frame)
{
    (void)info;
    arrived++;
    os_handler_returns(signal, frame);
}

/* Waits by a call that the kernel does not make again after a handler (0), or that it does. */
static void *waits(void *arg)
{
    int channel[2];
    char c;
    bool by_kernel = *(bool *)arg;
    assert_int_equal(pipe(channel), 0);
    ps_store_release(&waiter_tid, os_thread_id());
    errno = 0;
    if (by_kernel)
        assert_int_equal(read(channel[0], &c, 1), -1);
    else
        assert_int_equal(poll(NULL, 0, -1), -1);
    assert_int_equal(errno, EINTR);
    close(channel[0]);
    close(channel[1]);
    return NULL;
}

static void a_signal_in_the_interrupt_ends_the_call(void **state)
{
    (void)state;
    static os_interrupt_fn *const kinds[] = {a_signal_comes, one_is_let_in, one_is_let_in_and_back};
    struct sigaction action = {.sa_sigaction = arrives_and_returns, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
    for (int i = 0; i < 6; i++) {
        bool by_kernel = i % 2;
        pthread_t thread;
        ps_store_relaxed(&waiter_tid, 0);
        arrived = 0;
        assert_int_equal(pthread_create(&thread, NULL, waits, &by_kernel), 0);
        while (!ps_load_acquire(&waiter_tid))
            usleep(1000);
        for (struct os_usage u = {0}; !u.sleeping; usleep(1000))
            assert_int_equal(os_thread_usage(ps_load_relaxed(&waiter_tid), &u), 0);
        int e = os_interrupt(ps_load_relaxed(&waiter_tid), kinds[i / 2]);
        if (e == ENOTSUP)
            skip();
        assert_int_equal(e, 0);
        pthread_join(thread, NULL);
        assert_int_equal(arrived, 1);
    }
}

/* --- a signal that is sent on --- */

#if defined(__x86_64__)
static _Atomic int passed;
static void passes(int signal, siginfo_t *info, void *frame)
{
    (void)info;
    ps_add_seq(&passed, 1);
    os_signal_passed(frame, signal);
}
static void *reads_on(void *arg)
{
    char c;
    ps_store_release(&waiter_tid, os_thread_id());
    assert_int_equal(read(*(int *)arg, &c, 1), 1);
    return NULL;
}
/* It comes alone, or while the runtime interrupts the thread. */
static void a_signal_that_is_passed_on_ends_no_call(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = passes, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
    for (int i = 0; i < 2; i++) {
        int channel[2];
        pthread_t thread;
        ps_store_relaxed(&waiter_tid, 0);
        ps_store_relaxed(&passed, 0);
        assert_int_equal(pipe(channel), 0);
        assert_int_equal(pthread_create(&thread, NULL, reads_on, &channel[0]), 0);
        while (!ps_load_acquire(&waiter_tid))
            usleep(1000);
        int tid = ps_load_relaxed(&waiter_tid);
        for (struct os_usage u = {0}; !u.sleeping; usleep(1000))
            assert_int_equal(os_thread_usage(tid, &u), 0);
        if (i == 0)
            assert_int_equal(syscall(SYS_tgkill, getpid(), tid, PROGRAMS), 0);
        else
            assert_int_equal(os_interrupt(tid, a_signal_comes), 0);
        while (!ps_load_acquire(&passed))
            usleep(1000);
        assert_int_equal(write(channel[1], "x", 1), 1);
        pthread_join(thread, NULL);
        close(channel[0]);
        close(channel[1]);
    }
}
#endif

/* --- which threads may interrupt a call again --- */

static _Atomic int reader_tid, others;
static void *reads(void *arg)
{
    char c;
    ps_store_release(&reader_tid, os_thread_id());
    assert_int_equal(read(*(int *)arg, &c, 1), 1);
    return NULL;
}
static bool for_another_reason(void *frame)
{
    (void)frame;
    ps_add_relaxed(&others, 1);
    return false;
}

static pthread_t start_reader(void *(*reader)(void *), int channel[2])
{
    pthread_t thread;
    ps_store_relaxed(&reader_tid, 0);
    assert_int_equal(pipe(channel), 0);
    assert_int_equal(pthread_create(&thread, NULL, reader, &channel[0]), 0);
    while (!ps_load_acquire(&reader_tid))
        usleep(1000);
    return thread;
}

/* A call that one kind of interrupt cannot end is left in peace by that kind, for longer and longer. Another kind,
 * which may do more, comes through meanwhile. */
static void one_kind_of_interrupt_does_not_keep_out_another(void **state)
{
    (void)state;
    int channel[2];
    pthread_t thread = start_reader(reads, channel);
    int tid = ps_load_acquire(&reader_tid), e = 0;
    for (struct os_usage u = {0}; !u.sleeping; usleep(1000))
        assert_int_equal(os_thread_usage(tid, &u), 0);
    for (uint64_t until_ns = os_now_ns() + UINT64_C(300000000); os_now_ns() < until_ns; usleep(1000))
        e = os_interrupt(tid, in_vain);
    for (uint64_t until_ns = os_now_ns() + UINT64_C(10000000000); e == 0 && os_now_ns() < until_ns; usleep(1000))
        e = os_interrupt(tid, in_vain);
    if (e != ENOTSUP && access("/proc/self/syscall", R_OK) == 0) {
        assert_int_equal(e, EAGAIN);
        assert_int_equal(os_interrupt(tid, for_another_reason), 0);
        while (!ps_load_relaxed(&others))
            usleep(1000);
    }
    assert_int_equal(write(channel[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(channel[0]);
    close(channel[1]);
}

static void *reads_deaf(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
    return reads(arg);
}

/* It would come when the mask changes back, maybe at the end of a call that another signal has ended. */
static void a_thread_that_blocks_it_is_not_interrupted(void **state)
{
    (void)state;
    int channel[2];
    pthread_t thread = start_reader(reads_deaf, channel);
    int e = os_interrupt(ps_load_relaxed(&reader_tid), in_vain);
    assert_true(e == EAGAIN || e == ENOTSUP);
    assert_int_equal(write(channel[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(channel[0]);
    close(channel[1]);
}

/* A filter refuses the call that sends a signal with what it brings. */
static bool filter_refuses(uint32_t number)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
static void an_interrupt_is_sent_in_another_way(void **state)
{
    int status;
    pid_t child = fork();
    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        if (!filter_refuses(SYS_rt_tgsigqueueinfo))
            _exit(77);
        ps_store_relaxed(&others, 0);
        int e = os_interrupt(os_thread_id(), for_another_reason);
        _exit(e == ENOTSUP ? 77 : e != 0 || ps_load_relaxed(&others) != 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

#if defined(__x86_64__)
/* The end of a call as the handler sees it: code that ends with the instruction, then -EINTR. True: made anew, with
 * this number. */
static bool is_code_made_anew(const unsigned char *code, size_t bytes, uint32_t number)
{
    ucontext_t uc = {0};
    greg_t after = (greg_t)(intptr_t)(code + bytes);
    uc.uc_mcontext.gregs[REG_RIP] = after;
    uc.uc_mcontext.gregs[REG_RAX] = -EINTR;
    uc.uc_mcontext.gregs[REG_R9] = SYS_futex;
    restart_take_back(&uc, INTERRUPT, restart_in(&uc, INTERRUPT), 0);
    bool anew = uc.uc_mcontext.gregs[REG_RIP] == after - 2;
    assert_true(anew || uc.uc_mcontext.gregs[REG_RIP] == after);
    assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], anew ? (greg_t)number : -EINTR);
    return anew;
}

/* `number` loaded, the instruction behind it. */
static bool is_made_anew(uint32_t number)
{
    static unsigned char code[] = {0x90, 0x90, 0xb8, 0, 0, 0, 0, 0x0f, 0x05, 0xc3};
    memcpy(code + 3, &number, sizeof number);
    return is_code_made_anew(code, sizeof code - 1, number);
}

/* What the C library has between the load and the call (pselect, recvfrom), or in front of a wait on a futex. */
static void the_number_may_be_further_back(void **state)
{
    static const unsigned char one[] = {0x90, 0xb8, 0x46, 0, 0, 0, 0x8b, 0x7c, 0x24, 0x08, 0x0f, 0x05};
    static const unsigned char two[] = {0x90, 0xb8, 0x2d, 0,    0,    0,    0x48, 0x8b, 0x54,
                                        0x24, 0x10, 0x48, 0x8b, 0x74, 0x24, 0x08, 0x0f, 0x05};
    static const unsigned char other[] = {0x90, 0xb8, 0x46, 0, 0, 0, 0x8b, 0x44, 0x24, 0x08, 0x0f, 0x05}; /* eax anew */
    static const unsigned char by_register[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x44, 0x89, 0xc8, 0x0f, 0x05};
    static const unsigned char none[] = {0x90, 0x90, 0x90, 0x31, 0xc0, 0x0f, 0x05};
    static const unsigned char another[] = {0x90, 0x90, 0x45, 0x31, 0xc0, 0x0f, 0x05}; /* xor %r8d, %r8d */
    static const unsigned char no_futex[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x44, 0x89, 0xc0, 0x0f, 0x05};
    (void)state;
    assert_true(is_code_made_anew(one, sizeof one, SYS_msgrcv));
    assert_true(is_code_made_anew(two, sizeof two, SYS_recvfrom));
    assert_false(is_code_made_anew(other, sizeof other, 0));
    assert_true(is_code_made_anew(by_register, sizeof by_register, SYS_futex)); /* mov %r9d, %eax */
    assert_false(is_code_made_anew(no_futex, sizeof no_futex, 0));
    assert_true(is_code_made_anew(none, sizeof none, SYS_read));
    assert_false(is_code_made_anew(another, sizeof another, 0));
}

/* The sender has looked before, and seen this kernel thread in another call. */
static _Atomic long first_argument;
static bool another_call_was_seen(void *frame)
{
    static unsigned char code[] = {0x90, 0xb8, SYS_poll, 0, 0, 0, 0x0f, 0x05};
    ucontext_t uc = {0};
    (void)frame;
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(intptr_t)(code + sizeof code);
    uc.uc_mcontext.gregs[REG_RAX] = -EINTR;
    uc.uc_mcontext.gregs[REG_RDI] = 1234;
    if (restart_in(&uc, INTERRUPT) == RESTART_ANEW && uc.uc_mcontext.gregs[REG_RAX] == SYS_poll)
        ps_store_release(&first_argument, uc.uc_mcontext.gregs[REG_RDI]);
    else
        ps_store_release(&first_argument, -1);
    return false;
}
static void a_call_keeps_its_arguments(void **state)
{
    (void)state;
    int channel[2];
    pthread_t thread;
    assert_int_equal(pipe(channel), 0);
    ps_store_relaxed(&reader_tid, 0);
    assert_int_equal(pthread_create(&thread, NULL, reads, &channel[0]), 0);
    while (!ps_load_acquire(&reader_tid))
        usleep(1000);
    for (struct os_usage u = {0}; !u.sleeping; usleep(1000))
        assert_int_equal(os_thread_usage(ps_load_relaxed(&reader_tid), &u), 0);
    assert_int_equal(os_interrupt(ps_load_relaxed(&reader_tid), another_call_was_seen), 0);
    while (!ps_load_acquire(&first_argument))
        usleep(1000);
    assert_int_equal(ps_load_relaxed(&first_argument), 1234);
    assert_int_equal(write(channel[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(channel[0]);
    close(channel[1]);
}

/* The instruction of a call is next, and the sender has seen this kernel thread run: the call may have begun since. It
 * may not where the sender has seen another call. */
static _Atomic int told, spins;
static bool is_at_a_call(void *frame)
{
    static unsigned char code[] = {0x90, 0x0f, 0x05};
    ucontext_t uc = {0};
    (void)frame;
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(intptr_t)(code + 1);
    uc.uc_mcontext.gregs[REG_RAX] = SYS_read;
    ps_store_release(&told, 1 + (int)restart_in(&uc, INTERRUPT));
    return false;
}
static void *spins_then_reads(void *arg)
{
    ps_store_release(&reader_tid, os_thread_id());
    while (ps_load_relaxed(&spins))
        continue;
    return reads(arg);
}
static enum restart what_is_told(void)
{
    ps_store_relaxed(&told, 0);
    assert_int_equal(os_interrupt(ps_load_acquire(&reader_tid), is_at_a_call), 0);
    while (!ps_load_acquire(&told))
        usleep(1000);
    return (enum restart)(ps_load_relaxed(&told) - 1);
}
static void a_call_that_was_not_seen_may_have_begun(void **state)
{
    (void)state;
    int channel[2];
    ps_store_relaxed(&spins, 1);
    pthread_t thread = start_reader(spins_then_reads, channel);
    if (access("/proc/self/syscall", R_OK) == 0)
        assert_int_equal(what_is_told(), RESTART_UNTOLD);
    ps_store_relaxed(&spins, 0);
    for (struct os_usage u = {0}; !u.sleeping; usleep(1000))
        assert_int_equal(os_thread_usage(ps_load_relaxed(&reader_tid), &u), 0);
    assert_int_equal(what_is_told(), RESTART_NONE);
    assert_int_equal(write(channel[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(channel[0]);
    close(channel[1]);
}

/* It spins at the begin of a page, with nothing in front. */
static void *spins_at_page_start(void *arg)
{
    ps_store_release(&reader_tid, os_thread_id());
    ((void (*)(void))(uintptr_t)arg)();
    return NULL;
}
static char *page_start;
static _Atomic int sent_on;
static bool sends_on(void *frame)
{
    greg_t *pc = &((ucontext_t *)frame)->uc_mcontext.gregs[REG_RIP];
    if (*pc == (greg_t)(intptr_t)page_start) {
        *pc += 2;
        ps_store_release(&sent_on, 1);
    }
    return false;
}
static void code_may_begin_a_page(void **state)
{
    static const unsigned char code[] = {0xeb, 0xfe, 0xc3}; /* 1: jmp 1b; ret */
    size_t page = os_page_size();
    char *start = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    (void)state;
    assert_ptr_not_equal(start, MAP_FAILED);
    assert_int_equal(mprotect(start + page, page, PROT_READ | PROT_WRITE), 0);
    memcpy(start + page, code, sizeof code);
    assert_int_equal(mprotect(start + page, page, PROT_READ | PROT_EXEC), 0);
    page_start = start + page;
    ps_store_relaxed(&reader_tid, 0);
    assert_int_equal(pthread_create(&thread, NULL, spins_at_page_start, page_start), 0);
    while (!ps_load_acquire(&reader_tid))
        usleep(1000);
    for (; !ps_load_acquire(&sent_on); usleep(1000))
        os_interrupt(ps_load_relaxed(&reader_tid), sends_on); /* or the last one has been late */
    pthread_join(thread, NULL);
    munmap(start, 2 * page);
}

/* The program's own, by number: nobody need have looked. */
extern const char os_system_call_end[];
static void the_number_of_the_programs_own_stands_on_the_stack(void **state)
{
    (void)state;
    long stack[2] = {0, SYS_futex};
    ucontext_t uc = {0};
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(intptr_t)os_system_call_end;
    uc.uc_mcontext.gregs[REG_RSP] = (greg_t)(intptr_t)stack;
    uc.uc_mcontext.gregs[REG_RAX] = -EINTR;
    assert_int_equal(restart_in(&uc, INTERRUPT), RESTART_ANEW);
    assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], SYS_futex);
    assert_int_equal(os_system_call(SYS_futex, 0, -1, 0, 0, 0, 0), -ENOSYS);
    assert_int_equal(os_system_call(SYS_getpid, 0, 0, 0, 0, 0, 0), getpid());
}

/* The interrupt was kept out while the call waited: it comes when the handler that has ended the call returns. */
static void nor_one_that_keeps_the_interrupt_out(void **state)
{
    static unsigned char code[] = {0x90, 0xb8, SYS_rt_sigsuspend & 0xff, 0, 0, 0, 0x0f, 0x05};
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        uint64_t mask = kept ? UINT64_C(1) << (INTERRUPT - 1) : 0;
        ucontext_t uc = {0};
        uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(intptr_t)(code + sizeof code);
        uc.uc_mcontext.gregs[REG_RAX] = -EINTR;
        uc.uc_mcontext.gregs[REG_RDI] = (greg_t)(intptr_t)&mask;
        assert_int_equal(restart_in(&uc, INTERRUPT), kept ? RESTART_NONE : RESTART_ANEW);
    }
}

/* Another sender has looked at a kernel thread that has just ended. */
static void a_call_is_made_anew_whichever_thread_was_looked_at(void **state)
{
    (void)state;
    assert_true(restart_look(INT_MAX, in_vain));
    assert_true(is_made_anew(SYS_poll));
}

/* Its descriptor may be free already, and be somebody else's the second time. */
static void close_is_not_made_anew(void **state)
{
    (void)state;
    assert_true(is_made_anew(SYS_read));
    assert_true(is_made_anew(SYS_poll));
    assert_false(is_made_anew(SYS_close));
    assert_true(is_made_anew(SYS_rt_sigtimedwait)); /* what it waits for stays pending meanwhile */
}

static greg_t after_taking_back(enum restart made, uint64_t signals, bool blocked, greg_t *result)
{
    static unsigned char code[] = {0x0f, 0x05, 0xc3};
    ucontext_t uc = {0};
    if (blocked)
        memcpy(&uc.uc_sigmask, &signals, sizeof signals);
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(intptr_t)code;
    uc.uc_mcontext.gregs[REG_RAX] = SYS_read;
    restart_take_back(&uc, INTERRUPT, made, signals);
    *result = uc.uc_mcontext.gregs[REG_RAX];
    return uc.uc_mcontext.gregs[REG_RIP] - (greg_t)(intptr_t)code;
}

/* What a signal does that was handled while the thread was away: by the handler's flags, and by what restarts the
 * call. */
static void a_signal_meanwhile_ends_the_call(void **state)
{
    const uint64_t sent = UINT64_C(1) << (PROGRAMS - 1);
    struct sigaction action = {.sa_handler = arrives};
    greg_t result;
    (void)state;
    for (int restarts = 0; restarts < 2; restarts++) {
        action.sa_flags = restarts ? SA_RESTART : 0;
        assert_int_equal(sigaction(PROGRAMS, &action, NULL), 0);
        assert_int_equal(after_taking_back(RESTART_ANEW, sent, false, &result), 2);
        assert_int_equal(result, -EINTR);
        assert_int_equal(after_taking_back(RESTART_BY_KERNEL, sent, false, &result), restarts ? 0 : 2);
        assert_int_equal(result, restarts ? SYS_read : -EINTR);
        assert_int_equal(after_taking_back(RESTART_ANEW, sent, true, &result), 0); /* it is still pending */
        assert_int_equal(after_taking_back(RESTART_NONE, sent, false, &result), 0);
        assert_int_equal(after_taking_back(RESTART_UNTOLD, sent, false, &result), 0);
        assert_int_equal(after_taking_back(RESTART_ANEW, 0, false, &result), 0);
    }
    signal(PROGRAMS, SIG_IGN);
    assert_int_equal(after_taking_back(RESTART_ANEW, sent, false, &result), 0);
    assert_int_equal(result, SYS_read);
}

/* Its handler is entered when the interrupt's returns: the call has ended for the program. */
static void nor_a_call_that_a_signal_of_the_programs_ends(void **state)
{
    (void)state;
    sigset_t programs, before;
    sigemptyset(&programs);
    sigaddset(&programs, PROGRAMS);
    signal(PROGRAMS, arrives);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &programs, &before), 0);
    assert_int_equal(raise(PROGRAMS), 0);
    assert_false(is_made_anew(SYS_read));
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_true(is_made_anew(SYS_read));
}

/* A child's end, which nobody handles. */
static void nor_ends_a_signal_a_call_that_is_ignored(void **state)
{
    (void)state;
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &child, &before), 0);
    assert_int_equal(raise(SIGCHLD), 0);
    assert_true(is_made_anew(SYS_poll));
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
        cmocka_unit_test(close_is_not_made_anew),
        cmocka_unit_test(a_call_is_made_anew_whichever_thread_was_looked_at),
        cmocka_unit_test(the_number_may_be_further_back),
        cmocka_unit_test(nor_a_call_that_a_signal_of_the_programs_ends),
        cmocka_unit_test(nor_ends_a_signal_a_call_that_is_ignored),
        cmocka_unit_test(nor_one_that_keeps_the_interrupt_out),
        cmocka_unit_test(a_call_keeps_its_arguments),
        cmocka_unit_test(the_number_of_the_programs_own_stands_on_the_stack),
        cmocka_unit_test(a_call_that_was_not_seen_may_have_begun),
        cmocka_unit_test(a_signal_meanwhile_ends_the_call),
        cmocka_unit_test(code_may_begin_a_page),
        cmocka_unit_test(a_signal_that_is_passed_on_ends_no_call),
#endif
        cmocka_unit_test(what_is_blocked_stays_so_in_the_interrupt),
        cmocka_unit_test(a_signal_in_the_interrupt_ends_the_call),
        cmocka_unit_test(a_thread_that_blocks_it_is_not_interrupted),
        cmocka_unit_test(one_kind_of_interrupt_does_not_keep_out_another),
        cmocka_unit_test(an_interrupt_is_sent_in_another_way),
        cmocka_unit_test(a_call_that_a_handler_has_ended_stays_so),
        cmocka_unit_test(a_signal_beside_the_interrupt_ends_the_call),
    };
    return PS_TSAN ? 77 : cmocka_run_group_tests(tests, NULL, NULL); /* it delivers signals when it likes */
}
