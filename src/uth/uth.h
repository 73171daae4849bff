/* UTHLIB: underlying threads - a stack, a context, and the place of a thread-local block - behind one contract.
 *
 * An underlying thread (uth) knows no scheduler: the room that binds it to a thread's descriptor decides what runs on
 * it. Stacks are made late, come from a cache of the virtual processor, its magazine (magazine.h), and are given back
 * to the system when idle.
 * Papers: psthreads-2009 sections 2.1 and 2.3 (separate stack and descriptor, local recycling); nthlib-2004 section 2.
 *
 * Life of a uth:
 *   uth_get -> uth_start -> uth_switch to it ... -> (not running any more) uth_put, or uth_start again (stack handoff
 *   by re-initialisation).
 *   uth_adopt: stands for a kernel thread's own stack; never put; uth_release at the end.
 *
 * A uth may be touched by the kernel thread that runs on it, or, while it does not run, by its one owner. `running` is
 * the hand-over: the switching side clears it (release) once the context is saved (uth_switched, called on the other
 * side). A vp that wants to switch to the uth looks until it reads 0 (acquire), for no longer than a switch takes;
 * then it does something else (uth_saved_soon). */
#ifndef PS_UTH_H
#define PS_UTH_H

#include "uth_struct.h"

/* Whether there is room for a call of another thread at `here`, an address in the caller's frame. False on a stack that
 * is not u's: a coroutine's, of unknown size. */
static inline bool uth_has_room(const struct uth *u, const void *here)
{
    return (uintptr_t)here - u->call_floor < u->call_span;
}

struct uth_cache {
    struct ps_magazine stacks;
    size_t stack_bytes; /* of each of them */
};

/* Called once in a process, before anything else here. default_stack_bytes: usable size of a uth's stack (rounded to
 * pages). While stacks of the default size exist, that size stays; with none, a call sets it anew. */
void uth_init(size_t default_stack_bytes);
size_t uth_default_stack_bytes(void);

/* Every stack that exists, for debuggers and reports: a list of chunks that only grows, each slot empty or a uth. A
 * reader that does not stop the process must expect a uth to be unmapped under its eyes. */
#define UTH_CHUNK_SLOTS 508
struct uth_chunk {
    _Atomic(struct uth_chunk *) next; /* written once (release) */
    _Atomic uint32_t used;            /* slots taken, or about to be; a hint */
    uint32_t first;                   /* number of its first slot; constant */
    _Atomic(struct uth *) slot[UTH_CHUNK_SLOTS];
};
extern struct uth_chunk uth_registry;

/* Visits u, whose context is saved and whose block is `tls`: the context stays saved until uth_visited. A thread that
 * is to continue the context waits, or finds that it is not saved yet. False: u runs, or is about to, as far as can be
 * seen now. Any kernel thread; one visitor of a block at a time. */
bool uth_visit(struct uth *u, const struct uth_tls *tls);
void uth_visited(struct uth *u);
/* Visits whichever registered uth has the block `tls`; NULL: none. [no stack is unmapped meanwhile] */
struct uth *uth_visit_any(const struct uth_tls *tls);
/* Called when objects have been loaded: stacks hold code from then on where one of the objects asks for it. One caller
 * at a time. */
void uth_stacks_look_again(void);

void uth_cache_init(struct uth_cache *cache);
/* Gives everything back to the system. */
void uth_cache_drain(struct uth_cache *cache);
/* Gives a cache's stacks back when its owner ends: a few stay for later owners like it, the rest go to the system. */
void uth_cache_leave(struct uth_cache *cache);
/* Keeps at most `keep` stacks, the rest go to the shared list or to the system. Called by a vp about to park. */
void uth_cache_trim(struct uth_cache *cache, unsigned keep);

/* Maps up to n more stacks of the default size; they stand in the shared list, where every vp finds them. */
void uth_add(size_t n);
/* Stacks of the default size that exist. */
size_t uth_mapped(void);
/* Says that hardly more stacks are to be had: from now on caches keep none. */
void uth_scarce(void);

/* Returns a uth with the default stack size, from the cache, the shared list or the system. NULL: no memory. Only the
 * cache's owner calls it. */
struct uth *uth_get(struct uth_cache *cache);
/* Returns a uth with a stack of its own size (not cached: unmapped by uth_put). NULL: no memory. */
struct uth *uth_get_sized(size_t stack_bytes);
void uth_put(struct uth_cache *cache, struct uth *u);
/* Called in a forked child: leaves alone for good what was shared. */
void uth_after_fork_in_child(void);

/* uth_area_take gets a place at the far end of u's stack, for what is to run there while a thread runs above it:
 * area.c. False: there is none. The caller knows of a thread on u's stack that cannot go on meanwhile. */
#define UTH_AREAS 8
struct uth_area {
    struct uth *of;
    unsigned number;
    uintptr_t start;
    size_t bytes;
};
bool uth_area_take(struct uth *u, struct uth_area *area);
void uth_area_put(const struct uth_area *area);
/* Sets the bounds of u's stack: `stack_bytes` from `low` on. Caller: the owner of an adopted stack, before any caller
 * takes an area. */
void uth_areas_at(struct uth *u, uintptr_t low, size_t stack_bytes);

/* (Re-)initialises u so that the first switch to it starts entry(transfer, arg) on an empty stack. u does not run.
 * 0 or a positive errno value (only the port with kernel threads can fail). */
int uth_start(struct uth *u, cpu_entry_fn *entry, void *arg);

/* Makes *u stand for the calling kernel thread's own stack, which runs now. 0 or a positive errno value. */
int uth_adopt(struct uth *u);
void uth_release(struct uth *u);

/* Leaves `from` (the caller's) and continues `to` (not running, no other vp's); `transfer` comes out there. `dying`:
 * from will not be resumed as it is now (it is put or restarted next). The other side must call uth_switched(from)
 * first: a resumed context gets `transfer` as result of uth_switch, a new one as its entry's argument. */
static inline void *uth_switch(struct uth *from, struct uth *to, void *transfer, bool dying);
/* uth_switch in two steps. From uth_claim on no kernel thread begins to visit `to` (uth_visit: a visitor handles a
 * signal below to's saved stack). False: a visitor is there, for which the caller has to wait (uth_await_visitor). The
 * visitor is in to's thread-local block, and writes there. So a caller that enters this block enters it between the two
 * steps. */
static inline bool uth_claim(struct uth *to);
static inline void *uth_switch_claimed(struct uth *from, struct uth *to, void *transfer, bool dying);
/* Ends the switch away from `from`; called first on the new stack. Closes the sanitizers' bracket for `self` and clears
 * from->running (release). */
static inline void uth_switched(struct uth *from, struct uth *self);
/* Waits until u's context is saved, but no longer than a switch takes. False: it is not saved yet. */
static inline bool uth_saved_soon(struct uth *u);
bool uth_saved_soon_slow(struct uth *u);
void uth_await_visitor(struct uth *u);

/* --- stack overflow --- */

/* Installs a SIGSEGV handler (only where the disposition is the default) and an alternate stack for the calling kernel
 * thread (only where it has none). On a fault in the guard page of the stack that runs, `describe` writes into buf what
 * the thread is. Then one line tells the stack's size, and the variable that raises it. Then comes the default action.
 * Any other fault: the default action, as if no handler were there. */
typedef void uth_describe_fn(char *buf, size_t bytes);
/* Returns the uth that runs on the calling kernel thread, or NULL. A function of src/psthreads; async-signal-safe. */
typedef struct uth *uth_current_fn(void);
void uth_overflow_install(uth_current_fn *current, uth_describe_fn *describe, const char *variable);
/* For each kernel thread that will run uths, at its start and end. */
void uth_overflow_thread_init(void);
/* Whether `stack` is the alternate stack that was installed for the calling kernel thread. */
bool uth_overflow_is_ours(const void *stack);
/* Whether this handler of SIGSEGV is the one that has been installed. */
bool uth_overflow_handles(uintptr_t handler);
void uth_overflow_thread_fini(void);
/* Gives alternate stacks that kernel threads have left for others to the system. */
void uth_overflow_drain(void);

#include "uth_switch.h"

#endif
