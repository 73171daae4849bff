/* What KMP_AFFINITY asks for: affinity_env.c reads it, affinity.c makes places of it. */
#ifndef PS_ABI_KMPC_AFFINITY_H
#define PS_ABI_KMPC_AFFINITY_H

#include "place.h"

enum layer { SOCKET, NODE, L3, L2, CORE, THREAD, LAYERS };
enum kmpc_affinity_type {
    KMPC_NONE,
    KMPC_DISABLED,
    KMPC_COMPACT,
    KMPC_SCATTER,
    KMPC_LOGICAL,
    KMPC_PHYSICAL,
    KMPC_BALANCED,
    KMPC_EXPLICIT
};

struct kmpc_affinity {
    enum kmpc_affinity_type type;
    enum layer granularity;
    unsigned permute, offset;
    bool typed;             /* by a type or a list; else it says nothing about where threads are */
    bool policy;            /* threads are bound, by the last type that was read */
    bool duplicates;        /* a place for each processor, though several have the same ones */
    bool verbose, beyond;   /* beyond: norespect */
    bool reset;             /* kmpc_env.h */
    struct ort_places list; /* explicit */
};
#define KMPC_AFFINITY_NONE                      \
    {                                           \
        .granularity = CORE, .duplicates = true \
    }

/* Reads KMP_AFFINITY's text as libomp does: an unknown part is said and left out, the rest counts. *out: the settings
 * that hold without it. */
void kmpc_affinity_parse(const char *text, struct kmpc_affinity *out);

#endif
