/* Memory straight from the system: maps and stacks.
 *
 * Does: anonymous private maps, stacks with one guard page below. Does not: cache, or call malloc; callers that need
 * cheap memory keep what they got (uth's caches, slabs).
 * Callers: any thread, on any stack, holding any lock (for os_stacks_look, no lock). Failures: NULL; errno is kept.
 * Cost: one system call (a stack: two to map, three from 2 MB on if guards are mappings), and a page fault at the first
 * touch of each page.
 *
 * Layout of a stack's map, low to high:   [guard page][usable ... top)
 *
 * Guards. A process may have some 65,000 mappings (vm.max_map_count). Since Linux 6.13 a guard can be a mark in the
 * page table (MADV_GUARD_INSTALL). Such stacks are mapped readable as a whole, and the kernel merges adjacent ones into
 * one mapping. So only memory limits their number. On older kernels a guard is a mapping with another protection: a
 * stack costs two mappings, so there are some 30,000 stacks. The first stack with a mark tests whether the mark works
 * (an emulator may accept it and do nothing). If it does not work, all stacks have guards of the old kind. A stack
 * whose own mark is refused later has a guard of the old kind, too. While fewer than PLAIN_STACKS stacks exist, new
 * ones have the old kind anyway: gdb's gcore (13) leaves out a whole mapping if it cannot read a page of it.
 *
 * A stack is reserved without swap accounting (MAP_NORESERVE): most pages of thousands of stacks are never touched.
 * Huge pages are refused for stacks: one touched byte would cost 2 MB.
 * Rejected: MAP_GROWSDOWN (its guard moves, and another map can take the room). MAP_STACK alone has no effect on Linux,
 * but tools read it.
 * Paper: psthreads-2009 section 2.3 (stacks bound late and given back). */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "file.h"
#include "raw.h"
#include "topology.h"

#define HUGE_PAGE ((size_t)2 << 20) /* the smallest huge page of any supported processor */

size_t os_page_size(void)
{
    static _Atomic size_t cached;
    size_t bytes = ps_load_relaxed(&cached);
    if (PS_UNLIKELY(bytes == 0)) {
        bytes = (size_t)sysconf(_SC_PAGESIZE);
        ps_store_relaxed(&cached, bytes);
    }
    return bytes;
}

/* Rounds up to whole pages; returns 0 if that does not fit in a size_t. */
static size_t round_to_pages(size_t bytes)
{
    size_t page = os_page_size();
    return bytes > SIZE_MAX - 2 * page ? 0 : (bytes + page - 1) / page * page;
}

/* Returns an anonymous private map, or NULL. The caller's errno is kept. */
static void *map_anonymous(size_t bytes, int protection, int more_flags)
{
    int saved_errno = errno;
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | more_flags, -1, 0);
    errno = saved_errno;
    return p == MAP_FAILED ? NULL : p;
}

void *os_map(size_t bytes)
{
    size_t whole = round_to_pages(bytes);
    return whole == 0 ? NULL : map_anonymous(whole, PROT_READ | PROT_WRITE, 0);
}

void os_unmap(void *p, size_t bytes)
{
    int saved_errno = errno;
    munmap(p, round_to_pages(bytes));
    errno = saved_errno;
}

int os_memory_lock(void *p, size_t bytes)
{
    /* not mlock: the sanitizers' mlock does nothing, because a program that locks all its memory would lock their
     * shadow */
    return (int)-raw_call(SYS_mlock, (long)p, (long)round_to_pages(bytes), 0, 0);
}

/* Numbers of the kernel's <linux/mempolicy.h>: the C library has no wrappers for these calls. */
#define MODE_PREFERRED 1
#define MODE_INTERLEAVE 3
#define MODE_LOCAL 4
#define MODE_PREFERRED_MANY 5 /* since Linux 5.15 */
#define MEMS_ALLOWED 4ul

static struct os_cpuset high_bandwidth; /* the nodes; written by the first caller of os_memory_high_bandwidth */

static void find_high_bandwidth(void) { topology_high_bandwidth(&high_bandwidth, ""); }

bool os_memory_high_bandwidth(void)
{
    static os_once_flag once = OS_ONCE_INIT;
    os_once(&once, find_high_bandwidth);
    return os_cpuset_count(&high_bandwidth) > 0;
}

static bool bind_pages(void *p, size_t bytes, int mode, const struct os_cpuset *nodes)
{
    return raw_call6(SYS_mbind, (long)p, (long)round_to_pages(bytes), mode, (long)nodes, OS_MAX_CPUS, 0) == 0;
}

void os_memory_place(void *p, size_t bytes, bool interleaved, bool high)
{
    struct os_cpuset allowed;
    if (high && os_memory_high_bandwidth()) {
        if (interleaved)
            bind_pages(p, bytes, MODE_INTERLEAVE, &high_bandwidth);
        else if (!bind_pages(p, bytes, MODE_PREFERRED_MANY, &high_bandwidth)) /* the nearest of the nodes */
            bind_pages(p, bytes, MODE_PREFERRED, &high_bandwidth);            /* the first of the nodes */
    } else if (!interleaved) {
        bind_pages(p, bytes, MODE_LOCAL, NULL);
    } else if (raw_call6(SYS_get_mempolicy, 0, (long)&allowed, OS_MAX_CPUS, 0, MEMS_ALLOWED, 0) == 0) {
        bind_pages(p, bytes, MODE_INTERLEAVE, &allowed);
    }
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* since Linux 6.13 */
#endif

/* The protection of stacks. Stacks may hold code if the C library's stacks may, because an object of the process asks
 * for it. Such an object has nested functions (GCC's C, gfortran's internal procedures): the address of a nested
 * function is a piece of code in the frame of the function around it. When such an object is loaded later, the C
 * library changes only the stacks that it knows; os_stacks_look sees to the others. */
/* Written when the library is loaded and by os_stacks_look, read by threads that map a stack (seq_cst). */
static _Atomic int stack_protection = PROT_READ | PROT_WRITE;

static int look_for_code_on_stacks(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    bool *found = arg;
    (void)bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        *found |= info->dlpi_phdr[i].p_type == PT_GNU_STACK && info->dlpi_phdr[i].p_flags & PF_X;
    return *found;
}

/* Runs before any stack is made. */
__attribute__((constructor(101))) static void choose_stack_protection(void)
{
    bool found = false;
    dl_iterate_phdr(look_for_code_on_stacks, &found);
    if (found)
        ps_store_seq(&stack_protection, PROT_READ | PROT_WRITE | PROT_EXEC);
}

bool os_stacks_look(void)
{
    bool found = false;
    if (ps_load_relaxed(&stack_protection) & PROT_EXEC)
        return false;
    os_objects_visit(look_for_code_on_stacks, &found);
    if (found)
        ps_store_seq(&stack_protection, PROT_READ | PROT_WRITE | PROT_EXEC);
    return found;
}

void os_stack_protect(void *stack, size_t usable)
{
    int saved_errno = errno;
    mprotect(stack, usable, ps_load_seq(&stack_protection));
    errno = saved_errno;
}

/* A page that is not mapped counts as untouched, because the initial thread's stack grows. */
bool os_memory_untouched(const void *p, size_t bytes)
{
    size_t page = os_page_size();
    uintptr_t start = (uintptr_t)p & -(uintptr_t)page, end = (uintptr_t)p + bytes;
    unsigned char resident = 0;
    for (; start < end; start += page)
        if (raw_call(SYS_mincore, (long)start, (long)page, (long)&resident, 0) == 0 && resident & 1)
            return false;
    return true;
}

bool os_stacks_hold_code(void) { return ps_load_seq(&stack_protection) & PROT_EXEC; }

#define PLAIN_STACKS 4096u
static _Atomic uint32_t stacks; /* number of stacks that exist; relaxed: it publishes nothing */

enum { MARKS_UNKNOWN, MARKS_WORK, MARKS_DO_NOT };
static _Atomic uint32_t marks; /* relaxed: each thread that reads MARKS_UNKNOWN tests for itself */

/* Makes the first page of a readable map inaccessible by a mark. Returns false if marks do not work here, or this map
 * cannot have one.
 * Rejected for old kernels: gaps instead of guards: another map may fill the gap, and an overflow then writes into it.
 * Rejected: write-protection by userfaultfd: it is lost at fork, and sandboxes refuse it. Rejected: a mark in the stack
 * that is checked when a thread switches: by then an overflow has destroyed a neighbour. */
static bool mark_guard(char *base)
{
    char byte;
    if (madvise(base, os_page_size(), MADV_GUARD_INSTALL) != 0) {
        if (ps_load_relaxed(&marks) == MARKS_UNKNOWN)
            ps_store_relaxed(&marks, MARKS_DO_NOT);
        return false;
    }
    if (PS_UNLIKELY(ps_load_relaxed(&marks) == MARKS_UNKNOWN))
        ps_store_relaxed(&marks,
                         os_read_memory((int)getpid(), (uintptr_t)base, &byte, 1) != 0 ? MARKS_WORK : MARKS_DO_NOT);
    return ps_load_relaxed(&marks) == MARKS_WORK;
}

static void *map_with_mark(size_t whole, size_t *usable)
{
    size_t page = os_page_size();
    char *base = map_anonymous(whole + page, ps_load_seq(&stack_protection), MAP_NORESERVE | MAP_STACK);
    if (base == NULL)
        return NULL;
    if (!mark_guard(base)) {
        munmap(base, whole + page);
        return NULL;
    }
    *usable = whole; /* no MADV_NOHUGEPAGE: on kernels that have marks MAP_STACK implies it */
    return base + page;
}

unsigned os_stack_mappings(void)
{
    size_t usable;
    if (ps_load_relaxed(&marks) == MARKS_UNKNOWN) {
        void *stack = map_with_mark(os_page_size(), &usable);
        if (stack != NULL)
            munmap((char *)stack - os_page_size(), usable + os_page_size());
    }
    return ps_load_relaxed(&marks) == MARKS_WORK ? 0 : 2;
}

void *os_stack_map(size_t bytes, size_t *usable)
{
    size_t page = os_page_size();
    size_t whole = round_to_pages(bytes);
    if (whole == 0)
        return NULL;
    int saved_errno = errno;
    if (ps_add_relaxed(&stacks, 1) >= PLAIN_STACKS && ps_load_relaxed(&marks) != MARKS_DO_NOT) {
        void *stack = map_with_mark(whole, usable);
        errno = saved_errno;
        if (stack != NULL)
            return stack;
    }
    /* First the whole map is made inaccessible, then the usable part is opened. In the other order, if the guard could
     * not be made (too many mappings), the stack could overflow into its neighbour. */
    char *base = map_anonymous(whole + page, PROT_NONE, MAP_NORESERVE | MAP_STACK);
    if (base == NULL || mprotect(base + page, whole, ps_load_seq(&stack_protection)) != 0) {
        if (base != NULL)
            munmap(base, whole + page);
        ps_sub_relaxed(&stacks, 1);
        errno = saved_errno;
        return NULL;
    }
    if (whole >= HUGE_PAGE) /* a smaller map cannot contain a huge page */
        madvise(base + page, whole, MADV_NOHUGEPAGE);
    errno = saved_errno;
    *usable = whole;
    return base + page;
}

void os_stack_unmap(void *stack, size_t usable)
{
    size_t page = os_page_size();
    int saved_errno = errno;
    /* The stack may be the middle of a mapping. Unmapping it then makes two mappings, which may be one too many. Then
     * only its memory is given back. */
    if (munmap((char *)stack - page, usable + page) != 0)
        madvise(stack, usable, MADV_DONTNEED);
    ps_sub_relaxed(&stacks, 1);
    errno = saved_errno;
}

void os_stack_idle(void *stack, size_t usable, size_t keep)
{
    size_t kept = round_to_pages(keep);
    if (kept == 0 && keep != 0)
        return;
    if (kept >= usable)
        return;
    int saved_errno = errno;
    madvise(stack, usable - kept, MADV_DONTNEED);
    errno = saved_errno;
}

size_t os_memory_left(void)
{
    struct rlimit limit;
    char text[64];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    if (!file_text("/proc/self/statm", text, sizeof text))
        return SIZE_MAX;
    size_t used = strtoul(text, NULL, 10) * os_page_size();
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

size_t os_mappings_max(void)
{
    char text[64];
    return file_text("/proc/sys/vm/max_map_count", text, sizeof text) ? strtoul(text, NULL, 10) : SIZE_MAX;
}

static size_t count_mappings(void)
{
    char text[4096];
    size_t lines = 0;
    int file = file_open("/proc/self/maps");
    for (long got; file >= 0 && (got = file_read(file, text, sizeof text)) > 0;)
        for (long i = 0; i < got; i++)
            lines += text[i] == '\n';
    if (file >= 0)
        file_close(file);
    return lines;
}

const char *os_memory_limit(size_t bytes)
{
    size_t most = os_mappings_max();
    if (os_memory_left() < bytes + (bytes >> 1) + HUGE_PAGE)
        return "the address space is limited by RLIMIT_AS, ulimit -v";
    if (most != SIZE_MAX && count_mappings() + 8 > most)
        return "the number of mappings is limited by vm.max_map_count";
    return "the system has no more";
}
