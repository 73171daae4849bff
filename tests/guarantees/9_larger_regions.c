/* A region with more members than any before it: those that were there before are the same threads, with their
 * thread-local storage, handle, number in the kernel and name; only the further ones are new. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>

#define MOST 9

static const int sizes[] = {2, 3, 5, 5, MOST};
#define REGIONS (int)(sizeof sizes / sizeof sizes[0])

static __thread int mark;
static pthread_key_t key;
static int ended; /* threads, which had a value for the key */

static void on_end(void *value)
{
    (void)value;
    __sync_fetch_and_add(&ended, 1);
}

struct member {
    pthread_t handle;
    long number;
    char name[16];
};
static struct member members[MOST];

static void begin(struct member *m, int id, bool kernel)
{
    mark = id + 1;
    m->handle = pthread_self();
    CHECK(pthread_setspecific(key, m) == 0);
    if (!kernel)
        return;
    m->number = syscall(SYS_gettid);
    snprintf(m->name, sizeof m->name, "member %d", id);
    CHECK(id == 0 || pthread_setname_np(pthread_self(), m->name) == 0);
}

static void check(const struct member *m, int id, bool kernel)
{
    char name[16];
    CHECK(mark == id + 1 && pthread_equal(m->handle, pthread_self()) && pthread_getspecific(key) == m);
    if (kernel)
        CHECK(m->number == syscall(SYS_gettid) && pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
              (id == 0 || !strcmp(name, m->name)));
}

static void grow(bool kernel)
{
    int known = 0;
    CHECK(pthread_key_create(&key, on_end) == 0);
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(sizes[i])
        {
            int id = omp_get_thread_num();
            if (id >= known)
                begin(&members[id], id, kernel);
            wait_in_all_ways();
            check(&members[id], id, kernel);
        }
        known = sizes[i];
        CHECK(ended == 0);
    }
}
static void storage(void) { grow(false); }
static void kernel_state(void) { grow(true); }

/* Kernel threads that members have started outlast the smaller region. */
static void *sleep_long(void *arg)
{
    usleep(50000);
    return arg;
}
static void threads_of_members(void)
{
    pthread_t thread[2];
    CHECK(pthread_key_create(&key, on_end) == 0);
#pragma omp parallel num_threads(2)
    CHECK(pthread_create(&thread[omp_get_thread_num()], NULL, sleep_long, NULL) == 0);
#pragma omp parallel num_threads(MOST)
    wait_in_all_ways();
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"storage", storage}, {"kernel_state", kernel_state}, {"threads_of_members", threads_of_members}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
