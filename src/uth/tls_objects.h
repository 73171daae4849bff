/* Which loaded objects have thread-local storage, and where: private to uth/tls*.c. */
#ifndef PS_UTH_TLS_OBJECTS_H
#define PS_UTH_TLS_OBJECTS_H

#include "compiler.h"

/* What dlsym(RTLD_DEFAULT, name) gives, for the names that these files ask for (uth/tls_objects.c), looked up when the
 * library was loaded. */
void *uth_tls_symbol(const char *name);
/* Grows with each object that is loaded, some tens of ns; 0: cannot be asked (os_objects_visit). */
unsigned long long uth_tls_objects_loaded(void);
/* Whether an object other than the C library and the runtime itself has thread-local storage, or calls what the C
 * library keeps for each thread: pthread_self, keys, uselocale, and errno where it has OpenMP constructs. */
bool uth_tls_objects_wanted(void);
/* Whether the program itself has thread-local variables of its own: some, and they are not those of the library of
 * which `library` is an address, linked into it. */
bool uth_tls_objects_of_program(const void *library);

/* A TLS segment that lies at the same place of every thread's block. */
struct uth_tls_segment {
    uintptr_t object;
    size_t module;
    ptrdiff_t from_tp;
    const void *image;
    size_t image_bytes, bytes;
};
#define UTH_TLS_MAX_SEGMENTS 256
/* Fills out with at most UTH_TLS_MAX_SEGMENTS of them. */
unsigned uth_tls_objects_static(struct uth_tls_segment *out);

#endif
