/* A member that sleeps is woken for a task, and the task's maker tells no other. Before the member runs again its
 * wait is over: it goes on in the program's code and waits there for the task, as the maker does. The members that
 * sleep in a barrier, or are helpers, must be told of the task all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ort.h"
#include "os.h"
#include "task.h"

#define MEMBERS 4
#define GIVE_UP_NS UINT64_C(30000000000) /* else a failure would be a hang */

static bool in_barrier;
static _Atomic bool begun, grouped, asleep, released, ran, in_vain;
static void *event;

static bool is_set(_Atomic bool *flag) { return ps_load_acquire(flag); }
static void set(_Atomic bool *flag) { ps_store_release(flag, true); }
static void await(_Atomic bool *flag)
{
    while (!is_set(flag))
        ee_yield();
}

void __real_ee_wait(_Atomic uint32_t *word, uint32_t expected);
void __wrap_ee_wait(_Atomic uint32_t *word, uint32_t expected);
/* Member 1 in its taskgroup: is slow to run again. */
void __wrap_ee_wait(_Atomic uint32_t *word, uint32_t expected)
{
    struct ort_thread *t = ort_self();
    if (t && t->id == 1 && is_set(&grouped) && !is_set(&released)) {
        set(&asleep);
        await(&released);
    }
    __real_ee_wait(word, expected);
}

static void await_task(void)
{
    for (uint64_t until = os_now_ns() + GIVE_UP_NS; !is_set(&ran) && !is_set(&in_vain); ee_yield())
        if (os_now_ns() > until)
            set(&in_vain);
}

static void nothing(void *data) { (void)data; }
static void runs(void *data)
{
    (void)data;
    set(&ran);
}

/* Wakes member 1 for its child, then ends what member 1 waits for. */
static void makes_it(void *data)
{
    (void)data;
    struct ort_thread *t = ort_self();
    set(&begun);
    await(&asleep);
    while (ps_load_seq(&t->team->tasks.takers) != MEMBERS - 1)
        ee_yield();
    ort_task_create(t, &(struct ort_task_args){.fn = runs, .align = 1});
    ort_task_fulfill(event);
    set(&released);
    await_task();
}

static void sleeps(struct ort_thread *t)
{
    ort_task_create(t, &(struct ort_task_args){.fn = makes_it, .align = 1});
    await(&begun); /* by member 2 */
    ort_taskgroup_start(t);
    void *handle;
    ort_task_create(t, &(struct ort_task_args){.fn = nothing,
                                               .data = &handle,
                                               .size = sizeof handle,
                                               .align = alignof(void *),
                                               .flags = ORT_TASK_DETACH,
                                               .event = &event});
    set(&grouped);
    ort_taskgroup_end(t);
    await_task();
}

static void body(void *data)
{
    (void)data;
    struct ort_thread *t = ort_self();
    if (t->id == 1)
        sleeps(t);
    else if (t->id != 2)
        await(&asleep); /* member 1 is the first in the list */
    if (in_barrier)
        ort_barrier(t);
}

static void is_passed_on(void)
{
    ps_store_release(&begun, false);
    ps_store_release(&grouped, false);
    ps_store_release(&asleep, false);
    ps_store_release(&released, false);
    ps_store_release(&ran, false);
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = body, .num_threads = MEMBERS}), MEMBERS);
    assert_true(is_set(&ran));
    assert_false(is_set(&in_vain));
}

static void to_a_sleeper(void **state)
{
    (void)state;
    in_barrier = true;
    is_passed_on();
}

static void to_a_helper(void **state)
{
    (void)state;
    in_barrier = false;
    is_passed_on();
}

int main(void)
{
    setenv("PSTHREADS_NUM_VPS", "2", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(to_a_sleeper), cmocka_unit_test(to_a_helper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
