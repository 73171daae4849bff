/* GNU entry points: target constructs, on the host.
 *
 * Data is not moved: a mapped variable is the program's own variable. Handled are: firstprivate data, which is copied;
 * dependences; nowait, which makes the construct a task; the thread limit; teams. In a word of map kinds the low byte
 * is the kind, and the high byte the logarithm of the alignment. A construct for omp_invalid_device ends the program,
 * as with libgomp. With OMP_TARGET_OFFLOAD=mandatory a construct for any device but the host ends it too. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gomp.h"
#include "gomp_task.h"

#define KIND_FIRSTPRIVATE 12
#define KIND_ATTACH 0x50
#define FLAG_NOWAIT 1u
#define DEVICE_ICV (-1)
#define DEVICE_HOST (-2)
#define DEVICE_INITIAL (-1) /* omp_initial_device, the host; default-device-var may have this value */
#define DEVICE_DEFAULT (-5)

PS_NORETURN static void no_device(const char *why)
{
    fprintf(stderr, "\nlibgomp: %s\n", why);
    exit(EXIT_FAILURE);
}

static void check_device(int device)
{
    if (device == DEVICE_ICV || device == DEVICE_DEFAULT) {
        device = ort_icv(ort_self())->default_device;
        if (device == DEVICE_INITIAL)
            return;
    }
    if (PS_LIKELY(device == DEVICE_HOST || device == 0))
        return;
    if (ort_settings.offload == ORT_OFFLOAD_MANDATORY)
        no_device(device < 0 ? "OMP_TARGET_OFFLOAD is set to MANDATORY, but only the host device is available"
                             : "OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found");
    if (device == ORT_DEVICE_INVALID)
        no_device("omp_invalid_device encountered");
}

/* Returns the thread limit that the arguments of a target construct contain (GCC's GOMP_TARGET_ARG_*), or 0 if they
 * contain none. */
static unsigned target_thread_limit(void **args)
{
    while (args != NULL && *args != NULL) {
        intptr_t id = (intptr_t)*args++;
        intptr_t value = (id & 0x80) != 0 ? (intptr_t)*args++ : id >> 16;
        if ((id & 0x7f) == 0 && (id & 0xff00) == 0x200)
            return value > INT_MAX ? INT_MAX : (unsigned)value;
    }
    return 0;
}

static bool is_firstprivate(unsigned short kind) { return (kind & 0xff) == KIND_FIRSTPRIVATE; }

/* Returns how many bytes all firstprivate copies need, including room to align each of them. */
static size_t copies_bytes(size_t n, const size_t *sizes, const unsigned short *kinds)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (is_firstprivate(kinds[i]))
            bytes += sizes[i] + ((size_t)1 << (kinds[i] >> 8)) - 1;
    return bytes;
}

/* Copies each piece of firstprivate data to `room`, and replaces its address in `addresses` by that of the copy. Data
 * of an array has an "attach" entry behind its own: addresses[i + 1] points to a pointer to the array's descriptor.
 * Word number sizes[i + 1] of the descriptor is the pointer to the data, which becomes the address of the copy. */
static void make_copies(char *room, size_t n, void **addresses, const size_t *sizes, const unsigned short *kinds)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_firstprivate(kinds[i]) || addresses[i] == NULL)
            continue;
        uintptr_t mask = ((uintptr_t)1 << (kinds[i] >> 8)) - 1;
        room = (char *)(((uintptr_t)room + mask) & ~mask);
        memcpy(room, addresses[i], sizes[i]);
        addresses[i] = room;
        room += sizes[i];
        if (i + 1 < n && (kinds[i + 1] & 0xff) == KIND_ATTACH)
            (*(uintptr_t **)addresses[i + 1])[sizes[i + 1]] = (uintptr_t)addresses[i];
    }
}

/* --- nowait: the region as a task --- */

struct deferred {
    void (*fn)(void *);
    size_t n;
    unsigned limit;
    /* After this in memory: void *addresses[n], and the copies of firstprivate data. */
};

static void run_deferred(void *data)
{
    struct deferred *d = data;
    ort_target(d->fn, d + 1, d->limit);
}

/* What build_deferred makes a task's struct deferred from. GOMP_target_ext has it on its stack, and calls the core,
 * which calls build_deferred with the address of the new task's data. */
struct deferred_source {
    struct deferred head;
    void **addresses;
    const size_t *sizes;
    const unsigned short *kinds;
};

static void build_deferred(void *to, void *from)
{
    struct deferred_source *s = from;
    struct deferred *d = to;
    *d = s->head;
    void **addresses = (void **)(d + 1);
    memcpy(addresses, s->addresses, d->n * sizeof *addresses);
    make_copies((char *)(addresses + d->n), d->n, addresses, s->sizes, s->kinds);
}

static void defer(struct ort_thread *t, const struct deferred_source *s, const struct ort_depend_list *depend)
{
    size_t n = s->head.n;
    ort_task_create(t, &(struct ort_task_args){
                           .fn = run_deferred,
                           .data = (void *)s,
                           .copy = build_deferred,
                           .size = sizeof(struct deferred) + n * sizeof(void *) + copies_bytes(n, s->sizes, s->kinds),
                           .align = alignof(max_align_t),
                           .depend = depend,
                       });
}

PS_EXPORT void GOMP_target_ext(int device, void (*fn)(void *), size_t n, void **addresses, size_t *sizes,
                               unsigned short *kinds, unsigned flags, void **depend, void **args)
{
    check_device(device);
    struct ort_thread *t = ort_self();
    struct ort_depend_list list;
    if (depend != NULL)
        list = gomp_depend_list(depend);
    if (flags & FLAG_NOWAIT) {
        struct deferred_source s = {{fn, n, target_thread_limit(args)}, addresses, sizes, kinds};
        defer(t, &s, depend != NULL ? &list : NULL);
        return;
    }
    size_t bytes = copies_bytes(n, sizes, kinds);
    void *room = bytes > 0 ? malloc(bytes) : NULL;
    PS_CHECK(bytes == 0 || room != NULL, "no memory for a target region's firstprivate data (%zu bytes)", bytes);
    if (bytes > 0)
        make_copies(room, n, addresses, sizes, kinds);
    if (depend != NULL)
        ort_taskwait_depend(t, &list);
    ort_target(fn, addresses, target_thread_limit(args));
    free(room);
}

PS_EXPORT void GOMP_target(int device, void (*fn)(void *), const void *unused, size_t n, void **addresses,
                           size_t *sizes, unsigned char *kinds)
{
    (void)unused, (void)n, (void)sizes, (void)kinds;
    check_device(device);
    ort_target(fn, addresses, 0);
}

/* --- data: nothing moves --- */

static void empty_target_body(void *data) { (void)data; }

/* Called for constructs that move no data here. Waits for the tasks on which the construct depends. With nowait it
 * makes an empty task instead, which has the construct's dependences. */
static void order(unsigned flags, void **depend)
{
    if (depend == NULL)
        return;
    struct ort_depend_list list = gomp_depend_list(depend);
    if (flags & FLAG_NOWAIT)
        ort_task_create(ort_self(), &(struct ort_task_args){.fn = empty_target_body, .align = 1, .depend = &list});
    else
        ort_taskwait_depend(ort_self(), &list);
}

PS_EXPORT void GOMP_target_data(int device, const void *unused, size_t n, void **addresses, size_t *sizes,
                                unsigned char *kinds)
{
    (void)unused, (void)n, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
}

PS_EXPORT void GOMP_target_data_ext(int device, size_t n, void **addresses, size_t *sizes, unsigned short *kinds)
{
    (void)n, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
}

PS_EXPORT void GOMP_target_end_data(void) {}

PS_EXPORT void GOMP_target_update(int device, const void *unused, size_t n, void **addresses, size_t *sizes,
                                  unsigned char *kinds)
{
    (void)unused, (void)n, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
}

PS_EXPORT void GOMP_target_update_ext(int device, size_t n, void **addresses, size_t *sizes, unsigned short *kinds,
                                      unsigned flags, void **depend)
{
    (void)n, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
    order(flags, depend);
}

PS_EXPORT void GOMP_target_enter_exit_data(int device, size_t n, void **addresses, size_t *sizes, unsigned short *kinds,
                                           unsigned flags, void **depend)
{
    (void)n, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
    order(flags, depend);
}

/* The objects of interoperability that the construct makes or destroys become omp_interop_none, as all objects of the
 * host are. Those that it uses need nothing. */
PS_EXPORT void GOMP_interop(int device, int num_init, void ***init, const int *targetsync, const char **prefer,
                            int num_use, void **use, int num_destroy, void ***destroy, unsigned flags, void **depend)
{
    (void)device, (void)targetsync, (void)prefer, (void)num_use, (void)use;
    order(flags, depend);
    for (int i = 0; i < num_init; i++)
        *init[i] = NULL;
    for (int i = 0; i < num_destroy; i++)
        *destroy[i] = NULL;
}

PS_EXPORT void *GOMP_target_map_indirect_ptr(void *function) { return function; }

/* --- teams within target --- */

PS_EXPORT void GOMP_teams(unsigned num_teams, unsigned limit)
{
    (void)num_teams;
    ort_teams_next(1, limit, true);
}

PS_EXPORT bool GOMP_teams4(unsigned low, unsigned high, unsigned limit, bool first)
{
    (void)high;
    return ort_teams_next(low, limit, first);
}

/* --- images for other devices: ignored, since there are no such devices --- */

PS_EXPORT void GOMP_offload_register(const void *table, int type, const void *data)
{
    (void)table, (void)type, (void)data;
}

PS_EXPORT void GOMP_offload_unregister(const void *table, int type, const void *data)
{
    (void)table, (void)type, (void)data;
}

PS_EXPORT void GOMP_offload_register_ver(unsigned version, const void *table, int type, const void *data)
{
    (void)version, (void)table, (void)type, (void)data;
}

PS_EXPORT void GOMP_offload_unregister_ver(unsigned version, const void *table, int type, const void *data)
{
    (void)version, (void)table, (void)type, (void)data;
}
