/* Signals for the process that the first thread does not block are handled as the first thread, on its stack, whatever
 * it does or waits for. The handler may jump to a frame of the first thread. The other members do nothing with signals,
 * and their system calls go on. [KIND] [inner] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#define N 4
#define SIGNALS 30
#define PAUSES 50

static pthread_t first;
static char *first_stack; /* a place in it, above all that it does in regions */
static _Thread_local int own;
static int *own_of_first;
static volatile bool jumps;
static sigjmp_buf to;
static _Atomic int elsewhere, numbered, off_stack;
static _Atomic int *handled; /* shared with the sender */
static bool inner;           /* regions inside of regions, too: libgomp starts kernel threads, which take signals */

static void on_signal(int number)
{
    char here;
    (void)number;
    if (!pthread_equal(pthread_self(), first) || &own != own_of_first)
        elsewhere++;
    else if (&here > first_stack || first_stack - &here > 8 << 20)
        off_stack++;
    if (omp_get_thread_num() != 0)
        numbered++;
    ++*handled;
    if (jumps && elsewhere + off_stack == 0) {
        jumps = false;
        siglongjmp(to, 1);
    }
}

/* SA_NODEFER: a first thread that has lost its processor in the handler's last steps gets the next one as well. */
static void handle(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_NODEFER;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void begin(void)
{
#pragma omp parallel num_threads(N)
    waits_compute_us(100);
    first = pthread_self();
    own_of_first = &own;
    handled = mmap(NULL, sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(handled != MAP_FAILED);
}

static void end(void)
{
    if (elsewhere + off_stack + numbered)
        fprintf(stderr, "of %d signals: %d as another thread, %d off the stack, %d with another number\n", *handled,
                elsewhere, off_stack, numbered);
    CHECK(elsewhere == 0);
    CHECK(off_stack == 0);
    CHECK(numbered == 0);
}

/* --- what the first thread does; the others do more --- */

static bool is_first(void) { return pthread_equal(pthread_self(), first); }
static void work(void) { waits_compute_us(is_first() ? 20 : 300); }

static void at_the_end(void)
{
#pragma omp parallel num_threads(N)
    work();
}
static void in_serial_code(void)
{
#pragma omp parallel num_threads(N)
    waits_compute_us(10);
    waits_compute_us(200);
}
static void in_barriers(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 5; i++) {
        work();
#pragma omp barrier
    }
}
static void for_a_critical(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 5; i++)
#pragma omp critical(one)
        work();
}
static void for_tasks(void)
{
#pragma omp parallel num_threads(N)
#pragma omp single
    {
        for (int i = 0; i < 10; i++)
#pragma omp task
            waits_compute_us(100);
#pragma omp taskwait
    }
}
static void in_inner_regions(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 3; i++)
#pragma omp parallel num_threads(3)
    {
        work();
#pragma omp barrier
        work();
    }
}
static void in_sleeps(void)
{
#pragma omp parallel num_threads(N)
    if (is_first())
        usleep(300);
    else
        work();
}
/* The others' calls are not ended. */
static void beside_sleepers(void)
{
#pragma omp parallel num_threads(N)
    if (!is_first())
        for (int i = 0; i < 3; i++)
            CHECK(usleep(200) == 0);
}

static void (*const activities[])(void) = {at_the_end, in_serial_code, in_barriers,     for_a_critical,
                                           for_tasks,  in_sleeps,      beside_sleepers, in_inner_regions};

static void do_all(void)
{
    for (int until = SIGNALS; until <= SIGNALS * 3; until += SIGNALS)
        for (unsigned i = 0; i < sizeof activities / sizeof *activities - !inner; i++)
            for (int at = *handled; *handled - at < SIGNALS / 8;)
                activities[i]();
}

/* --- senders --- */

/* How many signals the system queues for this process: none, or as many as it may. */
static void let_queue(pid_t process, bool some)
{
    struct rlimit most;
    if (prlimit(process, RLIMIT_SIGPENDING, NULL, &most) != 0) /* it has ended */
        return;
    most.rlim_cur = some ? most.rlim_max : 0;
    prlimit(process, RLIMIT_SIGPENDING, &most, NULL);
}

static void send_usr1(pid_t parent) { kill(parent, SIGUSR1); }
static void send_untold(pid_t parent) { kill(parent, SIGRTMIN); }
static void send_queued(pid_t parent)
{
    while (sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = 0})) /* the user's queue may be full */
        CHECK(errno == EAGAIN && !usleep(1000));
    let_queue(parent, false);
    usleep(2000);
    let_queue(parent, true);
}

static void sent_by_child(int number, void (*send)(pid_t parent))
{
    begin();
    pid_t parent = getpid();
    handle(number);
    omp_set_max_active_levels(3);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int sent = 0; getppid() == parent; sent++) {
            usleep(200);
            send(parent);
            while (*handled <= sent && getppid() == parent)
                usleep(20);
        }
        _exit(0);
    }
    do_all();
}

static void by_another_process(void)
{
    sent_by_child(SIGUSR1, send_usr1);
    end();
    _exit(0);
}

/* A signal comes while the first thread waits for a region's end. Then the runtime gives its kernel threads up, and no
 * region follows. In a new process each time: once such a signal has come, no other thread runs there. */
static void before_pauses(void)
{
    for (int i = 0; i < PAUSES; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            begin();
            handle(SIGUSR1);
#pragma omp parallel num_threads(N)
            if (omp_get_thread_num() == N - 1)
                kill(getpid(), SIGUSR1);
            omp_pause_resource_all(omp_pause_soft);
            while (*handled == 0)
                ;
            end();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

/* Where the system queues no signals, or none for a while, none is lost. Another thread may handle them. */
static void without_a_queue(void)
{
    let_queue(getpid(), false);
    sent_by_child(SIGRTMIN, send_untold);
    _exit(0);
}
static void with_a_queue_now_and_then(void)
{
    sent_by_child(SIGRTMIN, send_queued);
    _exit(0);
}

static void start_timer(int which, long us)
{
    const struct itimerval each = {{0, us}, {0, us}};
    CHECK(setitimer(which, &each, NULL) == 0);
}

static void by_timer(void)
{
    begin();
    handle(SIGALRM);
    omp_set_max_active_levels(3);
    start_timer(ITIMER_REAL, 2000);
    do_all();
    start_timer(ITIMER_REAL, 0);
    end();
    _exit(0);
}

/* --- jumps --- */

static omp_lock_t lock;
static volatile bool held, jumped;

static void stay_computing(void)
{
    for (;;)
        ;
}
static void stay_sleeping(void)
{
    for (;;)
        usleep(1000000);
}
static void stay_for_lock(void)
{
    for (;;)
        omp_set_lock(&lock);
}
static void stay_for_critical(void)
{
    for (;;) {
#pragma omp critical(kept)
        jumped = jumped;
    }
}

/* The first thread stays until the handler jumps; another one has what it waits for, and computes. */
static void jump_out_of(void (*stay)(void))
{
    begin();
    handle(SIGALRM);
    for (int round = 0; round < 4; round++) {
        omp_init_lock(&lock);
        held = jumped = false;
        const struct itimerval once = {{0, 0}, {0, 3000}};
#pragma omp parallel num_threads(N)
        {
            if (omp_get_thread_num() == N - 1) {
                omp_set_lock(&lock);
#pragma omp critical(kept)
                {
                    held = true;
                    while (!jumped)
                        ;
                }
                omp_unset_lock(&lock);
            } else if (is_first()) {
                while (!held)
                    waits_compute_us(10);
                if (sigsetjmp(to, 1) == 0) {
                    jumps = true;
                    CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
                    stay();
                }
                jumped = true;
            } else {
                while (!jumped)
                    ;
            }
        }
        omp_destroy_lock(&lock);
    }
    end();
}

static void jumps_from_computing(void) { jump_out_of(stay_computing); }
static void jumps_from_sleeping(void) { jump_out_of(stay_sleeping); }
static void jumps_from_lock(void) { jump_out_of(stay_for_lock); }
static void jumps_from_critical(void) { jump_out_of(stay_for_critical); }

/* An alarm ends a computation that takes too long: out of the region, which goes on without its first thread. */
static void times_out(void)
{
    begin();
    handle(SIGALRM);
    const struct itimerval once = {{0, 0}, {0, 20000}};
    if (sigsetjmp(to, 1) == 0) {
        jumps = true;
        CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
#pragma omp parallel num_threads(N)
        for (;;)
            waits_compute_us(10);
    }
    end();
    _exit(0);
}

int main(int argc, char **argv)
{
    char here;
    first_stack = &here;
    static const struct kind_of kinds[] = {{"by_another_process", by_another_process},
                                           {"without_a_queue", without_a_queue},
                                           {"with_a_queue_now_and_then", with_a_queue_now_and_then},
                                           {"by_timer", by_timer},
                                           {"before_pauses", before_pauses},
                                           {"jumps_from_computing", jumps_from_computing},
                                           {"jumps_from_sleeping", jumps_from_sleeping},
                                           {"jumps_from_lock", jumps_from_lock},
                                           {"jumps_from_critical", jumps_from_critical},
                                           {"times_out", times_out}};
    inner = argc > 1 && strcmp(argv[argc - 1], "inner") == 0;
    RUN_KINDS(kinds, argc > 1 + inner ? argv[1] : NULL);
    return 0;
}
