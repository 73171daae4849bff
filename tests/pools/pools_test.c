/* Libraries with OpenBLAS's interface under psrun: their jobs are members of regions, from every kind of thread.
 * Arguments: what is expected (ours, or none), and a folder with further copies of the library. */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "../check.h"
#include "fake_blas.h"

enum { CALLS = 200, THREADS = 6 };

static bool ours;
static const char *folder;

/* Widths change beside, so a call has any number of jobs up to the bound. */
static void check_width(int n, int bound) { CHECK(ours ? n >= 1 && n <= bound : n == 0 || n == 1); }

static void call_often(int (*product)(void), int bound)
{
    for (int i = 0; i < CALLS; i++)
        check_width(product(), bound);
}

static void *in_a_thread(void *product)
{
    call_often((int (*)(void))product, 4);
    return NULL;
}

static void from_threads(int (*product)(void))
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, in_a_thread, (void *)product) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

static void in_regions(void)
{
    omp_set_max_active_levels(1); /* no more than the program's own: the library's jobs are to run all the same */
#pragma omp parallel num_threads(8)
    {
        call_often(fake_product, 4);
        call_often(fake_vector, 4);
#pragma omp barrier
        CHECK(omp_get_num_threads() == 8 && omp_get_level() == 1);
    }
    int sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int i = 0; i < 64; i++)
        sum += fake_product() >= (ours ? 1 : 0);
    CHECK(sum == 64);
}

/* What the program sets is the bound, and is what it reads, however wide calls are now. */
static void numbers(void)
{
    CHECK(openblas_get_num_threads() == 4);
    int (*get)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    void (*set)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    void (*set_fortran)(const int *) = (void (*)(const int *))dlsym(RTLD_DEFAULT, "openblas_set_num_threads_");
    from_threads(fake_product);
    CHECK(get() == 4);
    set(2);
    CHECK(get() == 2);
    call_often(fake_product, 2);
    set(1);
    CHECK(fake_product() == 1 && get() == 1);
    set_fortran(&(int){6}); /* more than ever */
    CHECK(get() == 6);
    call_often(fake_product, 6);
    openblas_set_num_threads(4); /* bound by the dynamic linker */
    CHECK(get() == 4 && openblas_get_num_threads() == 4);
    call_often(fake_vector, 4);
}

/* Several callers at once: calls become narrow, for which nobody has to wait. */
static void callers_share(void)
{
    atomic_bool narrow = !ours;
#pragma omp parallel num_threads(8)
    while (!atomic_load(&narrow))
        if (fake_product() == 1)
            atomic_store(&narrow, true);
    CHECK(openblas_get_num_threads() == 4);
}

static void in_a_forked_child(void)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            /* with threads of its own there, as without us (none in this stand-in), and not narrow */
            CHECK(openblas_get_num_threads() == 4);
            CHECK(fake_product() == 0);
            openblas_set_num_threads(1);
            CHECK(fake_product() == 1 && openblas_get_num_threads() == 1);
            _exit(0);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        check_width(fake_product(), 4);
    }
}

static void *many_jobs(void *product)
{
    for (int i = 0; i < CALLS; i++)
        ((int (*)(void))product)();
    return NULL;
}

/* As many threads as the library was built for: its own threads have all numbers, and the jobs go to them, also those
 * of calls that have come to us. In a child, where the first calls are wide. */
static void numbers_run_out(int (*product)(void), void (*set)(int), int (*get)(void))
{
    pthread_t thread[THREADS];
    pid_t child = fork();
    if (child != 0) {
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        return;
    }
    set(64);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, many_jobs, (void *)product) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(get() == 64);
    _exit(0);
}

/* A function of a copy, whose names have a prefix and a suffix. */
static void *find(void *copy, const char *prefix, const char *function, const char *suffix)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", prefix, function, suffix);
    return dlsym(copy, name);
}

/* Copies with prefixes and suffixes, opened late, and closed. */
static void further_copies(void)
{
    static const struct {
        const char *file, *prefix, *suffix;
    } copies[] = {{"libfake_scipy.so", "scipy_", "64_"}, {"libfake_copy.so", "", ""}};
    for (unsigned i = 0; i < 2; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", folder, copies[i].file);
        void *copy = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!copy)
            fprintf(stderr, "%s\n", dlerror());
        CHECK(copy);
#define FIND(function) find(copy, copies[i].prefix, function, copies[i].suffix)
        int (*product)(void) = (int (*)(void))FIND("fake_product"),
            (*get)(void) = (int (*)(void))FIND("openblas_get_num_threads"),
            (*told)(void) = (int (*)(void))FIND("fake_told_in_time");
        void (*set)(int) = (void (*)(int))FIND("openblas_set_num_threads");
        CHECK(told() == ours && get() == 4);
        call_often(product, 4);
        from_threads(product);
        CHECK(get() == 4);
        set(3);
        CHECK(get() == 3 && openblas_get_num_threads() == 4);
        call_often(product, 3);
        if (ours && i == 1)
            numbers_run_out((int (*)(void))FIND("fake_vector"), set, get);
        CHECK(dlclose(copy) == 0);
    }
}

static int (*openmp_product)(void);
static atomic_bool openmp_narrow;
static void *until_narrow(void *unused)
{
    while (!atomic_load(&openmp_narrow)) {
        int n = openmp_product();
        CHECK(n >= 1 && n <= omp_get_max_threads());
        if (n == 1)
            atomic_store(&openmp_narrow, true);
    }
    return unused;
}

/* One whose threads are OpenMP's: in a region it has one; several callers share. */
static void openmp_flavour(void)
{
    char name[512];
    snprintf(name, sizeof name, "%s/libfake_openmp.so", folder);
    void *copy = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    CHECK(copy);
    openmp_product = (int (*)(void))dlsym(copy, "fake_product");
    int (*get)(void) = (int (*)(void))dlsym(copy, "openblas_get_num_threads");
    omp_set_num_threads(4);
    CHECK(openmp_product() >= 1);
#pragma omp parallel num_threads(4)
    CHECK(openmp_product() == 1);
    if (ours) {
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&thread[i], NULL, until_narrow, NULL) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(thread[i], NULL) == 0);
    }
    CHECK(get() == 4 && omp_get_max_threads() == 4);
    CHECK(dlclose(copy) == 0);
}

static atomic_int own_calls;
static void own_jobs(int wait, openblas_job job, int num, size_t bytes, void *data, int extra)
{
    (void)wait;
    atomic_fetch_add(&own_calls, 1);
#pragma omp parallel num_threads(num)
    job(16 + omp_get_thread_num(), (char *)data + (size_t)omp_get_thread_num() * bytes, extra);
}

/* The program's own function wins. */
static void own_function(void)
{
    omp_set_max_active_levels(2);
    openblas_set_threads_callback_function(own_jobs);
    openblas_set_num_threads(4);
    for (int i = 0; i < CALLS; i++)
        fake_product();
    CHECK(atomic_load(&own_calls) > 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    ours = strcmp(argv[1], "ours") == 0;
    folder = argv[2];
    call_often(fake_product, 4);
    from_threads(fake_vector);
    in_regions();
    further_copies();
    openmp_flavour();
    callers_share();
    if (ours) {
        numbers();
        in_a_forked_child();
    }
    own_function();
    return 0;
}
