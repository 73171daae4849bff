/* What the report of a deadlock says of the threads that wait: how many they are, which was never enqueued, and which
 * holds the mutex. Each case is a process of its own, which never goes on; it has written its report where the dump
 * stands (PSTHREADS_DUMP). */
#include "sync_support.h"

static psthread_mutex_t mutex = PSTHREAD_MUTEX_INITIALIZER;

static void *locks(void *arg)
{
    CHECK(psthread_mutex_lock(&mutex) == 0);
    return arg;
}

static void joins_what_was_never_enqueued(void)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, locks, NULL) == 0 && psthread_join(t, NULL) == 0);
}

static void waits_for_what_was_never_enqueued(void)
{
    psthread_t t;
    for (int i = 0; i < 2; i++)
        CHECK(psthread_create(&t, NULL, locks, NULL) == 0);
    psthread_waitall();
}

/* Whether the joiner calls the other one or not. */
static void joins_what_wants_its_mutex(void)
{
    psthread_t t;
    CHECK(psthread_mutex_lock(&mutex) == 0 && psthread_create(&t, NULL, locks, NULL) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0 && psthread_join(t, NULL) == 0);
}

static void wants_the_mutex_of_one_that_has_ended(void)
{
    psthread_t t;
    CHECK(psthread_create(&t, NULL, locks, NULL) == 0);
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0 && psthread_join(t, NULL) == 0);
    psthread_mutex_lock(&mutex);
}

/* The holder is in the library only afterwards: not in the checked build, whose locks want to know it. */
PS_UNUSED static void locks_first(void)
{
    psthread_t t;
    CHECK(psthread_mutex_lock(&mutex) == 0);
    psthread_config_t config = {.num_vps = 2};
    CHECK(psthread_init(&config) == 0 && psthread_create(&t, NULL, locks, NULL) == 0);
    psthread_setname("holder");
    CHECK(psthread_enqueue(t, PSTHREAD_VP_ANY) == 0 && psthread_join(t, NULL) == 0);
}

static const struct {
    void (*hangs)(void);
    const char *says[4];
} cases[] = {
    {joins_what_was_never_enqueued,
     {"deadlock: the one thread that has begun waits,", "\npsthreads: 1 thread was made and never enqueued\n",
      "(never enqueued) at "}},
    {waits_for_what_was_never_enqueued,
     {"deadlock: the one thread that has begun waits,", "\npsthreads: 2 threads were made and never enqueued\n",
      "(2 left) at "}},
    {joins_what_wants_its_mutex,
     {"deadlock: all 2 threads that have begun wait,", "(held by thread 0x", ", root) at "}},
    {wants_the_mutex_of_one_that_has_ended,
     {"deadlock: the one thread that has begun waits,", "(held by thread 0x", ", which has ended) at "}},
#if !PS_CHECKED
    {locks_first,
     {"deadlock: all 2 threads that have begun wait,",
      "(held by a kernel thread that was no thread of the library yet) at ",
      "(root, \"holder\"): waits for the end of thread"}},
#endif
};

static void run_case(unsigned i)
{
    char dump[64], report[64], text[4096];
    snprintf(dump, sizeof dump, "deadlock-%d-%u.dump", (int)getpid(), i);
    snprintf(report, sizeof report, "deadlock-%d-%u.text", (int)getpid(), i);
    setenv("PSTHREADS_DUMP", dump, 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        psthread_config_t config = {.num_vps = 1};
        CHECK(freopen(report, "w", stderr) && (cases[i].hangs == locks_first || psthread_init(&config) == 0));
        cases[i].hangs();
        CHECK(false);
    }
    while (access(dump, F_OK) != 0 && waitpid(child, NULL, WNOHANG) == 0)
        usleep(1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    FILE *f = fopen(report, "r");
    CHECK(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    unlink(dump);
    unlink(report);
    for (unsigned k = 0; k < 4 && cases[i].says[k]; k++)
        PS_CHECK(strstr(text, cases[i].says[k]), "case %u does not say \"%s\": %s", i, cases[i].says[k], text);
}

int main(void)
{
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(i);
    return 0;
}
