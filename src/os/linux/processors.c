/* Processors: which the process may use, how many are worth using, on which one the caller runs.
 *
 * Does: affinity masks by system calls, with masks of any size; the number worth using, from mask and quota (quota.c).
 * Does not: read the topology (topology.c).
 * Callers: any thread, on any stack. Shared state: the mask at start, written while the library is loaded, and by
 * os_affinity_narrow before processors are first counted; the first quota, a single number, written by
 * compare-and-swap. Failures: positive errno values; os_num_procs returns 1. Cost: one system call. os_num_procs also
 * reads the files of quota.c, some tens of microseconds: callers on a hot path keep its result.
 *
 * Rejected: the C library's cpu_set_t (1024 processors); reading the mask at the first need instead of at the start (if
 * the initial thread is bound by then, the machine would shrink to its place). */
#include "os.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "raw.h"

/* A kernel built for more processors than OS_MAX_CPUS needs a larger mask: it is read whole, and cut. */
#define LARGEST_MASK_BYTES (1u << 16)

static int read_large_mask(int tid, struct os_cpuset *out)
{
    for (size_t bytes = 2 * sizeof *out; bytes <= LARGEST_MASK_BYTES; bytes *= 2) {
        uint64_t *mask = calloc(1, bytes);
        if (mask == NULL)
            return ENOMEM;
        long copied = raw_call(SYS_sched_getaffinity, tid, (long)bytes, (long)mask, 0);
        if (copied >= 0)
            memcpy(out->bits, mask, sizeof out->bits);
        free(mask);
        if (copied >= 0)
            return 0;
        if (copied != -EINVAL)
            return (int)-copied;
    }
    return EINVAL;
}

int os_affinity_of(int tid, struct os_cpuset *out)
{
    os_cpuset_zero(out);
    long result = raw_call(SYS_sched_getaffinity, tid, sizeof out->bits, (long)out->bits, 0);
    return result >= 0 ? 0 : result == -EINVAL ? read_large_mask(tid, out) : (int)-result;
}

int os_affinity_get(struct os_cpuset *out) { return os_affinity_of(0, out); }

int os_affinity_set_of(int tid, const struct os_cpuset *set)
{
    return (int)-raw_call(SYS_sched_setaffinity, tid, sizeof set->bits, (long)set->bits, 0);
}

int os_affinity_set(const struct os_cpuset *set) { return os_affinity_set_of(0, set); }

/* Linux keeps a mask that was set, and intersects it with the control group's processors whenever these change. So, if
 * `own` is all of the control group's processors, the kernel thread gets the mask of all processors. */
void os_affinity_give_back(int tid, const struct os_cpuset *own)
{
    struct os_cpuset all, now;
    memset(&all, 0xff, sizeof all);
    if (os_affinity_set_of(tid, &all) != 0 || os_affinity_of(tid, &now) != 0 || !os_cpuset_equal(&now, own))
        os_affinity_set_of(tid, own);
}

static struct os_cpuset mask_at_start;

/* Runs before constructors without a priority: some of them read the mask. */
__attribute__((constructor(101))) static void keep_mask_at_start(void) { os_affinity_get(&mask_at_start); }

void os_affinity_at_start(struct os_cpuset *out) { *out = mask_at_start; }

int os_affinity_narrow(const struct os_cpuset *set)
{
    struct os_cpuset left = mask_at_start;
    for (unsigned i = 0; i < sizeof left.bits / sizeof *left.bits; i++)
        left.bits[i] &= set->bits[i];
    if (os_cpuset_count(&left) == 0)
        return EINVAL;
    int error = os_affinity_set(&left);
    if (error == 0)
        mask_at_start = left;
    return error;
}

static _Atomic uint32_t first_quota; /* the quota + 1; 0: not read yet */

static unsigned quota_now(void)
{
    unsigned quota = os_cpu_quota();
    uint32_t none = 0;
    ps_cas_relaxed(&first_quota, &none, quota + 1);
    return quota;
}

unsigned os_cpu_quota_at_start(void)
{
    if (ps_load_relaxed(&first_quota) == 0)
        quota_now();
    return ps_load_relaxed(&first_quota) - 1;
}

unsigned os_num_procs(void)
{
    struct os_cpuset mask;
    unsigned n = os_affinity_get(&mask) == 0 ? os_cpuset_count(&mask) : 1;
    unsigned quota = quota_now();
    if (quota != 0 && quota < n)
        n = quota;
    n = os_rank_share(n, quota);
    return n == 0 ? 1 : n;
}

int os_current_cpu(void) { return sched_getcpu(); }

int os_cpu_here(void)
{
    unsigned cpu = 0;
    return raw_call(SYS_getcpu, (long)&cpu, 0, 0, 0) == 0 ? (int)cpu : -1;
}

uint64_t os_times_preempted(void)
{
    struct rusage usage = {.ru_nivcsw = 0};
    return raw_call(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}
