/* A thief that was kept from running may look at a task whose team is gone, and at that task's parent: both are
 * readable for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "ort.h"
#include "task.h"

/* So many that the C library gives the block back to the system when it is freed. */
#define MEMBERS 700

static struct ort_task *explicit_task[MEMBERS], *implicit_task[MEMBERS];
static struct ort_team *block;

static void nothing(void *data) { (void)data; }
static void leave_child(void *data)
{
    struct ort_thread *t = ort_self();
    explicit_task[*(unsigned *)data] = t->task;
    ort_task_create(t, &(struct ort_task_args){.fn = nothing, .align = 1});
}

static void body(void *data)
{
    (void)data;
    struct ort_thread *t = ort_self();
    implicit_task[t->id] = t->task;
    if (t->id == 0)
        block = t->team;
    unsigned id = t->id;
    ort_task_create(
        t, &(struct ort_task_args){.fn = leave_child, .data = &id, .size = sizeof id, .align = alignof(unsigned)});
    ort_taskwait(t);
}

/* The system reads it for us, and says where there is nothing. */
static bool readable(int to, const void *p, size_t bytes) { return write(to, p, bytes) == (ssize_t)bytes; }

static void what_thieves_look_at_stays(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = body, .num_threads = MEMBERS}), MEMBERS);
    assert_true(readable(ends[1], block, sizeof(struct ort_team) < 512 ? sizeof(struct ort_team) : 512));
    assert_int_equal(ort_pause(true), 0);
    char rest[4096];
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_true(readable(ends[1], implicit_task[i], sizeof(struct ort_task)));
        assert_true(readable(ends[1], explicit_task[i], sizeof(struct ort_task)));
        assert_true(read(ends[0], rest, sizeof rest) > 0);
        assert_null(ps_load_relaxed(&implicit_task[i]->parent));
    }
    assert_false(readable(ends[1], block, 512)); /* else nothing is shown */
}

/* The next team's members have them again, and nothing of before in them. */
static void and_serves_again(void **state)
{
    (void)state;
    struct ort_task *before = implicit_task[MEMBERS - 1];
    assert_int_equal(ort_parallel(&(struct ort_parallel){.fn = body, .num_threads = MEMBERS}), MEMBERS);
    assert_ptr_equal(implicit_task[MEMBERS - 1], before);
    assert_null(before->node);
    assert_null(before->depends);
}

int main(void)
{
    setenv("PSTHREADS_NUM_VPS", "2", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_thieves_look_at_stays),
                                       cmocka_unit_test(and_serves_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
