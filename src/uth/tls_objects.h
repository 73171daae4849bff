/* Which loaded objects have thread-local storage, and where it is. Private to uth/tls*.c. */
#ifndef PS_UTH_TLS_OBJECTS_H
#define PS_UTH_TLS_OBJECTS_H

#include "tls.h"

/* Returns what dlsym(RTLD_DEFAULT, name) gave when the library was loaded; NULL: there is no such symbol. Only the
 * names in the table of uth/tls_objects.c can be asked for. Before glibc 2.34, private symbols of libpthread.so.0 are
 * found as well. */
void *uth_tls_symbol(const char *name);
/* Returns the dynamic linker's count of the objects that it has loaded so far. Costs some tens of ns. 0: the dynamic
 * linker cannot be asked now (os_objects_visit). */
unsigned long long uth_tls_objects_loaded(void);
/* Returns true if it is certain that nothing has been loaded since uth_tls_objects_watch(loaded). Costs some ns. False:
 * uth_tls_objects_loaded must be called to know. Any kernel thread may call this, without a lock. */
bool uth_tls_objects_same(unsigned long long loaded);
/* Returns true if uth_tls_objects_same may ever return true. */
bool uth_tls_objects_watched(void);
/* `loaded` is what uth_tls_objects_loaded has just returned. Chooses the words to watch, or drops those that differ
 * from `loaded`. From now on uth_tls_objects_same(loaded) can return true. One caller at a time. */
void uth_tls_objects_watch(unsigned long long loaded);
/* Returns true if an object other than the C library and the runtime itself needs blocks. An object needs blocks if it
 * has thread-local storage, or if it uses what the C library keeps for each thread: pthread_self, keys, uselocale,
 * flockfile. The use of errno counts only in an object with OpenMP constructs. */
bool uth_tls_objects_wanted(void);
/* Returns true if the program itself has thread-local variables. False as well if `library`, an address in some
 * library, lies in the program: then that library is linked into it, and its variables cannot be told from the
 * program's. */
bool uth_tls_objects_of_program(const void *library);

/* Returns true if some code of the program may read floating-point status flags after a wait. That is assumed of the
 * program, of a library that the program names, and of an object with OpenMP constructs, if it uses a function that
 * reads flags. (Compilers' run-time libraries and numpy use such functions, too, but read only the flags of what they
 * have just computed.) `linked`: the program is static; then it is enough that such a function is linked into it. */
bool uth_tls_objects_read_flags(bool linked);

#define UTH_TLS_MAX_SEGMENTS 256
/* A TLS segment that lies at the same offset from every thread's thread pointer. */
struct uth_tls_segment {
    uintptr_t object; /* address at which the object is loaded */
    size_t module;    /* the dynamic linker's number for the segment */
    ptrdiff_t from_tp;
    const void *image; /* initial values of the first image_bytes bytes; the others are zero */
    size_t image_bytes, bytes;
    uintptr_t low, high; /* the object's code and data lie in [low, high) */
    /* Used by tls_start.c alone: the count of loaded objects when uth_tls_object_begins last gave existing blocks this
     * segment's initial values. FOR_EVER: existing blocks never get them again. */
    unsigned long long right_when;
};
/* Fills out[] with at most UTH_TLS_MAX_SEGMENTS segments; returns how many. An object may be unloaded at any time, so
 * the images are copied to room[bytes], in this order, as long as they fit. The `image` of any other segment points
 * into the object itself. */
unsigned uth_tls_objects_static(struct uth_tls_segment *out, char *room, size_t bytes);

#endif
