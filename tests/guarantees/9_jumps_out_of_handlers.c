/* A handler that is sent to a member leaves by a jump into a frame of that member, whatever the member waits for. Then
 * the member does not wait any more, and has not got what it waited for. That goes to the next one, and the team goes
 * on. [KIND, or a dash and kinds that are left out] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/select.h>
#include <ucontext.h>

#define N 6
#define ROUNDS 10

enum how { BY_SIGLONGJMP, BY_LONGJMP, BY_CONTEXT, HOWS };

static _Thread_local sigjmp_buf to;
static _Thread_local ucontext_t to_context;
static _Thread_local volatile int known; /* 1 + the thread's number */
static _Thread_local volatile enum how how;
static _Thread_local volatile bool stays; /* until a handler has left */
static pthread_t self[N];
static _Atomic int waiting, left, passed, astray, misnamed;
static _Atomic bool given; /* what they wait for may come */
static int holder;         /* it keeps that meanwhile */
static int pipe_of_none[2];
static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;

static void on_signal(int number)
{
    sigjmp_buf own; /* a jump inside of the handler */
    (void)number;
    if (sigsetjmp(own, 1) == 0)
        siglongjmp(own, 1);
    if (known ==
        0) { /* no thread of the program's: it could not be reached (README, Limitations); another one follows */
        astray++;
        return;
    }
    if (!stays)
        return;
    stays = false;
    errno = 77;
    if (how == BY_SIGLONGJMP)
        siglongjmp(to, 3);
    if (how == BY_LONGJMP)
        longjmp(to, 3);
    setcontext(&to_context);
}

static bool is_blocked(void)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return sigismember(&now, SIGUSR1);
}

static void get_alternate_stack(void)
{
    static _Thread_local char place[65536];
    CHECK(sigaltstack(&(stack_t){.ss_sp = place, .ss_size = sizeof place}, NULL) == 0);
}

static void let_in(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

/* What the waits are. `get` returns where the caller has got it, which it gives back then. */

static void wait_for_given(void)
{
    while (!given)
        usleep(100);
}

static void get_lock(void)
{
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
}
static void hold_lock(void)
{
    omp_set_lock(&lock);
    waiting++;
    wait_for_given();
    omp_unset_lock(&lock);
}
static void get_nest_lock(void)
{
    omp_set_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
}
static void hold_nest_lock(void)
{
    omp_set_nest_lock(&nest_lock);
    waiting++;
    wait_for_given();
    omp_unset_nest_lock(&nest_lock);
}
static void get_critical(void)
{
#pragma omp critical(kept)
    passed += 0;
}
static void hold_critical(void)
{
#pragma omp critical(kept)
    {
        waiting++;
        wait_for_given();
    }
}
static void get_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}
static void hold_mutex(void)
{
    pthread_mutex_lock(&mutex);
    waiting++;
    wait_for_given();
    pthread_mutex_unlock(&mutex);
}
static void hold(void)
{
    waiting++;
    wait_for_given();
}
static void compute(void)
{
    while (!given)
        ;
}
static void compute_and_yield(void)
{
    while (!given)
        sched_yield();
}
static void compute_and_ask(void)
{
    while (!given)
        if (omp_get_thread_num() + 1 != known)
            misnamed++;
}
static void take_turns(void)
{
    while (!given) {
#pragma omp taskyield
        waits_compute_us(5);
    }
}
static void read_nothing(void)
{
    char byte;
    while (!given)
        CHECK(read(pipe_of_none[0], &byte, 1) == 1 || errno == EINTR);
}
static void poll_nothing(void)
{
    while (!given)
        poll(NULL, 0, 10000);
}
static void select_nothing(void)
{
    while (!given)
        select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 10});
}
static void sleep_long(void)
{
    while (!given)
        usleep(10000000);
}
static void wait_for_semaphore(void)
{
    while (!given)
        sem_wait(&semaphore);
}
/* For those that have a time limit or none, and nothing comes: the others are woken by `release`. */
static void nothing(void) {}
static void post_semaphore(void)
{
    for (int i = 0; i < N; i++)
        sem_post(&semaphore);
}
static void write_bytes(void) { CHECK(write(pipe_of_none[1], "123456789", N) == N); }

static const struct kind {
    const char *name;
    void (*hold)(void), (*get)(void), (*release)(void);
    enum {
        ANY,
        ALL_LEAVE, /* nobody else waits in this way */
        ONLY_JUMPS /* the C library keeps frames of the wait in a list, of which setcontext knows nothing */
    } which;
} kinds[] = {
    {"lock", hold_lock, get_lock, nothing, ANY},
    {"nest_lock", hold_nest_lock, get_nest_lock, nothing, ANY},
    {"critical", hold_critical, get_critical, nothing, ANY},
    {"mutex", hold_mutex, get_mutex, nothing, ANY},
    {"computing", hold, compute, nothing, ANY},
    {"yielding", hold, compute_and_yield, nothing, ANY},
    {"asking", hold, compute_and_ask, nothing, ANY},
    {"taking_turns", hold, take_turns, nothing, ANY},
    {"read", hold, read_nothing, write_bytes, ANY},
    {"poll", hold, poll_nothing, nothing, ALL_LEAVE},
    {"select", hold, select_nothing, nothing, ALL_LEAVE},
    {"sleep", hold, sleep_long, nothing, ALL_LEAVE},
    {"semaphore", hold, wait_for_semaphore, post_semaphore, ONLY_JUMPS},
};
#define KINDS (int)(sizeof kinds / sizeof *kinds)

/* Some members are sent a signal, and leave; the others wait until they get it. */
static bool is_to_leave(const struct kind *kind, int round, int id)
{
    return id != holder && (kind->which == ALL_LEAVE || (id + round) % 2 == 0);
}

static void wait_and_leave(const struct kind *kind, int me)
{
    volatile bool back = false;
    errno = 0;
    stays = true;
    if (how == BY_CONTEXT)
        CHECK(getcontext(&to_context) == 0);
    if (how == BY_CONTEXT ? !back : sigsetjmp(to, how == BY_SIGLONGJMP) == 0) {
        back = true;
        waiting++;
        kind->get();
        stays = false;
        passed++;
        return;
    }
    CHECK(errno == 77 && known == me + 1 && omp_get_thread_num() == me && omp_get_level() == 1);
    CHECK(is_blocked() == (how == BY_LONGJMP));
    if (how == BY_LONGJMP)
        let_in();
    left++;
}

static void send_all(const struct kind *kind, int round)
{
    for (int id = 0; id < N; id++)
        if (is_to_leave(kind, round, id))
            CHECK(pthread_kill(self[id], SIGUSR1) == 0);
}

static void *release_late(void *arg)
{
    const struct kind *kind = arg;
    static int round;
    int leave = 0, lost = astray;
    for (int id = 0; id < N; id++)
        leave += is_to_leave(kind, round, id);
    while (waiting < N)
        usleep(100);
    if (round % 3)
        usleep(round % 3 * 2000); /* else some are on their way */
    send_all(kind, round);
    for (; left < leave; usleep(100))
        if (lost < astray) {
            lost = astray;
            send_all(kind, round);
        }
    round++;
    CHECK(passed == 0);
    given = true;
    kind->release();
    return NULL;
}

static void run_kind(int number)
{
    const struct kind *kind = &kinds[number];
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(pipe(pipe_of_none) == 0);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t sender;
        waiting = left = passed = 0;
        given = false;
        holder = (round + 1) % N;
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        bool apart = round >= ROUNDS / 2 && round % 2;
        action.sa_flags = apart ? SA_ONSTACK : 0;
        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
        CHECK(pthread_create(&sender, NULL, release_late, (void *)kind) == 0);
        int ended = 0;
#pragma omp parallel num_threads(N) reduction(+ : ended)
        {
            int me = omp_get_thread_num();
            known = me + 1;
            how = (round + me) % (kind->which == ONLY_JUMPS ? BY_CONTEXT : HOWS);
            self[me] = pthread_self();
            if (apart)
                get_alternate_stack();
#pragma omp barrier
            if (me == holder) {
                kind->hold();
            } else {
                while (waiting == 0) /* the holder has it */
                    sched_yield();
                wait_and_leave(kind, me);
            }
            ended++;
            wait_in_all_ways();
            wait_for_tasks();
        }
        CHECK(pthread_join(sender, NULL) == 0);
        CHECK(ended == N && left + passed == N - 1 && misnamed == 0);
        CHECK(omp_test_lock(&lock));
        omp_unset_lock(&lock);
        CHECK(omp_test_nest_lock(&nest_lock) == 1);
        omp_unset_nest_lock(&nest_lock);
    }
}

/* Waits for other members of the team. What OpenMP's runtimes do where they are left is not defined; nothing breaks
 * here. LEAVERS members are sent a signal while others run their tasks, or are late. */
#define LEAVERS 2

static _Atomic int begun, done, entered;

static void wait_for_children(void)
{
#pragma omp taskwait
}
static void wait_for_group(void)
{
#pragma omp taskgroup
    {
#pragma omp task
        {
            begun++;
            wait_for_given();
            done++;
        }
        while (begun < LEAVERS * 2)
            sched_yield();
        waiting++;
    }
}
static void wait_for_team(void)
{
#pragma omp barrier
}
static void wait_for_inner_team(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        known = -1;
        begun++;
        wait_for_given();
        done++;
    }
}

static const struct team_wait {
    const char *name;
    void (*get)(void);
    bool has_tasks, leaves, is_barrier;
} team_waits[] = {
    {"taskwait", wait_for_children, true, true, false},
    {"taskgroup", wait_for_group, true, true, false},
    {"barrier", wait_for_team, false, false, true},
    {"inner_region", wait_for_inner_team, false, false, false},
};
#define TEAM_WAITS (int)(sizeof team_waits / sizeof *team_waits)

static void on_team_signal(int number)
{
    (void)number;
    entered++;
    errno = 77;
    siglongjmp(to, 3);
}

static void *send_to_leavers(void *arg)
{
    const struct team_wait *wait = arg;
    while (waiting < LEAVERS)
        usleep(100);
    usleep(3000);
    for (int id = 0; id < LEAVERS; id++)
        CHECK(pthread_kill(self[id], SIGUSR1) == 0);
    while (wait->leaves ? left < LEAVERS : entered < LEAVERS)
        usleep(100);
    given = true;
    return NULL;
}

static void leave_team_wait(const struct team_wait *wait)
{
    if (wait->has_tasks) {
#pragma omp task
        {
            begun++;
            wait_for_given();
            done++;
        }
        while (begun < LEAVERS)
            sched_yield();
    }
    if (sigsetjmp(to, 1) == 0) {
        if (wait->get != wait_for_group)
            waiting++;
        wait->get();
        passed++;
    } else {
        left++;
    }
    CHECK(!is_blocked());
}

static void run_team_wait(int number)
{
    const struct team_wait *wait = &team_waits[number];
    struct sigaction action = {.sa_handler = on_team_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t sender;
        waiting = left = passed = begun = done = entered = 0;
        given = false;
        CHECK(pthread_create(&sender, NULL, send_to_leavers, (void *)wait) == 0);
#pragma omp parallel num_threads(N)
        {
            int me = omp_get_thread_num();
            known = me + 1;
            self[me] = pthread_self();
#pragma omp barrier
            if (me < LEAVERS)
                leave_team_wait(wait);
            else if (wait->is_barrier)
                wait_for_given();
            if (!wait->is_barrier || me >= LEAVERS) {
#pragma omp barrier
            }
            CHECK(omp_get_thread_num() == me && omp_get_level() == 1);
            wait_in_all_ways();
        }
        CHECK(pthread_join(sender, NULL) == 0);
        CHECK(left + passed == LEAVERS && done == begun && (!wait->leaves || left == LEAVERS));
    }
}

static const char *name_of_team_wait(int number) { return team_waits[number].name; }
static const char *name_of(int number) { return kinds[number].name; }

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "team_waits") == 0)
        in_a_process_each(TEAM_WAITS, name_of_team_wait, run_team_wait, argc > 2 ? argv[2] : NULL);
    else
        in_a_process_each(KINDS, name_of, run_kind, argc > 1 ? argv[1] : NULL);
    return 0;
}
