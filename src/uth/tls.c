/* Thread-local blocks are made, cached, used again and freed here. The contract is tls.h; tls_layout.c knows the C
 * library's layout.
 *
 * Does: keep the C library's view of a thread whole while a user-level thread runs on one kernel thread after the
 * other. Does not: decide which thread has a block, nor when.
 *
 * States of a block: FREE (in the list) -> fresh (initial values; its character tables not yet set) -> used -> FREE. A
 * block's fields belong to its owner, as do the few blocks that a vp keeps for its next threads (uth_tls_near). The
 * free list and the list of all blocks are under `lock`. The list of all is for objects that dlopen brings into the
 * static part of every block (uth_tls_look_again). A fork takes both locks (init_lock first, as everywhere), because
 * another kernel thread may be in the middle of these lists when a thread forks.
 *
 * Invariant: a block has the initial values of every loaded object when its thread begins (get_block says why). The
 * block of an ended thread is used again with its malloc cache (renew). To return memory to the system, a kernel thread
 * is started that takes over that cache and ends (empty).
 *
 * Cost: a kernel thread's life (20 us) at one put in UTH_TLS_ONE_IN at most, at most once in UTH_TLS_CACHE_NS for a
 * block. Rejected: to copy TLS segments out and in at each switch (one address would be the variable of several
 * threads). To give a kernel thread's own thread pointer to the first thread that it carries (that thread may
 * migrate). */
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

/* Parts of the processor's ABI. DTV_FROM_TP: where, from the thread pointer, __tls_get_addr finds the pointer to a
 * thread's vector of TLS blocks. RSEQ_SIGNATURE: the number with which glibc registers an area for restartable
 * sequences. */
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
    void *address; /* in entry -1: the number of entries; in entry 0: the vector's generation */
    void *to_free;
};

#ifndef UTH_TLS_LOOK /* tests are built with tiny values */
#define UTH_TLS_LOOK 64
#define UTH_TLS_ONE_IN 8
#define UTH_TLS_CACHE_NS UINT64_C(10000000000)
#define UTH_TLS_IDLE_NS UINT64_C(30000000000)
#endif

struct uth_blocks uth_blocks;
_Atomic bool uth_tls_missing;
/* The next three variables are under uth_blocks.lock. */
static struct ps_list free_list = {&free_list, &free_list}; /* the block that was put last is taken first */
static unsigned times_put;
static uint64_t clock_ns; /* the time at the last put that read the clock; at first, when the first block was made */
static _Atomic uint32_t last_number;

/* In each block's storage: that block, or NULL while the block serves a kernel thread that runs no thread
 * (uth_tls_for_no_thread). In a kernel thread's own storage: NULL, or the block that adopted this storage while another
 * kernel thread is in it. */
static __thread struct uth_tls *current_block __attribute__((tls_model("initial-exec")));

bool uth_tls_enabled(void) { return ps_load_acquire(&uth_blocks.status) == UTH_BLOCKS_ON; }

/* --- making blocks --- */

static struct dtv_entry **dtv_of(const struct uth_tls *tls)
{
    return (struct dtv_entry **)((char *)tls->tp + DTV_FROM_TP);
}

#define NUMBERS 64 /* numbers that a block takes at once; each thread that uses the block gets the next one */
#define BATCHES ((0x3fffffffu - UTH_TLS_FIRST_NUMBER) / NUMBERS) /* 0x3fffffff: FUTEX_TID_MASK */

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
    if (is && !uth_blocks.numbered) /* the vps that use it do not call uth_tls_enter, which would write a number */
        *tls->tid = first_of_batch();
}

struct uth_tls *uth_tls_of(uintptr_t pthread)
{
    if (!uth_blocks.numbered || ps_load_acquire(&uth_blocks.status) != UTH_BLOCKS_ON)
        return NULL;
    /* Reads current_block in that thread's storage. */
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

/* Makes the descriptor that of a thread that begins, with a number of its own, and resets the fields of *tls that
 * belong to one thread. Keeps the pointer to the vector of TLS blocks, which the dynamic linker has written (on x86-64
 * into the descriptor). Skips the values of keys if the block's last thread has used no key. */
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
    tls->stack = tls;                          /* no stack so far */
    if (uth_blocks.layout.rseq_from_tp != 0) { /* the kernel does not know this area */
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
        clock_ns = os_now_ns(); /* the first block of all: nothing is old yet */
    tls->since_ns = clock_ns;
    tls->next_of_all = uth_blocks.all;
    tls->link_of_all = &uth_blocks.all;
    if (uth_blocks.all != NULL)
        uth_blocks.all->link_of_all = &tls->next_of_all;
    uth_blocks.all = tls;
    ps_spin_unlock(&uth_blocks.lock);
    return tls;
}

/* Frees the second-level arrays of keys' values, which the C library allocates when they are needed. The values are
 * gone by now. */
static void free_key_arrays(struct uth_tls *tls)
{
    void **specific = (void **)(void *)(uth_tls_descriptor(tls) + uth_blocks.layout.specific);
    for (unsigned i = 1; i < PTHREAD_KEYS_MAX / UTH_TLS_KEYS_A_BLOCK; i++)
        if (PS_UNLIKELY(specific[i] != NULL)) {
            free(specific[i]);
            specific[i] = NULL;
        }
}

/* Address in the vector's entry of a module whose TLS block has not been made: the dynamic linker makes it at the first
 * use. */
#define NOT_ALLOCATED ((void *)-1)

/* Frees the TLS blocks of dlopened objects, which the dynamic linker made at their first use. */
static void free_dynamic(struct dtv_entry *dtv, size_t modules)
{
    for (size_t i = 1; i <= modules; i++)
        /* Tested first: a call of free for each of some dozens of modules would cost noticeable time. */
        if (PS_UNLIKELY(dtv[i].to_free != NULL)) {
            free(dtv[i].to_free);
            dtv[i] = (struct dtv_entry){NOT_ALLOCATED, NULL};
        }
}

/* Notes how the dynamic linker has just initialised the block, for initialise_quickly. `now` is the epoch from before.
 * (If something was loaded meanwhile, get_block renews the block again.) tls->vector becomes NULL if the copied images
 * may not be used, or the segment of some module in the static part is not among them. */
static void note_initialised(struct uth_tls *tls, uint32_t now)
{
    struct dtv_entry *dtv = *dtv_of(tls);
    size_t entries = (size_t)dtv[-1].address;
    tls->vector = NULL;
    if (!uth_tls_images_usable())
        return;
    tls->modules = 0;
    for (size_t i = 1; i <= entries; i++) {
        if (dtv[i].address == NULL && dtv[i].to_free == NULL) /* no module has this number */
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
    /* If `keeps` is false, the C library's segment gets initial values, too, because the block was emptied or the
     * program is static. */
    bool keeps = !tls->emptied && !uth_blocks.layout.shared_segment;
    if (keeps)
        memcpy(libc_state, libc_tls, uth_blocks.layout.libc_bytes);
    uth_blocks.layout.initialise(tls->tp, true);
    if (keeps)
        memcpy(libc_tls, libc_state, uth_blocks.layout.libc_bytes);
    note_initialised(tls, now);
}

/* Gives the block's segments their initial values without the dynamic linker, which takes some 300 instructions for
 * that, under locks. note_initialised has noted what the dynamic linker did last. This function does it again if the
 * dynamic linker would do the same, that is if:
 * - nothing has been loaded since: `epoch` is the one that was noted;
 * - the thread has noticed no unloading: the vector is in the same place, of the same generation;
 * - every module that had a static place in the vector has an image in tls_images.h, and is in the same place;
 * - the block was not emptied: otherwise the C library's segment would need initial values as well.
 * False: the dynamic linker might do something else now, and nothing was changed. */
static bool initialise_quickly(struct uth_tls *tls, uint32_t now)
{
    struct dtv_entry *dtv = *dtv_of(tls);
    if (tls->vector != dtv || tls->epoch != now || dtv[0].address != tls->generation || tls->emptied)
        return false;
    free_dynamic(dtv, tls->modules);
    uth_tls_images_write(tls->tp, uth_blocks.layout.libc_from_tp);
    return true;
}

/* Makes a block as new. C++ and key destructors have run (uth_tls_end), so only values are left. Every object's TLS
 * segment gets its initial values again. The C library's own segment keeps its values, unless the block was emptied or
 * the program is static: it holds the thread's malloc cache and arena, which a new thread would otherwise have to fetch
 * again. Nothing else that a thread could have left there survives uth_tls_end. Blocks of dlopened objects (not in the
 * static part) are freed, as the C library does when it uses a kernel thread's stack again. */
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

/* The function of a kernel thread that has not allocated anything. Copies the block's malloc state into its own
 * storage. When this kernel thread ends, the C library frees that state. */
static void *take_libc_state(void *block)
{
    struct uth_tls *tls = block;
    memcpy((char *)cpu_get_tp() + uth_blocks.layout.libc_from_tp, (char *)tls->tp + uth_blocks.layout.libc_from_tp,
           uth_blocks.layout.libc_bytes);
    return NULL;
}

/* Calls the C library's free_state in the block. Not inlined, so that the compiler keeps no address that was computed
 * from the caller's thread pointer. */
static PS_NOINLINE void free_state_inside(const struct uth_tls *tls)
{
    /* No thread runs in this block, so no handler of the program may run here: signals are blocked. */
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    void *own = cpu_get_tp();
    cpu_set_tp(tls->tp);
    uth_blocks.layout.free_state();
    cpu_set_tp(own);
    os_set_signal_mask(mask);
}

/* Frees the malloc cache of a block. Only the C library can do that, when a kernel thread ends. So a kernel thread is
 * started, which takes over the block's TLS segment of the C library (it holds pointers, so a copy will do), and ends.
 * In a static program the C library's function for that end is called directly. False: the system refuses a kernel
 * thread for now, and the cache stays. */
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
    empty(tls); /* if that fails, the block's malloc cache, some KiB, is lost */
    uth_blocks.layout.deallocate(tls->tp, true);
    free(tls);
}

/* --- the cache --- */

/* Returns the present epoch, which is even: all objects loaded so far have been looked at. */
static uint32_t look(void)
{
    for (;;) {
        uint32_t now = ps_load_acquire(&uth_blocks.epoch);
        if (PS_LIKELY(now % 2 == 0 && uth_tls_objects_same(ps_load_relaxed(&uth_tls_watch.seen))))
            return now;
        uth_tls_look_again();
        now = ps_load_acquire(&uth_blocks.epoch);
        if (now % 2 == 0) /* if it is odd, another thread is looking at objects that were loaded after this look */
            return now;
    }
}

/* Returns true if a look at newly loaded objects has begun since look() returned `then`. */
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

/* Returns a block that was given back, or a new one. NULL: the system has refused memory `tries` times.
 *
 * epoch is even; it is odd while a thread that has found a newly loaded object looks at it (look_at_objects, under
 * init_lock).
 *    this function   1. reads epoch: even   2. writes the block   3. reads epoch; begins again if it has changed
 *    the look        a. makes epoch odd     b. writes all blocks  c. makes epoch even (release)
 * A fence stands between 2 and 3, and one between a and b. Where os_fence_all works, the look makes its fence in all
 * kernel threads, and the fence between 2 and 3 is only the compiler's. So if 3 does not see a, all that 2 has written
 * is older than what b writes. */
static PS_ALWAYS_INLINE struct uth_tls *get_block(struct uth_tls_near *near, int tries)
{
    /* This comes first. So each segment that this block begins with has been seen, and no later look initialises it
     * again. */
    uint32_t now = look();
    struct uth_tls *tls = near != NULL && near->num != 0 ? near->block[--near->num] : pop_free();
    for (int i = 0; tls == NULL && i < tries; i++) {
        if (i > 0)
            wait_a_moment();
        tls = uth_tls_make();
    }
    if (tls == NULL)
        return NULL;
    /* A forked child marks blocks as emptied. Such a block may be unused: it had been renewed, and no thread had
     * entered it. */
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

/* Takes the block that has been free longest out of the free list. NULL: no block has been free for UTH_TLS_IDLE_NS. */
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

/* Gives a block back, and looks whether memory can be returned to the system.
 *
 * A malloc cache holds up to seven pieces of memory of each of 64 sizes, 230 KiB in all, and fills with what threads
 * free. Blocks go from thread to thread, so in time all caches are full. Therefore one put in UTH_TLS_ONE_IN calls this
 * function. It frees at most one cache, so that the end of a wide team does not wait for hundreds of kernel threads. If
 * some block has been free for UTH_TLS_IDLE_NS, the one that has been free longest is unmade. Otherwise the block that
 * is put is emptied, if its cache is older than UTH_TLS_CACHE_NS. The clock is read at one put in UTH_TLS_LOOK. Blocks
 * that threads keep while they live (a hot team's members) are not touched, as a kernel thread's cache would not be.
 *
 * In a static program no block can keep its cache, which is among the variables that get initial values again. So each
 * block is emptied at each put, without a kernel thread. */
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
    /* The C library counts the arenas of threads that do not exist in the child as free. The blocks of such threads
     * still have malloc caches. If a thread used such a cache, or gave it back, the count would be wrong by one. So the
     * child loses these caches, as it loses those of kernel threads. */
    for (struct uth_tls *tls = uth_blocks.all; tls != NULL; tls = tls->next_of_all) {
        ps_store_relaxed(&tls->dedicated, NULL);
        ps_store_relaxed(&tls->own, NULL);
        tls->own_stack = NULL; /* never used again, like all stacks of the parent process's other threads */
        if (tls->tp != cpu_get_tp())
            tls->emptied = true;
        else
            own = tls;
    }
    /* Fork has made this block the storage of the C library's only thread, with that thread's number and list of robust
     * mutexes. */
    if (own != NULL) {
        own->number = *own->tid;
        own->numbers = 0; /* `number` is a kernel thread's now, so the next numbers are not the block's */
        current_block = NULL;
        unlist_locked(own);
    }
    /* The kernel goes on writing the processor's number to the area that the kernel thread (`carrier`) registered. If
     * it is not the initial thread, that area is in a stack which the C library counts as free from now on. So the area
     * is unregistered. */
    if (carrier != NULL && cpu_get_tp() != carrier && uth_blocks.layout.rseq_from_tp != 0)
        os_rseq_forget((char *)carrier + uth_blocks.layout.rseq_from_tp, sizeof(struct uth_tls_rseq), RSEQ_SIGNATURE);
    return own;
}
