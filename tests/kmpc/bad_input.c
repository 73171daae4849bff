/* Entry points called as no compiler calls them: each ends the program with one line that names the entry point and the source location. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../omp/check.h"

struct location {
    int32_t a, flags, b, c;
    const char *source;
};
static struct location here = {0, 2, 0, 0, ";bad_input.c;somewhere;12;34;;"};
static int32_t last, lower32, upper32, stride32, lock[8];
static int64_t lower, upper, stride;

void __kmpc_for_static_init_4(void *, int32_t, int32_t, void *, void *, void *, void *, int32_t, int32_t);
void __kmpc_for_static_init_8(void *, int32_t, int32_t, void *, void *, void *, void *, int64_t, int64_t);
void __kmpc_dispatch_init_4(void *, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
int32_t __kmpc_dispatch_next_8u(void *, int32_t, void *, void *, void *, void *);
void __kmpc_fork_call(void *, int32_t, void *, ...);
void __kmpc_fork_teams(void *, int32_t, void *, ...);
void __kmpc_critical(void *, int32_t, void *);
int32_t __kmpc_reduce(void *, int32_t, int32_t, size_t, void *, void *, void *);
int32_t __kmpc_omp_task(void *, int32_t, void *);
void __kmpc_omp_wait_deps(void *, int32_t, int32_t, void *, int32_t, void *);
int32_t __kmpc_cancel(void *, int32_t, int32_t);
void __kmpc_copyprivate(void *, int32_t, size_t, void *, void *, int32_t);

static void static_schedule(void)
{
    __kmpc_for_static_init_4(&here, 0, 77777, &last, &lower32, &upper32, &stride32, 1, 1);
}
static void static_increment(void) { __kmpc_for_static_init_8(&here, 0, 34, &last, &lower, &upper, &stride, 0, 1); }
static void static_bound(void) { __kmpc_for_static_init_8(&here, 0, 34, &last, NULL, &upper, &stride, 1, 1); }
static void dispatch_schedule(void) { __kmpc_dispatch_init_4(&here, 0, 32, 0, 9, 1, 1); }
static void next_bound(void) { __kmpc_dispatch_next_8u(&here, 0, &last, &lower, NULL, &stride); }
static void fork_function(void) { __kmpc_fork_call(&here, 0, NULL); }
static void teams_function(void) { __kmpc_fork_teams(&here, 0, NULL); }
static void critical_name(void) { __kmpc_critical(&here, 0, NULL); }
static void reduce_lock(void) { __kmpc_reduce(&here, 0, 1, 4, &last, NULL, NULL); }
static void no_task(void) { __kmpc_omp_task(&here, 0, NULL); }
static void no_list(void) { __kmpc_omp_wait_deps(&here, 0, 1, NULL, 0, NULL); }
static void cancel_kind(void) { __kmpc_cancel(&here, 0, 9); }
static void no_copy(void) { __kmpc_copyprivate(&here, 0, 4, &last, NULL, 1); }

static const struct {
    void (*call)(void);
    const char *entry;
} cases[] = {{static_schedule, "__kmpc_for_static_init_4"},
             {static_increment, "__kmpc_for_static_init_8"},
             {static_bound, "__kmpc_for_static_init_8"},
             {dispatch_schedule, "__kmpc_dispatch_init_4"},
             {next_bound, "__kmpc_dispatch_next_8u"},
             {fork_function, "__kmpc_fork_call"},
             {teams_function, "__kmpc_fork_teams"},
             {critical_name, "__kmpc_critical"},
             {reduce_lock, "__kmpc_reduce"},
             {no_task, "__kmpc_omp_task"},
             {no_list, "__kmpc_omp_wait_deps"},
             {cancel_kind, "__kmpc_cancel"},
             {no_copy, "__kmpc_copyprivate"}};

static void one(size_t i)
{
    int ends[2], status;
    char text[1024];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        cases[i].call();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1 && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    char entry[64];
    snprintf(entry, sizeof entry, "%s: ", cases[i].entry);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || strstr(text, entry) == NULL ||
        strstr(text, here.source) == NULL)
        fprintf(stderr, "%s: status %d: %s\n", cases[i].entry, status, text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, entry) != NULL && strstr(text, here.source) != NULL);
    CHECK(n > 0 && strchr(text, '\n') == text + n - 1);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        one(i);
    return 0;
}
