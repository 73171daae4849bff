/* The file by which processes share processors: joins and kills, and files that are not as they should be. Processes
 * here look by share_look, as a watchdog does. How busy the processors are is made up, so that other programs of the
 * machine do not count. */
#define _GNU_SOURCE
#include "share.h"

#include "os.h"
#include "psthread.h"
#include "quota_park.h"
#include "runtime.h"
#include "share_table.h"
#include "watchdog_sample.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define VPS 4
#define KILLS 1000
#define AT_ONCE 6

/* How much foreign programs use, in hundredths of a processor; 0: the system does not say. All processes here read
 * it. */
static _Atomic uint32_t *foreign;

uint64_t __wrap_os_busy_ns(const struct os_cpuset *of);
uint64_t __wrap_os_busy_ns(const struct os_cpuset *of)
{
    static uint64_t last_ns, busy_ns;
    (void)of;
    uint64_t now_ns = os_now_ns(), n = ps_load_relaxed(foreign);
    busy_ns += (now_ns - last_ns) * n / 100;
    last_ns = now_ns;
    return n ? busy_ns + os_process_cpu_ns() : 0;
}

static char folder[] = "/tmp/share-test-XXXXXX", file[128];

static const struct share_table *map_table(void)
{
    void *map;
    const char *wrong;
    assert_int_equal(os_shared_file(SHARE_FILE, sizeof(struct share_table), false, &map, &wrong), 0);
    return map;
}

static unsigned count_owned(const struct share_table *t)
{
    unsigned n = 0;
    for (unsigned i = 0; i < SHARE_SLOTS; i++)
        n += ps_load_relaxed(&t->slot[i].owner) != 0 && ps_load_relaxed(&t->slot[i].owner) != OS_WORD_LEFT;
    return n;
}

/* Starts a process that looks again and again. */
static pid_t start_process(void)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    alarm(120);
    for (;;) {
        int64_t ns = share_look();
        _Atomic uint32_t word = 0;
        share_park(&word, ns);
    }
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void await_owned(const struct share_table *t, unsigned n)
{
    while (count_owned(t) != n)
        usleep(1000);
}

/* Slots whose processes are allowed n processors. */
static void await_allowed(const struct share_table *t, unsigned processes, unsigned n)
{
    for (unsigned found = 0; found != processes; usleep(1000)) {
        found = 0;
        for (unsigned i = 0; i < share_used(t); i++)
            found += share_is_live(&t->slot[i], os_now_ns()) && ps_load_relaxed(&t->slot[i].allowed) == n;
    }
}

static void two_come_and_go(void **state)
{
    (void)state;
    pid_t a = start_process();
    while (access(file, F_OK))
        usleep(1000);
    struct stat about;
    while (stat(file, &about) == 0 && about.st_size == 0)
        usleep(1000);
    assert_int_equal(about.st_mode & 0777, 0600);
    const struct share_table *t = map_table();
    await_owned(t, 1);
    pid_t b = start_process();
    await_owned(t, 2);
    await_allowed(t, 2, 1);
    end_process(a);
    await_allowed(t, 1, VPS);
    end_process(b);
    await_owned(t, 0);
    os_unmap((void *)t, sizeof *t);
}

/* A process gives a processor to a foreign program, and has it back. */
static void foreign_programs(void **state)
{
    (void)state;
    if (os_num_procs() < 2)
        skip();
    pid_t a = start_process();
    const struct share_table *t = map_table();
    await_allowed(t, 1, VPS);
    ps_store_relaxed(foreign, 70);
    await_allowed(t, 1, 1);
    ps_store_relaxed(foreign, 200); /* more than its part */
    await_allowed(t, 1, VPS);
    ps_store_relaxed(foreign, 70);
    await_allowed(t, 1, 1);
    ps_store_relaxed(foreign, 0);
    await_allowed(t, 1, VPS);
    end_process(a);
    os_unmap((void *)t, sizeof *t);
}

static const struct share_slot *own_slot(void)
{
    const struct share_table *t = map_table();
    unsigned i = 0;
    while (ps_load_relaxed(&t->slot[i].pid) != (uint32_t)getpid())
        i++;
    return &t->slot[i];
}

static void quota(unsigned processors)
{
    quota_park_look(
        &(struct watchdog_sample){.num_vps = VPS, .new_limits = true, .in_mask = VPS, .by_quota = processors});
}

/* A process whose quota is lowered wants no more than that, also when it opens a region, until the quota is raised. */
static void quota_is_lowered(void **state)
{
    (void)state;
    pid_t other = start_process(), pid = fork();
    if (!pid) {
        alarm(60);
        int wrong = 0;
        const unsigned quotas[] = {UINT_MAX, 2, 1, 3, UINT_MAX};
        for (unsigned i = 0; i < 5; i++) {
            unsigned most = quotas[i] < VPS ? quotas[i] : VPS;
            quota(quotas[i]);
            share_look();
            share_open(VPS);
            const struct share_slot *s = own_slot();
            wrong |= ps_load_relaxed(&s->most) != most || ps_load_relaxed(&s->wanted) != most ||
                     ps_load_relaxed(&ps_rt.limit) > most;
        }
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    end_process(other);
}

/* Killed at any moment, processes leave no slot behind. */
static void killed(void **state)
{
    (void)state;
    pid_t pids[AT_ONCE] = {0};
    srand(1);
    for (unsigned i = 0; i < KILLS; i++) {
        pid_t *pid = &pids[i % AT_ONCE];
        if (*pid)
            end_process(*pid);
        *pid = start_process();
        usleep((useconds_t)rand() % 300);
    }
    for (unsigned i = 0; i < AT_ONCE; i++)
        end_process(pids[i]);
    const struct share_table *t = map_table();
    assert_int_equal(count_owned(t), 0);
    assert_in_range(share_used(t), 1, AT_ONCE);
    os_unmap((void *)t, sizeof *t);
}

/* --- hostile files --- */

static void write_file(const void *content, size_t bytes, mode_t mode)
{
    unlink(file);
    int to = open(file, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(to, content, bytes), (ssize_t)bytes);
    fchmod(to, mode);
    close(to);
}

/* A process finds the file as it is. It shares or not, as `shares` says, and in no case waits or ends. */
static void try_file(bool shares)
{
    pid_t pid = fork();
    if (!pid) {
        alarm(60);
        close(STDERR_FILENO);
        int wrong = 0;
        for (unsigned i = 0; i < 3 && !wrong; i++) {
            int64_t ns = share_look();
            uint32_t limit = ps_load_relaxed(&ps_rt.limit);
            wrong |= limit < 1 || limit > VPS || (ns == OS_FOREVER && limit != VPS);
            share_open(VPS);
        }
        const char *why;
        void *map;
        if (shares && !wrong)
            wrong =
                os_shared_file(SHARE_FILE, sizeof(struct share_table), false, &map, &why) != 0 || count_owned(map) == 0;
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void damaged_files(void **state)
{
    (void)state;
    static struct share_table t;
    const size_t bytes = sizeof t;
    unsigned char *raw = (unsigned char *)&t;
    write_file(&t, bytes, 0600); /* zeroes are what a new one has */
    try_file(true);
    ps_store_relaxed(&t.magic, SHARE_MAGIC + 1);
    write_file(&t, bytes, 0600);
    try_file(false);
    ps_store_relaxed(&t.magic, SHARE_MAGIC);
    ps_store_relaxed(&t.used, UINT32_MAX);
    write_file(&t, bytes, 0600); /* a count that is too large */
    try_file(true);
    write_file(&t, 100, 0600); /* truncated */
    try_file(false);
    write_file(&t, bytes, 0644); /* others may read it */
    try_file(false);
    unlink(file);
    assert_int_equal(symlink("/dev/zero", file), 0);
    try_file(false);
    unlink(file);
    assert_int_equal(mkfifo(file, 0600), 0);
    try_file(false);
    unlink(file);
    assert_int_equal(mkdir(file, 0700), 0);
    try_file(false);
    rmdir(file);
    srand(2);
    for (unsigned round = 0; round < 30; round++) {
        for (size_t i = 0; i < bytes; i++)
            raw[i] = (unsigned char)rand();
        if (round % 3)
            ps_store_relaxed(&t.magic, SHARE_MAGIC);
        for (unsigned i = 0; i < SHARE_SLOTS && round % 3 == 2; i++) { /* they look alive */
            ps_store_relaxed(&t.slot[i].beat_ns, os_now_ns());
            if (i % 4 == 0)
                ps_store_relaxed(&t.slot[i].owner, 0);
        }
        write_file(&t, bytes, 0600);
        try_file(round % 3 == 2);
    }
    unlink(file);
}

/* Then one processor of two is what a process has beside a foreign program, on all machines. */
static int keep_two_processors(void)
{
    struct os_cpuset all, two;
    os_cpuset_zero(&two);
    if (os_affinity_get(&all) != 0)
        return 1;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS && os_cpuset_count(&two) < 2; cpu++)
        if (os_cpuset_has(&all, cpu))
            os_cpuset_add(&two, cpu);
    return os_affinity_set(&two);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(file, sizeof file, "%s/%s-%lu", folder, SHARE_FILE, (unsigned long)geteuid());
    setenv("XDG_RUNTIME_DIR", folder, 1);
    foreign = mmap(NULL, sizeof *foreign, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (foreign == MAP_FAILED || keep_two_processors())
        return 1;
    setenv("PSTHREADS_SHARE", "on", 1);
    /* The processes are forked from here. There is no watchdog that would look as well. */
    return psthread_init(&(psthread_config_t){.num_vps = VPS, .max_spares = PSTHREAD_NO_SPARES});
}

static int end(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_come_and_go), cmocka_unit_test(foreign_programs), cmocka_unit_test(quota_is_lowered),
        cmocka_unit_test(killed),          cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
