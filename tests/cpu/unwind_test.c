/* Unwinding from inside a context ends at its entry, by any unwinder: the compiler's unwinder (backtrace, C++,
 * cancellation) here; C++ itself and gdb in files of their own. On x86-64 also from every single instruction of a
 * switch. */
#define _GNU_SOURCE
#include "cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <execinfo.h>
#include <signal.h>
#include <unwind.h>

#define STACK_BYTES (CPU_STACK_MIN + 256 * 1024)
#define MAX_FRAMES 64

struct trace {
    unsigned frames;
    bool met_entry, too_long, unknown; /* unknown: an address without unwind information */
    unsigned after_entry;              /* frames below the entry function */
    const void *entry;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *frame, void *trace)
{
    struct trace *t = trace;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(frame, &before);
    if (ip == 0)
        return _URC_NO_REASON;
    if (t->met_entry)
        t->after_entry++;
    /* Looks one byte below what it is given: right for a return address, not for an interrupted instruction. */
    const void *function = _Unwind_FindEnclosingFunction((void *)(ip + (before != 0)));
    if (function == NULL)
        t->unknown = true;
    if (function == t->entry)
        t->met_entry = true;
    if (++t->frames < MAX_FRAMES)
        return _URC_NO_REASON;
    t->too_long = true;
    return _URC_NORMAL_STOP;
}

static struct cpu_context main_context, one;
static struct trace inside;
static int traced_by_libc;

PS_NOINLINE static void depth_2(void)
{
    inside = (struct trace){.entry = inside.entry};
    _Unwind_Backtrace(on_frame, &inside);
    void *frames[MAX_FRAMES];
    traced_by_libc = backtrace(frames, MAX_FRAMES);
    __asm__ volatile("" ::: "memory");
}

PS_NOINLINE static void depth_1(void)
{
    depth_2();
    __asm__ volatile("" ::: "memory");
}

static void entry_function(void *transfer, void *arg)
{
    (void)transfer;
    for (;;) {
        depth_1();
        cpu_switch(arg, &main_context, NULL);
    }
}

static void *stack;

static int set_up(void **state)
{
    (void)state;
    stack = aligned_alloc(4096, STACK_BYTES);
    inside.entry = (void *)entry_function;
    return cpu_context_adopt(&main_context) ? -1 : cpu_context_init(&one, stack, STACK_BYTES, entry_function, &one);
}

static int tear_down(void **state)
{
    (void)state;
    cpu_context_fini(&one);
    cpu_context_fini(&main_context);
    free(stack);
    return 0;
}

static void test_ends_at_entry(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        cpu_switch(&main_context, &one, NULL);
        assert_true(inside.met_entry);
        assert_false(inside.too_long);
        assert_true(CPU_CARRIES_TLS ||
                    !inside.unknown); /* the C library's clone has no unwind information everywhere */
        /* One frame starts the context; a kernel thread has some more, and more yet under a sanitizer. */
        unsigned extra = CPU_CARRIES_TLS ? 6 : 1;
        assert_in_range(inside.after_entry, 0, extra);
        assert_in_range(inside.frames, 3, 4 + extra);
        assert_in_range(traced_by_libc, 3, 4 + extra);
    }
}

#if defined(__x86_64__)
/* Single step (the processor's trap flag) through switches there and back, unwinding at every instruction. */

static volatile unsigned steps, in_context, in_main, bad;

static void on_step(int signo)
{
    (void)signo;
    char *here = __builtin_frame_address(0);
    bool on_context = here >= (char *)stack && here < (char *)stack + STACK_BYTES;
    struct trace t = {.entry = on_context ? inside.entry : (void *)0};
    _Unwind_Backtrace(on_frame, &t);
    steps++;
    if (on_context && t.met_entry)
        in_context++;
    /* The first frame before it calls its entry has no entry to meet, but must end: handler, signal frame,
     * cpu_first. */
    if (t.too_long || (on_context && t.unknown) || (on_context && !t.met_entry && t.frames > 4))
        bad++;
    if (!on_context && t.frames >= 5)
        in_main++;
}

#define TRAP_FLAG 0x100
static void step(bool on)
{
    if (on)
        __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
    else
        __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

static void switches_back(void *transfer, void *arg)
{
    for (;;) {
        (void)transfer;
        transfer = cpu_switch(arg, &main_context, NULL);
    }
}

static void test_every_instruction(void **state)
{
    (void)state;
    if (PS_ASAN || PS_TSAN || CPU_CARRIES_TLS || strcmp(CPU_PORT_NAME, "x86_64") != 0)
        skip(); /* the other ports' switches are the C library's */
    struct sigaction action = {.sa_handler = on_step}, before;
    sigaction(SIGTRAP, &action, &before);
    inside.entry = (void *)switches_back;
    assert_int_equal(cpu_context_init(&one, stack, STACK_BYTES, switches_back, &one), 0);
    step(true);
    cpu_switch(&main_context, &one, NULL);
    cpu_switch(&main_context, &one, NULL);
    step(false);
    sigaction(SIGTRAP, &before, NULL);
    assert_true(steps > 60);
    assert_int_equal(bad, 0);
    assert_true(in_context > 20);
    assert_true(in_main > 20);
    assert_true(steps - in_context - in_main < 30); /* those in a first frame that has not called its entry */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ends_at_entry, set_up, tear_down),
#if defined(__x86_64__)
        cmocka_unit_test_setup_teardown(test_every_instruction, set_up, tear_down),
#endif
    };
    return cmocka_run_group_tests_name("unwind " CPU_PORT_NAME, tests, NULL, NULL);
}
