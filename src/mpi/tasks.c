/* TAMPI's interface: the completion of a task waits for requests, while the thread that ran the task goes on. See
 * TAMPI.h and ort/core/layer.h.
 *
 * States of a binding: made (its task is held) -> watched -> in the stack `finished` -> completed. The polling thread
 * pushes a binding on the stack when its requests are complete. The watcher completes the binding: it calls MPI_Waitall
 * and releases the task. A polling vp cannot do this, because it runs no thread; the watcher becomes a root when it
 * first releases a task. Failures: without memory C's calls wait, and Fortran's return MPI_ERR_NO_MEM or wait. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_layer.h"
#include "ort/core/layer.h"

#include "TAMPI.h"

struct binding {
    struct mpi_wait wait;
    struct binding *next;
    const struct ort_layer *layer;
    void *task;
    MPI_Status *statuses;
    bool fortran;         /* true: `statuses` is our own memory */
    MPI_Fint *to_fortran; /* where the statuses are copied to; NULL: the program ignores them */
    MPI_Request request[];
};

static _Atomic(struct binding *) finished;

static const struct ort_layer *openmp_layer(void)
{
    static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so"};
    static _Atomic(const struct ort_layer *) known;
    const struct ort_layer *layer = ps_load_acquire(&known);
    if (!layer)
        layer = dlsym(RTLD_DEFAULT, "ort_layer");
    for (unsigned i = 0; i < sizeof names / sizeof *names && !layer; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        layer = library ? dlsym(library, "ort_layer") : NULL;
        if (library)
            dlclose(library);
    }
    ps_store_release(&known, layer);
    return layer;
}

void mpi_tasks_in_order(void)
{
    const struct ort_layer *layer = openmp_layer();
    const char *text = getenv("PSTHREADS_MPI_TASK_ORDER");
    if (layer && !(text && strcmp(text, "any") == 0))
        layer->in_order(true);
}

static bool look_at_requests(struct mpi_wait *wait)
{
    struct binding *b = PS_CONTAINER_OF(wait, struct binding, wait);
    int flag = 1;
    for (; wait->at < wait->count; wait->at++)
        if (MPI_OWN(MPI_Request_get_status)(b->request[wait->at], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
            return false;
    return true;
}

/* --- Fortran's handles and statuses --- */

#ifdef OPEN_MPI
static MPI_Request request_of(MPI_Fint handle) { return MPI_OWN(MPI_Request_f2c)(handle); }
static MPI_Fint handle_of(MPI_Request request) { return MPI_OWN(MPI_Request_c2f)(request); }
#else /* MPICH has macros for these */
static MPI_Request request_of(MPI_Fint handle) { return MPI_Request_f2c(handle); }
static MPI_Fint handle_of(MPI_Request request) { return MPI_Request_c2f(request); }
#endif

/* Returns whether the program gave MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE, which are variables of MPI. */
static bool ignores(const MPI_Fint *statuses)
{
    MPI_Fint **one = mpi_find("MPI_F_STATUS_IGNORE"), **all = mpi_find("MPI_F_STATUSES_IGNORE");
    return (one && statuses == *one) || (all && statuses == *all);
}

/* Copies the C statuses `from` to Fortran's, unless `to` is NULL, and frees `from`. */
static void give_statuses(int count, MPI_Status *from, MPI_Fint *to)
{
    for (int i = 0; i < count && to; i++)
        MPI_OWN(MPI_Status_c2f)(&from[i], to + (size_t)i * (sizeof(MPI_Status) / sizeof(MPI_Fint)));
    free(from);
}

/* --- bindings --- */

static void done(struct mpi_wait *wait)
{
    struct binding *b = PS_CONTAINER_OF(wait, struct binding, wait);
    struct binding *top = ps_load_relaxed(&finished);
    do
        b->next = top;
    while (!ps_cas_acq_rel(&finished, &top, b));
    mpi_wake_watcher();
}

bool mpi_tasks_finished(void) { return ps_load_acquire(&finished) != NULL; }

static void complete(struct binding *b)
{
    MPI_OWN(MPI_Waitall)(b->wait.count, b->request, b->statuses);
    if (b->fortran)
        give_statuses(b->wait.count, b->statuses, b->to_fortran);
    b->layer->release(b->task);
    free(b);
}

void mpi_tasks_complete(void)
{
    struct binding *b = ps_xchg_acq_rel(&finished, NULL);
    while (b) {
        struct binding *next = b->next;
        complete(b);
        b = next;
    }
}

/* Binds the requests to the calling task. Returns false if that is not possible; the caller must then wait for them. */
static bool bind(int count, MPI_Request *requests, MPI_Status *statuses, bool fortran, MPI_Fint *to_fortran)
{
    const struct ort_layer *layer = mpi_aware() ? openmp_layer() : NULL;
    struct binding *b = layer ? malloc(sizeof *b + (size_t)count * sizeof *requests) : NULL;
    void *task = b ? layer->hold() : NULL;
    if (!task) {
        free(b);
        return false;
    }
    *b = (struct binding){.wait = {.look = look_at_requests, .count = count, .done = done},
                          .layer = layer,
                          .task = task,
                          .statuses = statuses,
                          .fortran = fortran,
                          .to_fortran = to_fortran};
    memcpy(b->request, requests, (size_t)count * sizeof *requests);
    for (int i = 0; i < count; i++)
        requests[i] = mpi_null();
    mpi_watch(&b->wait);
    return true;
}

PS_EXPORT int TAMPI_Iwait(MPI_Request *request, MPI_Status *status)
{
    int flag = 0;
    mpi_mode_now();
    int error = MPI_OWN(MPI_Test)(request, &flag, status);
    if (error || flag)
        return error;
    /* One status serves as an array of one. But MPICH has different values for "no status" and "no statuses". */
    MPI_Status *statuses = status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status;
    return bind(1, request, statuses, false, NULL) ? MPI_SUCCESS : MPI_Wait(request, status);
}

PS_EXPORT int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int flag = 0;
    mpi_mode_now();
    int error = MPI_OWN(MPI_Testall)(count, requests, &flag, statuses);
    if (error || flag)
        return error;
    return bind(count, requests, statuses, false, NULL) ? MPI_SUCCESS : MPI_Waitall(count, requests, statuses);
}

/* --- the same for Fortran: mpif.h and `use mpi` (TAMPIf.h) --- */

static int wait_for_fortran(int count, MPI_Request *requests, MPI_Fint *to)
{
    MPI_Status *statuses = malloc((size_t)count * sizeof *statuses + 1);
    int flag = 0, error;
    if (!statuses)
        return MPI_ERR_NO_MEM;
    error = MPI_OWN(MPI_Testall)(count, requests, &flag, statuses);
    if (!error && !flag && bind(count, requests, statuses, true, to))
        return MPI_SUCCESS;
    if (!error && !flag)
        error = MPI_Waitall(count, requests, statuses);
    give_statuses(count, statuses, to);
    return error;
}

PS_EXPORT void tampi_iwaitall_(const MPI_Fint *count, MPI_Fint requests[], MPI_Fint statuses[], MPI_Fint *error);
PS_EXPORT void tampi_iwaitall_(const MPI_Fint *count, MPI_Fint requests[], MPI_Fint statuses[], MPI_Fint *error)
{
    int n = *count;
    MPI_Request *in_c = malloc((size_t)n * sizeof *in_c + 1);
    mpi_mode_now();
    *error = MPI_ERR_NO_MEM;
    if (!in_c)
        return;
    for (int i = 0; i < n; i++)
        in_c[i] = request_of(requests[i]);
    *error = wait_for_fortran(n, in_c, ignores(statuses) ? NULL : statuses);
    for (int i = 0; i < n; i++)
        requests[i] = handle_of(in_c[i]);
    free(in_c);
}

PS_EXPORT void tampi_iwait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error);
PS_EXPORT void tampi_iwait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error)
{
    tampi_iwaitall_(&(MPI_Fint){1}, request, status, error);
}

#define SPELLINGS(lower, UPPER, parameters)                                                  \
    PS_EXPORT void tampi_##lower parameters __attribute__((alias("tampi_" #lower "_")));     \
    PS_EXPORT void tampi_##lower##__ parameters __attribute__((alias("tampi_" #lower "_"))); \
    PS_EXPORT void TAMPI_##UPPER parameters __attribute__((alias("tampi_" #lower "_")));
SPELLINGS(iwait, IWAIT, (MPI_Fint *, MPI_Fint *, MPI_Fint *))
SPELLINGS(iwaitall, IWAITALL, (const MPI_Fint *, MPI_Fint[], MPI_Fint[], MPI_Fint *))
