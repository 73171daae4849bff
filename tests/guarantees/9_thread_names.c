/* A member's name is its own: set by itself or by another member, read by itself, by another, by prctl and in /proc,
 * after all waits. The program's thread keeps its name, or has the one that it gave itself as first member. [KIND] */
#define _GNU_SOURCE
#include "kinds.h"
#include "waits.h"
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>

#define N 6

static pthread_t self[N];

static void check_name(int id, const char *name)
{
    char got[32] = "";
    CHECK(pthread_getname_np(self[id], got, sizeof got) == 0 && !strcmp(got, name));
}

/* file: /proc has it as well. A region's first thread may be elsewhere than its kernel thread. */
static void check_own(const char *name, bool file)
{
    char got[32] = "";
    CHECK(prctl(PR_GET_NAME, got) == 0 && !strcmp(got, name));
    if (!file)
        return;
    FILE *f = fopen("/proc/thread-self/comm", "r");
    CHECK(f && fgets(got, sizeof got, f) && !strncmp(got, name, strlen(name)) && got[strlen(name)] == '\n');
    fclose(f);
}

static void name_of(int id, char *name) { sprintf(name, "member-%d", id); }

static void own_names(int by, bool first_too)
{
    char before[32], name[32];
    CHECK(prctl(PR_GET_NAME, before) == 0);
#pragma omp parallel num_threads(N) private(name)
    {
        int id = omp_get_thread_num();
        self[id] = pthread_self();
        wait_in_all_ways();
        if (by == 0 && (id || first_too)) { /* itself, by either call */
            name_of(id, name);
            CHECK((id % 2 ? pthread_setname_np(self[id], name) : prctl(PR_SET_NAME, name)) == 0);
        } else if (by == 1 && (id != N - 1 || first_too)) { /* its neighbour */
            name_of((id + 1) % N, name);
            CHECK(pthread_setname_np(self[(id + 1) % N], name) == 0);
        }
        for (int i = 0; i < 3; i++) {
            wait_in_all_ways();
            for (int other = first_too ? 0 : 1; other < N; other++) {
                name_of(other, name);
                check_name(other, name);
            }
            wait_in_a_barrier();
            name_of(id, name);
            check_own(id || first_too ? name : before, id);
        }
        wait_in_a_barrier();
    }
    check_own(first_too ? "member-0" : before, true);
}

static void by_itself(void)
{
    own_names(0, false);
    own_names(0, false);
}
static void by_another(void) { own_names(1, false); }
static void first_member_keeps(void) { own_names(0, true); }

int main(int argc, char **argv)
{
    static const struct kind_of kinds[] = {
        {"by_itself", by_itself}, {"by_another", by_another}, {"first_member_keeps", first_member_keeps}};
    RUN_KINDS(kinds, argc > 1 ? argv[1] : NULL);
    return 0;
}
