/* What is shared by the files that make blocks (tls.c), run threads in them (tls_run.c) and find out whether blocks can
 * be made (tls_start.c). Private to these files. */
#ifndef PS_UTH_TLS_BLOCKS_H
#define PS_UTH_TLS_BLOCKS_H

#include "os.h"
#include "spin.h"
#include "tls.h"
#include "tls_layout.h"

enum { UTH_BLOCKS_UNKNOWN, UTH_BLOCKS_OFF, UTH_BLOCKS_ON };

struct uth_blocks {
    struct uth_tls_layout layout;
    _Atomic int status;     /* UTH_BLOCKS_...; written under init_lock (release: with ON, the layout is written) */
    bool numbered;          /* set by uth_tls_number_blocks, before the first block is made */
    _Atomic uint32_t epoch; /* written under init_lock; each look that finds new objects adds two: see get_block */
    struct ps_spin init_lock, lock;
    struct uth_tls *all; /* the first in the list of all blocks, under `lock` */
};
extern struct uth_blocks uth_blocks __attribute__((visibility("hidden")));

#define UTH_TLS_TRIES 3           /* tries to get what the system may refuse for a moment */
#define UTH_TLS_MOMENT_NS 1000000 /* waited between two tries; find_out_patiently doubles it */
#define UTH_TLS_KEYS_A_BLOCK 32   /* values of POSIX keys are kept in arrays of this length */

static inline char *uth_tls_descriptor(const struct uth_tls *tls)
{
    return (char *)tls->tp + uth_blocks.layout.descriptor_from_tp;
}

/* Returns true if the thread may have given any key a value since the descriptor was written. Always true where the
 * layout's keys_used is not known. */
static inline bool uth_tls_any_key_used(const struct uth_tls *tls)
{
    return uth_blocks.layout.keys_used == 0 || uth_tls_descriptor(tls)[uth_blocks.layout.keys_used] != 0;
}

static inline void uth_tls_wait_ns(int64_t ns)
{
    _Atomic uint32_t word = 0;
    os_park(&word, 0, ns);
}

/* Returns the address of the variable current_block in the storage that this thread pointer addresses. */
struct uth_tls **uth_tls_current_in(void *tp);

/* Makes a new block: fresh, in the list of all blocks, and the caller's. NULL: no memory. */
struct uth_tls *uth_tls_make(void);

#endif
