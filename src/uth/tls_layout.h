/* What uth/tls*.c must know of the C library: private to them. */
#ifndef PS_UTH_TLS_LAYOUT_H
#define PS_UTH_TLS_LAYOUT_H

#include "compiler.h"

#define UTH_TLS_MAX_FIXES 64
#define UTH_TLS_MAX_LIBC_BYTES 1024

/* What the kernel shares with a kernel thread: struct rseq as of Linux 4.18. (glibc's header is newer than
 * some systems this is built on.) */
struct uth_tls_rseq {
    uint32_t cpu_id_start, cpu_id;
    uint64_t rseq_cs;
    uint32_t flags, padding[3];
};
#define UTH_TLS_RSEQ_NO_CPU UINT32_MAX /* the C library asks the kernel for the processor's number instead */

/* struct pthread as an idle kernel thread's looks, and where things are in it; offsets from the descriptor. */
struct uth_tls_layout {
    void *(*allocate)(void *tcb);             /* _dl_allocate_tls */
    void (*deallocate)(void *tcb, bool own);  /* _dl_deallocate_tls */
    void *(*initialise)(void *tcb, bool own); /* _dl_allocate_tls_init */
    void (*ctype_init)(void);                 /* __ctype_init */
    void (*call_destructors)(void);           /* __call_tls_dtors */
    void (*free_state)(void);                 /* with `shared_segment`: __libc_thread_freeres */
    /* __pthread_keys [PTHREAD_KEYS_MAX] */
    const struct {
        uintptr_t sequence;
        void (*destroy)(void *);
    } * keys;
    size_t descriptor_bytes;
    ptrdiff_t descriptor_from_tp; /* descriptor = thread pointer + this; 0 or negative */
    unsigned char *image;         /* [descriptor_bytes] */
    unsigned own_pointers;        /* words of it that point into the descriptor: where they are, and to what place */
    struct {
        uint32_t at, to;
    } own_pointer[UTH_TLS_MAX_FIXES];
    size_t tid, list, specific, stack_base, stack_size;
    size_t robust; /* 0: not known */
    /* keys_used: a byte that is 1 once any key has been given a value. [keys_from, keys_to): the values and the
     * pointers to their arrays. While the byte is 0 this range is as in the image, but for numbers of keys without a
     * value. 0: not known. */
    size_t keys_used, keys_from, keys_to;
    /* The resolver's state is in the descriptor; the C library's TLS segment has a pointer to it. 0: not known. */
    size_t resolver;
    ptrdiff_t resolver_pointer_from_tp;
    ptrdiff_t libc_from_tp; /* the TLS segment with the C library's variables */
    size_t libc_bytes;
    bool shared_segment;    /* a static program: the segment has all other variables as well */
    ptrdiff_t rseq_from_tp; /* its area for restartable sequences; 0: none (glibc before 2.35, or switched off) */
    bool refused_now;       /* none, because the system has refused memory or a kernel thread, maybe for now */
};

/* NULL, or why there is none (a sentence without a full stop). */
const char *uth_tls_find_layout(struct uth_tls_layout *l);

#endif
