/* Between the files of src/abi/ompt. */
#ifndef PS_ABI_OMPT_INTERNAL_H
#define PS_ABI_OMPT_INTERNAL_H

#include "ompt.h"
#include "ort.h"

/* What a tool looks entry points up with. */
ompt_interface_fn_t ompt_lookup(const char *name);
/* The tool ends now, if it has not. */
void ompt_finalize(void);

#endif
