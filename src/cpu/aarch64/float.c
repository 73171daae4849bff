/* AArch64: whether status flags of floating point are kept. cpu.h has the contract. */
#include "atomic.h"
#include "cpu.h"

_Atomic bool cpu_aarch64_keeps_flags;
