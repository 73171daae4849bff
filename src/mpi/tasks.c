/* TAMPI's interface: a task's completion waits for requests, the thread that ran it does not. See TAMPI.h, ort/layer.h.
 *
 * States of a binding: made (its task is held) -> watched -> finished, a stack -> completed by the watcher, which is
 * a thread that the OpenMP runtime knows from then on: MPI_Waitall, release of the task. Who polls may stand where no
 * thread runs, so nothing but the push is done there. Failures: no memory: the call waits. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_layer.h"
#include "ort/layer.h"

#include "TAMPI.h"

struct binding {
    struct mpi_wait wait;
    struct binding *next;
    const struct ort_layer *layer;
    void *task;
    MPI_Status *statuses;
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
        if (mpi_own.MPI_Request_get_status(b->request[wait->at], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
            return false;
    return true;
}

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

void mpi_tasks_complete(void)
{
    struct binding *b = ps_xchg_acq_rel(&finished, NULL);
    while (b) {
        struct binding *next = b->next;
        mpi_own.MPI_Waitall(b->wait.count, b->request, b->statuses);
        b->layer->release(b->task);
        free(b);
        b = next;
    }
}

/* Binds the requests to the calling task. False: they have to be waited for. */
static bool bind(int count, MPI_Request *requests, MPI_Status *statuses)
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
                          .statuses = statuses};
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
    int error = mpi_own.MPI_Test(request, &flag, status);
    if (error || flag)
        return error;
    /* one status is an array of one; the two that stand for none differ in MPICH */
    return bind(1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status) ? MPI_SUCCESS
                                                                                        : MPI_Wait(request, status);
}

PS_EXPORT int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int flag = 0;
    mpi_mode_now();
    int error = mpi_own.MPI_Testall(count, requests, &flag, statuses);
    if (error || flag)
        return error;
    return bind(count, requests, statuses) ? MPI_SUCCESS : MPI_Waitall(count, requests, statuses);
}
