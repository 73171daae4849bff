/* Nested regions and tasks: what a tool is told of them, on every thread in the right order (checker.h), and how
 * often. */
#include <omp.h>

#include "checker.h"

enum { OUTER = 3, INNER = 2, ROUNDS = 20, TASKS = 5 };

/* In the program's code the current task has left the runtime and not come back; the ones around it have. */
static void check_frames(int levels)
{
    ompt_frame_t *frame;
    ompt_data_t *task;
    EXPECT(get_task_info(0, NULL, &task, &frame, NULL, NULL) == 2);
    EXPECT(frame->exit_frame.ptr != NULL);
    EXPECT(frame->enter_frame.ptr == NULL);
    for (int i = 1; i <= levels; i++) {
        EXPECT(get_task_info(i, NULL, &task, &frame, NULL, NULL) == 2);
        EXPECT((frame->exit_frame.ptr == NULL) ==
               (i == levels)); /* the initial task was never entered from the runtime */
        EXPECT(frame->enter_frame.ptr != NULL);
    }
    EXPECT(get_task_info(levels + 1, NULL, &task, &frame, NULL, NULL) == 0);
}

static void fib(int n)
{
    if (n < 2)
        return;
#pragma omp task
    fib(n - 1);
#pragma omp task
    fib(n - 2);
#pragma omp taskwait
}
/* Tasks that fib(n) makes. */
static int fib_tasks(int n) { return n < 2 ? 0 : 2 + fib_tasks(n - 1) + fib_tasks(n - 2); }

int main(void)
{
    static int runs;
    int taskwaits = 0;
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(OUTER)
        {
            ompt_data_t *thread = get_thread_data(), *task, *region;
            get_task_info(0, NULL, &task, NULL, &region, NULL);
            check_frames(1);
            for (int i = 0; i < 3; i++) {
#pragma omp barrier
                /* perhaps on another kernel thread now */
                ompt_data_t *task_now, *region_now;
                get_task_info(0, NULL, &task_now, NULL, &region_now, NULL);
                EXPECT((kernel_threads || get_thread_data() == thread) && task_now == task && region_now == region);
                check_frames(1);
            }
#pragma omp parallel num_threads(INNER)
            {
                check_frames(2);
                EXPECT(kernel_threads || omp_get_thread_num() != 0 || get_thread_data() == thread);
#pragma omp critical
                runs++;
#pragma omp task
                {
                    ompt_frame_t *frame;
                    EXPECT(get_task_info(0, NULL, NULL, &frame, NULL, NULL) == 2);
                    EXPECT(frame->exit_frame.ptr != NULL && frame->enter_frame.ptr == NULL);
#pragma omp task if (0)
                    {
                        EXPECT(get_task_info(1, NULL, NULL, &frame, NULL, NULL) == 2);
                        EXPECT(frame->exit_frame.ptr != NULL && frame->enter_frame.ptr != NULL);
                        EXPECT(get_task_info(0, NULL, NULL, &frame, NULL, NULL) == 2);
                        EXPECT(frame->exit_frame.ptr != NULL && frame->enter_frame.ptr == NULL);
                    }
                }
            }
            EXPECT(kernel_threads || get_thread_data() == thread);
            check_frames(1);
        }
    }
    COUNT(n_regions, ROUNDS * (1 + OUTER));
    COUNT(n_implicit, ROUNDS * OUTER * (1 + INNER));
    COUNT(n_created, ROUNDS * OUTER * INNER * 2);
    COUNT(n_sync[3] + n_sync[1], ROUNDS * OUTER * 3);
    COUNT(n_sync[9], ROUNDS * OUTER * (1 + INNER));
    COUNT(n_acquired[5], ROUNDS * OUTER * INNER);
    COUNT(n_released[5], runs);
    if (!kernel_threads)
        COUNT(n_threads, 1 + (OUTER - 1) + OUTER * (INNER - 1));
    int created = n_created;
#pragma omp parallel num_threads(4)
#pragma omp master
    fib(10);
    COUNT(n_created - created, fib_tasks(10));
    taskwaits = fib_tasks(10) / 2;
    COUNT(n_sync[TASKWAIT], taskwaits);
    int x = 0;
    created = n_created;
#pragma omp parallel num_threads(3)
#pragma omp master
    {
#pragma omp taskgroup
        for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : x)
            x++;
        }
        EXPECT(x == TASKS);
    }
    COUNT(n_created - created, TASKS);
    COUNT(n_dependences, TASKS);
    COUNT(n_sync[TASKGROUP], 1);
    EXPECT(n_pairs < TASKS);
#ifdef __clang__ /* libgomp 12, against which GCC links, has no such routine */
    EXPECT(omp_control_tool(1, 7, NULL) == 42);
    COUNT(n_controls, 1);
#endif
    return 0;
}
