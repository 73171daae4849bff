/* Memory for allocators that malloc cannot give. See alloc_pages.c. */
#ifndef PS_ORT_ALLOC_PAGES_H
#define PS_ORT_ALLOC_PAGES_H

#include "compiler.h"

enum ort_pages { ORT_PAGES_NONE, ORT_PAGES_PINNED, ORT_PAGES_INTERLEAVED, ORT_PAGES_NEAREST };

/* `bytes`, aligned to 32, of that kind; *fresh: they are zero. NULL: the system has no such memory, or
 * does not lock it. */
void *ort_pages_take(enum ort_pages kind, size_t bytes, bool *fresh);
/* p is what ort_pages_take returned for `bytes`. */
void ort_pages_give(enum ort_pages kind, void *p, size_t bytes);

#endif
