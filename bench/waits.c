/* What do regions cost whose members wait, by other means than OpenMP's? waits KIND SHAPE REGIONS
 * regions.h says what SHAPE is and what is printed. Twin: the same program under a runtime with a kernel thread for
 * each member. KIND, what each member does:
 *   read_pipe, read_timer      reads once; the byte comes 2 ms later, from another process or a timer
 *   usleep, nanosleep, poll    waits 2 ms so
 *   cond, sem, barrier         waits in pthread_cond_wait, sem_wait, pthread_barrier_wait for the last member
 *   later                      waits by a flag for the next member; the last one waits for nothing
 *   pipeline                   the same ten times, as the sweeps of NAS LU do
 *   together, yield            spins until all are there, without and with sched_yield
 *   spin_barrier               ten barriers of the program's own, which spin with a pause (llama.cpp's)
 *   files                      takes files one by one, and reads them: 24 files of 4 KB to 1 MB, not in memory where
 *                              /var/tmp is on a disk
 * Check: the members are counted, and the bytes of the files summed up. */
#include "regions.h"

#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_US = 2000, STEPS = 10, FILES = 24, LINE = 64, BLOCK = 65536 };

static struct team {
    _Alignas(LINE) unsigned members;
    unsigned long region; /* its number, from 1 */
    unsigned long ran;    /* members that came to their end */
    unsigned long bytes;  /* of files */
    _Alignas(LINE) unsigned long arrived, here, passed;
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    pthread_barrier_t barrier;
    sem_t last_is_here;
    struct member {
        _Alignas(LINE) unsigned long said;
        int timer, reply[2];
    } member[REGIONS_MEMBERS_MAX];
} team[REGIONS_TEAMS_MAX];

static unsigned teams, members;
static int never; /* a file descriptor that is never ready */

__attribute__((noreturn)) static void fail(const char *what)
{
    fprintf(stderr, "waits: %s\n", what);
    exit(1);
}

/* --- calls that block --- */

struct request {
    unsigned team, member;
    struct timespec due;
};
static int requests[2];

static struct timespec in_us(long us)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += us * 1000;
    if (t.tv_nsec >= 1000000000)
        t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

/* The other process. All wait equally long, so requests are due in the order in which they come. */
static void answer_requests(void)
{
    struct request r;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(requests[1]);
    while (read(requests[0], &r, sizeof r) == sizeof r) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &r.due, NULL);
        if (write(team[r.team].member[r.member].reply[1], "", 1) != 1)
            break;
    }
    _exit(0);
}

static void prepare_pipes(void)
{
    int bad = pipe(requests);
    for (unsigned t = 0; t < teams; t++)
        for (unsigned m = 0; m < members; m++)
            bad |= pipe(team[t].member[m].reply);
    pid_t child = bad ? -1 : fork();
    if (child < 0)
        fail("no pipes or no process");
    if (child == 0)
        answer_requests();
}

static void end_pipes(void)
{
    close(requests[1]);
    wait(NULL);
}

static void read_pipe(struct team *t, unsigned me)
{
    struct request r = {(unsigned)(t - team), me, in_us(WAIT_US)};
    char byte;
    if (write(requests[1], &r, sizeof r) != sizeof r || read(t->member[me].reply[0], &byte, 1) != 1)
        fail("a pipe is broken");
}

static void prepare_timers(void)
{
    for (unsigned t = 0; t < teams; t++)
        for (unsigned m = 0; m < members; m++)
            if ((team[t].member[m].timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) < 0)
                fail("no timer");
}

static void read_timer(struct team *t, unsigned me)
{
    struct itimerspec once = {.it_value = {.tv_nsec = WAIT_US * 1000}};
    unsigned long expirations;
    timerfd_settime(t->member[me].timer, 0, &once, NULL);
    if (read(t->member[me].timer, &expirations, sizeof expirations) != sizeof expirations)
        fail("a timer cannot be read");
}

static void by_usleep(struct team *t, unsigned me)
{
    (void)t, (void)me;
    usleep(WAIT_US);
}

static void by_nanosleep(struct team *t, unsigned me)
{
    struct timespec time = {.tv_nsec = WAIT_US * 1000};
    (void)t, (void)me;
    nanosleep(&time, NULL);
}

static void prepare_poll(void)
{
    if ((never = eventfd(0, EFD_CLOEXEC)) < 0)
        fail("no file descriptor");
}

static void by_poll(struct team *t, unsigned me)
{
    struct pollfd fd = {.fd = never, .events = POLLIN};
    (void)t, (void)me;
    if (poll(&fd, 1, WAIT_US / 1000) != 0)
        fail("poll did not wait until its time was out");
}

/* --- for the last member --- */

static void prepare_objects(void)
{
    for (unsigned i = 0; i < teams; i++) {
        pthread_mutex_init(&team[i].mutex, NULL);
        pthread_cond_init(&team[i].all_here, NULL);
        pthread_barrier_init(&team[i].barrier, NULL, members);
        sem_init(&team[i].last_is_here, 0, 0);
    }
}

static void by_cond(struct team *t, unsigned me)
{
    (void)me;
    pthread_mutex_lock(&t->mutex);
    if (++t->arrived == t->members * t->region)
        pthread_cond_broadcast(&t->all_here);
    while (t->arrived < t->members * t->region)
        pthread_cond_wait(&t->all_here, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
}

static void by_sem(struct team *t, unsigned me)
{
    (void)me;
    if (__atomic_add_fetch(&t->arrived, 1, __ATOMIC_ACQ_REL) < t->members * t->region) {
        sem_wait(&t->last_is_here);
        return;
    }
    for (unsigned i = 1; i < t->members; i++)
        sem_post(&t->last_is_here);
}

static void by_barrier(struct team *t, unsigned me)
{
    (void)me;
    pthread_barrier_wait(&t->barrier);
}

/* --- by spinning --- */

static void pipeline(struct team *t, unsigned me, unsigned long steps)
{
    for (unsigned long step = (t->region - 1) * steps; step < t->region * steps; step++) {
        while (me + 1 < t->members && __atomic_load_n(&t->member[me + 1].said, __ATOMIC_ACQUIRE) <= step)
            continue;
        __atomic_store_n(&t->member[me].said, step + 1, __ATOMIC_RELEASE);
    }
}

static void later_one(struct team *t, unsigned me) { pipeline(t, me, 1); }

static void later_steps(struct team *t, unsigned me) { pipeline(t, me, STEPS); }

static void together(struct team *t, unsigned me)
{
    (void)me;
    __atomic_add_fetch(&t->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&t->arrived, __ATOMIC_ACQUIRE) < t->members * t->region)
        continue;
}

static void together_yield(struct team *t, unsigned me)
{
    (void)me;
    __atomic_add_fetch(&t->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&t->arrived, __ATOMIC_ACQUIRE) < t->members * t->region)
        sched_yield();
}

static void cpu_relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield" ::: "memory");
#endif
}

static void spin_barriers(struct team *t, unsigned me)
{
    (void)me;
    for (int i = 0; i < STEPS; i++) {
        unsigned long passed = __atomic_load_n(&t->passed, __ATOMIC_RELAXED);
        if (__atomic_fetch_add(&t->here, 1, __ATOMIC_SEQ_CST) == t->members - 1) {
            __atomic_store_n(&t->here, 0, __ATOMIC_RELAXED);
            __atomic_fetch_add(&t->passed, 1, __ATOMIC_SEQ_CST);
            continue;
        }
        while (__atomic_load_n(&t->passed, __ATOMIC_ACQUIRE) == passed)
            cpu_relax();
    }
}

/* --- files --- */

static int file[FILES];
static unsigned long all_bytes;

/* 4 KB to 1 MB, large and small ones mixed. */
static unsigned long file_bytes(unsigned i) { return 4096ul << i * 5 % 9; }

static void prepare_files(void)
{
    static char block[BLOCK];
    for (unsigned i = 0; i < FILES; i++) {
        char name[] = "/var/tmp/waits-XXXXXX";
        if ((file[i] = mkstemp(name)) < 0)
            fail("no file in /var/tmp");
        unlink(name);
        for (unsigned long left = file_bytes(i); left > 0;) {
            unsigned long part = left < BLOCK ? left : BLOCK;
            if (write(file[i], block, part) != (ssize_t)part)
                fail("a file cannot be written");
            left -= part;
        }
        fsync(file[i]);
        posix_fadvise(file[i], 0, 0, POSIX_FADV_DONTNEED);
        all_bytes += file_bytes(i);
    }
}

static void read_files(struct team *t, unsigned me)
{
    char block[BLOCK];
    (void)me;
#pragma omp for schedule(dynamic, 1)
    for (unsigned i = 0; i < FILES; i++) {
        unsigned long bytes = 0;
        ssize_t part;
        lseek(file[i], 0, SEEK_SET);
        while ((part = read(file[i], block, sizeof block)) > 0)
            bytes += (unsigned long)part;
        posix_fadvise(file[i], 0, 0, POSIX_FADV_DONTNEED);
        __atomic_fetch_add(&t->bytes, bytes, __ATOMIC_RELAXED);
    }
}

static const struct kind {
    const char *name;
    void (*wait)(struct team *t, unsigned me);
    void (*prepare)(void);
    void (*end)(void);
} kinds[] = {{"read_pipe", read_pipe, prepare_pipes, end_pipes},
             {"read_timer", read_timer, prepare_timers, NULL},
             {"usleep", by_usleep, NULL, NULL},
             {"nanosleep", by_nanosleep, NULL, NULL},
             {"poll", by_poll, prepare_poll, NULL},
             {"cond", by_cond, prepare_objects, NULL},
             {"sem", by_sem, prepare_objects, NULL},
             {"barrier", by_barrier, prepare_objects, NULL},
             {"later", later_one, NULL, NULL},
             {"pipeline", later_steps, NULL, NULL},
             {"together", together, NULL, NULL},
             {"yield", together_yield, NULL, NULL},
             {"spin_barrier", spin_barriers, NULL, NULL},
             {"files", read_files, prepare_files, NULL}};
static const struct kind *kind;

static void open_team(unsigned number, unsigned size)
{
    struct team *t = &team[number];
    t->members = size;
    t->region++;
#pragma omp parallel num_threads(size)
    {
        if ((unsigned)omp_get_num_threads() != size)
            fail("a team is smaller than asked for");
        kind->wait(t, (unsigned)omp_get_thread_num());
        __atomic_fetch_add(&t->ran, 1, __ATOMIC_RELAXED);
    }
}

int main(int argc, char **argv)
{
    unsigned num = sizeof kinds / sizeof kinds[0];
    for (unsigned i = 0; i < num && argc == 4; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind) {
        fprintf(stderr, "waits KIND SHAPE REGIONS; kinds:");
        for (unsigned i = 0; i < num; i++)
            fprintf(stderr, " %s", kinds[i].name);
        fputc('\n', stderr);
        return 2;
    }
    teams = regions_shape(argv[2], &members);
    if (kind->prepare && teams)
        kind->prepare();
    int status = regions_measure(kind->name, argv[2], argv[3], open_team);
    if (kind->end && teams)
        kind->end();
    for (unsigned i = 0; i < teams && status == 0; i++) {
        if (team[i].ran != team[i].region * members || team[i].bytes != team[i].region * all_bytes)
            fail("members or bytes are missing");
    }
    return status;
}
