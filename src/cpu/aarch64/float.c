/* AArch64: says whether status flags of floating point are kept; once true, it stays true. See cpu.h. */
#include "atomic.h"
#include "cpu.h"

_Atomic bool cpu_aarch64_keeps_flags;
