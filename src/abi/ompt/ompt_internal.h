/* What the files of src/abi/ompt share. */
#ifndef PS_ABI_OMPT_INTERNAL_H
#define PS_ABI_OMPT_INTERNAL_H

#include "ompt.h"
#include "ort.h"

/* Returns the entry point with that name; NULL: there is none. The tool's initializer gets this function. */
ompt_interface_fn_t ompt_lookup(const char *name);
/* Ends the tool, unless it has ended before. */
void ompt_finalize(void);

#endif
