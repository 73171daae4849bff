/* A region's first thread makes a child while it goes on elsewhere, because others hold its kernel thread. The child
 * is a process of one thread, which is that one: storage, handle, number, mask. It ends by itself, or leaves
 * the region and ends later, or opens regions. The parent goes on, then and in later regions. By fork, vfork,
 * posix_spawn, system and popen. The program's own thread, and another one. [KIND, or a dash and kinds that are left
 * out] */
#define _GNU_SOURCE
#include "away.h"
#include "kinds.h"
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define N 4
#define TRIPS (2 * AWAY_WAITS)

extern char **environ;
static __thread int own;
static int *where_own;
static pthread_t self;
static pid_t number, child;

static void ends_well(pid_t process)
{
    int status;
    CHECK(process > 0 && waitpid(process, &status, 0) == process);
    CHECK(status == 0);
}

static bool blocks(int signal)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return sigismember(&now, signal);
}

static void expect_storage(void) { CHECK(own == 7 && &own == where_own && pthread_equal(pthread_self(), self)); }

static void expect_itself(void)
{
    expect_storage();
    CHECK(blocks(SIGUSR1) && !blocks(SIGUSR2));
}

static void expect_child(void)
{
    expect_itself();
    CHECK(gettid() == getpid() && syscall(SYS_gettid) == getpid() && getpid() != number);
    CHECK(raise(SIGUSR1) == 0);
    sigset_t set;
    CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR1));
}

static int sum_of_region(int n)
{
    int sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum += omp_get_thread_num();
    return sum;
}

/* --- what it does when it goes on --- */

static void ends_at_once(void)
{
    child = fork();
    if (child == 0) {
        expect_child();
        _exit(0);
    }
    ends_well(child);
}

static void ends_by_exit(void)
{
    child = fork();
    if (child == 0) {
        expect_child();
        exit(0);
    }
    ends_well(child);
}

static void forks_again(void)
{
    child = fork();
    if (child == 0) {
        ends_at_once();
        expect_child();
        _exit(0);
    }
    ends_well(child);
}

/* It goes on beside the parent. */
static void is_reaped_later(void)
{
    child = fork();
    if (child == 0) {
        usleep(20000);
        expect_child();
        _exit(0);
    }
    CHECK(child > 0);
}

static void *ends(void *arg) { return arg; }
static void starts_a_thread(void)
{
    child = fork();
    if (child == 0) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, ends, NULL) == 0 && pthread_join(thread, NULL) == 0);
        expect_child();
        _exit(0);
    }
    ends_well(child);
}

static void opens_a_region(void)
{
    child = fork();
    if (child == 0) {
        expect_child();
        omp_set_max_active_levels(8);
        for (int i = 0; i < 3; i++)
            CHECK(sum_of_region(N) == N * (N - 1) / 2);
        expect_child();
        _exit(0);
    }
    ends_well(child);
}

/* It makes trips of its own. */
static void nothing(struct away *a) { (void)a; }
static void goes_away(void)
{
    child = fork();
    if (child == 0) {
        struct away away;
        omp_set_max_active_levels(8);
        away_begin(&away, N, nothing);
        away_trips(&away, 1);
        away_end(&away);
        expect_child();
        _exit(0);
    }
    ends_well(child);
}

static void by_vfork(void)
{
    child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    ends_well(child);
}
static void by_spawn(void)
{
    char *arguments[] = {"true", NULL};
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
    ends_well(child);
}
static void by_system(void) { CHECK(system("true") == 0); }
static void by_popen(void)
{
    char text[8] = "";
    FILE *f = popen("echo said", "r");
    CHECK(f && fgets(text, sizeof text, f) && strcmp(text, "said\n") == 0 && pclose(f) == 0);
}

static const struct way {
    const char *name;
    void (*act)(void);
} ways[] = {
    {"ends_at_once", ends_at_once},
    {"ends_by_exit", ends_by_exit},
    {"forks_again", forks_again},
    {"reaped_later", is_reaped_later},
    {"starts_a_thread", starts_a_thread},
    {"opens_a_region", opens_a_region},
    {"goes_away", goes_away},
    {"vfork", by_vfork},
    {"spawn", by_spawn},
    {"system", by_system},
    {"popen", by_popen},
};
#define WAYS (int)(sizeof ways / sizeof *ways)
static const struct way *way;

static void goes_on(struct away *a)
{
    (void)a;
    expect_storage(); /* what else the kernel keeps for it is asked for later: then it has a kernel thread of its own */
    CHECK(gettid() == number);
    way->act();
    expect_itself();
    CHECK(gettid() == number);
}

static void *live(void *arg)
{
    struct away away;
    sigset_t set;
    own = 7;
    where_own = &own;
    self = pthread_self();
    number = gettid();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    away_begin(&away, N, goes_on);
    for (int i = 0; i < TRIPS; i++) {
        away_trip(&away, (enum away_wait)(i % AWAY_WAITS), (enum away_stay)(i % AWAY_STAYS));
        if (way->act == is_reaped_later)
            ends_well(child);
        expect_itself();
        CHECK(sum_of_region(N) == N * (N - 1) / 2);
    }
    fprintf(stderr, "  %ld times elsewhere\n", away.times);
    away_end(&away);
    return arg;
}

static const char *name_of(int i) { return kind_name_in(i >= WAYS, ways[i % WAYS].name); }
static void run(int i)
{
    way = &ways[i % WAYS];
    kind_run_in(i >= WAYS, live);
}

int main(int argc, char **argv)
{
    in_a_process_each(2 * WAYS, name_of, run, argc > 1 ? argv[1] : NULL);
    return 0;
}
