/* The contract of os.h without an operating system: memory of the clusters, the board's processors, its clock.
 *
 * Of os.h this file has what bare metal needs; the rest is for kernel threads. For programs it has usleep, gettimeofday
 * and write. A core carries one thread and never gives it up, so to wait is to read a word repeatedly. os_fence_all
 * returns true if memory is sequentially consistent without fences; otherwise it returns false, because there is no
 * such fence. Processors are numbered cluster by cluster.
 * src/os/linux/env.c turns the environment's texts into values. */
#include "os.h"

#include <errno.h>
#include <semihost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include "board.h"
#include "cpu.h"

/* --- memory --- */

size_t os_page_size(void) { return 4096; }
void *os_map(size_t bytes)
{
    void *p = aligned_alloc(os_page_size(), bytes);
    return p == NULL ? NULL : memset(p, 0, bytes);
}
void os_unmap(void *p, PS_UNUSED size_t bytes) { free(p); }
int os_memory_lock(PS_UNUSED void *p, PS_UNUSED size_t bytes) { return 0; }
void os_memory_place(PS_UNUSED void *p, PS_UNUSED size_t bytes, PS_UNUSED bool interleaved, PS_UNUSED bool high) {}
bool os_memory_high_bandwidth(void) { return false; }

/* --- waiting, order, time --- */

void os_yield(void) { cpu_pause(); }
bool os_fence_all(void)
{
    ps_fence_seq();
    return board_in_order();
}
bool os_fence_all_ready(void) { return board_in_order(); }
uint64_t os_now_ns(void) { return board_now_ns(); }

/* For programs. usleep spins, because no other thread could use the core. */
int usleep(useconds_t us)
{
    for (uint64_t end = os_now_ns() + (uint64_t)us * 1000; os_now_ns() < end;)
        cpu_pause();
    return 0;
}

/* gettimeofday for programs. The C library's own computes the microseconds of a second in 32 bits, which overflow after
 * four thousand ticks of the board's clock. */
static uint64_t epoch_ns; /* the time when the board's clock was 0 */
static void read_epoch(void) { epoch_ns = sys_semihost_time() * UINT64_C(1000000000) - os_now_ns(); }
int gettimeofday(struct timeval *restrict now, PS_UNUSED void *restrict zone)
{
    static os_once_flag once;
    os_once(&once, read_epoch);
    uint64_t ns = epoch_ns + os_now_ns();
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    return 0;
}

/* States of a flag: 0 -> 1 while fn runs -> 2 when fn has ended. */
void os_once(os_once_flag *flag, void (*fn)(void))
{
    _Atomic int *state = (_Atomic int *)flag;
    int seen = 0;
    if (ps_load_acquire(state) == 2)
        return;
    if (ps_cas_acquire(state, &seen, 1)) {
        fn();
        ps_store_release(state, 2);
    }
    while (ps_load_acquire(state) != 2)
        cpu_pause();
}
void os_at_fork(PS_UNUSED void (*before)(void), PS_UNUSED void (*after)(void), PS_UNUSED void (*in_child)(void)) {}

/* --- processors --- */

unsigned os_num_procs(void) { return board_clusters() * board_cores(); }
unsigned os_cpu_quota(void) { return 0; }

void os_affinity_at_start(struct os_cpuset *out)
{
    os_cpuset_zero(out);
    for (unsigned i = 0; i < os_num_procs(); i++)
        os_cpuset_add(out, i);
}
int os_affinity_get(struct os_cpuset *out)
{
    os_affinity_at_start(out);
    return 0;
}

/* Two levels, the clusters (as memory nodes) and the whole machine; one level on a board of one cluster. No arrays: the
 * processors are numbered cluster by cluster. */
int os_topology_read(struct os_topology *out)
{
    unsigned clusters = board_clusters();
    *out = (struct os_topology){.n = os_num_procs(), .num_levels = clusters > 1 ? 2 : 1};
    out->level[0].kind = "numa";
    out->level[0].num_groups = clusters;
    out->level[out->num_levels - 1].kind = "machine";
    out->level[out->num_levels - 1].num_groups = 1;
    for (unsigned s = 0; s < OS_NUM_SHARINGS; s++)
        out->sharing_level[s] = s <= OS_SHARING_L2 ? OS_LEVEL_ALONE : 0;
    return 0;
}

void os_topology_free(struct os_topology *t) { *t = (struct os_topology){0}; }

/* --- the environment --- */

/* The default environment, because the board has none: places are the clusters, and nested regions are active. A
 * program replaces it by an array of this name: strings NAME=VALUE, then a null pointer. */
extern const char *const manycore_environment[];
__attribute__((weak)) const char *const manycore_environment[] = {"OMP_PLACES=numa_domains", "OMP_PROC_BIND=close",
                                                                  "OMP_MAX_ACTIVE_LEVELS=255", NULL};

/* The runtime asks for some 40 variables at the start, and nearly all are missing. The names are in a memory that takes
 * 23 cycles for each letter, and most begin with OMP_. So the fifth letter is looked up first. Bit i: a variable's
 * fifth letter is i, modulo 32. */
static uint32_t fifth_letters;

static uint32_t fifth_letter(const char *name)
{
    for (unsigned i = 0; i < 4 && *name != '\0'; i++)
        name++;
    return 1u << ((unsigned char)*name & 31);
}

/* Runs before the variables are read (src/ort/environment/env.c). */
extern char **environ;
__attribute__((constructor(103))) static void set_environment(void)
{
    environ = (char **)(uintptr_t)manycore_environment;
    for (const char *const *v = manycore_environment; *v != NULL; v++)
        fifth_letters |= fifth_letter(*v);
}

const char *os_env(const char *name)
{
    const char *value = fifth_letters & fifth_letter(name) ? getenv(name) : NULL;
    return value == NULL || *value == '\0' ? NULL : value;
}

/* --- lines for the user (check.c) --- */

/* Writes to standard error for descriptor 2, to standard output for any other; lines of different cores are not mixed.
 * The C library's own write uses semihosting: it knows only files that the program has opened, not 1 and 2. */
ssize_t write(int file, const void *bytes, size_t n)
{
    static _Atomic uint32_t busy;
    FILE *out = file == 2 ? stderr : stdout;
    while (ps_xchg_acquire(&busy, 1) != 0)
        cpu_pause();
    for (size_t i = 0; i < n; i++)
        putc(((const char *)bytes)[i], out);
    ps_store_release(&busy, 0);
    return (ssize_t)n;
}
