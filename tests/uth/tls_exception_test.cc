// C++ in thread-local blocks: exceptions in flight on two contexts of one kernel thread do not meet; thread_local
// objects are
// each block's own.
extern "C" {
#define _Static_assert static_assert
#include "cpu.h"
#include "tls.h"
int os_thread_id(void); // os.h: its atomics are C's alone
}

#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

extern "C" {
#include <cmocka.h>
}

static const size_t stack_bytes = CPU_STACK_MIN + 256 * 1024;

struct side {
    cpu_context context;
    uth_tls *tls;
    void *stack;
    int number;
};
static side first_side, second_side;
static cpu_context main_context;
static void *own_tp;
static int rethrown[3], uncaught_seen[3], constructed, destroyed;

struct object {
    int value;
    object() : value(5) { constructed++; }
    ~object() { destroyed++; }
};
static thread_local object mine;

// Not inlined: nothing of the thread pointer is kept across a switch.
PS_NOINLINE static void go(side *from, side *to)
{
    uth_tls_enter(to->tls, to, os_thread_id());
    cpu_switch(&from->context, &to->context, nullptr);
}

PS_NOINLINE static int touch(int add) { return mine.value += add; }

struct switching {
    side *from, *to;
    ~switching() { go(from, to); } // while an exception flies
};

static void run(void *, void *arg)
{
    side *me = static_cast<side *>(arg), *other = me == &first_side ? &second_side : &first_side;
    touch(me->number);
    try {
        throw me->number;
    } catch (int) {
        go(me, other); // one in hand here, and soon one there
        try {
            throw; // must be one's own
        } catch (int n) {
            rethrown[me->number] = n;
        }
    }
    go(me, other);
    try {
        switching s = {me, other};
        throw me->number + 10;
    } catch (int n) {
        uncaught_seen[me->number] = n == me->number + 10 && std::uncaught_exceptions() == 0;
    }
    touch(me->number);
    uth_tls_end(me->tls);
    if (me == &first_side)
        go(me, other);
    uth_tls_leave(own_tp);
    cpu_switch(&me->context, &main_context, nullptr);
}

static void test_two_sides(void **)
{
    own_tp = cpu_get_tp();
    assert_int_equal(touch(0), 5);
    int before = constructed;
    for (int i = 1; i <= 2; i++) {
        side *s = i == 1 ? &first_side : &second_side;
        s->number = i;
        s->tls = uth_tls_get(NULL);
        s->stack = std::malloc(stack_bytes);
        assert_non_null(s->tls);
        assert_int_equal(cpu_context_init(&s->context, s->stack, stack_bytes, run, s), 0);
    }
    uth_tls_enter(first_side.tls, &first_side, os_thread_id());
    cpu_switch(&main_context, &first_side.context, nullptr);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(rethrown[i], i);
        assert_int_equal(uncaught_seen[i], 1);
    }
    assert_int_equal(constructed, before + 2);
    assert_int_equal(destroyed, 2);
    assert_int_equal(touch(0), 5);
    uth_tls_put(first_side.tls);
    uth_tls_put(second_side.tls);
    std::free(first_side.stack);
    std::free(second_side.stack);
}

int main()
{
    if (!uth_tls_init(UTH_TLS_ALWAYS, true)) {
        std::printf("SKIPPED: no thread-local blocks here\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_sides)};
    return cmocka_run_group_tests_name("exceptions in thread-local blocks", tests, nullptr, nullptr);
}
