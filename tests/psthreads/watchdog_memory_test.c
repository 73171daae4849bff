/* The watchdog asks for memory nowhere, also not within the C library: one small block would cost its kernel thread an
 * arena, 64 MiB of address space. So it does to start a kernel thread; here, one standby for the root. */
#define _GNU_SOURCE
#include "psthread.h"
#include "standby.h"
#include "sync_support.h"
#include "tls.h"
#include "watchdog.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static _Atomic unsigned looks, blocks;

static bool is_watchdog(void)
{
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "psthreads-watch") == 0;
}

unsigned __real_os_cpu_quota(void);
unsigned __wrap_os_cpu_quota(void);
unsigned __wrap_os_cpu_quota(void)
{
    unsigned quota = __real_os_cpu_quota();
    if (is_watchdog())
        ps_add_seq(&looks, 1);
    return quota;
}

/* The C library's own calls come here too. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
#pragma GCC visibility push(default)
static void count(void) { ps_add_seq(&blocks, is_watchdog()); }
void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes)
{
    count();
    return __libc_calloc(n, bytes);
}
void *realloc(void *p, size_t bytes)
{
    count();
    return __libc_realloc(p, bytes);
}
#pragma GCC visibility pop

static void no_block(void **state)
{
    (void)state;
    psthread_config_t config = {.num_vps = 2, .max_spares = 8};
    CHECK(psthread_init(&config) == 0);
    watchdog_arm_slow();
    while (uth_tls_enabled() && standby_idle() < 1) /* the root's, which is started once */
        usleep(1000);
    ps_store_seq(&blocks, 0);
    for (unsigned i = 0, first = ps_load_seq(&looks); ps_load_seq(&looks) < first + 3; i++) {
        if (i % 8 == 0)
            watchdog_arm_slow(); /* it watches for some ticks */
        else
            watchdog_glance();
        usleep(5000);
    }
    CHECK(psthread_finalize() == 0);
    assert_int_equal(ps_load_seq(&blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
