/* Entry points and routines that GCC 13 and later call and libgomp 12 has not: each by name and version node, with the
 * prototype that newer compilers and headers have. Not under libgomp: it has none of them. */
#define _GNU_SOURCE
#include <complex.h>
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#ifdef __clang__ /* the libomp that it links with has this in another library, of offloading */
#pragma weak omp_target_is_present
#endif

static void *find(const char *name, const char *node)
{
    void *p = dlvsym(RTLD_DEFAULT, name, node);
    if (p == NULL)
        fprintf(stderr, "no %s@%s\n", name, node);
    CHECK(p != NULL);
    return p;
}
/* Declares the variable `name`, a pointer to the function of that type. */
#define GET(node, result, name, ...) result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))find(#name, node)

/* omp_depend_t as newer headers have it: two words, made by the compiler's depobj directive. */
typedef struct {
    void *words[2];
} depend_object;
#define OUT ((void *)3) /* inout, as GCC writes it */

static void tasks(void)
{
    GET("OMP_5.2", int, omp_in_explicit_task, void);
    GET("OMP_5.2", int, omp_in_explicit_task_, void);
    GET("GOMP_5.1.1", void, GOMP_taskwait_depend_nowait, void **);
    CHECK(!omp_in_explicit_task() && !omp_in_explicit_task_());
    int seen = 0, x = 0, y = 0, z = 0, order = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        CHECK(!omp_in_explicit_task());
#pragma omp task shared(seen)
        seen = omp_in_explicit_task() && omp_in_explicit_task_();
#pragma omp taskwait
        /* depend(in: x) depend(out: y) nowait: orders what follows on y behind what wrote x */
#pragma omp task depend(out : x) shared(x)
        {
            usleep(20000);
            __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
        }
        void *depend[] = {(void *)2, (void *)1, &y, &x};
        GOMP_taskwait_depend_nowait(depend);
        z = 1; /* it did not wait */
#pragma omp task depend(in : y) shared(x, order)
        order = __atomic_load_n(&x, __ATOMIC_SEQ_CST) == 1;
    }
    CHECK(seen == 1 && z == 1 && order == 1);
}

static void shares(void)
{
    GET("GOMP_6.0.2", _Complex int, GOMP_loop_static_worksharing, void);
    GET("GOMP_6.0.2", _Complex int, GOMP_loop_static_worksharing_start, void);
    GET("GOMP_6.0.2", void, GOMP_loop_static_worksharing_dispatch, void);
    GET("GOMP_6.0.2", void, GOMP_loop_static_worksharing_end, void);
    GET("GOMP_6.0.2", _Complex int, GOMP_distribute_static_worksharing, void);
    GET("GOMP_6.0.2", _Complex int, GOMP_distribute_static_worksharing_start, void);
    GET("GOMP_6.0.2", bool, GOMP_has_masked_thread_num, int);
    GET("GOMP_6.0.2", void, GOMP_masked_end, void);
    GET("GOMP_6.0.2", bool, GOMP_single_start_with_end, void);
    GET("GOMP_6.0.2", void, GOMP_single_end, void);
    GET("GOMP_6.0.2", void, GOMP_barrier_ext, int);
    GET("GOMP_6.0.2", bool, GOMP_barrier_cancel_ext, int);
    GET("GOMP_6.0.2", void, GOMP_reduction_start, void);
    GET("GOMP_6.0.2", void, GOMP_reduction_end, void);
    long sum = 0;
    int singles = 0, masked = 0, early = 0, arrived = 0, bad = 0;
#pragma omp parallel num_threads(4)
    {
        _Complex int s = GOMP_loop_static_worksharing(), t = GOMP_loop_static_worksharing_start();
        GOMP_loop_static_worksharing_dispatch();
        if (__real__ s != omp_get_num_threads() || __imag__ s != omp_get_thread_num() || s != t)
            __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
        GOMP_loop_static_worksharing_end();
        if (GOMP_has_masked_thread_num(3)) {
            __atomic_fetch_add(&masked, omp_get_thread_num(), __ATOMIC_RELAXED);
            GOMP_masked_end();
        }
        if (GOMP_single_start_with_end()) {
            __atomic_fetch_add(&singles, 1, __ATOMIC_RELAXED);
            GOMP_single_end();
        }
        for (int i = 0; i < 100; i++) {
            __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
            GOMP_barrier_ext(i % 3);
            if (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 4 * (i + 1))
                __atomic_fetch_add(&early, 1, __ATOMIC_RELAXED);
            if (GOMP_barrier_cancel_ext(1))
                __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
        }
        for (int i = 0; i < 1000; i++) {
            GOMP_reduction_start();
            sum++;
            GOMP_reduction_end();
        }
    }
    CHECK(bad == 0 && masked == 3 && singles == 1 && early == 0 && sum == 4000);
    _Complex int teams[4];
    int n = 0;
#pragma omp teams num_teams(4)
    {
        int at = __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED); /* LLVM's teams run at once, in any order */
        teams[at] = GOMP_distribute_static_worksharing();
        CHECK(GOMP_distribute_static_worksharing_start() == teams[at]);
    }
    unsigned seen = 0;
    for (int i = 0; i < n; i++) {
        CHECK(__real__ teams[i] == n);
        seen |= 1U << __imag__ teams[i];
    }
    CHECK(seen == (1U << n) - 1);
}

static void device_copies(void)
{
    GET("OMP_5.1.1", void *, omp_get_mapped_ptr, const void *, int);
    GET("OMP_5.1.1", int, omp_target_is_accessible, const void *, size_t, int);
    GET("OMP_5.1.1", int, omp_target_memcpy_async, void *, const void *, size_t, size_t, size_t, int, int, int,
        depend_object *);
    GET("OMP_5.1.1", int, omp_target_memcpy_rect_async, void *, const void *, size_t, int, const size_t *,
        const size_t *, const size_t *, const size_t *, const size_t *, int, int, int, depend_object *);
    GET("GOMP_6.0.1", void *, omp_target_memset, void *, int, size_t, int);
    GET("GOMP_6.0.1", void *, omp_target_memset_async, void *, int, size_t, int, int, depend_object *);
    int host = omp_get_initial_device(), from[64], to[64], x = 0;
    CHECK(omp_get_mapped_ptr(from, host) == from && omp_get_mapped_ptr(from, -1) == from);
    CHECK(omp_get_mapped_ptr(from, host + 1) == NULL);
    CHECK(omp_target_is_accessible(from, sizeof from, host) && !omp_target_is_accessible(from, 4, host + 1));
    CHECK(!omp_target_is_accessible(NULL, 4, host) && !omp_target_is_accessible(from, 0, host) &&
          !omp_target_is_present(NULL, host));
    omp_set_default_device(-1);
    CHECK(omp_get_default_device() == -1 && omp_target_is_present(from, -5)); /* omp_default_device */
    omp_set_default_device(-5);
    CHECK(omp_get_default_device() == -1);
    omp_set_default_device(-4);
    CHECK(omp_get_default_device() == -4 && !omp_target_is_present(from, -5) && !omp_target_is_present(from, -4));
    omp_set_default_device(0);
    for (int i = 0; i < 64; i++)
        from[i] = i;
    CHECK(omp_target_memset(to, 0x11, sizeof to, host) == to && to[0] == 0x11111111 && to[63] == 0x11111111);
    CHECK(omp_target_memset(to, 0, sizeof to, host + 1) == to && to[0] == 0x11111111);
    CHECK(omp_target_memcpy_async(to, from, 4, 0, 0, host + 1, host, 0, NULL) != 0);
    depend_object object = {{&x, OUT}};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        /* a chain by the object: a task that fills `from` late, the copy, the fill */
#pragma omp task depend(inout : x) shared(from)
        {
            usleep(20000);
            from[1] = 100;
        }
        CHECK(omp_target_memcpy_async(to, from, sizeof from, 0, 0, host, -1, 1, &object) == 0);
        CHECK(omp_target_memset_async(from, 0, sizeof from, host, 1, &object) == from);
#pragma omp taskwait
    }
    CHECK(to[0] == 0 && to[1] == 100 && to[63] == 63 && from[1] == 0 && from[63] == 0);
    const size_t volume[] = {2, 3}, to_at[] = {1, 1}, from_at[] = {0, 2}, dims[] = {8, 8};
    CHECK(omp_target_memcpy_rect_async(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, host, host, 0, NULL) >= 3);
    memset(from, 0, sizeof from);
#pragma omp parallel num_threads(2)
#pragma omp single
    CHECK(omp_target_memcpy_rect_async(from, to, 4, 2, volume, to_at, from_at, dims, dims, host, host, 0, NULL) == 0);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            CHECK(from[8 * i + j] == (i >= 1 && i < 3 && j >= 1 && j < 4 ? to[8 * (i - 1) + j + 1] : 0));
}

static void device_names(void)
{
    GET("GOMP_6.0", const char *, omp_get_uid_from_device, int);
    GET("GOMP_6.0", void, omp_get_uid_from_device_, const char **, size_t *, int32_t);
    GET("GOMP_6.0", int, omp_get_device_from_uid, const char *);
    GET("GOMP_6.0", int, omp_get_device_from_uid_, const char *, size_t);
    GET("OMP_6.1", void, omp_get_device_distances, int, const int *, int *);
    GET("OMP_6.1", int, omp_get_supported_active_team_dims, int, int);
    GET("OMP_6.1", int, omp_get_supported_active_league_dims_, const int *, const int *);
    GET("OMP_6.1", int, omp_get_supported_threads_dim, int, int);
    GET("OMP_6.1", int, omp_get_num_threads_dim, int);
    GET("OMP_6.1", int, omp_get_thread_num_dim, int);
    GET("OMP_6.1", int, omp_get_num_teams_dim, int);
    GET("OMP_6.1", int, omp_get_thread_limit_dim, int);
    GET("OMP_6.0", int, omp_control_tool, int, int, void *);
    GET("OMP_6.0", int, omp_control_tool_8_, int, int64_t);
    GET("GOMP_5.1.2", void *, GOMP_target_map_indirect_ptr, void *);
    int host = omp_get_initial_device(), devices[] = {host, -1, host + 1, -99}, distances[4];
    const char *uid;
    size_t length;
    omp_get_uid_from_device_(&uid, &length, -1);
    CHECK(strcmp(uid, "OMP_INITIAL_DEVICE") == 0 && length == strlen(uid));
    CHECK(strcmp(omp_get_uid_from_device(host), uid) == 0 && omp_get_uid_from_device(host + 1) == NULL);
    CHECK(omp_get_device_from_uid(uid) == host && omp_get_device_from_uid("GPU-1") == -4);
    CHECK(omp_get_device_from_uid_("OMP_INITIAL_DEVICEX", length) == host);
    omp_get_device_distances(4, devices, distances);
    CHECK(distances[0] == 0 && distances[1] == 0 && distances[2] == -1 && distances[3] == -1);
    CHECK(omp_get_supported_active_team_dims(host, 1) == 1 && omp_get_supported_threads_dim(host, 7) == 1);
    CHECK(omp_get_supported_active_league_dims_(&host, &host) == 1 && omp_get_supported_threads_dim(host, 1) > 1000);
#pragma omp parallel num_threads(3)
    CHECK(omp_get_num_threads_dim(0) == omp_get_num_threads() && omp_get_num_threads_dim(1) == 1 &&
          omp_get_thread_num_dim(0) == omp_get_thread_num() && omp_get_thread_num_dim(2) == 0);
    CHECK(omp_get_num_teams_dim(0) == 1 && omp_get_thread_limit_dim(0) == omp_get_thread_limit() &&
          omp_get_thread_limit_dim(1) == 1);
    CHECK(omp_control_tool(1, 0, NULL) == -2 && omp_control_tool_8_(1, 0) == -2);
    CHECK(GOMP_target_map_indirect_ptr(&devices) == &devices);
}

static void interop(void)
{
    GET("GOMP_5.1.3", void, GOMP_interop, int, int, void ***, const int *, const char **, int, void **, int, void ***,
        unsigned, void **);
    GET("GOMP_5.1.3", int, omp_get_num_interop_properties, const void *);
    GET("GOMP_5.1.3", intptr_t, omp_get_interop_int, const void *, int, int *);
    GET("GOMP_5.1.3", const char *, omp_get_interop_str, const void *, int, int *);
    GET("GOMP_5.1.3", const char *, omp_get_interop_name, const void *, int);
    GET("GOMP_5.1.3", const char *, omp_get_interop_type_desc, const void *, int);
    GET("GOMP_5.1.3", const char *, omp_get_interop_rc_desc, const void *, int);
    GET("GOMP_5.1.3", void, omp_get_interop_name_, const char **, size_t *, const void *, int);
    void *made = &made, *gone = &gone, **init[] = {&made}, **destroy[] = {&gone};
    int code = 1;
    GOMP_interop(-1, 1, init, NULL, NULL, 0, NULL, 1, destroy, 0, NULL);
    CHECK(made == NULL && gone == NULL && omp_get_num_interop_properties(made) == 0);
    CHECK(omp_get_interop_int(made, -1, &code) == 0 && code == -1);
    CHECK(omp_get_interop_str(made, -10, &code) == NULL && code == -2);
    CHECK(strcmp(omp_get_interop_name(made, -9), "targetsync") == 0 && omp_get_interop_name(made, 0) == NULL);
    CHECK(omp_get_interop_type_desc(made, -5) == NULL && omp_get_interop_rc_desc(made, -6) == NULL);
    CHECK(strstr(omp_get_interop_rc_desc(made, -1), "omp_interop_none") && !omp_get_interop_rc_desc(made, -7));
    const char *text;
    size_t length;
    omp_get_interop_name_(&text, &length, made, -1);
    CHECK(strcmp(text, "fr_id") == 0 && length == 5);
}

static void allocatables(void)
{
    GET("GOMP_5.1.2", void, GOMP_add_alloc, void *);
    GET("GOMP_5.1.2", bool, GOMP_is_alloc, void *);
    enum { N = 1000 };
    static int things[N];
    CHECK(!GOMP_is_alloc(&things[0]));
    for (int i = 0; i < N; i += 2)
        GOMP_add_alloc(&things[i]);
    int wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < N; i++)
        wrong += GOMP_is_alloc(&things[i]) != (i % 2 == 0);
    CHECK(wrong == 0);
    for (int i = 0; i < N; i++)
        CHECK(!GOMP_is_alloc(&things[i])); /* asking forgets */
    GOMP_add_alloc(NULL);
    CHECK(!GOMP_is_alloc(NULL));
}

static void acc(void)
{
    GET("OACC_2.6.1", void, acc_memcpy_device, void *, void *, size_t);
    GET("OACC_2.6.1", void, acc_memcpy_device_async, void *, void *, size_t, int);
    char a[] = "one", b[4], c[4];
    acc_memcpy_device(b, a, 4);
    acc_memcpy_device_async(c, b, 4, -1);
    CHECK(strcmp(c, "one") == 0);
}

/* What a child that calls fn wrote to stderr; *status: how it ended. */
static void run_child(void (*fn)(void), char *text, size_t bytes, int *status)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        fn();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < bytes - 1 && (got = read(ends[0], text + n, bytes - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, status, 0) == child);
}

static void call_error(void)
{
    GET("GOMP_PLUGIN_1.0", void, GOMP_PLUGIN_error, const char *, ...);
    GOMP_PLUGIN_error("device %d is odd", 7);
}

static void plugin(void)
{
    char text[512];
    int status;
    run_child(call_error, text, sizeof text, &status);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, "an offloading plug-in called GOMP_PLUGIN_error") != NULL);
}

int main(void)
{
    plugin(); /* forks before there are threads */
    tasks();
    shares();
    device_copies();
    device_names();
    interop();
    allocatables();
    acc();
    return 0;
}
