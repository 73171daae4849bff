/* The control group's quota of processor time changes while the program runs, and omp_get_num_procs follows. (GCC's own runtime does not look
 * at quotas.) The files of the control group are looked up in a folder of ours: this program's fopen comes before the C library's. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/5_quota.XXXXXX";
static const char *const redirected[] = {"/proc/self/cgroup", "/proc/self/mountinfo", "/sys/fs/cgroup"};

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    char whole[4096];
    for (unsigned i = 0; i < sizeof redirected / sizeof redirected[0]; i++)
        if (!strncmp(path, redirected[i], strlen(redirected[i]))) {
            snprintf(whole, sizeof whole, "%s%s", root, path);
            path = whole;
            break;
        }
    return next(path, mode);
}

/* Whole at once, so that no reader sees a half. */
static void write_file(const char *path, const char *text)
{
    char whole[4096], fresh[4200];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    snprintf(fresh, sizeof fresh, "%s.new", whole);
    FILE *f = fopen(fresh, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0 && rename(fresh, whole) == 0);
}

static int becomes(int wanted)
{
    for (int i = 0; i < 1000; i++) {
        int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum++;
        CHECK(sum == 4);
        if (omp_get_num_procs() == wanted)
            return 1;
        usleep(20000);
    }
    return 0;
}

int main(void)
{
    CHECK(mkdtemp(root));
    write_file("/proc/self/cgroup", "0::/here\n");
    write_file("/proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
    write_file("/sys/fs/cgroup/here/cpu.max", "100000 100000\n");
    int first = becomes(1);
    cpu_set_t mask;
    CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
    int all = CPU_COUNT(&mask);
    write_file("/sys/fs/cgroup/here/cpu.max", "max 100000\n");
    int widened = all > 1 ? becomes(all) : 1;
    write_file("/sys/fs/cgroup/here/cpu.max", "50000 100000\n");
    int narrowed = becomes(1);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0);
    CHECK(first);
    CHECK(widened);
    CHECK(narrowed);
    return 0;
}
