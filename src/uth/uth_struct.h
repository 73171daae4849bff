/* What a uth is. Apart from uth.h, because two headers that uth.h includes look into it: the switch (uth_switch.h), and
 * the sanitizers' part of it (sanitizers.h). */
#ifndef PS_UTH_STRUCT_H
#define PS_UTH_STRUCT_H

#include "cpu.h"
#include "magazine.h"

struct psthread;
struct uth_tls; /* a thread-local block with its thread pointer; see tls.h */

/* What the thread whose context is saved here waits for. thread NULL: it does not wait, or it runs. Written by the
 * thread itself before it leaves and after it is back; read by debuggers and reports. */
struct uth_wait {
    struct psthread *thread;
    const volatile void *object;
    uint32_t kind, turn; /* kept by src/psthreads; turn: which time the object is waited for, if again and again */
};

struct uth {
    struct cpu_context ctx;
    union {
        struct {
            _Atomic uint32_t running; /* 1 while some kernel thread is on this stack and its context is not saved */
            _Atomic uint32_t visited; /* 1: the context stays saved, for a kernel thread runs below it: uth_visit */
        };
        _Atomic uint64_t running_or_visited; /* both in one look */
    };
    uint32_t flags;     /* UTH_ADOPTED, UTH_SPOILED */
    void *stack;        /* lowest usable byte; NULL when adopted */
    size_t stack_bytes; /* usable */
    /* The stack has room for a call of another thread where the stack pointer is in [call_floor, call_floor +
     * call_span): see uth_has_room. For an adopted stack its owner sets these; until then there is no room. */
    uintptr_t call_floor, call_span;
    struct ps_piece piece; /* in a cache, or shared */
    bool used;             /* ran since its stack's memory was last given back */
    struct uth_tls *tls;   /* the block of the thread whose context is saved here; kept by src/psthreads */
    int error;             /* errno of the thread whose context is saved here; likewise */
    void *vp;              /* adopted: the virtual processor that alone may run it; else NULL. Set by the owner. */
    struct uth_wait wait;
    /* Both are kept by src/psthreads. Written by the code that runs here; read by senders of signals
     * (identity/thread_signal.h). */
    struct psthread *left_by; /* the thread whose context is saved here, where that does not wait */
    uint32_t calls; /* how many calls of other threads run here, or are about to; looked at on a root's stack */
    char name[32];  /* of the thread that runs here, for debuggers and reports; "": none */
    _Alignas(16) unsigned char room[96]; /* src/psthreads keeps data of what runs here in it; all zero at first */
    uint32_t registered;                 /* its place in the registry, from 1; 0: none */
    void *fiber;                         /* thread sanitizer's, current when the context was left; else NULL */
    void *loop_fiber;                    /* and the one that a context begins with */
    void *piece_fiber;                   /* and one for threads without a stack that run here one after the other */
    uint64_t exceptions[2];              /* sanitizers.h: C++'s, of the context that is saved here */
    bool shares_exceptions;
    void *fake_stack;      /* address sanitizer's, likewise */
    const void *san_stack; /* and the bounds that it wants to know, of adopted ones too */
    size_t san_stack_bytes;
    unsigned valgrind_id;
    uintptr_t area_low; /* area.c: where areas begin, how large they are, how many; the owner's */
    uint32_t area_bytes, areas_n;
    _Atomic uint32_t areas; /* those that are taken, a bit each */
    _Atomic bool area_used;
};
#define UTH_ADOPTED 1u
#define UTH_SPOILED 2u   /* a thread ended in the middle of its functions: their frames never returned */
#define UTH_CALL_SHARE 8 /* of a stack, what may be in use already when another thread is called on it: 1/8 */

#endif
