/* Which loaded objects have thread-local storage, and where: private to uth/tls*.c. */
#ifndef PS_UTH_TLS_OBJECTS_H
#define PS_UTH_TLS_OBJECTS_H

#include "tls.h"

/* What dlsym(RTLD_DEFAULT, name) gives, for the names that these files ask for (uth/tls_objects.c), looked up when the
 * library was loaded; before glibc 2.34 also private symbols of libpthread.so.0. */
void *uth_tls_symbol(const char *name);
/* Returns a number that grows with each object that is loaded; some tens of ns. 0: it cannot be asked
 * (os_objects_visit). */
unsigned long long uth_tls_objects_loaded(void);
/* Whether uth_tls_objects_loaded() is still `loaded`, as far as can be seen in some ns; false: ask it. Never true where
 * something has been loaded since uth_tls_objects_watch(loaded). Any kernel thread, without a lock. */
bool uth_tls_objects_same(unsigned long long loaded);
/* Whether the former can ever say true. */
bool uth_tls_objects_watched(void);
/* Watches for changes of that number, which uth_tls_objects_loaded has just returned. One caller at a time. */
void uth_tls_objects_watch(unsigned long long loaded);
/* Whether an object other than the C library and the runtime itself needs blocks. An object needs blocks if it has
 * thread-local storage, or uses what the C library keeps for each thread: pthread_self, keys, uselocale, and errno
 * where it has OpenMP constructs. */
bool uth_tls_objects_wanted(void);
/* Whether the program itself has thread-local variables: more than those of the library that is linked into it, and of
 * which `library` is an address. */
bool uth_tls_objects_of_program(const void *library);

/* Whether some code of the program may read floating-point status flags after a wait: it wants a function that reads
 * them, and is the program, a library that the program names, or an object with OpenMP constructs. (Compilers' run-time
 * libraries and numpy want such a function, too, and read only what they have just computed.) `linked`: the program is
 * static, and its code wants what is linked into it. */
bool uth_tls_objects_read_flags(bool linked);

#define UTH_TLS_MAX_SEGMENTS 256
/* A TLS segment that lies at the same place of every thread's block. */
struct uth_tls_segment {
    uintptr_t object;
    size_t module;
    ptrdiff_t from_tp;
    const void *image;
    size_t image_bytes, bytes;
    uintptr_t low, high;           /* the object's memory: [low, high) */
    unsigned long long right_when; /* tls_start.c's: how much had been loaded when blocks last got its initial values */
};
/* Fills out with at most UTH_TLS_MAX_SEGMENTS of them; returns how many. Copies the images to room[bytes], in their
 * order, as long as they fit: an object may be unloaded any time. Other images stay where the objects have them. */
unsigned uth_tls_objects_static(struct uth_tls_segment *out, char *room, size_t bytes);

#endif
