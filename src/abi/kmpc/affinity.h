/* The contents of KMP_AFFINITY: affinity_env.c reads them, affinity.c makes places of them. */
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
    bool typed;             /* a type or a list was given; otherwise the variable does not say where threads run */
    bool policy;            /* true: the type that was read last binds threads */
    bool duplicates;        /* true: each processor has a place, even if several places are the same */
    bool verbose, beyond;   /* beyond: norespect was given */
    bool reset;             /* kmpc_env.h says what it means */
    struct ort_places list; /* for the type explicit */
};
#define KMPC_AFFINITY_NONE                      \
    {                                           \
        .granularity = CORE, .duplicates = true \
    }

/* Reads KMP_AFFINITY's text as libomp does: an unknown part is reported and ignored, the rest counts. *out has the
 * defaults on entry, and the result on return. */
void kmpc_affinity_parse(const char *text, struct kmpc_affinity *out);

#endif
