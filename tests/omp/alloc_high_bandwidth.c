/* Memory of the high-bandwidth space: which nodes and which policy the kernel is asked for. A filter of system calls
 * answers them, so the nodes need not exist. Not under libgomp and libomp: they ask libmemkind. */
#define _GNU_SOURCE
#include "check.h"
#include "respawn.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__)

enum { PREFERRED = 1, INTERLEAVE = 3, PREFERRED_MANY = 5, CALLS = 4 };
#define BYTES 20000

static struct call {
    char *p;
    size_t bytes;
    int mode;
    unsigned long nodes;
} calls[CALLS];
static volatile int num_calls, refuses_many;

static void on_mbind(int number, siginfo_t *info, void *frame)
{
    greg_t *reg = ((ucontext_t *)frame)->uc_mcontext.gregs;
    CHECK(number == SIGSYS && info->si_syscall == SYS_mbind && num_calls < CALLS);
    struct call *c = &calls[num_calls++];
    *c = (struct call){(char *)reg[REG_RDI], (size_t)reg[REG_RSI], (int)reg[REG_RDX], 0};
    if (reg[REG_R10] != 0)
        c->nodes = *(unsigned long *)reg[REG_R10];
    reg[REG_RAX] = refuses_many && c->mode == PREFERRED_MANY ? -EINVAL : 0;
}

static int watch_mbind(void)
{
    struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = on_mbind, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSYS, &action, NULL) == 0);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* A piece of `bytes` makes n calls of mbind; the last has this mode and these nodes, and all of the piece. */
static void expect(omp_allocator_handle_t a, size_t bytes, int n, int mode, unsigned long nodes)
{
    num_calls = 0;
    char *p = omp_calloc(1, bytes, a);
    CHECK(p != NULL && p[0] == 0 && p[bytes - 1] == 0);
    memset(p, 1, bytes);
    CHECK(num_calls == n);
    if (n > 0) {
        CHECK(calls[n - 1].mode == mode);
        CHECK(calls[n - 1].nodes == nodes);
        CHECK(calls[n - 1].p <= p && calls[n - 1].p + calls[n - 1].bytes >= p + bytes);
    }
    omp_free(p, a);
}

static omp_allocator_handle_t make(omp_memspace_handle_t space, omp_uintptr_t partition, omp_uintptr_t pinned)
{
    omp_alloctrait_t traits[] = {{omp_atk_partition, partition},
                                 {omp_atk_pinned, pinned},
                                 {omp_atk_fallback, omp_atv_null_fb},
                                 {omp_atk_alignment, 4096}};
    omp_allocator_handle_t a = omp_init_allocator(space, 4, traits);
    CHECK(a != omp_null_allocator);
    return a;
}

static void expect_of(omp_memspace_handle_t space, omp_uintptr_t partition, int n, int mode, unsigned long nodes)
{
    for (omp_uintptr_t pinned = omp_atv_false; pinned <= omp_atv_true; pinned++) {
        omp_allocator_handle_t a = make(space, partition, pinned);
        expect(a, BYTES, n, mode, nodes);
        omp_destroy_allocator(a);
    }
}

static void nodes_1_and_3(void)
{
    expect(omp_high_bw_mem_alloc, BYTES, 1, PREFERRED_MANY, 0xa);
    expect(omp_high_bw_mem_alloc, 100, 0, 0, 0); /* less than a page */
    expect(omp_default_mem_alloc, BYTES, 0, 0, 0);
    expect_of(omp_high_bw_mem_space, omp_atv_environment, 1, PREFERRED_MANY, 0xa);
    expect_of(omp_high_bw_mem_space, omp_atv_nearest, 1, PREFERRED_MANY, 0xa);
    expect_of(omp_high_bw_mem_space, omp_atv_interleaved, 1, INTERLEAVE, 0xa);
    expect_of(omp_large_cap_mem_space, omp_atv_environment, 0, 0, 0);
    omp_destroy_allocator(omp_high_bw_mem_alloc);
    refuses_many = 1; /* Linux before 5.15 */
    expect(omp_high_bw_mem_alloc, BYTES, 2, PREFERRED, 0xa);
}

/* The variable cannot be read. Where the firmware tells bandwidths there may be such nodes. */
static void no_nodes(void)
{
    if (access("/sys/devices/system/node/node0/access0/initiators/read_bandwidth", F_OK) == 0)
        return;
    omp_allocator_handle_t a = make(omp_high_bw_mem_space, omp_atv_environment, omp_atv_false);
    expect(a, BYTES, 0, 0, 0); /* null_fb: memory of the system all the same */
    omp_destroy_allocator(a);
    expect(omp_high_bw_mem_alloc, BYTES, 0, 0, 0);
}

int main(int argc, char **argv)
{
    char text[4096];
    if (argc > 1) {
        if (!watch_mbind())
            return 77;
        if (strcmp(argv[1], "none") == 0)
            no_nodes();
        else
            nodes_1_and_3();
        return 0;
    }
    int status = respawn(text, sizeof text, "some", "MEMKIND_HBW_NODES=1,3", NULL);
    fputs(text, stderr);
    if (status == 77)
        return 77;
    CHECK(status == 0 && text[0] == '\0');
    CHECK(respawn(text, sizeof text, "none", "MEMKIND_HBW_NODES=0-1,x", NULL) == 0);
    CHECK(occurrences(text, "\n") == 1 && strstr(text, "MEMKIND_HBW_NODES=\"0-1,x\" is no list") != NULL);
    return 0;
}

#else
int main(void) { return 77; }
#endif
