/* A kernel thread that a member starts begins with what the member has: its name, which is the process's where no
 * thread has set another, its signal mask and nice value, and nothing of another member's. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define N 8

static char process_name[16];

struct seen {
    char name[16];
    int nice;
    bool blocked;
};

static void *look(void *arg)
{
    struct seen *seen = arg;
    sigset_t mask;
    char path[60];
    snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)syscall(SYS_gettid));
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(seen->name, sizeof seen->name, file));
    fclose(file);
    seen->name[strcspn(seen->name, "\n")] = '\0';
    seen->nice = getpriority(PRIO_PROCESS, 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    seen->blocked = sigismember(&mask, SIGUSR2) == 1;
    return arg;
}

#define MOST_NICE 19
static int first_nice; /* the process's: the test may begin with any */
__attribute__((constructor)) static void read_nice(void) { first_nice = getpriority(PRIO_PROCESS, 0); }

static void check(const char *name, int nice, bool blocked)
{
    struct seen seen;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, look, &seen) == 0 && pthread_join(thread, NULL) == 0);
    if (strcmp(seen.name, name))
        fprintf(stderr, "\"%s\" instead of \"%s\"\n", seen.name, name);
    CHECK(!strcmp(seen.name, name) && seen.nice == nice && seen.blocked == blocked);
}

static void own_state(void)
{
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(N)
        {
            int id = omp_get_thread_num(), own_nice = first_nice;
            char own[16];
            snprintf(own, sizeof own, "%s", process_name);
            wait_in_a_barrier();
            if (round == 0)
                check(own, first_nice, false);
            wait_in_all_ways();
            if (id % 2) { /* not the first one: that is the process's */
                sigset_t set;
                sigemptyset(&set);
                sigaddset(&set, SIGUSR2);
                snprintf(own, sizeof own, "member %d", id);
                own_nice = first_nice + id < MOST_NICE ? first_nice + id : MOST_NICE;
                CHECK(pthread_setname_np(pthread_self(), own) == 0 && setpriority(PRIO_PROCESS, 0, own_nice) == 0);
                CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
            }
            wait_in_all_ways();
            check(own, own_nice, id % 2);
        }
    }
}

/* Where nothing else tells that a member is to have a kernel thread of its own. */
static void names_only(void)
{
#pragma omp parallel num_threads(N)
    for (int i = 0; i < 3; i++) {
        check(process_name, first_nice, false);
        wait_in_all_ways();
    }
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {{"own_state", own_state}, {"names_only", names_only}};
    CHECK(pthread_getname_np(pthread_self(), process_name, sizeof process_name) == 0);
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
