/* Allocators whose memory is locked or lies over the memory nodes; OMP_ALLOCATOR with traits. Not under libgomp 12: it
 * pins nothing, and knows no traits in OMP_ALLOCATOR. */
#include "check.h"
#include "respawn.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define PINNED_ALLOC ((omp_allocator_handle_t)200) /* ompx_gnu_pinned_mem_alloc */

static long locked_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f) != NULL)
        sscanf(line, "VmLck: %ld", &kb);
    fclose(f);
    CHECK(kb >= 0);
    return kb;
}

static int all_are(const unsigned char *p, size_t n, int value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

static void pinned(omp_allocator_handle_t a)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    long before = locked_kb();
    unsigned char *small[8];
    for (int i = 0; i < 8; i++) {
        small[i] = omp_alloc(20, a);
        CHECK(small[i] != NULL && (uintptr_t)small[i] % sizeof(void *) == 0);
        memset(small[i], i, 20);
    }
    CHECK(locked_kb() > before);
    for (int i = 0; i < 8; i++) {
        CHECK(all_are(small[i], 20, i));
        omp_free(small[i], a);
    }
    CHECK(locked_kb() == before);
    small[0] = omp_calloc(4, 5, a);
    CHECK(all_are(small[0], 20, 0));
    long with_small = locked_kb();
    small[0] = omp_realloc(small[0], 10 * page, a, a);
    CHECK(small[0] != NULL && all_are(small[0], 20, 0) && locked_kb() >= before + (long)(10 * page / 1024));
    small[0] = omp_realloc(small[0], 30, a, a);
    CHECK(small[0] != NULL && locked_kb() == with_small); /* the large piece's pages are free again */
    omp_free(small[0], a);
    unsigned char *aligned = omp_aligned_calloc(4 * page, 1, page, a);
    CHECK(aligned != NULL && (uintptr_t)aligned % (4 * page) == 0 && all_are(aligned, page, 0));
    omp_free(aligned, a);
    int wrong = 0;
#pragma omp parallel for num_threads(8) reduction(+ : wrong)
    for (int i = 0; i < 4000; i++) {
        size_t n = 1 + (size_t)i % 3000;
        unsigned char *p = omp_alloc(n, a);
        if (p == NULL) {
            wrong++;
            continue;
        }
        memset(p, i & 255, n);
        wrong += !all_are(p, n, i & 255);
        omp_free(p, a);
    }
    CHECK(wrong == 0);
}

/* More than may be locked: the fallback decides. */
static void beyond_limit(void)
{
    struct rlimit limit;
    omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}, {omp_atk_fallback, omp_atv_null_fb}};
    CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    if (geteuid() == 0) /* may lock as much as it likes */
        CHECK(syscall(SYS_setresuid, 65534, 65534, -1) == 0);
    omp_allocator_handle_t strict = omp_init_allocator(omp_default_mem_space, 2, traits);
    omp_allocator_handle_t mild = omp_init_allocator(omp_default_mem_space, 1, traits);
    CHECK(strict != omp_null_allocator && mild != omp_null_allocator);
    CHECK(omp_alloc(1 << 20, strict) == NULL && omp_alloc(1 << 20, PINNED_ALLOC) == NULL);
    unsigned char *p = omp_calloc(1, 1 << 20, mild);
    CHECK(p != NULL && all_are(p, 1 << 20, 0));
    omp_free(p, mild);
    omp_destroy_allocator(strict);
    omp_destroy_allocator(mild);
}

static void partition(omp_alloctrait_value_t value, int mode)
{
    enum { POLICY_OF_ADDRESS = 2 };
    omp_alloctrait_t trait = {omp_atk_partition, value};
    omp_allocator_handle_t a = omp_init_allocator(omp_large_cap_mem_space, 1, &trait);
    CHECK(a != omp_null_allocator);
    size_t bytes = 1 << 20;
    unsigned char *p = omp_calloc(1, bytes, a), *small = omp_alloc(10, a);
    CHECK(p != NULL && small != NULL && all_are(p, bytes, 0));
    memset(p, 1, bytes);
    memset(small, 2, 10);
    int found = -1;
    if (syscall(SYS_get_mempolicy, &found, NULL, 0ul, p, (long)POLICY_OF_ADDRESS) == 0)
        CHECK(found == mode);
    else
        fprintf(stderr, "this system does not say where memory lies\n");
    p = omp_realloc(p, 2 * bytes, a, a);
    CHECK(p != NULL && all_are(p, bytes, 1));
    omp_free(p, a);
    omp_free(small, a);
    omp_destroy_allocator(a);
}

static int respawned(const char *mode)
{
    void *p = omp_alloc(100, omp_null_allocator);
    CHECK(p != NULL);
    if (strcmp(mode, "aligned") == 0)
        CHECK((uintptr_t)p % 4096 == 0 && locked_kb() > 0);
    else
        CHECK(omp_get_default_allocator() == (mode[0] == 'd'   ? omp_default_mem_alloc
                                              : mode[0] == 'l' ? omp_large_cap_mem_alloc
                                                               : PINNED_ALLOC));
    omp_free(p, omp_null_allocator);
    return 0;
}

static void environment(void)
{
    static const struct {
        const char *setting, *mode, *line;
    } cases[] = {
        {"OMP_ALLOCATOR= omp_default_mem_space : alignment=4096 , PINNED=true,fallback=abort_fb,partition=nearest",
         "aligned", NULL},
        {"OMP_ALLOCATOR=omp_const_mem_space:access=pteam,sync_hint=private,pool_size=0,fallback=allocator_fb,fb_data="
         "omp_thread_mem_alloc,"
         "alignment=4096,pinned=true",
         "x", NULL},
        {"OMP_ALLOCATOR=omp_large_cap_mem_space", "large", NULL},
        {"OMP_ALLOCATOR=ompx_gnu_pinned_mem_alloc", "pinned", NULL},
        {"OMP_ALLOCATOR=omp_const_mem_space:alignment=3", "default",
         "traits that cannot be had; using omp_default_mem_alloc instead"},
        {"OMP_ALLOCATOR=omp_const_mem_space:alignment=64,pinned=", "default", "pinned=\" is neither"},
        {"OMP_ALLOCATOR=omp_const_mem_space:access=none,pinned=false", "default", "pinned=false\" is neither"},
        {"OMP_ALLOCATOR=omp_const_mem_space:pool_size=-1", "default", "is neither"},
        {"OMP_ALLOCATOR=omp_const_mem_space:fb_data=omp_null_allocator", "default", "is neither"},
        {"OMP_ALLOCATOR=omp_const_mem_space:pinned=true,", "default", "is neither"},
        {"OMP_ALLOCATOR=omp_const_mem_alloc:pinned=true", "default", "is neither"},
        {"OMP_ALLOCATOR=omp_no_mem_space", "default", "is neither"}};
    char text[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = respawn(text, sizeof text, cases[i].mode[0] == 'x' ? "-" : cases[i].mode, cases[i].setting, NULL);
        if (status != 0 || (cases[i].line == NULL ? text[0] != '\0' : strstr(text, cases[i].line) == NULL))
            fprintf(stderr, "%s: %d, %s\n", cases[i].setting, status, text);
        CHECK(status == 0 && (cases[i].line == NULL ? text[0] == '\0' : strstr(text, cases[i].line) != NULL));
        CHECK(occurrences(text, "\n") == (cases[i].line != NULL));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return argv[1][0] == '-' ? omp_get_default_allocator() <= omp_thread_mem_alloc : respawned(argv[1]);
    environment();
    omp_alloctrait_t trait = {omp_atk_pinned, omp_atv_true};
    omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 1, &trait);
    CHECK(a != omp_null_allocator);
    pinned(a);
    pinned(PINNED_ALLOC);
    omp_destroy_allocator(a);
    partition(omp_atv_interleaved, 3);
    partition(omp_atv_nearest, 4);
    partition(omp_atv_blocked, 0);
    void *reserved = omp_alloc(100, (omp_allocator_handle_t)201); /* a number, not an address */
    CHECK(reserved != NULL);
    omp_free(reserved, omp_null_allocator);
    beyond_limit();
    return 0;
}
