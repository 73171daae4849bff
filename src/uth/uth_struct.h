/* The structure of a uth. It has a header of its own because two headers that uth.h includes use its fields: the switch
 * (uth_switch.h), and what the sanitizers are told (sanitizers.h). */
#ifndef PS_UTH_STRUCT_H
#define PS_UTH_STRUCT_H

#include "cpu.h"
#include "magazine.h"

struct psthread;
struct uth_tls; /* a thread-local block with its thread pointer; see tls.h */

/* What the thread whose context is saved in this uth waits for. thread NULL: it does not wait, or it runs. The thread
 * itself writes the fields, before it leaves and after it is back; debuggers and reports read them. */
struct uth_wait {
    struct psthread *thread;
    const volatile void *object;
    /* kind: src/psthreads's number for the kind of wait. turn: which wait for that object this is, if there are several
     * (a barrier's phase). */
    uint32_t kind, turn;
};

struct uth {
    struct cpu_context ctx;
    union {
        struct {
            _Atomic uint32_t running; /* 1 while a kernel thread is on this stack and the context is not saved */
            /* 1: a kernel thread visits this uth (uth_visit), so the context must stay saved. */
            _Atomic uint32_t visited;
        };
        _Atomic uint64_t running_or_visited; /* both, so that one load reads them */
    };
    uint32_t flags;     /* UTH_ADOPTED, UTH_SPOILED */
    void *stack;        /* lowest usable byte; NULL when adopted */
    size_t stack_bytes; /* usable bytes from `stack` on */
    /* While the stack pointer is in [call_floor, call_floor + call_span), the stack has room for a call of another
     * thread: see uth_has_room. For an adopted stack its owner sets these; until then there is no room. */
    uintptr_t call_floor, call_span;
    struct ps_piece piece; /* its place in a cache or a depot */
    bool used;             /* a context ran on it since its stack's memory was last given back */
    struct uth_tls *tls;   /* the block of the thread whose context is saved here; kept by src/psthreads */
    int error;             /* errno of the thread whose context is saved here; kept by src/psthreads */
    /* The only vp that may run this uth: a root's home, or the vp of a dedicated kernel thread. NULL: any vp may. Kept
     * by src/psthreads. */
    void *vp;
    struct uth_wait wait;
    /* Kept by src/psthreads. The code that runs on this stack writes the field. vp_left_by reads it, for example on a
     * kernel thread that handles signals to the thread (identity/thread_signal.c). */
    struct psthread *left_by; /* the thread whose context is saved here, if it does not wait */
    uint32_t calls;           /* not used */
    char name[32];            /* name of the thread that runs here, for debuggers and reports; "": none */
    /* Data of the code that runs here, kept by src/psthreads; all zero at first. */
    _Alignas(16) unsigned char room[96];
    uint32_t registered; /* its slot in the registry, counted from 1; 0: none */
    /* Thread sanitizer's fiber that was current when the context was left; else NULL. */
    void *fiber;
    void *loop_fiber;       /* the fiber with which a context begins on this stack */
    void *piece_fiber;      /* the fiber for threads without a stack that run here one after the other */
    uint64_t exceptions[2]; /* C++'s exceptions of the context that is saved here: sanitizers.h */
    bool shares_exceptions;
    void *fake_stack;      /* address sanitizer's record of the context that is saved here */
    const void *san_stack; /* the stack's bounds for address sanitizer, also of an adopted stack */
    size_t san_stack_bytes;
    unsigned valgrind_id;
    uintptr_t area_low; /* area.c: where the areas begin, their size, their number; written by the owner */
    uint32_t area_bytes, areas_n;
    _Atomic uint32_t areas; /* a bit for each area that is taken */
    _Atomic bool area_used; /* an area has been taken on this stack; never cleared */
};
#define UTH_ADOPTED 1u
#define UTH_SPOILED 2u /* a thread ended inside of its functions: their frames on this stack never returned */
/* At most one eighth of a stack that make_uth has made may be in use when another thread is called on it. On a root's
 * stack more may be in use: as much as leaves a called thread its promised stack (set_root_room in psthreads). */
#define UTH_CALL_SHARE 8

#endif
