/* Tasks without a routine, as libraries make them to order others: by each of the entry points that run one. */
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct task {
    void *shareds;
    int32_t (*routine)(int32_t gtid, struct task *task);
    int32_t part_id;
    void *data[2];
};
struct depend {
    intptr_t address;
    size_t length;
    uint8_t flags;
};
enum { TIED = 1, IN = 1, INOUT = 3 };

int32_t __kmpc_global_thread_num(void *at);
struct task *__kmpc_omp_task_alloc(void *at, int32_t gtid, int32_t flags, size_t bytes, size_t shareds,
                                   int32_t (*routine)(int32_t, struct task *));
int32_t __kmpc_omp_task(void *at, int32_t gtid, struct task *task);
int32_t __kmpc_omp_task_with_deps(void *at, int32_t gtid, struct task *task, int32_t n, struct depend *list, int32_t m,
                                  struct depend *noalias);
void __kmpc_omp_task_begin_if0(void *at, int32_t gtid, struct task *task);
void __kmpc_omp_task_complete_if0(void *at, int32_t gtid, struct task *task);
int32_t __kmpc_omp_taskwait(void *at, int32_t gtid);

static int sum, order;

static int32_t adds(int32_t gtid, struct task *task)
{
    (void)gtid;
    __atomic_fetch_add(&sum, (int)(intptr_t)task->data[0], __ATOMIC_RELAXED);
    return 0;
}

static struct task *make(int32_t flags, int32_t (*routine)(int32_t, struct task *), int value)
{
    struct task *t = __kmpc_omp_task_alloc(NULL, __kmpc_global_thread_num(NULL), flags, sizeof *t, 0, routine);
    t->data[0] = (void *)(intptr_t)value;
    return t;
}

static void all(int32_t flags)
{
    int32_t me = __kmpc_global_thread_num(NULL);
    for (int turn = 0; turn < 100; turn++) {
        __kmpc_omp_task(NULL, me, make(flags, NULL, 0));
        __kmpc_omp_task(NULL, me, make(flags, adds, 1));
        struct task *now = make(flags, NULL, 0);
        __kmpc_omp_task_begin_if0(NULL, me, now);
        __kmpc_omp_task_complete_if0(NULL, me, now);
        /* one that writes, an empty one behind it, one that writes behind that; more of them than fit into a short list
         * */
        for (int n = 1; n <= 20; n += 19) {
            struct depend list[20];
            for (int i = 0; i < n; i++)
                list[i] = (struct depend){(intptr_t)&order + i, 1, i == 0 ? INOUT : IN};
            __kmpc_omp_task_with_deps(NULL, me, make(flags, adds, 10), n, list, 0, NULL);
            __kmpc_omp_task_with_deps(NULL, me, make(flags, NULL, 0), n, list, 0, NULL);
            __kmpc_omp_task_with_deps(NULL, me, make(flags, adds, 100), n, list, 0, NULL);
        }
        __kmpc_omp_taskwait(NULL, me);
        int now_sum = __atomic_exchange_n(&sum, 0, __ATOMIC_RELAXED);
        if (now_sum != 221) {
            fprintf(stderr, "the tasks' sum is %d\n", now_sum);
            exit(1);
        }
    }
}

int main(void)
{
    all(TIED);
#pragma omp parallel
#pragma omp single
    {
        all(TIED);
#pragma omp task final(1)
        all(TIED);
    }
    return 0;
}
