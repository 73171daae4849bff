/* A system call of a member's ends as it would anywhere: with what it waits for, or when its time is over, and not
 * sooner; never with EINTR where no handler of the program's has run. A transfer that waits for room or for bytes is
 * whole, unless such a handler has cut it short. So it is while the region's first thread waits for a lock, gets it,
 * and wants to go on where the member's call blocks. What a call did to its thread's signal mask while it waited is
 * no other thread's mask. [KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset */

#define MEMBERS 4
#define ROUNDS 2
#define WAIT_MS 60

static unsigned long long mask_of_caller(void)
{
    sigset_t set;
    unsigned long long mask = 0;
    CHECK(sigprocmask(SIG_SETMASK, NULL, &set) == 0);
    for (int number = 1; number < 32; number++)
        mask |= (unsigned long long)(sigismember(&set, number) == 1) << number;
    return mask;
}

/* The last member calls; the first one waits for the second one's lock, which is given back meanwhile. */
static void while_wanted(void (*call)(void), bool takes_its_time)
{
    omp_lock_t lock;
    int inside = 0;
    omp_init_lock(&lock);
    for (int round = 0; round < ROUNDS; round++) {
        __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
#pragma omp parallel num_threads(MEMBERS)
        {
            int id = omp_get_thread_num();
            if (id == 1)
                omp_set_lock(&lock);
#pragma omp barrier
            if (id == MEMBERS - 1) {
                double begin = contend_now_ms();
                __atomic_store_n(&inside, 1, __ATOMIC_SEQ_CST);
                call();
                CHECK(!takes_its_time || contend_now_ms() - begin >= WAIT_MS - 1);
            } else if (id == 1) {
                while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
                    usleep(50);
                compute_ms(2);
                omp_unset_lock(&lock);
            } else {
                omp_set_lock(&lock);
                omp_unset_lock(&lock);
            }
        }
        CHECK(mask_of_caller() == 0);
    }
    omp_destroy_lock(&lock);
}

static struct timespec in_time(void) { return (struct timespec){0, WAIT_MS * 1000000L}; }
static sigset_t some_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGINT);
    return set;
}

static void do_poll(void) { CHECK(poll(NULL, 0, WAIT_MS) == 0); }
static void do_ppoll(void)
{
    sigset_t set = some_signals();
    struct timespec time = in_time();
    CHECK(ppoll(NULL, 0, &time, &set) == 0);
}
static void do_select(void)
{
    struct timeval time = {0, WAIT_MS * 1000L};
    CHECK(select(0, NULL, NULL, NULL, &time) == 0);
}
static void do_pselect(void)
{
    sigset_t set = some_signals();
    struct timespec time = in_time();
    CHECK(pselect(0, NULL, NULL, NULL, &time, &set) == 0);
}
static void wait_for_events(const sigset_t *set)
{
    struct epoll_event event;
    int file = epoll_create1(0);
    CHECK(file >= 0 && epoll_pwait(file, &event, 1, WAIT_MS, set) == 0 && close(file) == 0);
}
static void do_epoll_wait(void) { wait_for_events(NULL); }
static void do_epoll_pwait(void)
{
    sigset_t set = some_signals();
    wait_for_events(&set);
}
static void do_nanosleep(void)
{
    struct timespec time = in_time();
    CHECK(nanosleep(&time, NULL) == 0);
}
static void do_nanosleep_with_rest(void)
{
    struct timespec time = in_time(), rest;
    CHECK(nanosleep(&time, &rest) == 0);
}
static void do_clock_nanosleep(void)
{
    struct timespec time = in_time();
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
}
static void do_usleep(void) { CHECK(usleep(WAIT_MS * 1000) == 0); }
static void do_sem_timedwait(void)
{
    sem_t semaphore;
    struct timespec until;
    CHECK(sem_init(&semaphore, 0, 0) == 0 && clock_gettime(CLOCK_REALTIME, &until) == 0);
    until.tv_nsec += WAIT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
}
static void do_semtimedop(void)
{
    struct sembuf take = {0, -1, 0};
    struct timespec time = in_time();
    int set = semget(IPC_PRIVATE, 1, 0600);
    CHECK(set >= 0 && semtimedop(set, &take, 1, &time) == -1 && errno == EAGAIN);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
}
static void do_receive(void)
{
    int pair[2];
    char byte;
    struct timeval time = {0, WAIT_MS * 1000L};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
    CHECK(recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN);
    close(pair[0]);
    close(pair[1]);
}

struct message {
    long type;
    char byte;
};
static void *send_later(void *queue)
{
    struct message message = {1, 'x'};
    usleep(WAIT_MS * 1000);
    CHECK(msgsnd(*(int *)queue, &message, 1, 0) == 0);
    return NULL;
}
static void do_msgrcv(void)
{
    struct message message;
    pthread_t sender;
    int queue = msgget(IPC_PRIVATE, 0600);
    CHECK(queue >= 0 && pthread_create(&sender, NULL, send_later, &queue) == 0);
    CHECK(msgrcv(queue, &message, 1, 0, 0) == 1 && message.byte == 'x');
    CHECK(pthread_join(sender, NULL) == 0 && msgctl(queue, IPC_RMID, NULL) == 0);
}
static void do_futex(void)
{
    static int word;
    struct timespec time = in_time();
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) == -1 && errno == ETIMEDOUT);
}
static void do_system(void) { CHECK(system("sleep 0.06") == 0); }

/* --- transfers: more than there is room for --- */

#define TRANSFER (1 << 20)
static char sent[TRANSFER], received[TRANSFER];
/* The other end, a kernel thread from before the region: members that start one get kernel threads of their own. */
static struct {
    void (*act)(void);
    sem_t begins, ends;
    int end;
    pthread_t writer; /* with `signals` it is sent a signal first */
    bool signals;
    size_t bytes; /* that it has received */
} other;

static void *be_other(void *unused)
{
    for (;;) {
        CHECK(sem_wait(&other.begins) == 0);
        other.act();
        CHECK(sem_post(&other.ends) == 0);
    }
    return unused;
}

static void receive_later(void)
{
    ssize_t bytes;
    usleep(WAIT_MS * 1000);
    if (other.signals) {
        CHECK(pthread_kill(other.writer, SIGUSR1) == 0);
        usleep(WAIT_MS * 1000);
    }
    for (other.bytes = 0; (bytes = read(other.end, received, sizeof received)) > 0;)
        for (char *c = received; c < received + bytes; c++, other.bytes++)
            CHECK(*c == (char)(other.bytes % 251));
}
static void send_in_parts(void)
{
    for (size_t at = 0; at < TRANSFER; at += TRANSFER / 4) {
        CHECK(write(other.end, sent + at, TRANSFER / 4) == TRANSFER / 4);
        usleep(WAIT_MS * 1000 / 3);
    }
}

static int socket_pair(int end[2]) { return socketpair(AF_UNIX, SOCK_STREAM, 0, end); }
static ssize_t transferred(ssize_t (*transfer)(int to), int (*join)(int end[2]), void (*act)(void))
{
    int end[2];
    CHECK(join(end) == 0);
    for (size_t i = 0; i < TRANSFER; i++)
        sent[i] = (char)(i % 251);
    other.act = act;
    other.end = end[0];
    other.writer = pthread_self();
    CHECK(sem_post(&other.begins) == 0);
    ssize_t bytes = transfer(end[1]);
    CHECK(close(end[1]) == 0 && sem_wait(&other.ends) == 0 && close(end[0]) == 0);
    return bytes;
}
static ssize_t by_write(int to) { return write(to, sent, TRANSFER); }
static ssize_t by_send(int to) { return send(to, sent, TRANSFER, 0); }
static ssize_t by_syscall(int to) { return syscall(SYS_write, to, sent, TRANSFER); }
static ssize_t by_receive(int from)
{
    ssize_t bytes = recv(from, received, TRANSFER, MSG_WAITALL);
    CHECK(memcmp(sent, received, TRANSFER) == 0);
    return bytes;
}

static void do_write(void) { CHECK(transferred(by_write, pipe, receive_later) == TRANSFER); }
static void do_write_by_number(void) { CHECK(transferred(by_syscall, pipe, receive_later) == TRANSFER); }
static void do_send(void) { CHECK(transferred(by_send, socket_pair, receive_later) == TRANSFER); }
static void do_receive_all(void) { CHECK(transferred(by_receive, socket_pair, send_in_parts) == TRANSFER); }

static atomic_int handled;
static void on_signal(int number)
{
    (void)number;
    handled++;
}
static void do_write_cut_short(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    int before = handled;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    other.signals = true;
    ssize_t bytes = transferred(by_write, pipe, receive_later);
    CHECK(handled == before + 1 && bytes > 0 && bytes < TRANSFER && (size_t)bytes == other.bytes);
}

/* The program's own thread waits for a signal in a region: its handler runs before the wait ends. */
static void *signal_later(void *first)
{
    usleep(WAIT_MS * 1000);
    CHECK(pthread_kill(*(pthread_t *)first, SIGUSR1) == 0);
    return NULL;
}
static void await_signal(void)
{
    pthread_t first = pthread_self(), sender;
    sigset_t none;
    sigemptyset(&none);
    CHECK(pthread_create(&sender, NULL, signal_later, &first) == 0);
    int before = handled;
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && handled == before + 1);
    CHECK(pthread_join(sender, NULL) == 0);
}
static void sigsuspend_of_first(void)
{
    sigset_t set;
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
#pragma omp parallel num_threads(MEMBERS)
    for (int round = 0; round < ROUNDS; round++) {
        if (omp_get_thread_num() == 0)
            await_signal();
        else
            compute_ms(WAIT_MS / 2);
#pragma omp barrier
    }
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"poll", do_poll},
             {"ppoll", do_ppoll},
             {"select", do_select},
             {"pselect", do_pselect},
             {"epoll_wait", do_epoll_wait},
             {"epoll_pwait", do_epoll_pwait},
             {"nanosleep", do_nanosleep},
             {"nanosleep_with_rest", do_nanosleep_with_rest},
             {"clock_nanosleep", do_clock_nanosleep},
             {"usleep", do_usleep},
             {"sem_timedwait", do_sem_timedwait},
             {"semtimedop", do_semtimedop},
             {"receive", do_receive},
             {"msgrcv", do_msgrcv},
             {"futex_by_number", do_futex},
             {"system", do_system},
             {"write", do_write},
             {"write_by_number", do_write_by_number},
             {"write_cut_short", do_write_cut_short},
             {"send", do_send},
             {"receive_all", do_receive_all},
             {"sigsuspend_of_first", sigsuspend_of_first}};
static const char *name(int i) { return calls[i].name; }
static void run(int i)
{
    pthread_t thread;
    CHECK(sem_init(&other.begins, 0, 0) == 0 && sem_init(&other.ends, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, be_other, NULL) == 0);
    if (calls[i].call == sigsuspend_of_first)
        calls[i].call();
    else
        while_wanted(calls[i].call, calls[i].call != do_msgrcv);
}

int main(int argc, char **argv)
{
    in_a_process_each(sizeof calls / sizeof *calls, name, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
