/* LLVM entry points: threadprivate variables of code that does not use the system's thread-local storage. (On the
 * supported systems compilers normally use native thread-local storage, and do not call these.)
 *
 * The thread with number 0, normally the initial thread, uses the variable itself. Every other thread gets a copy when
 * it first asks. The registered constructor makes the copy, or the registered copy constructor makes it from the
 * variable. Without either, the copy gets the bytes that the variable had when any thread first asked. A thread's
 * copies are an unordered list: programs have few such variables, and only the thread itself searches the list. The
 * compiler's cache stays empty, since it is indexed by thread numbers; so compiled code asks each time. Shared: the
 * table of variables, under a lock. Failures: without memory the program ends with one line. Destructors run when a
 * thread's storage is freed, but not at the end of the process. */
#include <stdlib.h>
#include <string.h>

#include "emergency_pool.h"
#include "kmpc.h"
#include "own_lock.h"

struct variable {
    struct variable *next;
    void *address;
    size_t elements; /* 0: the variable is no array */
    void *(*construct)(void *);
    void *(*construct_copy)(void *, void *);
    void (*destroy)(void *);
    void *(*construct_array)(void *, size_t);
    void *(*construct_copy_array)(void *, void *, size_t);
    void (*destroy_array)(void *, size_t);
    void *bytes; /* the variable's bytes when a thread first asked; NULL: no thread has asked yet */
};

struct kmpc_threadprivate {
    struct kmpc_threadprivate *next;
    const struct variable *of;
    const void *address; /* of the variable */
    void *copy;          /* for the thread with number 0: the variable itself */
};

ORT_OWN_LOCK(lock)
static struct variable *variables;

static void *allocate_copy(size_t bytes)
{
    void *p = ort_mem_zeroed(bytes);
    PS_CHECK(p != NULL, "no memory for a threadprivate variable of %zu bytes", bytes);
    return p;
}

static struct variable *find_variable_locked(void *address)
{
    for (struct variable *v = variables; v != NULL; v = v->next)
        if (v->address == address)
            return v;
    struct variable *v = allocate_copy(sizeof *v);
    v->address = address;
    v->next = variables;
    variables = v;
    return v;
}

PS_EXPORT void __kmpc_threadprivate_register(PS_UNUSED struct kmpc_location *at, void *address,
                                             void *(*construct)(void *), void *(*copy)(void *, void *),
                                             void (*destroy)(void *))
{
    KMPC_NOT_NULL(at, address, "the variable");
    ort_own_lock(&lock);
    struct variable *v = find_variable_locked(address);
    v->construct = construct;
    v->construct_copy = copy;
    v->destroy = destroy;
    ort_own_unlock(&lock);
}

PS_EXPORT void __kmpc_threadprivate_register_vec(PS_UNUSED struct kmpc_location *at, void *address,
                                                 void *(*construct)(void *, size_t),
                                                 void *(*copy)(void *, void *, size_t), void (*destroy)(void *, size_t),
                                                 size_t elements)
{
    KMPC_NOT_NULL(at, address, "the variable");
    ort_own_lock(&lock);
    struct variable *v = find_variable_locked(address);
    v->elements = elements;
    v->construct_array = construct;
    v->construct_copy_array = copy;
    v->destroy_array = destroy;
    ort_own_unlock(&lock);
}

static void initialise_copy(const struct variable *v, void *copy, size_t bytes)
{
    if (v->elements != 0 && v->construct_array != NULL)
        v->construct_array(copy, v->elements);
    else if (v->elements != 0 && v->construct_copy_array != NULL)
        v->construct_copy_array(copy, v->address, v->elements);
    else if (v->construct != NULL)
        v->construct(copy);
    else if (v->construct_copy != NULL)
        v->construct_copy(copy, v->address);
    else
        memcpy(copy, v->bytes, bytes);
}

static struct variable *find_or_add_variable(void *address, size_t bytes)
{
    ort_own_lock(&lock);
    struct variable *v = find_variable_locked(address);
    if (v->bytes == NULL) {
        v->bytes = allocate_copy(bytes != 0 ? bytes : 1);
        memcpy(v->bytes, address, bytes);
    }
    ort_own_unlock(&lock);
    return v;
}

/* Makes the calling thread's copy, and returns it. Called if the thread has no copy yet. */
static PS_NOIPA void *make_copy(const struct kmpc_location *at, PS_UNUSED int32_t gtid, void *address, size_t bytes,
                                const char *entry)
{
    if (address == NULL)
        kmpc_fatal(at, entry, "the variable is a null pointer");
    struct kmpc_thread *k = kmpc_thread(ort_self());
    const struct variable *v = find_or_add_variable(address, bytes);
    struct kmpc_threadprivate *c = allocate_copy(sizeof *c);
    c->of = v;
    c->address = c->copy = address;
    if (k->number != 0) {
        void *memory = ort_mem_aligned(PS_CACHE_LINE, bytes + 1);
        PS_CHECK(memory != NULL, "no memory for a threadprivate variable of %zu bytes", bytes);
        c->copy = memory;
        initialise_copy(v, c->copy, bytes);
    }
    c->next = k->copies;
    k->copies = c;
    return c->copy;
}

/* Returns the calling thread's copy. No variable has the address NULL, so NULL reaches the slow path, which reports
 * it. */
static PS_ALWAYS_INLINE void *own_copy(const struct kmpc_location *at, int32_t gtid, void *address, size_t bytes,
                                       const char *entry)
{
    struct ort_thread *t = ee_local_inline();
    if (PS_LIKELY(t != NULL)) {
        const struct kmpc_thread *k = (const struct kmpc_thread *)(const void *)kmpc_carrier(t)->local;
        for (const struct kmpc_threadprivate *c = k != NULL ? k->copies : NULL; c != NULL; c = c->next)
            if (c->address == address)
                return c->copy;
    }
    return make_copy(at, gtid, address, bytes, entry);
}

PS_EXPORT void *__kmpc_threadprivate_cached(struct kmpc_location *at, int32_t gtid, void *address, size_t bytes,
                                            PS_UNUSED void ***cache)
{
    return own_copy(at, gtid, address, bytes, __func__);
}
PS_EXPORT void *__kmpc_threadprivate(struct kmpc_location *at, int32_t gtid, void *address, size_t bytes)
{
    return own_copy(at, gtid, address, bytes, __func__);
}

static void destroy_copy(const struct kmpc_threadprivate *c)
{
    if (c->of->elements != 0 && c->of->destroy_array != NULL)
        c->of->destroy_array(c->copy, c->of->elements);
    else if (c->of->destroy != NULL)
        c->of->destroy(c->copy);
    ort_mem_free(c->copy);
}

void kmpc_threadprivate_free(struct kmpc_threadprivate *copies)
{
    while (copies != NULL) {
        struct kmpc_threadprivate *c = copies;
        copies = c->next;
        if (c->copy != c->address)
            destroy_copy(c);
        ort_mem_free(c);
    }
}
