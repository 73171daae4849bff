/* Thread-local blocks: made, entered, ended, used again. The contract is tls.h; the C library's layout is
 * tls_layout.c's.
 *
 * Does: keep the C library's view of a thread whole while a user-level thread runs on another thread's stack and core.
 * Does not: decide which thread has a block, nor when.
 *
 * States of a block: FREE (in the list) -> fresh (initial values; its character tables not yet set) -> used -> FREE. A
 * block's fields are its owner's; so are the few blocks that a vp keeps for its next threads (uth_tls_near). The free
 * list and the list of all blocks are under `lock`. The list of all is there for objects that dlopen brings into the
 * static part of every block (uth_tls_look_again). A fork takes both locks (init_lock first, as everywhere): the thread
 * that forks may have nothing to do with user-level threads, while another one is in the middle of these lists.
 *
 * Invariant: a block has the initial values of every loaded object when its thread begins (get_block says why). A
 * block of an ended thread is used again with its malloc cache (renew). Where memory is to go, a kernel thread takes
 * over that cache and ends (empty).
 *
 * Cost: a kernel thread's life (20 us) at one put in UTH_TLS_ONE_IN at most, at most once in UTH_TLS_CACHE_NS for a
 * block. Rejected: copying TLS segments out and in at each switch: one address would be the variable of several
 * threads. A kernel thread's own thread pointer for the first thread that it carries: that thread may migrate. */
#define _GNU_SOURCE
#include "tls_blocks.h"

#include "cpu.h"
#include "os.h"
#include "tls_images.h"
#include "tls_objects.h"
#include "uth.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the processor's ABI: where __tls_get_addr finds the vector of a thread's TLS blocks, and the number that
 * glibc registers an area for restartable sequences with. */
#if defined(__x86_64__)
#define DTV_FROM_TP 8
#define RSEQ_SIGNATURE 0x53053053u
#elif defined(__aarch64__)
#define DTV_FROM_TP 0
#define RSEQ_SIGNATURE 0xd428bc00u
#else
#define DTV_FROM_TP (-16)
#define RSEQ_SIGNATURE 0xf1401073u
#endif
struct dtv_entry {
    void *address; /* entry -1: number of entries; entry 0: generation */
    void *to_free;
};

#ifndef UTH_TLS_LOOK /* tests build with tiny ones */
#define UTH_TLS_LOOK 64
#define UTH_TLS_ONE_IN 8
#define UTH_TLS_CACHE_NS UINT64_C(10000000000)
#define UTH_TLS_IDLE_NS UINT64_C(30000000000)
#endif

struct uth_blocks uth_blocks;
_Atomic bool uth_tls_missing;
/* Under `lock`. */
static struct ps_list free_list = {&free_list, &free_list}; /* put last, taken first */
static unsigned times_put;
static uint64_t clock_ns; /* of the last look */
static _Atomic uint32_t last_number;

/* In each block: which one it is. */
static __thread struct uth_tls *current_block __attribute__((tls_model("initial-exec")));

bool uth_tls_enabled(void) { return ps_load_acquire(&uth_blocks.status) == UTH_BLOCKS_ON; }

/* --- making blocks --- */

static struct dtv_entry **dtv_of(const struct uth_tls *tls)
{
    return (struct dtv_entry **)((char *)tls->tp + DTV_FROM_TP);
}

#define NUMBERS 64 /* that a block takes at once: each of its threads has the next one */
#define BATCHES ((0x3fffffffu - UTH_TLS_FIRST_NUMBER) / NUMBERS) /* FUTEX_TID_MASK */

void uth_tls_number_blocks(void) { uth_blocks.numbered = true; }

static int first_of_batch(void)
{
    return (int)(UTH_TLS_FIRST_NUMBER + ps_add_relaxed(&last_number, NUMBERS) % (BATCHES * NUMBERS));
}

static int next_number(struct uth_tls *tls)
{
    if (PS_LIKELY(tls->numbers != 0)) {
        tls->numbers--;
        return tls->number + 1;
    }
    tls->numbers = NUMBERS - 1;
    return first_of_batch();
}

PS_NOINLINE struct uth_tls *uth_tls_current(void)
{
    struct uth_tls *tls = current_block;
    __asm__ volatile("" : "+r"(tls));
    return tls;
}

struct uth_tls **uth_tls_current_in(void *tp)
{
    ptrdiff_t from_tp = (char *)&current_block - (char *)cpu_get_tp();
    return (struct uth_tls **)(void *)((char *)tp + from_tp);
}

void uth_tls_adopt(struct uth_tls *tls, const void *home, int tid)
{
    *tls = (struct uth_tls){.tp = cpu_get_tp(), .adopted = true, .home = home, .number = tid, .carrier_tid = tid};
    tls->tid = (int *)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.tid);
    ps_store_relaxed(&tls->carrier, home);
    current_block = NULL;
}

void uth_tls_for_no_thread(struct uth_tls *tls, bool is)
{
    *uth_tls_current_in(tls->tp) = is ? NULL : tls;
    if (is && !uth_blocks.numbered) /* no vp enters it by uth_tls_enter, which writes a number */
        *tls->tid = first_of_batch();
}

struct uth_tls *uth_tls_of(uintptr_t pthread)
{
    if (!uth_blocks.numbered || ps_load_acquire(&uth_blocks.status) != UTH_BLOCKS_ON)
        return NULL;
    /* A kernel thread has NULL there. */
    return *uth_tls_current_in((char *)pthread - uth_blocks.layout.descriptor_from_tp);
}

void *uth_tls_robust_list(struct uth_tls *tls)
{
    return uth_blocks.layout.robust != 0 ? uth_tls_descriptor(tls) + uth_blocks.layout.robust : NULL;
}

int uth_tls_pose_as(struct uth_tls *tls, int tid)
{
    int before = *tls->tid;
    *tls->tid = tid != 0 ? tid : tls->number;
    return before;
}

/* Writes the descriptor as that of a thread that begins, around what the dynamic linker keeps there. */
static void write_descriptor(struct uth_tls *tls)
{
    char *descriptor = uth_tls_descriptor(tls);
    struct dtv_entry *dtv = *dtv_of(tls);
    if (tls->used && !uth_tls_any_key_used(tls)) {
        memcpy(descriptor, uth_blocks.layout.image, uth_blocks.layout.keys_from);
        memcpy(descriptor + uth_blocks.layout.keys_to, uth_blocks.layout.image + uth_blocks.layout.keys_to,
               uth_blocks.layout.descriptor_bytes - uth_blocks.layout.keys_to);
    } else {
        memcpy(descriptor, uth_blocks.layout.image, uth_blocks.layout.descriptor_bytes);
    }
    for (unsigned i = 0; i < uth_blocks.layout.own_pointers; i++)
        *(void **)(void *)(descriptor + uth_blocks.layout.own_pointer[i].at) =
            descriptor + uth_blocks.layout.own_pointer[i].to;
    *dtv_of(tls) = dtv;
    tls->tid = (int *)(void *)(descriptor + uth_blocks.layout.tid);
    if (uth_blocks.layout.resolver != 0)
        *(void **)(void *)((char *)tls->tp + uth_blocks.layout.resolver_pointer_from_tp) =
            descriptor + uth_blocks.layout.resolver;
    tls->number = uth_blocks.numbered ? next_number(tls) : 0;
    *tls->tid = tls->number;
    *uth_tls_current_in(tls->tp) = tls;
    ps_store_relaxed(&tls->dedicated, NULL);
    ps_store_relaxed(&tls->own, NULL);
    ps_store_relaxed(&tls->team, NULL);
    ps_store_relaxed(&tls->cached, NULL);
    tls->own_stack = NULL;
    tls->float_regions = 0;
    tls->stack = tls;                          /* none so far */
    if (uth_blocks.layout.rseq_from_tp != 0) { /* not registered */
        struct uth_tls_rseq *rseq = (void *)((char *)tls->tp + uth_blocks.layout.rseq_from_tp);
        rseq->cpu_id_start = 0;
        rseq->cpu_id = UTH_TLS_RSEQ_NO_CPU;
        rseq->rseq_cs = 0;
    }
}

static void wait_a_moment(void) { uth_tls_wait_ns(UTH_TLS_MOMENT_NS); }

struct uth_tls *uth_tls_make(void)
{
    struct uth_tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL)
        return NULL;
    tls->tp = uth_blocks.layout.allocate(NULL);
    if (tls->tp == NULL) {
        free(tls);
        return NULL;
    }
    tls->fresh = true;
    write_descriptor(tls);
    ps_spin_lock(&uth_blocks.lock);
    if (clock_ns == 0)
        clock_ns = os_now_ns(); /* the first of all: nothing is old yet */
    tls->since_ns = clock_ns;
    tls->next_of_all = uth_blocks.all;
    tls->link_of_all = &uth_blocks.all;
    if (uth_blocks.all != NULL)
        uth_blocks.all->link_of_all = &tls->next_of_all;
    uth_blocks.all = tls;
    ps_spin_unlock(&uth_blocks.lock);
    return tls;
}

/* Frees the second-level arrays of keys' values, which the C library allocates at need. The values are gone by now. */
static void free_key_arrays(struct uth_tls *tls)
{
    void **specific = (void **)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.specific);
    for (unsigned i = 1; i < PTHREAD_KEYS_MAX / UTH_TLS_KEYS_A_BLOCK; i++)
        if (PS_UNLIKELY(specific[i] != NULL)) {
            free(specific[i]);
            specific[i] = NULL;
        }
}

#define NOT_ALLOCATED ((void *)-1) /* in the vector: the module's block is made at the first use */

/* Frees the blocks of dlopened objects in the vector, which were made at the first use. */
static void free_dynamic(struct dtv_entry *dtv, size_t modules)
{
    for (size_t i = 1; i <= modules; i++)
        if (PS_UNLIKELY(dtv[i].to_free != NULL)) { /* a call for each of some dozens is felt */
            free(dtv[i].to_free);
            dtv[i] = (struct dtv_entry){NOT_ALLOCATED, NULL};
        }
}

/* Notes how the dynamic linker has just initialised the block, in epoch `now`; nothing was loaded meanwhile. */
static void note_initialised(struct uth_tls *tls, uint32_t now)
{
    struct dtv_entry *dtv = *dtv_of(tls);
    size_t entries = (size_t)dtv[-1].address;
    tls->vector = NULL;
    if (!uth_tls_images_usable())
        return;
    tls->modules = 0;
    for (size_t i = 1; i <= entries; i++) {
        if (dtv[i].address == NULL && dtv[i].to_free == NULL) /* no such module */
            continue;
        ptrdiff_t from_tp = (char *)dtv[i].address - (char *)tls->tp;
        if (dtv[i].to_free != NULL || (dtv[i].address != NOT_ALLOCATED && !uth_tls_images_have(i, from_tp)))
            return;
        tls->modules = i;
    }
    tls->vector = dtv;
    tls->generation = dtv[0].address;
    tls->epoch = now;
}

static void initialise_by_linker(struct uth_tls *tls, uint32_t now)
{
    unsigned char libc_state[UTH_TLS_MAX_LIBC_BYTES];
    char *libc_tls = (char *)tls->tp + uth_blocks.layout.libc_from_tp;
    struct dtv_entry *dtv = *dtv_of(tls);
    size_t entries = (size_t)dtv[-1].address;
    free_dynamic(dtv, entries);
    memset(dtv, 0, (entries + 1) * sizeof *dtv);
    bool keeps = !tls->emptied && !uth_blocks.layout.shared_segment; /* else it is emptied, or was never entered */
    if (keeps)
        memcpy(libc_state, libc_tls, uth_blocks.layout.libc_bytes);
    uth_blocks.layout.initialise(tls->tp, true);
    if (keeps)
        memcpy(libc_tls, libc_state, uth_blocks.layout.libc_bytes);
    note_initialised(tls, now);
}

/* The dynamic linker initialises a block in some 300 instructions, under locks. So note_initialised notes what the
 * dynamic linker has done, and this function does it again as long as the dynamic linker would do the same:
 * - nothing has been loaded since: `epoch` is the one that was noted;
 * - the thread has noticed no unloading: the vector is in the same place, of the same generation;
 * - every module that had a static place in the vector has an image in tls_images.h, and is in the same place.
 * False: the dynamic linker might do something else now. */
static bool initialise_quickly(struct uth_tls *tls, uint32_t now)
{
    struct dtv_entry *dtv = *dtv_of(tls);
    if (tls->vector != dtv || tls->epoch != now || dtv[0].address != tls->generation || tls->emptied)
        return false;
    free_dynamic(dtv, tls->modules);
    uth_tls_images_write(tls->tp, uth_blocks.layout.libc_from_tp);
    return true;
}

/* Makes the block as new. C++ and key destructors have run (uth_tls_end), so only values are left. Every object's TLS
 * segment gets its initial values again, except the C library's own. That segment holds the thread's malloc cache and
 * arena, which a thread would have to give back and fetch again. Nothing else that a thread could have left there
 * survives uth_tls_end. Blocks of dlopened objects (not in the static part) are freed, as when a kernel thread's stack
 * is used again. */
static void renew(struct uth_tls *tls, uint32_t now)
{
    if (uth_tls_any_key_used(tls))
        free_key_arrays(tls);
    if (!initialise_quickly(tls, now))
        initialise_by_linker(tls, now);
    write_descriptor(tls);
    tls->emptied = false;
    ps_store_relaxed(&tls->carrier, NULL);
    tls->fresh = true;
    tls->used = false;
}

/* The function of a kernel thread that has not allocated anything: takes the block's malloc state with it to its
 * end. */
static void *take_libc_state(void *block)
{
    struct uth_tls *tls = block;
    memcpy((char *)cpu_get_tp() + uth_blocks.layout.libc_from_tp, (char *)tls->tp + uth_blocks.layout.libc_from_tp,
           uth_blocks.layout.libc_bytes);
    return NULL;
}

/* Not inlined, so that the compiler keeps nothing of the thread pointer from the caller. */
static PS_NOINLINE void free_state_inside(const struct uth_tls *tls)
{
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS); /* no thread runs here that a handler could be for */
    void *own = cpu_get_tp();
    cpu_set_tp(tls->tp);
    uth_blocks.layout.free_state();
    cpu_set_tp(own);
    os_set_signal_mask(mask);
}

/* Frees the malloc cache of a block. Only the C library can do that, at a kernel thread's end. So a kernel thread is
 * started, takes over the C library's TLS segment of the block (pointers, so a copy will do), and ends. In a static
 * program the C library's function for that end can be called. False: the system gives no kernel thread for that, and
 * the cache stays. */
static bool empty(struct uth_tls *tls)
{
    os_thread thread;
    if (!tls->emptied && uth_blocks.layout.shared_segment) {
        free_state_inside(tls);
        tls->emptied = true;
    }
    if (!tls->emptied && os_thread_start(&thread, take_libc_state, tls, 0, true) == 0) {
        os_thread_join(thread);
        tls->emptied = true;
    }
    return tls->emptied;
}

static void unlist_locked(struct uth_tls *tls)
{
    *tls->link_of_all = tls->next_of_all;
    if (tls->next_of_all != NULL)
        tls->next_of_all->link_of_all = tls->link_of_all;
}

static void unmake_block(struct uth_tls *tls)
{
    ps_spin_lock(&uth_blocks.lock);
    unlist_locked(tls);
    ps_spin_unlock(&uth_blocks.lock);
    free_key_arrays(tls);
    empty(tls); /* or its malloc cache, some KiB, is lost */
    uth_blocks.layout.deallocate(tls->tp, true);
    free(tls);
}

/* --- the cache --- */

/* Returns the present epoch; all that has been loaded has been looked at in it. */
static uint32_t look(void)
{
    for (;;) {
        uint32_t now = ps_load_acquire(&uth_blocks.epoch);
        if (PS_LIKELY(now % 2 == 0 && uth_tls_objects_same(ps_load_relaxed(&uth_tls_watch.seen))))
            return now;
        uth_tls_look_again();
        now = ps_load_acquire(&uth_blocks.epoch);
        if (now % 2 == 0) /* else another one is about to look at what has come behind this look */
            return now;
    }
}

/* Whether something has been loaded since look() gave `then`. */
static bool looked_at_more(uint32_t then)
{
    if (PS_LIKELY(os_fence_all_ready()))
        __asm__ volatile("" ::: "memory");
    else
        ps_fence_seq();
    return PS_UNLIKELY(ps_load_relaxed(&uth_blocks.epoch) != then);
}

static struct uth_tls *pop_free(void)
{
    struct uth_tls *tls = NULL;
    ps_spin_lock(&uth_blocks.lock);
    if (!ps_list_empty(&free_list))
        tls = PS_CONTAINER_OF(ps_list_pop_front(&free_list), struct uth_tls, in_free);
    ps_spin_unlock(&uth_blocks.lock);
    return tls;
}

/* Returns a block that was given back, or a new one if the system allows that within `tries` tries.
 *
 * epoch is even; it is odd while the thread that has found a newly loaded object looks at it (under init_lock).
 *   here       1. reads epoch: even   2. writes the block         3. reads epoch: the same, else begins again
 *   look again a. makes epoch odd     b. writes all blocks        c. makes epoch even (release)
 * A fence stands between 2 and 3, and one between a and b; with os_fence_all in b the first one is the compiler's. So
 * if 3 misses a, all that 2 has written is older than what b writes. */
static PS_ALWAYS_INLINE struct uth_tls *get_block(struct uth_tls_near *near, int tries)
{
    uint32_t now = look(); /* so that no later look finds a segment new that this block begins with */
    struct uth_tls *tls = near != NULL && near->num != 0 ? near->block[--near->num] : pop_free();
    for (int i = 0; tls == NULL && i < tries; i++) {
        if (i > 0)
            wait_a_moment();
        tls = uth_tls_make();
    }
    if (tls == NULL)
        return NULL;
    /* A block that was emptied and not used was given back unentered: it had the malloc state of its last thread, and a
     * fork lost that state. */
    if (tls->used || tls->emptied)
        renew(tls, now);
    while (looked_at_more(now)) {
        now = look();
        renew(tls, now);
    }
    return tls;
}

struct uth_tls *uth_tls_get(struct uth_tls_near *near)
{
    struct uth_tls *tls = get_block(near, UTH_TLS_TRIES);
    if (PS_UNLIKELY(tls == NULL))
        ps_store_relaxed(&uth_tls_missing, true);
    return tls;
}

struct uth_tls *uth_tls_try_get(void) { return get_block(NULL, 1); }

/* Takes out the block that has been free longest; NULL: none has been free long enough. */
static struct uth_tls *take_idle_locked(void)
{
    if (ps_list_empty(&free_list))
        return NULL;
    struct uth_tls *last = PS_CONTAINER_OF(free_list.prev, struct uth_tls, in_free);
    if (clock_ns - last->put_ns <= UTH_TLS_IDLE_NS)
        return NULL;
    ps_list_remove(&last->in_free);
    return last;
}

static void push_locked(struct uth_tls *tls)
{
    tls->put_ns = clock_ns;
    ps_list_push_front(&free_list, &tls->in_free);
}

/* A malloc cache holds up to seven pieces of memory of each of 64 sizes, 230 KiB, and fills with what threads free.
 * Blocks go from thread to thread, so all caches fill up in time. One put in UTH_TLS_ONE_IN therefore looks after
 * memory (one, so that a wide team's end does not wait for hundreds of kernel threads). If some block has been free
 * for UTH_TLS_IDLE_NS, the one that has been free longest is unmade. Else the block that is put is emptied, if its
 * cache is older than UTH_TLS_CACHE_NS. The clock is read at one put in UTH_TLS_LOOK. What threads hold that live on -
 * a hot team's members - is theirs, as a kernel thread's would be.
 *
 * In a static program no block keeps its cache, which is among the variables that get initial values again. So each
 * block is emptied, without a kernel thread. */
static PS_NOINLINE void put_tidily(struct uth_tls *tls)
{
    ps_spin_lock(&uth_blocks.lock);
    struct uth_tls *idle = take_idle_locked();
    uint64_t now_ns = clock_ns;
    ps_spin_unlock(&uth_blocks.lock);
    if (idle != NULL)
        unmake_block(idle);
    else if (now_ns - tls->since_ns > UTH_TLS_CACHE_NS && empty(tls))
        tls->since_ns = now_ns;
    if (uth_blocks.layout.shared_segment)
        empty(tls);
    ps_spin_lock(&uth_blocks.lock);
    push_locked(tls);
    ps_spin_unlock(&uth_blocks.lock);
}

void uth_tls_put(struct uth_tls *tls)
{
    ps_spin_lock(&uth_blocks.lock);
    unsigned nth = ++times_put;
    if (PS_UNLIKELY(nth % UTH_TLS_LOOK == 0))
        clock_ns = os_now_ns();
    bool tidily = nth % UTH_TLS_ONE_IN == 0 || uth_blocks.layout.shared_segment;
    if (PS_LIKELY(!tidily))
        push_locked(tls);
    ps_spin_unlock(&uth_blocks.lock);
    if (PS_UNLIKELY(tidily))
        put_tidily(tls);
}

bool uth_tls_keep(struct uth_tls_near *near, struct uth_tls *tls)
{
    if (PS_UNLIKELY(near->num == UTH_TLS_NEAR || ++near->puts % UTH_TLS_ONE_IN == 0 ||
                    uth_blocks.layout.shared_segment))
        return false;
    near->block[near->num++] = tls;
    return true;
}

void uth_tls_drain(struct uth_tls_near *near)
{
    while (near->num != 0)
        uth_tls_put(near->block[--near->num]);
}

void uth_tls_trim(void)
{
    for (struct uth_tls *tls; (tls = pop_free()) != NULL;)
        unmake_block(tls);
}

/* --- fork --- */

void uth_tls_before_fork(void)
{
    ps_spin_lock(&uth_blocks.init_lock);
    ps_spin_lock(&uth_blocks.lock);
}

void uth_tls_after_fork(void)
{
    ps_spin_unlock(&uth_blocks.lock);
    ps_spin_unlock(&uth_blocks.init_lock);
}

struct uth_tls *uth_tls_after_fork_in_child(void *carrier)
{
    struct uth_tls *own = NULL;
    /* The C library counts the arenas of threads that are gone as free. A thread that went on with such a cache, or
     * gave one back, would make that count wrong by one. The child loses these caches, as with kernel threads. */
    for (struct uth_tls *tls = uth_blocks.all; tls != NULL; tls = tls->next_of_all) {
        ps_store_relaxed(&tls->dedicated, NULL);
        ps_store_relaxed(&tls->own, NULL);
        tls->own_stack = NULL; /* left alone, as all stacks of the parent's other threads */
        if (tls->tp != cpu_get_tp())
            tls->emptied = true;
        else
            own = tls;
    }
    if (own != NULL) { /* fork has made the C library's only thread of it: its number, its list of robust mutexes */
        own->number = *own->tid;
        own->numbers = 0; /* those behind it are kernel threads' */
        current_block = NULL;
        unlist_locked(own);
    }
    /* The kernel goes on writing the processor's number to the place that the carrier registered. Where the carrier is
     * not the initial thread, that place is in a stack which the C library counts as free from now on. */
    if (carrier != NULL && cpu_get_tp() != carrier && uth_blocks.layout.rseq_from_tp != 0)
        os_rseq_forget((char *)carrier + uth_blocks.layout.rseq_from_tp, sizeof(struct uth_tls_rseq), RSEQ_SIGNATURE);
    return own;
}
