/* Maps and stacks: zeroed, guarded, given back. */
#define _GNU_SOURCE
#include "test.h"

#include "os.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_mapped(void *page)
{
    unsigned char resident;
    return mincore(page, 1, &resident) == 0;
}

/* Pages of [p, p + bytes) that are in memory. */
static size_t resident_pages(void *p, size_t bytes)
{
    unsigned char resident[1024];
    size_t pages = bytes / os_page_size(), n = 0;
    assert_true(pages <= sizeof resident);
    assert_int_equal(mincore(p, bytes, resident), 0);
    for (size_t i = 0; i < pages; i++)
        n += resident[i] & 1;
    return n;
}

static void map_is_zeroed_and_aligned(void **state)
{
    (void)state;
    size_t bytes = 3 * os_page_size() + 1;
    unsigned char *p = os_map(bytes);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % os_page_size(), 0);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(p[i], 0);
    memset(p, 0xff, bytes);
    os_unmap(p, bytes);
    assert_false(is_mapped(p));
    assert_false(is_mapped(p + 3 * os_page_size()));
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    size_t usable = 7;
    errno = 1234;
    assert_null(os_map(SIZE_MAX));
    assert_null(os_map(SIZE_MAX / 2));
    assert_null(os_stack_map(SIZE_MAX, &usable));
    assert_null(os_stack_map(SIZE_MAX / 2, &usable));
    assert_int_equal(usable, 7);
    assert_int_equal(errno, 1234);
}

static void stack_is_rounded_and_lazy(void **state)
{
    (void)state;
    size_t usable = 0, page = os_page_size();
    char *stack = os_stack_map(64 * page - 5, &usable);
    assert_non_null(stack);
    assert_int_equal(usable, 64 * page);
    assert_int_equal(resident_pages(stack, usable), 0);
    stack[usable - 1] = 1;
    assert_int_equal(resident_pages(stack, usable), 1);
    os_stack_unmap(stack, usable);
    assert_false(is_mapped(stack));
    assert_false(is_mapped(stack - page));
}

/* Ends by the signal that touching `p` raises; 0 where it raises none. */
static int signal_of_touch(volatile char *p)
{
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        *p = 1;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void guard_page_faults(void **state)
{
    (void)state;
    size_t usable;
    char *stack = os_stack_map(os_page_size(), &usable);
    assert_non_null(stack);
    assert_int_equal(signal_of_touch(stack), 0);
    assert_int_equal(signal_of_touch(stack + usable - 1), 0);
    assert_int_equal(signal_of_touch(stack - 1), SIGSEGV);
    assert_int_equal(signal_of_touch(stack - os_page_size()), SIGSEGV);
    os_stack_unmap(stack, usable);
}

/* Beyond the first thousands too, whatever kind of guard they have; and they cost few mappings where the system has
 * marks. */
static size_t mappings(void)
{
    size_t lines = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    for (int c; f && (c = getc(f)) != EOF;)
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}
static void guards_of_many_stacks_fault(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static char *stacks[MANY];
    size_t usable;
    unsigned each = os_stack_mappings();
    for (int i = 0; i < MANY; i++) {
        stacks[i] = os_stack_map(16384, &usable);
        assert_non_null(stacks[i]);
    }
    if (each == 0)
        assert_true(mappings() < 12000);
    for (int i = MANY - 1; i >= 0; i -= MANY / 7) {
        assert_int_equal(signal_of_touch(stacks[i]), 0);
        assert_int_equal(signal_of_touch(stacks[i] - 1), SIGSEGV);
        assert_int_equal(signal_of_touch(stacks[i] - os_page_size()), SIGSEGV);
        os_stack_idle(stacks[i], usable, 0);
        assert_int_equal(signal_of_touch(stacks[i] - 1), SIGSEGV);
    }
    for (int i = 0; i < MANY; i++)
        os_stack_unmap(stacks[i], usable);
}

static void idle_stack_gives_back_all_but_its_top(void **state)
{
    (void)state;
    size_t usable, page = os_page_size();
    char *stack = os_stack_map(32 * page, &usable);
    assert_non_null(stack);
    memset(stack, 0x5a, usable);
    assert_int_equal(resident_pages(stack, usable), 32);
    os_stack_idle(stack, usable, 2 * usable); /* keeps everything */
    assert_int_equal(resident_pages(stack, usable), 32);
    os_stack_idle(stack, usable, page + 1);
    assert_int_equal(resident_pages(stack, usable), 2);
    assert_int_equal(stack[usable - 2 * page], 0x5a);
    assert_int_equal(stack[0], 0); /* still there to be used, empty */
    os_stack_idle(stack, usable, 0);
    assert_int_equal(resident_pages(stack, usable), 0);
    os_stack_unmap(stack, usable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_is_zeroed_and_aligned),   cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(stack_is_rounded_and_lazy),   cmocka_unit_test(guard_page_faults),
        cmocka_unit_test(guards_of_many_stacks_fault), cmocka_unit_test(idle_stack_gives_back_all_but_its_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
