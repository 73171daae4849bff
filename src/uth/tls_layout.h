/* What uth/tls*.c must know about the C library. Private to these files. */
#ifndef PS_UTH_TLS_LAYOUT_H
#define PS_UTH_TLS_LAYOUT_H

#include "compiler.h"

#define UTH_TLS_MAX_FIXES 64
#define UTH_TLS_MAX_LIBC_BYTES 1024

/* The area for restartable sequences, which the kernel shares with a kernel thread: struct rseq as of Linux 4.18. It is
 * defined here because this library is also built on systems with a glibc whose headers do not have it. */
struct uth_tls_rseq {
    uint32_t cpu_id_start, cpu_id;
    uint64_t rseq_cs;
    uint32_t flags, padding[3];
};
/* the value of cpu_id with which the C library asks the kernel for the processor's number instead */
#define UTH_TLS_RSEQ_NO_CPU UINT32_MAX

/* The C library's functions and variables that blocks need, a copy of an idle kernel thread's descriptor (struct
 * pthread), and the places of its fields. uth_tls_find_layout writes all of it (tls_start.c also refused_now); once
 * there are blocks it is only read. A field of type size_t without a comment is an offset from the descriptor, except
 * sizes, whose names end in _bytes. A name that ends in _from_tp is an offset from the thread pointer. */
struct uth_tls_layout {
    void *(*allocate)(void *tcb);             /* _dl_allocate_tls */
    void (*deallocate)(void *tcb, bool own);  /* _dl_deallocate_tls */
    void *(*initialise)(void *tcb, bool own); /* _dl_allocate_tls_init */
    void (*ctype_init)(void);                 /* __ctype_init */
    void (*call_destructors)(void);           /* __call_tls_dtors */
    void (*free_state)(void);                 /* __libc_thread_freeres; called only where shared_segment is true */
    /* __pthread_keys [PTHREAD_KEYS_MAX] */
    const struct {
        uintptr_t sequence;
        void (*destroy)(void *);
    } * keys;
    size_t descriptor_bytes;
    ptrdiff_t descriptor_from_tp; /* descriptor = thread pointer + this offset, which is 0 or negative */
    unsigned char *image;         /* the copy of an idle kernel thread's descriptor, descriptor_bytes long */
    /* Number of the image's words that point into the descriptor itself. For each such word, own_pointer has the word's
     * offset (at) and the offset that it points to (to). write_descriptor in tls.c sets these words in each block. */
    unsigned own_pointers;
    struct {
        uint32_t at, to;
    } own_pointer[UTH_TLS_MAX_FIXES];
    size_t tid, list, specific, stack_base, stack_size;
    size_t robust; /* offset of the list of robust mutexes; 0: not known */
    /* keys_used: offset of a byte that is 1 once the thread has given any key a value; 0: not known. The range
     * [keys_from, keys_to) has the values of the first keys, and the pointers to the arrays with all values. While the
     * byte is 0, the range in a block still equals the image, except for sequence numbers of keys that have no
     * value. */
    size_t keys_used, keys_from, keys_to;
    /* resolver: offset of the resolver's state in the descriptor; 0: not known. The C library's TLS segment has a
     * pointer to that state, at resolver_pointer_from_tp. */
    size_t resolver;
    ptrdiff_t resolver_pointer_from_tp;
    ptrdiff_t libc_from_tp; /* where the C library's TLS segment begins */
    size_t libc_bytes;
    bool shared_segment; /* the program is static: the segment also has all other thread-local variables */
    /* where the area for restartable sequences is; 0: none (glibc before 2.35, or switched off) */
    ptrdiff_t rseq_from_tp;
    /* no layout or no block was made because the system refused memory or a kernel thread; a later try may succeed */
    bool refused_now;
};

/* Fills in *l. Returns NULL, or the reason why there is no layout (a sentence without a full stop). */
const char *uth_tls_find_layout(struct uth_tls_layout *l);

#endif
