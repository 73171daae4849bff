/* What the files share that make blocks (tls.c), run threads in them (tls_run.c) and find out whether there can be any
 * (tls_start.c): private to these. */
#ifndef PS_UTH_TLS_BLOCKS_H
#define PS_UTH_TLS_BLOCKS_H

#include "os.h"
#include "spin.h"
#include "tls.h"
#include "tls_layout.h"

enum { UTH_BLOCKS_UNKNOWN, UTH_BLOCKS_OFF, UTH_BLOCKS_ON };

struct uth_blocks {
    struct uth_tls_layout layout;
    _Atomic int status;     /* written under init_lock; ON is a release: the layout is written before */
    bool numbered;          /* set before the first block is made */
    _Atomic uint32_t epoch; /* written under init_lock; counts looks that have found something */
    struct ps_spin init_lock, lock;
    struct uth_tls *all; /* under `lock` */
};
extern struct uth_blocks uth_blocks __attribute__((visibility("hidden")));

#define UTH_TLS_TRIES 3           /* of what the system may refuse for the moment */
#define UTH_TLS_MOMENT_NS 1000000 /* between two tries */
#define UTH_TLS_KEYS_A_BLOCK 32   /* values of POSIX keys are kept in blocks of so many */

static inline char *uth_tls_descriptor(const struct uth_tls *tls)
{
    return (char *)tls->tp + uth_blocks.layout.descriptor_from_tp;
}

/* Whether the thread may have given any key a value since the descriptor was written. */
static inline bool uth_tls_any_key_used(const struct uth_tls *tls)
{
    return uth_blocks.layout.keys_used == 0 || uth_tls_descriptor(tls)[uth_blocks.layout.keys_used] != 0;
}

static inline void uth_tls_wait_ns(int64_t ns)
{
    _Atomic uint32_t word = 0;
    os_park(&word, 0, ns);
}

/* Returns the address of the variable, in the storage of this thread pointer, that tells which block its kernel thread
 * is in. */
struct uth_tls **uth_tls_current_in(void *tp);

/* A new block, fresh and in the list of all; NULL: no memory. */
struct uth_tls *uth_tls_make(void);

#endif
