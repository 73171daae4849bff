/* num_threads clauses of LLVM's releases after 19 - strict, with a severity and a message, and with lists - as compiled
 * code passes them: what each row's region gets, and what it says. Called by hand: the compilers that the tests are
 * built with do not have them. */
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../omp/check.h"

#define LATER(type, name, parameters) type name parameters __attribute__((weak))
LATER(void, __kmpc_push_num_threads_strict, (const void *, int32_t, int32_t, int, const char *));
LATER(void, __kmpc_push_num_threads_list, (const void *, int32_t, uint32_t, const int32_t *));
LATER(void, __kmpc_push_num_threads_list_strict, (const void *, int32_t, uint32_t, const int32_t *, int, const char *));
void __kmpc_serialized_parallel(const void *, int32_t);
void __kmpc_end_serialized_parallel(const void *, int32_t);

static const struct place {
    int32_t a, flags, b, c;
    const char *source;
} here = {0, 2, 0, 0, ";num_threads.c;somewhere;12;34;;"};

enum { WARNS = 1, ENDS = 2 };
static const struct row {
    int wanted, limit, levels; /* the thread limit that a target region sets, max-active-levels; 0: as they are */
    int condition, severity;
    const char *message;
    int told;
} rows[] = {
    {3, 0, 0, 1, WARNS, "too few", 0},
    {3, 0, 0, 1, ENDS, NULL, 0},
    {3, 2, 0, 1, WARNS, "too few", 1},
    {3, 2, 0, 1, ENDS, "too few", 1},
    {3, 2, 0, 1, ENDS, NULL, 1},
    {3, 3, 0, 1, ENDS, "too few", 0},
    {3, 0, -1, 1, WARNS, "too few", 1},
    {1, 0, -1, 1, ENDS, "too few", 0},
    {0, 0, 0, 1, ENDS, "too few", 0}, /* taken as 1 */
    /* if (false): the clause says nothing, neither now nor in the next region */
    {3, 2, 0, 0, ENDS, "too few", 0},
    {3, 0, -1, 0, WARNS, "too few", 0},
    /* severities that there are not warn */
    {3, 2, 0, 1, 7, "too few", 1},
};

static void region(const struct row *r)
{
    int n = 0;
    omp_set_dynamic(0);
    if (r->levels != 0)
        omp_set_max_active_levels(0);
    __kmpc_push_num_threads_strict(&here, -5, r->wanted, r->severity, r->message);
    if (r->condition) {
#pragma omp parallel reduction(+ : n)
        n++;
        CHECK(n <= (r->wanted > 0 ? r->wanted : 1) && (r->told || r->wanted < 1 || n == r->wanted));
    } else {
        __kmpc_serialized_parallel(&here, -1);
        n = omp_get_num_threads();
        __kmpc_end_serialized_parallel(&here, -1);
        CHECK(n == 1);
#pragma omp parallel num_threads(3) reduction(+ : n)
        n++;
        CHECK(n >= 2 && n <= 4);
    }
}

static void limited(const struct row *r)
{
    if (r->limit == 0)
        region(r);
    else {
        int limit = r->limit;
#pragma omp target thread_limit(limit)
        region(r);
    }
}

/* In a child: a severity may end it. */
static void row(int i)
{
    const struct row *r = &rows[i];
    int ends[2], status;
    char text[1024];
    size_t n = 0;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        limited(r);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; n < sizeof text - 1 && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    int ended = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    const char *words = r->message != NULL ? r->message : "strict num_threads";
    int right = r->told ? strstr(text, words) != NULL && strstr(text, here.source) != NULL &&
                              strchr(text, '\n') == text + n - 1 && (r->severity == ENDS ? ended : status == 0)
                        : n == 0 && status == 0;
    if (!right)
        fprintf(stderr, "row %d: status %d: %s\n", i, status, text);
    CHECK(right);
}

/* Numbers for the levels below; those of a region that is none are no other region's. */
static void lists(void)
{
    const int32_t list[] = {2, 3, 1};
    int outer = 0, inner = 0, innermost = 0, next = 0;
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    __kmpc_push_num_threads_list(&here, -5, 3, list);
#pragma omp parallel reduction(+ : outer, inner, innermost)
    {
        outer++;
#pragma omp parallel reduction(+ : inner, innermost)
        {
            inner++;
#pragma omp parallel reduction(+ : innermost)
            innermost++;
        }
    }
    CHECK(outer == 2 && inner == 6 && innermost == 6);
    omp_set_num_threads(2);
    __kmpc_push_num_threads_list_strict(NULL, -1, 2, list + 1, ENDS, NULL);
    __kmpc_serialized_parallel(NULL, -1);
    CHECK(omp_get_max_threads() == 1);
    __kmpc_end_serialized_parallel(NULL, -1);
#pragma omp parallel reduction(+ : outer, next)
    {
        outer++;
        next += omp_get_max_threads() == 2;
    }
    CHECK(outer == 4 && next == 2);
}

int main(void)
{
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++)
        row(i);
    lists();
    return 0;
}
