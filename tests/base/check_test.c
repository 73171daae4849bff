/* The one-line reports: written as printf would, at once, shortened in their middle, without the heap, errno kept. */
#include "check.h"

#include "fault.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char said[8192];

/* What is written to standard error between the two. */
static int ends[2], saved;
static void listen_to_it(void)
{
    assert_int_equal(pipe(ends), 0);
    saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
}
static size_t heard(void)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t n = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    said[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

#define AS_PRINTF(fmt, ...)                                                                 \
    do {                                                                                    \
        char wanted[512];                                                                   \
        snprintf(wanted, sizeof wanted, "psthreads: " fmt "\n" __VA_OPT__(, ) __VA_ARGS__); \
        listen_to_it();                                                                     \
        ps_warn(fmt __VA_OPT__(, ) __VA_ARGS__);                                            \
        heard();                                                                            \
        assert_string_equal(said, wanted);                                                  \
    } while (0)

static void as_printf(void **state)
{
    (void)state;
    AS_PRINTF("nothing to put in");
    AS_PRINTF("100 %% of %s", "a text");
    AS_PRINTF("%d %d %d %d", 0, -1, INT_MAX, INT_MIN);
    AS_PRINTF("%u %u %x", 0u, UINT_MAX, 0xbeefu);
    AS_PRINTF("%ld %ld %lld", LONG_MAX, LONG_MIN, LLONG_MIN);
    AS_PRINTF("%lu %llu %llx %zu", ULONG_MAX, ULLONG_MAX, 0x123456789abcdefull, SIZE_MAX);
    AS_PRINTF("%p, then %s", (void *)said, "the rest");
    AS_PRINTF("%s%s", "", "two beside one another");
}

static void one_line(void **state)
{
    (void)state;
    listen_to_it();
    ps_warn("%s", "a\nb\tc\x7f");
    heard();
    assert_string_equal(said, "psthreads: a?b?c?\n");
    ps_warn_mark = "OMP: Warning #1: ";
    listen_to_it();
    ps_warn("x");
    heard();
    ps_warn_mark = "";
    assert_string_equal(said, "OMP: Warning #1: psthreads: x\n");
}

/* Every length about the limit, and one far beyond; with no memory to be had. */
static void long_ones_lose_their_middle(void **state)
{
    (void)state;
    static char value[5000];
    for (size_t length = 400; length < sizeof value; length += length < 600 ? 1 : 4000) {
        memset(value, 'v', length);
        value[length] = '\0';
        listen_to_it();
        fault_arm(FAULT_MALLOC, 1, FAULT_ALL_FOLLOWING);
        errno = EBUSY;
        ps_warn("BEGIN %s; using %s instead", value, "the END");
        int after = errno;
        unsigned asked_for_memory = (unsigned)fault_failures(FAULT_MALLOC);
        fault_disarm_all();
        size_t n = heard(), whole = strlen("psthreads: BEGIN ; using the END instead\n") + length;
        assert_int_equal(after, EBUSY);
        assert_int_equal(asked_for_memory, 0);
        assert_int_equal(n, whole <= 512 ? whole : 512);
        assert_memory_equal(said, "psthreads: BEGIN vvv", 20);
        assert_true(n >= 24 && strcmp(said + n - 24, "; using the END instead\n") == 0);
        assert_int_equal(strstr(said, "...") != NULL, whole > 512);
    }
}

static void quiet(void **state)
{
    (void)state;
    ps_warn_quiet = true;
    listen_to_it();
    ps_warn("never");
    (void)!write(STDERR_FILENO, "end", 3);
    heard();
    ps_warn_quiet = false;
    assert_string_equal(said, "end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_printf), cmocka_unit_test(one_line),
                                       cmocka_unit_test(long_ones_lose_their_middle), cmocka_unit_test(quiet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
