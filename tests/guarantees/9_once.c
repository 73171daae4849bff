/* What is to be done once is done once, and no thread goes on before it is done, whatever it does: it computes on,
 * blocks in the kernel, or waits in the runtime: pthread_once, call_once, and one inside the other. 9_once
 * computing|blocked|runtime [loaded|KIND] */
#define _GNU_SOURCE
#include "contend.h"
#include <pthread.h>
#include <threads.h>

static const pthread_once_t not_yet = PTHREAD_ONCE_INIT;
static pthread_once_t posix, inner;
static const once_flag not_yet_c11 = ONCE_FLAG_INIT;
static once_flag c11;
static int done, inner_done;

static void begin_round(void)
{
    posix = inner = not_yet;
    c11 = not_yet_c11;
    done = inner_done = 0;
}

/* The first to come does it: it becomes the owner. */
static void stay(void)
{
    contend.owner_came = 0;
    int owner = contend.owner;
    contend.owner = omp_get_thread_num();
    contend_stay();
    contend.owner = owner;
    done++;
}
static void do_inner(void)
{
    stay();
    inner_done = 1;
}
static void do_both(void)
{
    CHECK(pthread_once(&inner, do_inner) == 0 && inner_done);
    compute_ms(1);
}

static void by_pthread_once(void) { CHECK(pthread_once(&posix, stay) == 0 && done == 1); }
static void by_call_once(void)
{
    call_once(&c11, stay);
    CHECK(done == 1);
}
static void by_both(void) { CHECK(pthread_once(&posix, do_both) == 0 && done == 1 && inner_done); }

static const struct kind {
    const char *name;
    void (*visit)(void);
} kinds[] = {{"pthread_once", by_pthread_once}, {"call_once", by_call_once}, {"nested", by_both}};

static enum contend_hold hold;
static const char *name(int i) { return kinds[i].name; }
static void run(int i) { contend_rounds(4, 6, hold, begin_round, kinds[i].visit); }

int main(int argc, char **argv)
{
    const char *only = contend_arguments(argc, argv, 1, &hold);
    in_a_process_each(sizeof kinds / sizeof kinds[0], name, run, only);
    return 0;
}
