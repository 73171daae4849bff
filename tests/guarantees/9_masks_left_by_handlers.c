/* A handler changes the mask of what it has interrupted (uc_sigmask). The member goes on with that mask, in all that
 * follows, and nobody else does: neither other members, nor the thread that opens regions. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#define N 6
#define ROUNDS 3

static volatile pthread_t handles[N];
static volatile int handled[N];
static char *volatile pages;
static long page_bytes;
static volatile int taken, taken_by_odd;

static int is_odd(void) { return omp_get_thread_num() % 2; }

static void leave_blocked(void *context)
{
    ucontext_t *uc = context;
    CHECK(!sigismember(&uc->uc_sigmask, SIGUSR2));
    CHECK(sigaddset(&uc->uc_sigmask, SIGUSR2) == 0);
}

static void on_sent(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    leave_blocked(context);
    for (int i = 0; i < N; i++)
        if (handles[i] == pthread_self())
            handled[i]++;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    long page = ((char *)info->si_addr - pages) / page_bytes;
    CHECK(number == SIGSEGV && page >= 0 && page < N);
    CHECK(mprotect(pages + page * page_bytes, page_bytes, PROT_READ | PROT_WRITE) == 0);
    leave_blocked(context);
    handled[page]++;
}

static void on_taken(int number)
{
    (void)number;
    if (is_odd())
        taken_by_odd++;
    taken++;
}

static void handle_with(int number, void (*by)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | flags};
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = by;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void handle(int number, void (*by)(int, siginfo_t *, void *)) { handle_with(number, by, 0); }

static int is_blocked(void)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return sigismember(&now, SIGUSR2);
}

static void expect_odd_alone(void)
{
    CHECK(is_blocked() == is_odd());
    for (int i = 0; i < ROUNDS; i++) {
        wait_in_a_barrier();
        CHECK(is_blocked() == is_odd());
        wait_in_a_critical();
        CHECK(is_blocked() == is_odd());
    }
}

/* The pool's threads have the masks that they had at the region's end. */
static void expect_later(void)
{
    CHECK(!is_blocked());
#pragma omp parallel num_threads(N)
    CHECK(is_odd() || !is_blocked());
    CHECK(!is_blocked());
}

static void raised(void)
{
    handle(SIGUSR1, on_sent);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        handles[id] = pthread_self();
        if (id % 2)
            CHECK(raise(SIGUSR1) == 0 && handled[id] == 1);
        expect_odd_alone();
    }
    expect_later();
}

/* The next member sends, while the receiver computes, or waits. */
static void send_to(void (*receive)(int id))
{
    handle(SIGUSR1, on_sent);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        handles[id] = pthread_self();
#pragma omp barrier
        if (id % 2)
            receive(id);
        else
            CHECK(pthread_kill(handles[id + 1], SIGUSR1) == 0);
#pragma omp barrier
        while (id % 2 && !handled[id])
            sched_yield();
        expect_odd_alone();
    }
    expect_later();
}

static void receive_while_computing(int id)
{
    while (!handled[id])
        ;
}
static void sent(void) { send_to(receive_while_computing); }

static void receive_while_waiting(int id) { (void)id; }
static void sent_to_waiting(void) { send_to(receive_while_waiting); }

static void make_pages(void)
{
    page_bytes = sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, N * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    handle(SIGSEGV, on_fault);
}

static void write_page(int id)
{
    volatile char *at = pages + id * page_bytes;
    *at = (char)id;
    CHECK(*at == id && handled[id] == 1);
}

static void fault(void)
{
    make_pages();
#pragma omp parallel num_threads(N)
    {
        if (is_odd())
            write_page(omp_get_thread_num());
        expect_odd_alone();
    }
    expect_later();
}

static void fault_in_critical(void)
{
    make_pages();
#pragma omp parallel num_threads(N)
    {
        if (is_odd())
#pragma omp critical(faults)
            write_page(omp_get_thread_num());
        expect_odd_alone();
    }
    expect_later();
}

/* In a function of the C library's, in the middle of which no thread is moved. */
static void fault_in_library(void)
{
    make_pages();
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        if (id % 2) {
            memset(pages + id * page_bytes, id, (size_t)(page_bytes / 2 + id));
            CHECK(handled[id] == 1);
        }
        expect_odd_alone();
    }
    expect_later();
}

/* On the alternate stack of the thread that opens regions, where a member runs on its kernel thread. */
static void fault_on_alternate_stack(void)
{
    stack_t stack = {.ss_size = 64 * 1024};
    make_pages();
    stack.ss_sp = malloc(stack.ss_size);
    CHECK(stack.ss_sp && sigaltstack(&stack, NULL) == 0);
    handle_with(SIGSEGV, on_fault, SA_ONSTACK);
#pragma omp parallel num_threads(N)
    {
        if (is_odd())
            write_page(omp_get_thread_num());
        expect_odd_alone();
    }
    expect_later();
}

/* A handler that has interrupted another one changes that one's mask, which ends with that one. */
static void on_two_faults(int number, siginfo_t *info, void *context)
{
    long page = ((char *)info->si_addr - pages) / page_bytes;
    if (page >= N / 2) {
        on_fault(number, info, context);
        return;
    }
    CHECK(page >= 0 && mprotect(pages + page * page_bytes, page_bytes, PROT_READ | PROT_WRITE) == 0);
    CHECK(!is_blocked());
    pages[(page + N / 2) * page_bytes] = 1;
    CHECK(is_blocked() && handled[page + N / 2] == 1);
    handled[page]++;
}

static void fault_in_handler(void)
{
    make_pages();
    handle_with(SIGSEGV, on_two_faults, SA_NODEFER);
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num() < N / 2)
            write_page(omp_get_thread_num());
        for (int i = 0; i < ROUNDS; i++) {
            CHECK(!is_blocked());
            wait_in_a_barrier();
        }
    }
    CHECK(!is_blocked());
}

/* The handler lets in what the member has blocked. */
static void on_opening(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)number, (void)info;
    CHECK(sigismember(&uc->uc_sigmask, SIGUSR2) && sigdelset(&uc->uc_sigmask, SIGUSR2) == 0);
}

static void unblocked(void)
{
    handle(SIGUSR1, on_opening);
#pragma omp parallel num_threads(N)
    {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
        wait_in_a_barrier();
        if (!is_odd())
            CHECK(raise(SIGUSR1) == 0);
        expect_odd_alone();
    }
    expect_later();
}

/* A signal to the process goes to no member that blocks it, whether the member has asked for its mask or not. */
static void fault_then_process(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    make_pages();
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_taken;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        if (id % 2)
            write_page(id);
        for (int i = 1; i <= 20; i++) {
#pragma omp barrier
            if (id == 0)
                CHECK(kill(getpid(), SIGUSR2) == 0);
            while (taken < i)
                ;
#pragma omp barrier
        }
        CHECK(is_blocked() == id % 2);
    }
    CHECK(taken == 20 && taken_by_odd == 0);
    expect_later();
}

/* A member that waits still takes what all others block. */
static volatile int has_heard;
static void on_heard(int number)
{
    CHECK(number == SIGUSR1 && pthread_self() == handles[1]);
    has_heard = 1;
}

static void hears(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    make_pages();
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_heard;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        sigset_t set;
        handles[id] = pthread_self();
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        if (id != 1)
            CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
#pragma omp barrier
        if (id == 1)
            memset(pages + page_bytes, id, (size_t)page_bytes / 2);
        if (id == 0) {
            while (!handled[1])
                usleep(1000);
            usleep(10000);
            CHECK(kill(getpid(), SIGUSR1) == 0);
            while (!has_heard)
                usleep(1000);
        }
#pragma omp barrier
        CHECK(is_blocked() == (id == 1));
    }
}

/* A handler of a fault is left by longjmp, and its signal stays blocked in that thread alone. */
static jmp_buf jump;
static int file;

static void on_jump(int number, siginfo_t *info, void *context)
{
    long page = ((char *)info->si_addr - pages) / page_bytes;
    if (page == 1)
        _longjmp(jump, 1);
    CHECK(mprotect(pages + page * page_bytes, page_bytes, PROT_READ | PROT_WRITE) == 0);
    handled[page]++;
    (void)number, (void)context;
}

static void on_end_of_file(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    leave_blocked(context);
    CHECK(ftruncate(file, page_bytes) == 0);
}

static void fault_after_longjmp(void)
{
    make_pages();
    handle(SIGSEGV, on_jump);
    handle(SIGBUS, on_end_of_file);
    file = memfd_create("masks", 0);
    char *volatile in_file = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(file >= 0 && in_file != MAP_FAILED);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        if (id == 1 && _setjmp(jump) == 0)
            pages[page_bytes] = 1;
        if (id == 1)
            in_file[0] = 1;
#pragma omp barrier
        if (id != 1)
            write_page(id);
        CHECK(is_blocked() == (id == 1));
    }
}

/* In a child that a member forks. */
static int blocks_term(const sigset_t *mask) { return sigismember(mask, SIGTERM); }

static void on_sent_to_child(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    CHECK(blocks_term(&((ucontext_t *)context)->uc_sigmask));
    leave_blocked(context);
}

static void run_child(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGUSR1) == 0);
    CHECK(is_blocked() && pthread_sigmask(SIG_BLOCK, NULL, &set) == 0 && blocks_term(&set));
    _exit(0);
}

static pid_t children[N];
static void on_fork(int number, siginfo_t *info, void *context)
{
    long page = ((char *)info->si_addr - pages) / page_bytes;
    (void)number, (void)context;
    CHECK(mprotect(pages + page * page_bytes, page_bytes, PROT_READ | PROT_WRITE) == 0);
    children[page] = fork();
}

/* By itself, or in a handler. */
static void forked(void)
{
    handle(SIGUSR1, on_sent_to_child);
    make_pages();
    handle(SIGSEGV, on_fork);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num(), status = 0;
        if (id % 3 == 0)
            children[id] = fork();
        else
            pages[id * page_bytes] = 1;
        if (children[id] == 0)
            run_child();
        CHECK(children[id] > 0 && waitpid(children[id], &status, 0) == children[id] && status == 0);
        CHECK(!is_blocked());
    }
}

/* What the first member's mask becomes, the opener has after the region. */
static void fault_of_first(void)
{
    make_pages();
#pragma omp parallel num_threads(N)
    {
        if (omp_get_thread_num() == 0)
            write_page(0);
        for (int i = 0; i < ROUNDS; i++) {
            wait_in_a_barrier();
            CHECK(is_blocked() == (omp_get_thread_num() == 0));
            wait_in_a_critical();
        }
    }
    CHECK(is_blocked());
}

/* Before its first region: the members begin with that. */
static void fault_of_opener(void)
{
    make_pages();
    write_page(0);
    CHECK(is_blocked());
#pragma omp parallel num_threads(N)
    {
        wait_in_a_barrier();
        CHECK(is_blocked());
    }
    CHECK(is_blocked());
}

/* Members of inner regions begin with the opener's. */
static void fault_of_inner_opener(void)
{
    make_pages();
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(N)
    {
        int odd = is_odd();
        if (odd)
            write_page(omp_get_thread_num());
#pragma omp parallel num_threads(2)
        CHECK(is_blocked() == odd);
        CHECK(is_blocked() == odd);
    }
    CHECK(!is_blocked());
}

/* Signals to the process, which come anywhere: in the program, the runtime, the C library. */
static volatile int is_wanted[N], ends;

static void on_anywhere(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)number, (void)info;
    for (int i = 0; i < N; i++)
        if (handles[i] == pthread_self()) {
            CHECK(sigismember(&uc->uc_sigmask, SIGUSR2) == is_wanted[i]);
            is_wanted[i] = !is_wanted[i];
            CHECK((is_wanted[i] ? sigaddset : sigdelset)(&uc->uc_sigmask, SIGUSR2) == 0);
            handled[i]++;
        }
}

static void *send_anywhere(void *unused)
{
    sigset_t set;
    sigfillset(&set);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    while (!ends) {
        CHECK(kill(getpid(), SIGUSR1) == 0);
        usleep(300);
    }
    return unused;
}

static void anywhere(void)
{
    pthread_t sender;
    handle(SIGUSR1, on_anywhere);
    CHECK(pthread_create(&sender, NULL, send_anywhere, NULL) == 0);
#pragma omp parallel num_threads(N)
    {
        int id = omp_get_thread_num();
        char text[200];
        handles[id] = pthread_self();
        for (int i = 0; i < 200; i++) {
            if (i % 10 == 0)
                wait_in_a_critical();
            wait_in_a_barrier();
            for (int k = 0; k < 100; k++)
                snprintf(text, sizeof text, "%d %f", k, k / 3.0);
            int before = handled[id], blocked = is_blocked(), wanted = is_wanted[id];
            CHECK(blocked == wanted || before != handled[id]);
        }
#pragma omp master
        ends = 1;
    }
    CHECK(pthread_join(sender, NULL) == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"raised", raised},
        {"sent", sent},
        {"to_waiting", sent_to_waiting},
        {"fault", fault},
        {"in_critical", fault_in_critical},
        {"in_library", fault_in_library},
        {"on_alternate_stack", fault_on_alternate_stack},
        {"in_handler", fault_in_handler},
        {"unblocked", unblocked},
        {"then_process", fault_then_process},
        {"anywhere", anywhere},
        {"hears", hears},
        {"after_longjmp", fault_after_longjmp},
        {"forked", forked},
        {"of_first", fault_of_first},
        {"of_opener", fault_of_opener},
        {"of_inner_opener", fault_of_inner_opener},
    };
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
