/* Graphs of tasks that are recorded once and replayed: which bodies run how often, in which order, on which data. The
 * entry points are called as compiled code with taskgraphs calls them; the compilers that the tests are built with have
 * no clause for it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../omp/check.h"

#define LATER(type, name, parameters) type name parameters __attribute__((weak))
LATER(int32_t, __kmpc_start_record_task, (const void *, int32_t, int32_t, int32_t));
LATER(void, __kmpc_end_record_task, (const void *, int32_t, int32_t, int32_t));

/* Each graph of this file has a place of its own, as in compiled code. */
struct place {
    int32_t a, flags, b, c;
    const char *source;
};
#define PLACE(name) static const struct place name = {0, 2, 0, 0, ";task_graph.c;" #name ";1;1;;"}
#define START(at, id) __kmpc_start_record_task(&(at), 0, 0, id)
#define END(at, id) __kmpc_end_record_task(&(at), 0, 0, id)

enum { ROUNDS = 30 };

/* Memory is refused (argument "refused"): then bodies may run again, but whatever runs is right. */
static int refused;
#define CHECK_ONCE(cond) CHECK(refused || (cond))

/* The body runs once, its tasks each time; private copies begin with the recorded values each time. */
static void counts(void)
{
    PLACE(here);
    int bodies = 0, done = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= ROUNDS; round++) {
        if (START(here, 0)) {
            bodies++;
            for (int i = 0; i < 50; i++) {
                int private = i;
#pragma omp task firstprivate(private, i) shared(done, wrong)
                {
                    private++;
                    if (private != i + 1) {
#pragma omp atomic
                        wrong++;
                    }
#pragma omp atomic
                    done++;
                }
            }
        }
        END(here, 0);
        CHECK(done == 50 * round);
    }
    CHECK_ONCE(bodies == 1 && wrong == 0);
}

/* A line of dependences, its branches, and a set: what comes when is told by a clock that each task reads and moves
 * on. */
static int moment, seen[64];
static void at(int which)
{
#pragma omp atomic capture
    seen[which] = ++moment;
}

static void order(void)
{
    PLACE(here);
    int x, y, bodies = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= ROUNDS; round++) {
        if (START(here, 1)) {
            bodies++;
#pragma omp task depend(out : x)
            at(0);
#pragma omp task depend(out : y)
            at(1);
            for (int i = 2; i < 8; i++) {
#pragma omp task depend(in : x, y) firstprivate(i)
                at(i);
            }
#pragma omp task depend(inout : x)
            at(8);
#pragma omp task depend(in : x) depend(mutexinoutset : y)
            at(9);
#pragma omp taskwait
#pragma omp task
            at(10);
#pragma omp task if (0)
            at(11);
            for (int i = 12; i < 16; i++) {
#pragma omp task firstprivate(i)
                at(i);
            }
        }
        END(here, 1);
        for (int i = 2; i < 8; i++)
            CHECK(seen[i] > seen[0] && seen[i] > seen[1] && seen[i] < seen[8]);
        CHECK(seen[8] < seen[9] && seen[9] < seen[10] && seen[9] < seen[11]);
        for (int i = 12; i < 16; i++)
            CHECK(seen[11] < seen[i]);
        CHECK(moment == 16 * round);
    }
    CHECK_ONCE(bodies == 1);
}

/* What a recorded task creates is created by its body, each time; a group of tasks is waited for where it ends. */
static void nested(void)
{
    PLACE(here);
    int bodies = 0, outer = 0, inner = 0, early = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= ROUNDS; round++) {
        int before = inner;
        if (START(here, 2)) {
            bodies++;
#pragma omp taskgroup
            for (int i = 0; i < 8; i++) {
#pragma omp task shared(outer, inner)
                {
#pragma omp atomic
                    outer++;
                    for (int k = 0; k < 4; k++) {
#pragma omp task shared(inner)
#pragma omp atomic
                        inner++;
                    }
                }
            }
            static int expected; /* of the round: the tasks below read it */
            expected = 32;
#pragma omp task shared(inner, early)
            {
                int now;
#pragma omp atomic read
                now = inner;
                if (now % expected != 0)
                    early++;
            }
        }
        END(here, 2);
        CHECK(outer == 8 * round && inner == before + 32);
    }
    CHECK_ONCE(bodies == 1 && early == 0);
}

/* A task loop becomes tasks with bounds of their own; its reduction has new copies each time. */
static void loops(void)
{
    enum { N = 4096 };
    static int array[N];
    PLACE(here);
    int bodies = 0, last = -1;
    long sum = 0, more = 0;
    for (int i = 0; i < N; i++)
        array[i] = i % 7;
    long each = 0;
    for (int i = 0; i < N; i++)
        each += array[i];
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= ROUNDS; round++) {
        if (START(here, 3)) {
            bodies++;
#pragma omp taskloop reduction(+ : sum) num_tasks(100) lastprivate(last)
            for (int i = 0; i < N; i++) {
                sum += array[i];
                last = i;
            }
#pragma omp taskgroup task_reduction(+ : more)
            for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : more) firstprivate(i)
                more += i;
            }
        }
        END(here, 3);
        CHECK(sum == each * round && more == 190L * round && last == N - 1);
        last = -1;
    }
    CHECK_ONCE(bodies == 1);
}

/* The same graph by several threads at once, and in teams of other sizes; and graphs of one number at other places.
 * Tasks are shown again with the addresses that they were recorded with. */
PLACE(shared_place);
static void shared_graph(int *bodies, int *done)
{
    if (START(shared_place, 4)) {
#pragma omp atomic
        (*bodies)++;
        static int x; /* an address */
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : x) firstprivate(done)
#pragma omp atomic
            done[0]++;
#pragma omp task depend(in : x) firstprivate(done)
#pragma omp atomic
            done[1]++;
        }
    }
    END(shared_place, 4);
}

static void together(void)
{
    PLACE(other);
    static int bodies, done[2];
    shared_graph(&bodies, done);
    CHECK_ONCE(bodies == 1);
    CHECK(done[0] == 20 && done[1] == 20);
    int threads = 0, foreign = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
        threads++;
        for (int round = 0; round < ROUNDS; round++)
            shared_graph(&bodies, done);
    }
    CHECK_ONCE(bodies == 1);
    CHECK(done[0] == 20 + 20 * ROUNDS * threads && done[1] == done[0]);
    if (START(other, 4)) {
#pragma omp task shared(foreign)
        foreign++;
    }
    END(other, 4);
    CHECK(foreign == 1);
    int before = done[0];
#pragma omp parallel num_threads(4)
    {
        int nobody;
#pragma omp single
#pragma omp task depend(out : nobody)
        shared_graph(&bodies, done);
    }
    CHECK_ONCE(bodies == 1);
    CHECK(done[0] == before + 20);
}

/* Recorded by several at once: one of them records, the others run their bodies. */
static void recorded_together(void)
{
    PLACE(here);
    static int done;
    int bodies = 0;
#pragma omp parallel num_threads(4)
    for (int round = 0; round < ROUNDS; round++) {
        if (START(here, 5)) {
#pragma omp atomic
            bodies++;
            for (int i = 0; i < 10; i++) {
#pragma omp task
#pragma omp atomic
                done++;
            }
        }
        END(here, 5);
    }
    int threads = 0;
#pragma omp parallel num_threads(4)
#pragma omp atomic
    threads++;
    CHECK(done == 10 * ROUNDS * threads && bodies >= 1);
    int before = bodies;
    if (START(here, 5))
        before = -1;
    END(here, 5);
    CHECK_ONCE(before == bodies && done == 10 * ROUNDS * threads + 10);
}

/* A graph within one that is being recorded is part of it, and is recorded where it comes by itself. */
static void within(void)
{
    PLACE(inside);
    PLACE(outside);
    int inner = 0, outer = 0, done = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= ROUNDS; round++) {
        if (START(outside, 6)) {
            outer++;
            if (START(inside, 7)) {
                inner++;
#pragma omp task shared(done)
#pragma omp atomic
                done++;
            }
            END(inside, 7);
#pragma omp task shared(done)
#pragma omp atomic
            done++;
        }
        END(outside, 6);
        CHECK(done == 2 * round);
    }
    CHECK_ONCE(outer == 1 && inner == 1);
    for (int round = 0; round < 3; round++) {
        if (START(inside, 7)) {
            inner++;
#pragma omp task shared(done)
            done++;
        }
        END(inside, 7);
    }
    CHECK_ONCE(inner == 2);
    CHECK(done == 2 * ROUNDS + 3);
}

/* What cannot be shown again, or is to be recorded anew, runs the body each time. */
static void anew(void)
{
    PLACE(detached);
    PLACE(again);
    int bodies = 0, done = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= 5; round++) {
        if (START(detached, 8)) {
            bodies++;
            omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
#pragma omp atomic
            done++;
            omp_fulfill_event(event);
        }
        END(detached, 8);
        CHECK(done == round && bodies == round);
    }
    bodies = 0;
    for (int round = 0; round < 6; round++) {
        int value = round, got = -1;
        if (__kmpc_start_record_task(&again, 0, round == 2 ? 2 : 0, 9)) {
            bodies++;
#pragma omp task shared(got) firstprivate(value)
            got = value;
        }
        END(again, 9);
        CHECK(round == 1 || got == round);
    }
    CHECK_ONCE(bodies == 5);
}

/* A task from before the graph comes before those of its tasks that depend on it. */
static void outside(void)
{
    PLACE(here);
    int x = 0, wrong = 0, bodies = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= ROUNDS; round++) {
#pragma omp task depend(out : x) shared(x) firstprivate(round)
        {
#pragma omp taskyield
            x = round;
        }
        if (START(here, 10)) {
            bodies++;
            static int last;
            last = 0;
#pragma omp task depend(in : x) shared(x, wrong)
            {
                wrong += x != last + 1;
                last = x;
            }
        }
        END(here, 10);
    }
    CHECK_ONCE(bodies == 1 && wrong == 0);
}

int main(int argc, char **argv)
{
    refused = argc > 1 && strcmp(argv[1], "refused") == 0;
    counts();
    order();
    nested();
    loops();
    together();
    recorded_together();
    within();
    anew();
    outside();
    if (refused)
        puts("right");
    return 0;
}
