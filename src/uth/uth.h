/* UTHLIB: underlying threads. A uth is a stack, a context, and the place of a thread-local block, behind one contract.
 *
 * An underlying thread (uth) knows no scheduler: src/psthreads, which binds it to a thread's descriptor, decides what
 * runs on it. A stack is made when it is first needed, comes from a cache of the vp, its magazine (magazine.h), and is
 * given back to the system when it is idle.
 * Papers: psthreads-2009 sections 2.1 and 2.3 (separate stack and descriptor, local recycling); nthlib-2004 section 2.
 *
 * Life of a uth:
 *   uth_get -> uth_start -> uth_switch to it ... -> (not running any more) uth_put, or uth_start again (stack handoff
 *   by re-initialisation).
 *   uth_adopt: the uth stands for a kernel thread's own stack. It is never put; uth_release ends it.
 *
 * While a uth runs, only the kernel thread that runs on it may touch it. While it does not run, only its one owner may.
 * (Any kernel thread may use its atomic fields, as visitors do.) `running` hands the uth over: the vp that has switched
 * away clears it (release) once the context is saved (uth_switched, called on the stack that the switch has led to). A
 * vp that wants to switch to the uth reads `running` until it is 0 (acquire), but no longer than a switch takes
 * (uth_saved_soon). If that was not enough, it does other work first. */
#ifndef PS_UTH_H
#define PS_UTH_H

#include "uth_struct.h"

/* Returns true if u's stack has room for a call of another thread. `here` is an address in the caller's frame. False as
 * well if `here` is not on u's stack: then the caller runs on a coroutine's stack, of unknown size. */
static inline bool uth_has_room(const struct uth *u, const void *here)
{
    return (uintptr_t)here - u->call_floor < u->call_span;
}

struct uth_cache {
    struct ps_magazine stacks;
    size_t stack_bytes; /* of each stack */
};

/* Called before anything else here. default_stack_bytes: usable size of a uth's stack (rounded up to pages). A later
 * call changes this size only while no stack of the default size exists. */
void uth_init(size_t default_stack_bytes);
size_t uth_default_stack_bytes(void);

/* Every uth of make_uth, for debuggers, reports and uth_visit_any: a list of chunks that only grows. A uth is missing
 * if there was no memory for its slot. A slot is NULL or a uth. A reader that does not stop the process must expect
 * that a uth is unmapped while it reads. */
#define UTH_CHUNK_SLOTS 508
struct uth_chunk {
    _Atomic(struct uth_chunk *) next; /* the next chunk; written once (release) */
    _Atomic uint32_t used;            /* about how many slots are taken; a hint */
    uint32_t first;                   /* number of its first slot; constant */
    _Atomic(struct uth *) slot[UTH_CHUNK_SLOTS];
};
extern struct uth_chunk uth_registry;

/* Begins a visit of u, whose context is saved and whose block is `tls`: the context stays saved until uth_visited. A vp
 * that is to continue the context meanwhile waits for the visitor (uth_await_visitor), or treats the context as not
 * saved yet (uth_saved_soon). False: u runs or is about to run, as far as can be seen now, or has another block. Any
 * kernel thread may call it, but only one at a time visits a block. */
bool uth_visit(struct uth *u, const struct uth_tls *tls);
void uth_visited(struct uth *u);
/* Begins a visit of the registered uth that has the block `tls`, and returns it. NULL: no registered uth has it, or
 * that uth runs. [no stack is unmapped during the call] */
struct uth *uth_visit_any(const struct uth_tls *tls);
/* Called when objects have been loaded. If one of them asks for it, all stacks are executable from now on. One caller
 * at a time. */
void uth_stacks_look_again(void);

void uth_cache_init(struct uth_cache *cache);
/* Gives all stacks of the cache, and all shared ones, back to the system. */
void uth_cache_drain(struct uth_cache *cache);
/* Gives a cache's stacks back when its owner ends. At most PS_FREE_SLOTS of them are kept for later owners, the others
 * go to the system. So do shared stacks beyond that number. */
void uth_cache_leave(struct uth_cache *cache);
/* Keeps at most `keep` stacks in the cache. The others, and all shared stacks whose memory the system does not have
 * back yet, give their memory back. Called, for example, by a vp that is about to park. */
void uth_cache_trim(struct uth_cache *cache, unsigned keep);

/* Maps up to n more stacks of the default size, and shares them: every vp finds them. */
void uth_add(size_t n);
/* Returns how many stacks of the default size exist. */
size_t uth_mapped(void);
/* Called when a team gets fewer stacks than it wants. From now on no cache keeps stacks. */
void uth_scarce(void);

/* Returns a uth with the default stack size, from the cache, the shared stacks or the system; under lack of memory a
 * smaller one. NULL: no memory. Only the cache's owner calls it. */
struct uth *uth_get(struct uth_cache *cache);
/* Returns a new uth whose stack has stack_bytes or a little more. uth_put unmaps it, unless its stack has the size of
 * those in the cache. NULL: no memory. */
struct uth *uth_get_sized(size_t stack_bytes);
void uth_put(struct uth_cache *cache, struct uth *u);
/* Called in a forked child: forgets all shared stacks, which are never used again. */
void uth_after_fork_in_child(void);

/* uth_area_take gets a place at the far end of u's stack, for code that is to run there while a thread runs above it:
 * area.c. False: there is no free place. The caller knows of a suspended thread on u's stack, which cannot go on
 * meanwhile and so keeps the stack. */
#define UTH_AREAS 8
struct uth_area {
    struct uth *of;
    unsigned number;
    uintptr_t start;
    size_t bytes;
};
bool uth_area_take(struct uth *u, struct uth_area *area);
void uth_area_put(const struct uth_area *area);
/* Sets where u's areas are, on a stack of `stack_bytes` from `low` on. Called by make_uth, and by the owner of an
 * adopted stack before any caller takes an area. */
void uth_areas_at(struct uth *u, uintptr_t low, size_t stack_bytes);

/* (Re-)initialises u so that the first switch to it starts entry(transfer, arg) on an empty stack. u must not run.
 * Returns 0 or a positive errno value (only the port whose contexts are kernel threads can fail). */
int uth_start(struct uth *u, cpu_entry_fn *entry, void *arg);

/* uth_adopt makes *u stand for the calling kernel thread's own stack, on which the caller runs. Returns 0 or a positive
 * errno value. uth_release ends that. */
int uth_adopt(struct uth *u);
void uth_release(struct uth *u);

/* Saves the caller's context in `from`, and continues `to`, which does not run and which no other vp has. `transfer` is
 * the result of uth_switch in a resumed context, or the argument of a new context's entry. The code that runs on the
 * other side must first call uth_switched(from). `dying`: `from` will not be resumed; it is put or restarted next. */
static inline void *uth_switch(struct uth *from, struct uth *to, void *transfer, bool dying);
/* uth_switch in two steps, for a caller that enters to's thread-local block between them. From uth_claim on, no kernel
 * thread begins to visit `to`. (A visitor is in to's block, and handles a signal on to's stack, below the saved
 * context.) uth_claim returns false if a visitor is there; the caller then waits for it (uth_await_visitor). */
static inline bool uth_claim(struct uth *to);
static inline void *uth_switch_claimed(struct uth *from, struct uth *to, void *transfer, bool dying);
/* Ends the switch away from `from`; called first on the new stack, whose uth is `self`. Tells the sanitizers that the
 * switch has ended, and clears from->running (release). */
static inline void uth_switched(struct uth *from, struct uth *self);
/* Waits until u's context is saved and no visitor is there, but no longer than a switch takes. False: after this time
 * the context is not saved, or a visitor is there. */
static inline bool uth_saved_soon(struct uth *u);
bool uth_saved_soon_slow(struct uth *u);
void uth_await_visitor(struct uth *u);

/* --- stack overflow --- */

/* uth_overflow_install installs a SIGSEGV handler (only if the disposition is the default) and an alternate stack for
 * the calling kernel thread (only if it has none). After a fault in the guard page of the stack that runs, `describe`
 * writes the thread's name into buf. Then one line tells the stack's size, and the environment variable that raises it.
 * Then comes the default action. Any other fault: the default action at once. */
typedef void uth_describe_fn(char *buf, size_t bytes);
/* Returns the uth that runs on the calling kernel thread, or NULL. Given by src/psthreads; async-signal-safe. */
typedef struct uth *uth_current_fn(void);
void uth_overflow_install(uth_current_fn *current, uth_describe_fn *describe, const char *variable);
/* uth_overflow_thread_init and uth_overflow_thread_fini install and remove the alternate stack of the calling kernel
 * thread. The kernel threads of roots, workers and spares call them at their start and end; dedicated ones do not. */
void uth_overflow_thread_init(void);
/* Returns true if `stack` is the alternate stack that was installed for the calling kernel thread. */
bool uth_overflow_is_ours(const void *stack);
/* Returns true if `handler` is the handler that uth_overflow_install installs. */
bool uth_overflow_handles(uintptr_t handler);
void uth_overflow_thread_fini(void);
/* Gives the alternate stacks that ended kernel threads have left for others back to the system. */
void uth_overflow_drain(void);

#include "uth_switch.h"

#endif
