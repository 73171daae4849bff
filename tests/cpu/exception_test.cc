// C++ exceptions inside a context: thrown and caught there, in flight across a switch, and uncaught.
extern "C" {
#define _Static_assert static_assert
#include "cpu.h"
}

#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

extern "C" {
#include <cmocka.h>
}

#include <sys/wait.h>
#include <unistd.h>

static const size_t stack_bytes = CPU_STACK_MIN + 256 * 1024;
static cpu_context main_context, one, two;
static int destroyed, caught;

struct counted {
    ~counted() { destroyed++; }
};

static void thrower(int depth)
{
    counted c;
    if (depth == 0)
        throw std::runtime_error("deep");
    thrower(depth - 1);
}

static void catches(void *, void *arg)
{
    cpu_context *self = static_cast<cpu_context *>(arg);
    for (;;) {
        try {
            thrower(10);
        } catch (const std::runtime_error &e) {
            if (e.what() == std::string("deep"))
                caught++;
        }
        cpu_switch(self, &main_context, nullptr);
    }
}

static void *stacks[2];

static int set_up(void **)
{
    destroyed = caught = 0;
    for (void *&s : stacks)
        s = std::malloc(stack_bytes);
    return cpu_context_adopt(&main_context);
}

static int tear_down(void **)
{
    cpu_context_fini(&one);
    cpu_context_fini(&two);
    cpu_context_fini(&main_context);
    for (void *s : stacks)
        std::free(s);
    return 0;
}

static void test_caught_inside(void **)
{
    assert_int_equal(cpu_context_init(&one, stacks[0], stack_bytes, catches, &one), 0);
    for (int i = 1; i <= 3; i++) {
        cpu_switch(&main_context, &one, nullptr);
        assert_int_equal(caught, i);
        assert_int_equal(destroyed, 11 * i);
    }
}

// Two contexts switch to each other while destructors run and an exception flies on both.
struct switching {
    cpu_context *self, *other;
    ~switching() { cpu_switch(self, other, nullptr); }
};

static void flies(void *, void *arg)
{
    cpu_context *self = static_cast<cpu_context *>(arg);
    for (;;) {
        try {
            switching s = {self, &main_context};
            throw self;
        } catch (cpu_context *who) {
            if (who == self)
                caught++;
        }
        cpu_switch(self, &main_context, nullptr);
    }
}

static void test_in_flight(void **)
{
    assert_int_equal(cpu_context_init(&one, stacks[0], stack_bytes, flies, &one), 0);
    assert_int_equal(cpu_context_init(&two, stacks[1], stack_bytes, flies, &two), 0);
    // Thrown in one order, caught in the same: both unwinders' states are on their own stacks.
    cpu_switch(&main_context, &one, nullptr);
    cpu_switch(&main_context, &two, nullptr);
    cpu_switch(&main_context, &two, nullptr);
    cpu_switch(&main_context, &one, nullptr);
    assert_int_equal(caught, 2);
}

static void throws(void *, void *) { thrower(3); }

static void test_uncaught(void **)
{
    pid_t child = fork();
    if (child == 0) {
        // Terminate is called with the exception in flight: the unwinder saw the end of the stack, and no handler.
        std::set_terminate([] { _exit(std::current_exception() ? 33 : 34); });
        cpu_context_init(&one, stacks[0], stack_bytes, throws, nullptr);
        cpu_switch(&main_context, &one, nullptr);
        _exit(35);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 33);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_caught_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_in_flight, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_uncaught, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("exceptions " CPU_PORT_NAME, tests, nullptr, nullptr);
}
