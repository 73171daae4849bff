/* RISC-V, 64 bits: says whether status flags of floating point are kept; once true, it stays true. See cpu.h. */
#include "atomic.h"
#include "cpu.h"

#ifdef __riscv_flen
_Atomic bool cpu_riscv_keeps_flags;
#endif
