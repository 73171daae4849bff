#ifndef PS_GUARANTEES_MALLOC_LIBRARY_H
#define PS_GUARANTEES_MALLOC_LIBRARY_H

#include <stddef.h>

#define DALLY_BYTES 12345
#define DALLY_S 0.15 /* several times what a thread is kept waiting */

#endif
